#!/usr/bin/env python3
"""Measures the tricks of tests/tricks/table.py that this machine can measure, keeps the figures in docs/tricks.json with the
commands they came from, and writes their section of docs/speedups.md.

Usage: refresh_tricks.py [--build DIR] [--render] [ROW ...]    all rows, some rows, or only the section anew
"""

import argparse
import json
import pathlib
import re
import shlex
import string
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/e2e")]
from tricks.table import TRICKS  # noqa: E402

from pages import refill  # noqa: E402

FIGURES, PAGE = ROOT / "docs/tricks.json", ROOT / "docs/speedups.md"
BUDGET = "45s"
RANKS_BUDGET = "100s"  # processes start and end together: a launch takes longer


def prove(trick):
    budget = trick.budget or (RANKS_BUDGET if trick.ranks else BUDGET)
    return ["prove", "--blocks", "8", "--budget", budget, "--min-window", "0.5s"]


ROOM_BATCH = 128  # large enough for activations to be most of what is in memory
ROOM = ["sweep", "--blocks", "2", "--budget", "150s", "--warmup", "3", "--min-window", "100ms"]  # peaks repeat
TARGET = ["prove", "--budget", "150s"]
SWEEPS = {
    3: (
        ["sweep", "loader.workers=0,1,2,4", "--loader-only", "--budget", "100s"],  # pinned memory needs a GPU
        ["--preset", "tuned"],
    )
}


def command_of(trick):
    """What measures the row, as it is typed in the build's folder's parent; None where nothing does."""
    program = ["--", f"build/workloads/{trick.program}", *trick.arguments()]
    if trick.metric == "sweep":
        words, arguments = SWEEPS[trick.number]
        return [*words, "--", program[1], *arguments]
    if trick.metric == "found":
        return ["run", *program]
    if trick.metric == "knob":
        off = [program[1], *trick.arguments()[:-1], trick.knobs[0].replace("=on", "=off")]
        return ["ab", "--blocks", "8", "--budget", BUDGET, "--min-window", "0.5s", shlex.join(off), *program]
    if trick.metric == "target":
        return [
            *TARGET,
            "--target",
            "accuracy=0.9",
            "--only",
            trick.treatment,
            *trick.options,
            "--",
            program[1],
            "--preset",
            "tuned",
            *program[2:],
        ]
    if not trick.treatment:
        return ["run", *program]
    return [*prove(trick), "--only", trick.treatment, *trick.options, *program]


def off_of(setting):
    return "off" if setting.endswith("=on") else "1"


def room_command(trick):
    """Of a trick that saves memory: without it and with it, each at a batch and at twice as many samples."""
    key, on = trick.room.split("=")
    return [
        *ROOM,
        f"{key}={off_of(trick.room)},{on}",
        f"batch.size={ROOM_BATCH},{2 * ROOM_BATCH}",
        "--",
        f"build/workloads/{trick.program}",
        "--preset",
        "tuned",
    ]


def measure_room(build, trick, folder):
    """Peak memory grows with the batch in a straight line: how many samples more take what the trick saves. Updates of
    as many samples are compared: with accumulate=N, N batches make one."""
    command, on = room_command(trick), trick.room.split("=")[1]
    peaks = {tuple(cell["values"]): cell["peak_bytes"] for cell in report_of(build, command, folder)["sweep"]["cells"]}
    batches = int(on) if on.isdigit() else 1
    without, treated, twice = (
        peaks[value, str(batch)]
        for value, batch in ((off_of(trick.room), batches * ROOM_BATCH), (on, ROOM_BATCH), (on, 2 * ROOM_BATCH))
    )
    if None in (without, treated, twice):
        raise RuntimeError(f"{typed(command)}: no peak of each cell")
    room = {
        "command": typed(command),
        "setting": trick.room,
        "batch": batches * ROOM_BATCH,
        "without_bytes": without,
        "with_bytes": treated,
        "twice_bytes": twice,
    }
    if treated < without and treated < twice:
        room["fits"] = batches * int(ROOM_BATCH * (1 + (without - treated) / (twice - treated)))
    return room


def room_text(room):
    text = (
        f"`{room['setting']}`: peak memory {room['without_bytes'] / 1e6:.0f} to {room['with_bytes'] / 1e6:.0f} MB "
        f"at a batch of {room['batch']}"
    )
    return text + (
        f"; in the same memory a batch of about {room['fits']} then fits"
        if "fits" in room
        else "; no room for a larger batch"
    )


def typed(command):
    return "loopscope " + shlex.join(command)


