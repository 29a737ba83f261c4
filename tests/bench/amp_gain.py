#!/usr/bin/env python3
"""Whether what fp32-compute expects of bfloat16 comes true: for each of ten networks the expected gain, tried out at the
end of a diagnosis, against the speedup that `prove` measures. Writes its table in docs/speedups.md with --write.

Usage: amp_gain.py [--build build] [--write] [NETWORK…]"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from networks import NETWORKS

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from pages import refill  # noqa: E402

PAGE = ROOT / "docs/speedups.md"
CLEARLY = 0.03  # of the step: closer to none than this, either sign will do
HEAD = [
    "| network | step | expected | measured by `prove`, 95 % interval | agrees |",
    "|---|---|---|---|---|",
]


def loopscope(build, folder, *arguments):
    path = pathlib.Path(tempfile.mkdtemp(dir=folder))
    done = subprocess.run([build / "loopscope", arguments[0], "-o", path / "out", "--json", path / "json", "--quiet",
                           *arguments[1:]], stdout=subprocess.DEVNULL, cwd=path, timeout=900)  # fmt: skip
    if done.returncode not in (0, 3):
        raise SystemExit(f"loopscope {arguments[0]} ended with {done.returncode}")
    return json.loads((path / "json").read_text())


def measure(build, folder, name):
    command = ["--", sys.executable, ROOT / "tests" / "bench" / "networks.py", name]
    report = loopscope(build, folder, "run", "--time", "10s", *command)
    (rule,) = [row for row in report["rules"] if row["id"] == "fp32-compute"]
    found = [one for one in report["findings"] if one["rule"] == "fp32-compute"]
    mean_ms = report["steps"]["mean_ms"]
    gain_ms = (found[0]["expected_gain_ms"] if found else 0) or 0
    trials = loopscope(build, folder, "prove", "--only", "amp=bf16", "--budget", "90s", *command)["trials"]
    (trial,) = [row for row in trials if row["treatment"] == "amp"]
    expected = 1 / (1 - gain_ms / mean_ms)
    return {"name": name, "step_ms": mean_ms, "rule": rule["verdict"], "reason": rule["reason"],
            "expected": expected, "speedup": trial["speedup"], "ci95": trial["ci95"]}  # fmt: skip


def agrees(row):
    expected, measured = row["expected"] - 1, row["speedup"] - 1
    if row["rule"] == "clear":
        return measured < CLEARLY
    return expected * measured > 0 or min(abs(expected), abs(measured)) < CLEARLY


def line(row):
    expected = "clear" if row["rule"] == "clear" else f"{row['expected']:.2f}x"
    low, high = row["ci95"] or (None, None)
    interval = f" [{low:.2f}, {high:.2f}]" if low else ""
    return (f"| {row['name']} | {row['step_ms']:.2f} ms | {expected} | {row['speedup']:.2f}x{interval} | "
            f"{'yes' if agrees(row) else 'no'} |")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as folder:
        for name in options.networks:
            rows.append(measure(options.build.resolve(), folder, name))
            print(line(rows[-1]), rows[-1]["reason"], flush=True)
    agreeing = sum(agrees(row) for row in rows)
    print(f"{agreeing} of {len(rows)} agree")
    if options.write:
        cpu = next(one.partition(":")[2].strip() for one in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                   if one.startswith("model name"))  # fmt: skip
        refill(PAGE, "bfloat16", [*HEAD, *map(line, rows), "", f"{agreeing} of {len(rows)} agree, on {cpu}."])
    return 0 if agreeing == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
