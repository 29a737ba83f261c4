#!/usr/bin/env python3
"""A run of 1,024 ranks, made from the trace of one: the report of the folder at once, of summaries reduced, and of a Dask
cluster one of whose workers is killed. All three are the same report; the planted stragglers are named.

Usage: many_ranks.py TRACE [--ranks 1024] [--build build] [--scratch DIR]

TRACE is one rank's of torch.profiler (.json or .json.gz) with three steps or more and NCCL kernels on its device. The
other ranks are copies of it with their own numbers. Three of them are late: their collectives are short, since the
others wait for them, and so their own work is long; their traces differ in size, too. Prints ranks per second and peak
memory of each way."""

import argparse
import copy
import gzip
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LATE = {7: 0.05, 0.3: 0.25, 0.9: 0.4}  # rank, or share of the ranks: how long its collectives are, of what they were
DASK = """
import os, pathlib, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import dask_report
from distributed import Client, LocalCluster

if __name__ == "__main__":
    client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
    pid = list(client.run(os.getpid).values())[0]
    folder = pathlib.Path(sys.argv[3])
    folder.mkdir()
    urls = dask_report.expand(sys.argv[2])

    def kill():
        while len(list(folder.iterdir())) < len(urls) / 2:
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    failed = dask_report.gather(client, urls, folder)
    sys.exit(f"failed: {failed}" if failed else 0)
"""


def is_collective(event):
    return event.get("cat") == "kernel" and "nccl" in event.get("name", "").lower()


def variant(trace, share):
    """Its text after the first member, as gzip, with collectives of that share of their length."""
    changed = copy.copy(trace)
    events = trace["traceEvents"]
    if share != 1:
        events = [{**one, "dur": one["dur"] * share} if is_collective(one) else one for one in events]
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"note {n}", "pid": 1, "tid": 1, "ts": events[0]["ts"] + n, "dur": 1}
            for n in range(int(1000 * share))
        ]  # fmt: skip
    changed["traceEvents"] = events
    del changed["distributedInfo"]
    return gzip.compress(json.dumps(changed)[1:].encode(), 6)


def late_ranks(count):
    """Their collectives' share, by rank."""
    return {rank if isinstance(rank, int) else int(rank * count): share for rank, share in LATE.items()}


def make_ranks(path, count, folder):
    text = path.read_bytes()
    trace = json.loads(gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text)
    if sum(map(is_collective, trace["traceEvents"])) < 3:
        sys.exit("the trace has no NCCL kernels on a device")
    late = late_ranks(count)
    bodies = {share: variant(trace, share) for share in {1, *late.values()}}
    for rank in range(count):
        info = {**trace["distributedInfo"], "rank": rank, "world_size": count}
        groups = [{**one, "pg_size": count, "ranks": list(range(count))} for one in info.get("pg_config", [])]
        info |= {"pg_config": groups} if groups else {}
        head = gzip.compress(("{" + f'"distributedInfo": {json.dumps(info)}, ').encode())
        # Two members: a gzip file may have several.
        (folder / f"rank{rank:04d}.json.gz").write_bytes(head + bodies[late.get(rank, 1)])


def run(*command, **options):
    """Its output, seconds and peak memory in MB, children that it waited for included."""
    begun = time.perf_counter()
    child = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, **options)
    with child.stdout:
        output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{command[0]} {command[1]}: exit {os.waitstatus_to_exitcode(status)}")
    return output, time.perf_counter() - begun, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--scratch", type=pathlib.Path)
    options = parser.parse_args()
    loopscope = options.build.resolve() / "loopscope"
    with tempfile.TemporaryDirectory(prefix="loopscope-bench-", dir=options.scratch) as name:
        scratch = pathlib.Path(name)
        (scratch / "traces").mkdir()
        # A process of its own: what it holds would count as memory of the commands that this one starts.
        maker = multiprocessing.get_context("spawn").Process(
            target=make_ranks, args=(options.trace, options.ranks, scratch / "traces")
        )
        maker.start()
        maker.join()
        if maker.exitcode != 0:
            return 3
        late = late_ranks(options.ranks)

        def line(what, seconds, megabytes, ranks=options.ranks):
            print(f"{what}: {seconds:.1f} s, {ranks / seconds:.0f} ranks/s, {megabytes:.0f} MB at its peak", flush=True)

        as_json = ["--format", "json"]
        whole, seconds, megabytes = run(loopscope, "report", *as_json, "traces", cwd=scratch)
        line("the folder at once", seconds, megabytes)
        _, seconds, megabytes = run(loopscope, "report", "--summary", "all.summary", "traces", cwd=scratch)
        line("summaries of the folder", seconds, megabytes)
        reduced, seconds, megabytes = run(loopscope, "report", *as_json, "--reduce", "all.summary", cwd=scratch)
        line("the reduce", seconds, megabytes)
        (scratch / "cluster.py").write_text(DASK)
        environment = {**os.environ, "LOOPSCOPE": str(loopscope)}
        _, seconds, megabytes = run(
            sys.executable, "cluster.py", ROOT / "integrations", "traces/rank*.json.gz", "summaries", cwd=scratch,
            env=environment,
        )  # fmt: skip
        line("Dask, two workers, one of them killed", seconds, megabytes)
        by_dask, seconds, megabytes = run(loopscope, "report", *as_json, "--reduce", "summaries", cwd=scratch)
        line("the reduce of Dask's summaries", seconds, megabytes)
        print("the same report three ways:", whole == reduced == by_dask)
        (straggler,) = [one for one in json.loads(whole)["findings"] if one["rule"] == "straggler"] or [None]
        told = straggler["title"] + "; " + "; ".join(one["text"] for one in straggler["evidence"]) if straggler else ""
        print(told or "no straggler found")
        missing = [rank for rank in late if f"rank {rank} " not in told + " "]
        print("late ranks that are not named:", missing or "none")
        return 0 if whole == reduced == by_dask and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
