#!/usr/bin/env python3
"""How fast a trace of PyTorch's profiler becomes a full report, and in how much memory.

The whole report, all rules included, beside what reading the file costs at least: a bare pass of simdjson over every
field, or expanding the .gz and nothing else, by zlib (gzip) and by ISA-L. Each is a process of its own; all are timed in
random order within a block, and ratios are taken within it. The trace is made here, or named with --trace. Exits with 3
when something could not be measured.
"""

import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from paired import CannotMeasure, interval
from paired import blocks as run_blocks

MB = 1e6


class Tools:
    """The programs of one build, started with the priority that was asked for."""

    def __init__(self, build, realtime):
        self.prefix = ["chrt", "-f", "50"] if realtime else []
        self.loopscope, self.pass_over, self.writer = (
            build / "loopscope",
            build / "tests/kineto_pass",
            build / "tests/kineto_writer",
        )
        for needed in (self.loopscope, self.pass_over, self.writer):
            if not needed.exists():
                raise CannotMeasure(f"{needed} is missing: install libsimdjson-dev, then run `make build`")

    def run(self, *command):
        """Wall seconds and peak bytes of one process."""
        begun = time.perf_counter()
        child = subprocess.Popen([*self.prefix, *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        with child.stderr:
            message = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise CannotMeasure(f"{command[0]}: exit {child.returncode}: {message.decode()[-400:]}")
        return {"s": seconds, "peak": usage.ru_maxrss * 1024}

    def report(self, trace):
        return self.run(self.loopscope, "report", trace)

    def write(self, path, megabytes):
        """Gives how many events it holds, flows and memory events included."""
        return int(subprocess.run([self.writer, path, str(megabytes)], check=True, capture_output=True).stdout)

    def kept_events(self, trace):
        text = subprocess.run([self.loopscope, "report", "--format", "json", trace], check=True, capture_output=True)
        return json.loads(text.stdout)["quality"]["events"]


def compare(name, arms, measured, count, seed, limit):
    """Runs `arms` (label: call) in blocks and prints the ratio of `measured` to each of the others."""
    blocks = run_blocks(list(arms), lambda arm: arms[arm](), count, seed)
    seconds = {arm: [block[arm]["s"] for block in blocks] for arm in arms}
    print(f"{name}: {measured} {statistics.median(seconds[measured]):.3f} s", flush=True)
    for reference in arms:
        if reference == measured:
            continue
        estimate, low, high = interval([b / a for a, b in zip(seconds[reference], seconds[measured])])
        print(
            f"  {reference} {statistics.median(seconds[reference]):.3f} s: ratio {estimate:.2f}, 95% CI "
            f"[{low:.2f}, {high:.2f}], n={count}; aim: at most {limit}",
            flush=True,
        )
    return blocks


def compress(trace):
    packed = trace.with_name(trace.name + ".gz")
    with trace.open("rb") as plain, gzip.open(packed, "wb", compresslevel=6) as out:
        shutil.copyfileobj(plain, out, 1 << 20)
    return packed


def measure_one_trace(tools, trace, options):
    blocks = compare(
        f"{trace.stat().st_size / MB:.0f} MB",
        {
            "simdjson's pass": lambda: tools.run(tools.pass_over, "simdjson", trace),
            "report": lambda: tools.report(trace),
        },
        "report",
        options.blocks,
        options.seed,
        1.5,
    )
    print(f"  peak {max(block['report']['peak'] for block in blocks) / MB:.0f} MB; aim: at most 350", flush=True)
    packed = compress(trace)
    try:
        compare(
            f"{packed.stat().st_size / MB:.0f} MB of .gz",
            {
                "gzip -dc": lambda: tools.run("gzip", "-dc", packed),
                "ISA-L alone": lambda: tools.run(tools.pass_over, "gunzip", packed),
                "report": lambda: tools.report(packed),
            },
            "report",
            options.blocks,
            options.seed,
            1.2,
        )
    finally:
        packed.unlink()


def measure_growth(tools, folder, sizes):
    """Peak memory as the file grows; the slope is what each further event takes."""
    points = []
    trace = folder / "growing.json"
    for megabytes in sizes:
        events = tools.write(trace, megabytes)
        peak = statistics.median(tools.report(trace)["peak"] for _ in range(3))
        points.append((events, tools.kept_events(trace), peak))
        print(f"{megabytes} MB, {events:,} events: peak {peak / MB:.0f} MB", flush=True)
        trace.unlink()
    for before, after in zip(points, points[1:]):
        events, kept, peak = (b - a for a, b in zip(before, after))
        print(
            f"  {peak / events:.1f} bytes per further event (aim: at most 64), {peak / kept:.1f} per further one that is "
            "kept (flows are not)",
            flush=True,
        )


def measure_ranks(tools, folder, ranks, megabytes, options):
    one = folder / "one.json"
    tools.write(one, megabytes)
    together = folder / "ranks"
    together.mkdir()
    traces = [together / f"rank{rank}.json" for rank in range(ranks)]
    for trace in traces:
        os.link(one, trace)
    cores = len(os.sched_getaffinity(0))

    def singles():
        begun = time.perf_counter()
        with concurrent.futures.ThreadPoolExecutor(cores) as pool:
            peaks = [done["peak"] for done in pool.map(tools.report, traces)]
        return {"s": time.perf_counter() - begun, "peak": max(peaks)}

    arms = {"single reports": singles, "folder": lambda: tools.report(together)}
    blocks = compare(f"{ranks} x {megabytes} MB", arms, "folder", max(6, options.blocks // 2), options.seed, 1.3)
    single, all_ranks = (max(block[arm]["peak"] for block in blocks) for arm in arms)
    print(f"  peak {all_ranks / MB:.0f} MB with {cores} in flight, {single / MB:.0f} MB for one alone")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--trace", type=pathlib.Path, help="a trace to read instead of one that is made here")
    parser.add_argument("--megabytes", type=int, default=509, help="size of the trace that is made")
    parser.add_argument(
        "--growth", type=int, nargs="*", default=[500, 1000, 2000], metavar="MB", help="sizes to grow to"
    )
    parser.add_argument("--ranks", type=int, default=64, help="copies of one rank; 0: leave that out")
    parser.add_argument("--blocks", type=int, default=12, help="at least 6, for an interval")
    parser.add_argument("--realtime", action="store_true", help="under chrt -f 50, for a busy machine; needs root")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.blocks < 6:
        parser.error("--blocks must be at least 6")
    try:
        tools = Tools(options.build.resolve(), options.realtime)
        with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as name:
            folder = pathlib.Path(name)
            trace = folder / "trace.json"
            if options.trace:
                trace.symlink_to(options.trace.resolve())
            else:
                tools.write(trace, options.megabytes)
            measure_one_trace(tools, trace, options)
            trace.unlink()
            measure_growth(tools, folder, options.growth)
            if options.ranks:
                measure_ranks(tools, folder, options.ranks, 16, options)
    except (CannotMeasure, subprocess.SubprocessError, OSError, ValueError) as error:
        print(f"kineto_bench: cannot measure: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
