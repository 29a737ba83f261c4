#!/usr/bin/env python3
"""What Loopscope adds to a step of a small CNN in Python: the diagnosis with its detail window closed, and the step clock
of a timed trial, beside torch.profiler (CPU activity, no shapes) on the same script.

Each block runs the script plain and in each of these ways, every time in a process of its own and in random order.
Exits with 1 when a limit is exceeded beyond the interval, with 3 when something could not be measured.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from paired import CannotMeasure, blocks as run_blocks, interval, options, outcome

ARMS = ("plain", "trace", "clock", "profiler")
MOST_TRACE_PCT, MOST_OF_PROFILER, MOST_CLOCK_PCT = 5.0, 1 / 3, 0.5
SCRIPT = pathlib.Path(__file__).with_name("small_cnn.py")


def launch(build, arm, steps):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LOOPSCOPE_")}
    with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as folder:
        if arm in ("trace", "clock"):
            environment.update(
                LD_PRELOAD=str(build / "probes" / "libloopscope_preload.so"),
                PYTHONPATH=str(build / "probes" / "python" / "site"),
                LOOPSCOPE_RUN_DIR=folder,
                LOOPSCOPE_MODE=arm,
                LOOPSCOPE_WARMUP="10",
                LOOPSCOPE_STEPS="0",
                LOOPSCOPE_DETAIL="0",
            )
        command = [sys.executable, SCRIPT, "profiler" if arm == "profiler" else "plain", str(steps)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise CannotMeasure(f"{arm}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
        captures = list(pathlib.Path(folder).glob("*.cap"))
        if arm in ("trace", "clock") and not captures:
            raise CannotMeasure(f"{arm}: no capture was written: {done.stderr.strip()[-400:]}")
        return json.loads(done.stdout.strip().splitlines()[-1])


def line(name, added, plain):
    estimate, low, high = interval(added)
    percents = interval([100 * one / base for one, base in zip(added, plain)])
    print(f"{name:<15} {estimate:+8.1f} us per step, 95% CI [{low:.1f}, {high:.1f}]: "
          f"{percents[0]:+.2f} % [{percents[1]:.2f}, {percents[2]:.2f}]")
    return percents


def report(measured, clock):
    """Prints the table; returns the limits that were exceeded."""
    steps = {arm: [block[arm][clock] for block in measured] for arm in ARMS}
    plain = steps["plain"]
    added = {arm: [one - base for one, base in zip(steps[arm], plain)] for arm in ARMS[1:]}
    print(f"clock           {clock:>8} time, n={len(measured)}")
    print(f"step alone      {statistics.median(plain):8.1f} us, spread {min(plain):.1f} to {max(plain):.1f}")
    trace = line("diagnosis", added["trace"], plain)
    step_clock = line("step clock", added["clock"], plain)
    line("torch.profiler", added["profiler"], plain)
    if min(added["profiler"]) <= 0:
        raise CannotMeasure("too noisy: in a block the profiler seems to cost nothing; use more --steps")
    ratio = interval([one / other for one, other in zip(added["trace"], added["profiler"])])
    print(f"diagnosis costs {ratio[0]:8.3f} of torch.profiler, 95% CI [{ratio[1]:.3f}, {ratio[2]:.3f}]")
    limits = (("diagnosis", trace, MOST_TRACE_PCT, "% of the step"), ("step clock", step_clock, MOST_CLOCK_PCT, "% of the step"),
              ("diagnosis", ratio, MOST_OF_PROFILER, "of torch.profiler"))
    return [f"{name}: over {limit:.3g} {unit}" for name, (_, low, _), limit, unit in limits if low > limit]


def main():
    chosen = options(__doc__, "steps", 640, "cpu")

    def measure():
        if not (chosen.build / "probes" / "python" / "site" / "sitecustomize.py").exists():
            raise CannotMeasure(f"{chosen.build}/probes is missing: run `make build`")
        measured = run_blocks(ARMS, lambda arm: launch(chosen.build, arm, chosen.steps), chosen.blocks, chosen.seed)
        exceeded = report(measured, chosen.clock)
        for one in exceeded:
            print(f"exceeded        {one}")
        return 1 if exceeded else 0

    return outcome("python_overhead", measure)


if __name__ == "__main__":
    sys.exit(main())
