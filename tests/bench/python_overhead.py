#!/usr/bin/env python3
"""What Loopscope adds to a step of a small CNN in Python: `loopscope run` with its detail window closed, and the step clock
of a timed trial, beside torch.profiler (CPU activity, no shapes) on the same script. Steps as short as these have their
operators recorded in part only; what a step costs that has them all stands there too.

The script runs plain and in each of these ways: programs that take turns, so that differences are taken within a second; a
block is one set of them. Exits with 1 when a limit is exceeded beyond the interval, with 3 when something could not be
measured.
"""

import argparse
import contextlib
import os
import pathlib
import random
import statistics
import sys
import tempfile

from paired import CannotMeasure, interval, outcome
from turns import Player, added, options, preloaded, take_turns

ARMS = ("plain", "all", "run", "clock", "profiler")
# What the launcher asks of the probes: every step's operators; those of a default run, behind its first steps; none.
ASKED = {
    "all": {"LOOPSCOPE_MODE": "trace", "LOOPSCOPE_ALL_OPS": "0"},
    "run": {"LOOPSCOPE_MODE": "trace", "LOOPSCOPE_ALL_OPS": "1000000"},
    "clock": {"LOOPSCOPE_MODE": "clock"},
}
# A default run of short steps, behind its detail window of 5: it has 50 steps with all operators, the first 16 and then
# one in four (probes/preload/settings.cpp).
FIRST, OTHERS = 16 - 5, 4 * (50 - 16)
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
            LD_PRELOAD=preloaded(build, ASKED[arm]["LOOPSCOPE_MODE"]),
            PYTHONPATH=str(build / "probes" / "python" / "site"),
            LOOPSCOPE_RUN_DIR=str(folder / arm),
            LOOPSCOPE_WARMUP="10",
            LOOPSCOPE_STEPS="0",
            LOOPSCOPE_DETAIL="5",  # closed before the first turn that counts
        )
        (folder / arm).mkdir()
    return Player(
        arm, [sys.executable, SCRIPT, "profiler" if arm == "profiler" else "plain", str(steps), str(batch)], environment
    )


def block(chosen, order):
    with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as name, contextlib.ExitStack() as running:
        folder = pathlib.Path(name)
        players = [
            running.enter_context(start(chosen.build, arm, chosen.steps, chosen.batch, folder)) for arm in chosen.arms
        ]
        measured = take_turns(players, chosen.rounds, order)
        for arm in ASKED.keys() & set(chosen.arms):
            if not list((folder / arm).glob("*.cap")):
                raise CannotMeasure(f"{arm}: no capture was written")
        return measured


def line(name, adds, plain):
    estimate, low, high = interval(adds)
    percents = interval([100 * one / base for one, base in zip(adds, plain)])
    print(
        f"{name:<16} {estimate:+8.1f} us per step, 95% CI [{low:.1f}, {high:.1f}]: "
        f"{percents[0]:+.2f} % [{percents[1]:.2f}, {percents[2]:.2f}]"
    )
    return percents


def beside(name, adds, profilers):
    if min(profilers) <= 0:
        raise CannotMeasure("too noisy: in a block the profiler seems to cost nothing; use more --rounds")
    ratio = interval([one / other for one, other in zip(adds, profilers)])
    print(f"{name:<16} {ratio[0]:8.3f} of torch.profiler's cost, 95% CI [{ratio[1]:.3f}, {ratio[2]:.3f}]")
    return ratio


def report(measured, clock):
    """Prints the table; returns the limits that were exceeded."""
    arms = measured[0][0].keys()
    plain = [statistics.median(one["plain"][clock] for one in block) for block in measured]
    adds = {arm: [added(block, arm, "plain", clock) for block in measured] for arm in arms}
    print(f"clock            {clock:>8} time, n={len(measured)}")
    print(f"step alone       {statistics.median(plain):8.1f} us, spread {min(plain):.1f} to {max(plain):.1f}")
    limits = []
    if {"all", "run"} <= arms:
        line("every operator", adds["all"], plain)
        run = [(FIRST * one + OTHERS * other) / (FIRST + OTHERS) for one, other in zip(adds["all"], adds["run"])]
        limits.append(("a run", line("a run", run, plain), MOST_TRACE_PCT, "% of the step"))
    if "clock" in arms:
        limits.append(("step clock", line("step clock", adds["clock"], plain), MOST_CLOCK_PCT, "% of the step"))
    if "profiler" in arms:
        line("torch.profiler", adds["profiler"], plain)
    if {"all", "run", "profiler"} <= arms:
        beside("every operator", adds["all"], adds["profiler"])
        limits.append(("a run", beside("a run", run, adds["profiler"]), MOST_OF_PROFILER, "of torch.profiler"))
    return [f"{name}: over {limit:.3g} {unit}" for name, (_, low, _), limit, unit in limits if low > limit]


def chosen_arms(text):
    arms = text.split(",")
    if not set(arms) <= set(ARMS):
        raise argparse.ArgumentTypeError(f"known are {', '.join(ARMS)}")
    return [arm for arm in ARMS if arm == "plain" or arm in arms]


def own_options(parser):
    parser.add_argument("--batch", type=int, default=8, help="samples in a step: with 8 a step takes 2 to 3 ms")
    parser.add_argument("--arms", type=chosen_arms, default=list(ARMS), help=f"fewer of {','.join(ARMS)}")


def main():
    chosen = options(__doc__, "steps", 32, "wall", own_options)
    if chosen.steps < 32:
        print(
            "python_overhead: --steps must be at least 32: those that warm up are a run's first ones", file=sys.stderr
        )
        return 2

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