def report_of(build, command, folder):
    report, output = folder / "report.json", pathlib.Path(tempfile.mkdtemp(prefix="out-", dir=folder))
    report.unlink(missing_ok=True)
    split = command.index("--")
    words = [str(build / word.removeprefix("build/")) if word.startswith("build/") else word for word in command]
    done = subprocess.run(
        [build / "loopscope", *words[:split], "--quiet", "-o", output, "--json", report, *words[split:]],
        capture_output=True,
        text=True,
        timeout=1200,
        cwd=folder,
    )
    if not report.exists():
        raise RuntimeError(f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return json.loads(report.read_text())


def measure(build, trick):
    command = command_of(trick)
    with tempfile.TemporaryDirectory(prefix="loopscope-tricks-") as folder:
        report = report_of(build, command, pathlib.Path(folder))
        room = {"room": measure_room(build, trick, pathlib.Path(folder))} if trick.room else {}
    host = report["run"]["host"]
    figure = {"command": typed(command), "host": f"{host['cpu']}, {host['cores']} cores", **room}
    if trick.metric == "sweep":
        return figure | {"sweep": report["sweep"]}
    if report.get("trials"):
        kept = (
            "treatment",
            "value",
            "speedup",
            "ci95",
            "n",
            "verdict",
            "metric",
            "peak_bytes",
            "reason",
            "target",
            "live",
        )
        return figure | {"trials": [{key: row[key] for key in kept if key in row} for row in report["trials"]]}
    found = [one for one in report["findings"] if one["rule"] == trick.rule]
    found += [one for one in (report.get("rank_findings") or []) if one["rule"] == trick.rule]
    if not found:
        raise RuntimeError(f"{trick.rule} was not found")
    return figure | {"finding": {key: found[0][key] for key in ("title", "severity", "cost_ms_per_step", "cost_pct")}}


def interval(row):
    return f"{row['speedup']:.2f}x [{row['ci95'][0]:.2f}, {row['ci95'][1]:.2f}], n={row['n']}"


def trial_text(row):
    name = f"`{row['treatment']}={row['value']}`"
    if row["speedup"] is None or row["ci95"] is None:
        return f"{name}: {row['verdict']}, {row['reason']}"
    text = f"{name}: {interval(row)}, {row['verdict']}"
    if row.get("metric") == "epoch-boundary":
        text += ", of the epoch boundary"
    peak = row.get("peak_bytes") or {}
    if row.get("metric") == "peak-memory" and peak.get("baseline"):
        text += f"; peak memory {peak['baseline'] / 1e6:.0f} to {peak['treated'] / 1e6:.0f} MB"
    return text


def measured_text(trick, figure):
    if trick.needs:
        return f"needs {'a GPU' if trick.needs == 'GPU' else 'two GPUs'}: `{typed(gpu_command(trick))}`"
    if figure is None:
        return f"not measured yet: `{typed(command_of(trick))}`"
    if "finding" in figure:
        return f"found: {figure['finding']['title']}"
    if "sweep" in figure:
        return sweep_text(figure["sweep"])
    return "; ".join(
        [*(trial_text(row) for row in figure["trials"]), *([room_text(figure["room"])] if "room" in figure else [])]
    )


def sweep_text(sweep):
    return f"of {len(sweep['cells'])} cells: {sweep['verdict']}"


def gpu_command(trick):
    if trick.knobs:  # of a program of ours
        return ["run", "--", f"build/workloads/{trick.program}", "--device", "cuda", *trick.arguments()]
    treatment = ["--only", trick.treatment] if trick.treatment else []
    return ["prove", *treatment, "--", "python", "train.py"] if treatment else ["run", "--", "python", "train.py"]


def cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def machines(hosts):
    """Where rows come from several machines, each has a letter."""
    if len(hosts) < 2:
        return "".join(hosts)
    return "; ".join(f"{letter}: {host}" for letter, host in zip(string.ascii_uppercase, hosts))


def where(figure, hosts):
    return f" (on {string.ascii_uppercase[hosts.index(figure['host'])]})" if figure and len(hosts) > 1 else ""


def section(figures):
    """The lines between the marks of the page."""
    hosts = sorted({one["host"] for one in figures.values()})
    lines = [
        *([f"Measured on {machines(hosts)}.", ""] if hosts else []),
        "| # | trick | documents | rule | measured here | the documents' figure |",
        "|---|---|---|---|---|---|",
    ]
    for trick in TRICKS:
        figure = figures.get(str(trick.number))
        rule = (
            f"`{trick.rule}`"
            if trick.rule
            else "none: compared by time to a target"
            if trick.metric == "target"
            else "none"
        )
        lines.append(
            f"| {trick.number} | {trick.what} | {trick.seeds} | {rule} | {cell(measured_text(trick, figure) + where(figure, hosts))} | {trick.said} |"
        )
    commands = [
        (number, command)
        for number in sorted(int(key) for key in figures)
        for command in [
            figures[str(number)]["command"],
            *filter(None, [figures[str(number)].get("room", {}).get("command")]),
        ]
    ]
    return [*lines, "", "### Commands", "", "```", *(f"{number:>2}  {command}" for number, command in commands), "```"]


def load():
    return json.loads(FIGURES.read_text()) if FIGURES.exists() else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="*")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--render", action="store_true")
    chosen = parser.parse_args()
    figures, failed = load(), 0
    for trick in [] if chosen.render else TRICKS:
        if trick.needs or (chosen.rows and trick.number not in chosen.rows):
            continue
        try:
            figures[str(trick.number)] = measure(chosen.build.resolve(), trick)
            print(f"{trick.number:>2} {measured_text(trick, figures[str(trick.number)])}", flush=True)
        except (RuntimeError, KeyError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"{trick.number:>2} {trick.what}: {error}", file=sys.stderr, flush=True)
        FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    refill(PAGE, "tricks", section(figures))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
