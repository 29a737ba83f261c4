"""docs/evidence/reliability.md: what the trials showed. Its data is kept beside it, in reliability.json."""

import json

_TOP = """# Reliability

Whether a program notices that Loopscope watches it. `tests/harm/run.py` and `tests/harm/faults.py` make this page.

## Scripts

Each script runs twice from the same folder, alone and under `loopscope run --steps 0`. Compared are the exit status, the bytes of standard output and standard error (without Loopscope's own messages at their end), the bits of the trained numbers, warnings, tracebacks, pickles and attributes of loaders and optimizers, what is still alive at the end, and the files (working folder, `HOME`, `TMPDIR`, `/dev/shm`) and processes left behind.

| scripts | tried | the same | different |
|---|---|---|---|
"""

_FAULTS = """
## Forced faults

*Lost* counts: a finished step that is not in the capture (except the one in flight, and a run's first four, which are written with the fifth); a training that ended otherwise than it does alone; a capture that cannot be read; a crash; anything left in `TMPDIR`, in `/dev/shm` or among the mounts.

| fault | tried | survived | lost |
|---|---|---|---|
"""


def scripts(themes, results, known):
    """The first table's rows, and a line for each difference that is known."""
    rows = []
    for theme, module in themes.items():
        mine = [name for name in module.SCRIPTS if name in results]
        rows.append({"theme": theme, "tried": len(mine), "different": [name for name in mine if results[name]]})
    return {"rows": rows, "known": {name: known[name] for name, found in results.items() if found and name in known}}


def keep(path, part, result):
    """Adds the result of one of the two programs, and writes the page anew."""
    data = path.with_suffix(".json")
    kept = json.loads(data.read_text()) if data.exists() else {}
    kept[part] = {**kept.get(part, {}), **result}
    data.write_text(json.dumps(kept, indent=1) + "\n")
    path.write_text(_page(kept))


def _page(kept):
    shown = kept.get("scripts", {"rows": [], "known": {}})
    lines = [_TOP.rstrip("\n")]
    for row in shown["rows"]:
        names = ", ".join(f"`{name}`" for name in row["different"]) or "none"
        lines.append(f"| {row['theme']} | {row['tried']} | {row['tried'] - len(row['different'])} | {names} |")
    lines += ["", "Known differences:", ""]
    lines += [f"- `{name}`: {why}." for name, why in shown["known"].items()] or ["None."]
    if kept.get("faults"):
        lines.append(_FAULTS.rstrip("\n"))
        for row in kept["faults"].values():
            lines.append(f"| {row['what']} | {row['tried']} | {row['tried'] - row['lost']} | {row['lost']} |")
    return "\n".join(lines) + "\n"
