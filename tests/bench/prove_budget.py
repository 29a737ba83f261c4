#!/usr/bin/env python3
"""What `prove --budget 3m` answers on six programs, and where its time goes; with --beside, the same of another build.

Nothing else may run meanwhile. --write puts this build's rows into docs/speedups.md.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from pages import refill  # noqa: E402

BUILD = ROOT / "build"
OWN = [sys.executable, str(ROOT / "tests/bench/budget_programs.py")]
PYTHON = ROOT / "workloads/python"
PROGRAMS = {
    "image_classifier.py": [sys.executable, str(PYTHON / "image_classifier.py"), "--epochs", "100"],
    "tiny_gpt.py": [sys.executable, str(PYTHON / "tiny_gpt.py"), "--epochs", "100"],
    "an autoencoder": [*OWN, "autoencoder"],
    "rows of text": [*OWN, "table"],
    "train_image --preset naive": [str(BUILD / "workloads/train_image"), "--preset", "naive", "--set", "epochs=100"],
    "letters": [*OWN, "letters"],
}
HEAD = [
    "| program | step | all fixes together | the costliest finding's fix | took | where the time went |",
    "|---|---|---|---|---|---|",
]
DECIDED = {"faster", "slower", "equivalent", "useful"}
# Labels of launches begin with these words.
PHASES = {"diagnosis": "diagnosis", "pilot": "pilots", "arm pilot": "pilots", "check": "same training", "live": "live"}


def spent(journal):
    """Seconds by what launches were for; programs that take turns share their time."""
    seconds = collections.Counter()
    for line in journal.read_text().splitlines()[1:]:
        launch = json.loads(line)
        label = launch["label"]
        phase = next((PHASES[word] for word in PHASES if label.startswith(word)), "pairs")
        seconds[phase] += launch["result"]["wall_s"]
    return seconds


def of_set(report):
    row = report["combined"]
    if not row or row["speedup"] is None:
        return None, "none"
    low, high = row["ci95"]
    return (low > 1 or high < 1), f"{row['speedup']:.2f}x [{low:.2f}, {high:.2f}], n={row['n']}"


def of_costliest(report):
    """The first finding that has a fix which was tried. A set of one fix is that fix."""
    for finding in report["findings"]:
        rows = [row for row in report["trials"] if finding["rule"] in row["rules"]]
        if not rows:
            continue
        row = next((one for one in rows if one["verdict"] in DECIDED), rows[0])
        figure = f" {row['speedup']:.2f}x" if row["speedup"] else ""
        return row["verdict"] in DECIDED, f"{row['treatment']}={row['value']}: {row['verdict']}{figure}"
    return None, "none"


def prove(loopscope, name, budget):
    with tempfile.TemporaryDirectory(prefix="prove-budget-") as folder:
        out = pathlib.Path(folder) / "run"
        json_file = pathlib.Path(folder) / "report.json"
        begun = time.monotonic()
        command = [loopscope, "prove", "--budget", budget, "-o", out, "--json", json_file, "--", *PROGRAMS[name]]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        took = time.monotonic() - begun
        if done.returncode not in (0, 3) or not json_file.exists():
            raise SystemExit(f"{name}: exit {done.returncode}: {done.stderr[-800:]}")
        report = json.loads(json_file.read_text())
        return report, spent(out / "journal.jsonl"), took


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--loopscope", default=BUILD / "loopscope")
    parser.add_argument("--beside", help="the loopscope of another build")
    parser.add_argument("--budget", default="3m")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    tools = {"this": options.loopscope} | ({"before": options.beside} if options.beside else {})
    rows = []
    decided = {tool: 0 for tool in tools}
    for name in options.names:
        for tool, loopscope in tools.items():
            report, seconds, took = prove(loopscope, name, options.budget)
            both = [of_set(report), of_costliest(report)]
            decided[tool] += all(sure for sure, _ in both)
            where = ", ".join(f"{phase} {value:.0f} s" for phase, value in seconds.most_common())
            step = report["steps"]["mean_ms"]
            row = f"| {name} | {step:.3g} ms | {both[0][1]} | {both[1][1]} | {took:.0f} s | {where} |"
            print(f"{tool}: {row}", flush=True)
            if tool == "this":
                rows.append(row)
    for tool, count in decided.items():
        print(f"{tool}: a verdict for the set and for the costliest fix in {count} of {len(options.names)}")
    if options.write:
        refill(ROOT / "docs/speedups.md", "budget", [*HEAD, *rows])


if __name__ == "__main__":
    main()
