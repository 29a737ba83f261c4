#!/usr/bin/env python3
"""What Loopscope adds to a step of a small CNN in Python: the diagnosis with its detail window closed, in its first steps
(every operator is recorded) and behind them (those of some steps), and the step clock of a timed trial, beside
torch.profiler (CPU activity, no shapes) on the same script.

The script runs plain and in each of these ways: programs that take turns, so that differences are taken within a second; a
block is one set of them. Exits with 1 when a limit is exceeded beyond the interval, with 3 when something could not be
measured.
"""

import contextlib
import os
import pathlib
import random
import statistics
import sys
import tempfile

from paired import CannotMeasure, interval, outcome
from turns import Player, added, options, take_turns

ARMS = ("plain", "all", "long", "clock", "profiler")
# What the launcher asks of the probes. A turn's first steps, which are not timed, use up the one step with all operators.
ASKED = {
    "all": {"LOOPSCOPE_MODE": "trace", "LOOPSCOPE_ALL_OPS": "0"},
    "long": {"LOOPSCOPE_MODE": "trace", "LOOPSCOPE_ALL_OPS": "1"},
    "clock": {"LOOPSCOPE_MODE": "clock"},
}
MOST_TRACE_PCT, MOST_OF_PROFILER, MOST_CLOCK_PCT = 5.0, 1 / 3, 0.5
# Memory that a step frees stays with the program. Whether glibc gives it back to the kernel, to fetch it anew in the next
# step, hangs on what lies behind it on the heap, and would make any program that records something look faster or slower.
HEAP = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
SCRIPT = pathlib.Path(__file__).with_name("small_cnn.py")


def start(build, arm, steps, batch, folder):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LOOPSCOPE_")} | HEAP
    if arm in ASKED:
        environment.update(
            ASKED[arm],
            LD_PRELOAD=str(build / "probes" / "libloopscope_preload.so"),
            PYTHONPATH=str(build / "probes" / "python" / "site"),
            LOOPSCOPE_RUN_DIR=str(folder / arm),
            LOOPSCOPE_WARMUP="10",
            LOOPSCOPE_STEPS="0",
            LOOPSCOPE_DETAIL="1",  # of the steps; closed before the first turn that counts
        )
        (folder / arm).mkdir()
    return Player(arm, [sys.executable, SCRIPT, "profiler" if arm == "profiler" else "plain", str(steps), str(batch)], environment)


def block(chosen, order):
    with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as name, contextlib.ExitStack() as running:
        folder = pathlib.Path(name)
        players = [running.enter_context(start(chosen.build, arm, chosen.steps, chosen.batch, folder)) for arm in ARMS]
        measured = take_turns(players, chosen.rounds, order)
        for arm in ASKED:
            if not list((folder / arm).glob("*.cap")):
                raise CannotMeasure(f"{arm}: no capture was written")
        return measured


def line(name, adds, plain):
    estimate, low, high = interval(adds)
    percents = interval([100 * one / base for one, base in zip(adds, plain)])
    print(f"{name:<16} {estimate:+8.1f} us per step, 95% CI [{low:.1f}, {high:.1f}]: "
          f"{percents[0]:+.2f} % [{percents[1]:.2f}, {percents[2]:.2f}]")
    return percents


def report(measured, clock):
    """Prints the table; returns the limits that were exceeded."""
    plain = [statistics.median(one["plain"][clock] for one in block) for block in measured]
    adds = {arm: [added(block, arm, "plain", clock) for block in measured] for arm in ARMS[1:]}
    print(f"clock            {clock:>8} time, n={len(measured)}")
    print(f"step alone       {statistics.median(plain):8.1f} us, spread {min(plain):.1f} to {max(plain):.1f}")
    diagnoses = {"every operator": "all", "a long window": "long"}
    percents = {name: line(name, adds[arm], plain) for name, arm in diagnoses.items()}
    step_clock = line("step clock", adds["clock"], plain)
    line("torch.profiler", adds["profiler"], plain)
    if min(adds["profiler"]) <= 0:
        raise CannotMeasure("too noisy: in a block the profiler seems to cost nothing; use more --rounds")
    limits = [("step clock", step_clock, MOST_CLOCK_PCT, "% of the step")]
    for name, arm in diagnoses.items():
        ratio = interval([one / other for one, other in zip(adds[arm], adds["profiler"])])
        print(f"{name:<16} {ratio[0]:8.3f} of torch.profiler's cost, 95% CI [{ratio[1]:.3f}, {ratio[2]:.3f}]")
        limits += [(name, percents[name], MOST_TRACE_PCT, "% of the step"), (name, ratio, MOST_OF_PROFILER, "of torch.profiler")]
    return [f"{name}: over {limit:.3g} {unit}" for name, (_, low, _), limit, unit in limits if low > limit]


def own_options(parser):
    parser.add_argument("--batch", type=int, default=8, help="samples in a step: with 8 a step takes some 3 ms")


def main():
    chosen = options(__doc__, "steps", 32, "wall", own_options)

    def measure():
        if not (chosen.build / "probes" / "python" / "site" / "sitecustomize.py").exists():
            raise CannotMeasure(f"{chosen.build}/probes is missing: run `make build`")
        order = random.Random(chosen.seed)
        exceeded = report([block(chosen, order) for _ in range(chosen.blocks)], chosen.clock)
        for one in exceeded:
            print(f"exceeded         {one}")
        return 1 if exceeded else 0

    return outcome("python_overhead", measure)


if __name__ == "__main__":
    sys.exit(main())
