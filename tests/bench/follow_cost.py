#!/usr/bin/env python3
"""What following a call costs a Python program (probes/preload/follow/plan.h, kCallNs): steps of a script that makes so
many calls each, followed ones against those beside them that are neither followed nor recorded in detail. The bound is
kept by the median; the interval is the bootstrap's, over pairs of neighbours.
"""

import argparse
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from capture_records import Capture  # noqa: E402

MOST_NS = 400
SCRIPT = """
import torch

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.rand(4, 4)


def own(value):
    return abs(value)


for _ in range({steps}):
    for number in range({calls}):
        own(number)
    optimizer.zero_grad()
    model(inputs).sum().backward()
    optimizer.step()
"""


def step_times(capture):
    """(length in ns, calls followed in it) of the steps after the detail window; followed calls None where a step is
    followed in part."""
    detail_ends = [mark[3] for mark in capture.of(14)]
    ends = [mark[3] for mark in capture.of("step") if not detail_ends or mark[3] > detail_ends[0]]
    followed = [(begin[3], end[3], end[2]) for begin, end in zip(capture.of(22), capture.of(23))]
    for begin, end in zip(ends, ends[1:]):
        inside = [(min(end, b) - max(begin, a), calls) for a, b, calls in followed if a < end and b > begin]
        covered = sum(length for length, _ in inside)
        if covered > 0.95 * (end - begin):
            yield end - begin, max(calls for _, calls in inside)
        elif covered < 0.01 * (end - begin):
            yield end - begin, 0


def costs(steps):
    """ns per call, from each followed step and the one before it."""
    return [
        (after[0] - before[0]) / after[1] for before, after in zip(steps, steps[1:]) if after[1] > 0 and before[1] == 0
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=1500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as name:
        folder = pathlib.Path(name)
        (folder / "calls.py").write_text(SCRIPT.format(steps=options.steps, calls=options.calls))
        command = [options.build / "loopscope", "run", "--steps", "0", "-o", folder / "out", "--json", folder / "json"]
        subprocess.run(
            [*command, "--", sys.executable, folder / "calls.py"], check=True, stdout=subprocess.DEVNULL, timeout=600
        )
        found = costs(list(step_times(Capture(next((folder / "out").glob("*.cap"))))))
    if len(found) < 10:
        print(f"only {len(found)} followed steps beside undisturbed ones: run longer (--steps)")
        return 3
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(found, k=len(found))) for _ in range(2000))
    low, high = medians[50], medians[1949]
    print(
        f"following a call: {statistics.median(found):.0f} ns [{low:.0f}, {high:.0f}] over {len(found)} pairs of steps"
    )
    return 1 if low > MOST_NS else 0


if __name__ == "__main__":
    sys.exit(main())
