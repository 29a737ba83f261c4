#!/usr/bin/env python3
"""What Loopscope adds to a step of a small CNN in Python: the diagnosis with its detail window closed, and the step clock
of a timed trial, beside torch.profiler (CPU activity, no shapes) on the same script.

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

ARMS = ("plain", "trace", "clock", "profiler")
MOST_TRACE_PCT, MOST_OF_PROFILER, MOST_CLOCK_PCT = 5.0, 1 / 3, 0.5
SCRIPT = pathlib.Path(__file__).with_name("small_cnn.py")


def start(build, arm, steps, batch, folder):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LOOPSCOPE_")}
    if arm in ("trace", "clock"):
        environment.update(
            LD_PRELOAD=str(build / "probes" / "libloopscope_preload.so"),
            PYTHONPATH=str(build / "probes" / "python" / "site"),
            LOOPSCOPE_RUN_DIR=str(folder / arm),
            LOOPSCOPE_MODE=arm,
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
        for arm in ("trace", "clock"):
            if not list((folder / arm).glob("*.cap")):
                raise CannotMeasure(f"{arm}: no capture was written")
        return measured


def line(name, adds, plain):
    estimate, low, high = interval(adds)
    percents = interval([100 * one / base for one, base in zip(adds, plain)])
    print(f"{name:<15} {estimate:+8.1f} us per step, 95% CI [{low:.1f}, {high:.1f}]: "
          f"{percents[0]:+.2f} % [{percents[1]:.2f}, {percents[2]:.2f}]")
    return percents


def report(measured, clock):
    """Prints the table; returns the limits that were exceeded."""
    plain = [statistics.median(one["plain"][clock] for one in block) for block in measured]
    adds = {arm: [added(block, arm, "plain", clock) for block in measured] for arm in ARMS[1:]}
    print(f"clock           {clock:>8} time, n={len(measured)}")
    print(f"step alone      {statistics.median(plain):8.1f} us, spread {min(plain):.1f} to {max(plain):.1f}")
    trace = line("diagnosis", adds["trace"], plain)
    step_clock = line("step clock", adds["clock"], plain)
    line("torch.profiler", adds["profiler"], plain)
    if min(adds["profiler"]) <= 0:
        raise CannotMeasure("too noisy: in a block the profiler seems to cost nothing; use more --rounds")
    ratio = interval([one / other for one, other in zip(adds["trace"], adds["profiler"])])
    print(f"diagnosis costs {ratio[0]:8.3f} of torch.profiler, 95% CI [{ratio[1]:.3f}, {ratio[2]:.3f}]")
    limits = (("diagnosis", trace, MOST_TRACE_PCT, "% of the step"), ("step clock", step_clock, MOST_CLOCK_PCT, "% of the step"),
              ("diagnosis", ratio, MOST_OF_PROFILER, "of torch.profiler"))
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
            print(f"exceeded        {one}")
        return 1 if exceeded else 0

    return outcome("python_overhead", measure)


if __name__ == "__main__":
    sys.exit(main())
