#!/usr/bin/env python3
"""What Loopscope adds to a step of a small CNN in Python: `loopscope run` with its detail window closed, and the step clock
of a timed trial, beside torch.profiler (CPU activity, no shapes) on the same script. Steps as short as these have their
operators recorded in part only; what a step costs that has them all stands there too, with and without what else a run
does in it, and what a step of the detail window costs.

The script runs plain and in each of these ways: programs that take turns, so that differences are taken within a second; a
block is one set of them. With a second --build, say one of before a change, the same ways run from there too, and what the
first build costs of the second's is shown. Exits with 1 when a limit is exceeded beyond the interval, with 3 when
something could not be measured.
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

ARMS = ("plain", "all", "records", "detail", "run", "clock", "profiler")
# What the launcher asks of the probes: every step's operators; the same, while no calls are followed; every step as in the
# detail window; a default run's operators, behind its first steps; none.
TRACE = {"LOOPSCOPE_MODE": "trace", "LOOPSCOPE_ALL_OPS": "0", "LOOPSCOPE_DETAIL": "5"}
ASKED = {
    "all": TRACE,
    "records": TRACE | {"LOOPSCOPE_DETAIL": "0"},
    "detail": TRACE | {"LOOPSCOPE_DETAIL": "1000000"},
    "run": TRACE | {"LOOPSCOPE_ALL_OPS": "1000000"},
    "clock": {"LOOPSCOPE_MODE": "clock"},
}
NAMES = {
    "all": "every operator",
    "records": "records alone",
    "detail": "detail window",
    "run": "a run",
    "clock": "step clock",
    "profiler": "torch.profiler",
}
# A default run of short steps, behind its detail window of 5: it has 50 steps with all operators, the first 16 and then
# one in four (probes/preload/settings.cpp).
FIRST, OTHERS = 16 - 5, 4 * (50 - 16)
MOST_TRACE_PCT, MOST_OF_PROFILER, MOST_CLOCK_PCT = 5.0, 1 / 3, 0.5
# Memory that a step frees stays with the program. Whether glibc gives it back to the kernel, to fetch it anew in the next
# step, hangs on what lies behind it on the heap, and would make any program that records something look faster or slower.
HEAP = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
SCRIPT = pathlib.Path(__file__).with_name("small_cnn.py")


def environment_of(build, arm, folder):
    """What a launch of an arm runs with; its capture comes into the folder."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LOOPSCOPE_")} | HEAP
    if arm in ASKED:
        environment.update(
            ASKED[arm],
            LD_PRELOAD=preloaded(build, ASKED[arm]["LOOPSCOPE_MODE"]),
            PYTHONPATH=str(build / "probes" / "python" / "site"),
            LOOPSCOPE_RUN_DIR=str(folder),
            LOOPSCOPE_WARMUP="10",
            LOOPSCOPE_STEPS="0",
        )
    return environment


def start(build, arm, name, steps, batch, folder):
    (folder / name).mkdir()
    mode = "profiler" if arm == "profiler" else "plain"
    command = [sys.executable, SCRIPT, mode, str(steps), str(batch)]
    return Player(name, command, environment_of(build, arm, folder / name))


def of_second(arm):
    """The name of an arm that runs from the second build."""
    return f"{arm} (2)"


def block(chosen, order):
    with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as name, contextlib.ExitStack() as running:
        folder = pathlib.Path(name)
        named = [(chosen.build, arm, arm) for arm in chosen.arms]
        named += [(build, arm, of_second(arm)) for build in chosen.builds[1:] for arm in chosen.arms if arm in ASKED]
        players = [
            running.enter_context(start(build, arm, name, chosen.steps, chosen.batch, folder))
            for build, arm, name in named
        ]
        measured = take_turns(players, chosen.rounds, order)
        for _, arm, name in named:
            if arm in ASKED and not list((folder / name).glob("*.cap")):
                raise CannotMeasure(f"{name}: no capture was written")
        return measured


