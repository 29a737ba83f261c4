"""docs/evidence/matrix.json and matrix.md: what became of each planted flaw when it was run last."""

import json

from . import matrix

FIGURES, PAGE = matrix.ROOT / "docs/evidence/matrix.json", matrix.ROOT / "docs/evidence/matrix.md"


def load():
    return json.loads(FIGURES.read_text()) if FIGURES.exists() else {}


def keep(plant, **what):
    """Of this plant `runs`, or the `trial` of its treatment; the page is written anew."""
    figures = load()
    figures[plant.name] = {**figures.get(plant.name, {}), **what}
    known = {one.name for one in [*matrix.PLANTS, *matrix.CLEAN]}
    figures = {name: figure for name, figure in figures.items() if name in known}
    FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(page(figures))


def _runs(figures, plant):
    return figures.get(plant.name, {}).get("runs", [])


def precision_and_recall(figures, timing):
    """Over the facts, or over the rules that time decides; what is said without a flaw counts against both."""
    planted = [
        one for plant in matrix.PLANTS if (plant.rule in matrix.TIMING) == timing for one in _runs(figures, plant)
    ]
    everything = [one for plant in [*matrix.PLANTS, *matrix.CLEAN] for one in _runs(figures, plant)]
    hits = sum(one["found"] for one in planted)
    false = sum((rule in matrix.TIMING) == timing for one in everything for rule in one["unexpected"])
    return hits / max(1, hits + false), hits / max(1, len(planted))


def misses(figures):
    said = []
    for plant in [*matrix.PLANTS, *matrix.CLEAN]:
        for run in _runs(figures, plant):
            what = f"{plant.name}, seed {run['seed']}"
            if plant.rule and not run["found"]:
                said.append(f"{what}: not found ({run.get('why', 'no reason was kept')})")
            elif plant.rule and not run["right_line"]:
                said.append(f"{what}: found, not at its line")
            if run["unexpected"]:
                said.append(f"{what}: also {', '.join(run['unexpected'])}")
    return said


def _found(plant, figures):
    runs = _runs(figures, plant)
    if not runs:
        return "not run" + (": it needs a processor with 16-bit units" if plant.rule == "fp32-compute" else "")
    hits, lines = sum(one["found"] for one in runs), sum(one["right_line"] for one in runs)
    where = "" if not plant.place else ", at its line" if lines == hits else f", {lines} of {hits} at its line"
    return f"{hits} of {len(runs)}{where}"


def _treated(plant, figures):
    if not plant.treatment:
        return "advice"
    trial = figures.get(plant.name, {}).get("trial")
    if trial is None:
        return f"`{plant.treatment}`: not tried yet"
    changed = trial["changed"]
    said = f"applied, {changed} place{'s' if changed > 1 else ''}" if changed else f"not applied: {trial['reason']}"
    return f"`{plant.treatment}`: {said}"


def page(figures):
    lines = [
        "# The matrix: planted flaws, and what was found",
        "",
        "Each flaw is planted alone, in the C++ programs in `workloads/` (`--preset only:RULE`) and in small Python scripts",
        "(`tests/e2e/scripts/planted*.py RULE`); each program also runs without a flaw. `tests/e2e/test_matrix_long.py`",
        "(`make long`) runs them all, keeps the results in `docs/evidence/matrix.json` and writes this page. A flaw whose",
        "rule depends on timing is run with several seeds.",
        "",
        "| rules | precision | recall |",
        "|---|---|---|",
    ]
    for name, timing in (("facts", False), ("decided by timing", True)):
        precision, recall = precision_and_recall(figures, timing)
        lines.append(f"| {name} | {precision:.2f} | {recall:.2f} |")
    lines += ["", "| program | planted | found | treatment |", "|---|---|---|---|"]
    for plant in matrix.PLANTS:
        program = f"`{plant.program}`" + (", two ranks" if "--ranks" in plant.knobs else "")
        lines.append(f"| {program} | `{plant.rule}` | {_found(plant, figures)} | {_treated(plant, figures)} |")
    lines += [
        "",
        "Without a flaw: "
        + "; ".join(
            f"{plant.name.replace(' without a flaw', '')}, {len(_runs(figures, plant))} runs, "
            + (
                ", ".join(sorted({rule for one in _runs(figures, plant) for rule in one["unexpected"]}))
                or "nothing is found"
            )
            for plant in matrix.CLEAN
        )
        + ".",
        "",
        "## Misses and false alarms",
        "",
        *([f"- {one}" for one in misses(figures)] or ["None."]),
        "",
        "## Not planted here",
        "",
        "These need a machine that is short of memory, or a GPU; traces written by hand cover them (`tests/cases/`):",
        ", ".join(f"`{rule}`" for rule in sorted(matrix.ONLY_CASES)) + ".",
        "",
    ]
    return "\n".join(lines)