def line(name, adds, plain):
    estimate, low, high = interval(adds)
    percents = interval([100 * one / base for one, base in zip(adds, plain)])
    print(
        f"{name:<18} {estimate:+8.1f} us per step, 95% CI [{low:.1f}, {high:.1f}]: "
        f"{percents[0]:+.2f} % [{percents[1]:.2f}, {percents[2]:.2f}]"
    )
    return percents


def beside(name, adds, others, whose):
    if min(others) <= 0:
        raise CannotMeasure(f"too noisy: in a block {whose} seems to be nothing; use more --rounds")
    ratio = interval([one / other for one, other in zip(adds, others)])
    print(f"{name:<18} {ratio[0]:6.3f} of {whose}, 95% CI [{ratio[1]:.3f}, {ratio[2]:.3f}]")
    return ratio


def with_runs(adds, named=lambda arm: arm):
    """The costs by arm, that of a whole run in place of its later steps' where its first ones were measured too."""
    if named("run") not in adds:
        return adds
    if named("all") not in adds:
        return {name: one for name, one in adds.items() if name != named("run")}
    both = zip(adds[named("all")], adds[named("run")])
    return adds | {named("run"): [(FIRST * one + OTHERS * other) / (FIRST + OTHERS) for one, other in both]}


def report(measured, clock):
    """Prints the table; returns the limits that were exceeded."""
    plain = [statistics.median(one["plain"][clock] for one in block) for block in measured]
    arms = [arm for arm in measured[0][0] if arm != "plain"]
    adds = {arm: [added(block, arm, "plain", clock) for block in measured] for arm in arms}
    adds = with_runs(with_runs(adds), of_second)
    print(f"clock              {clock:>8} time, n={len(measured)}")
    print(f"step alone         {statistics.median(plain):8.1f} us, spread {min(plain):.1f} to {max(plain):.1f}")
    shares = {}
    for arm, name in NAMES.items():
        if arm in adds:
            shares[arm] = line(name, adds[arm], plain)
        if of_second(arm) in adds:
            line(of_second(name), adds[of_second(arm)], plain)
            beside(name, adds[arm], adds[of_second(arm)], "the second build's cost")
    limits = [("a run", shares.get("run"), MOST_TRACE_PCT, "% of the step")]
    limits.append(("step clock", shares.get("clock"), MOST_CLOCK_PCT, "% of the step"))
    if "profiler" in adds:
        ratios = {
            arm: beside(NAMES[arm], adds[arm], adds["profiler"], "torch.profiler's cost")
            for arm in ("all", "records", "run")
            if arm in adds
        }
        limits.append(("a run", ratios.get("run"), MOST_OF_PROFILER, "of torch.profiler"))
    return [f"{name}: over {limit:.3g} {unit}" for name, share, limit, unit in limits if share and share[1] > limit]


def chosen_arms(text):
    arms = text.split(",")
    if not set(arms) <= set(ARMS):
        raise argparse.ArgumentTypeError(f"known are {', '.join(ARMS)}")
    return [arm for arm in ARMS if arm == "plain" or arm in arms]


def own_options(parser):
    parser.add_argument("--batch", type=int, default=8, help="samples in a step: with 8 a step takes 2 to 3 ms")
    parser.add_argument("--arms", type=chosen_arms, default=list(ARMS), help=f"fewer of {','.join(ARMS)}")


def main():
    chosen = options(__doc__, "steps", 32, "wall", own_options, most_builds=2)
    if chosen.steps < 32:
        print(
            "python_overhead: --steps must be at least 32: those that warm up are a run's first ones", file=sys.stderr
        )
        return 2

    def measure():
        for build in chosen.builds:
            if not (build / "probes" / "python" / "site" / "sitecustomize.py").exists():
                raise CannotMeasure(f"{build}/probes is missing: run `make build`")
        order = random.Random(chosen.seed)
        exceeded = report([block(chosen, order) for _ in range(chosen.blocks)], chosen.clock)
        for one in exceeded:
            print(f"exceeded           {one}")
        return 1 if exceeded else 0

    return outcome("python_overhead", measure)


if __name__ == "__main__":
    sys.exit(main())
