#!/usr/bin/env python3
"""What the LibTorch probe adds to each op, beside torch.profiler (CPU activity, no shapes) on the same loop.

Each block runs the loop plain, under the probe and under the profiler, each in a process of its own and in random
order; differences and ratios are taken within a block: of the loop alone, and of the whole program, since
torch.profiler leaves most of its work to the end. Exits with 3 when something could not be measured.
"""

import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from paired import CannotMeasure, blocks as run_blocks, interval, options, outcome

ARMS = ("plain", "probe", "kineto")
FILE_HEADER = struct.Struct("<8sHHIIIQQIIIIQQ")  # probes/wire.h, FileHeader
CHUNK_HEADER = struct.Struct("<IHHIIIIQ")  # probes/wire.h, ChunkHeader
CHUNK_MAGIC = 0x4B48434C


def capture_bytes(folder):
    """Bytes of records with their chunks' headers, and dropped records, over all captures in the folder."""
    used, dropped = 0, 0
    captures = list(folder.glob("*.cap"))
    if not captures:
        raise CannotMeasure("the probe wrote no capture: is libloopscope_torch.so beside libloopscope_preload.so?")
    for path in captures:
        data = path.read_bytes()
        header = FILE_HEADER.unpack_from(data)
        header_bytes, chunk_bytes, chunks = header[3], header[4], header[8]
        dropped += header[12]
        used += header_bytes
        for chunk in range(chunks):
            offset = header_bytes + chunk * chunk_bytes
            if offset + CHUNK_HEADER.size > len(data):
                break
            fields = CHUNK_HEADER.unpack_from(data, offset)
            if fields[0] == CHUNK_MAGIC:
                used += CHUNK_HEADER.size + fields[5]
    return used, dropped


def launch(build, arm, ops):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LOOPSCOPE_")}
    environment["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as folder:
        if arm == "probe":
            environment.update(
                LD_PRELOAD=str(build / "probes" / "libloopscope_preload.so"),
                LOOPSCOPE_RUN_DIR=folder,
                LOOPSCOPE_MODE="trace",
                LOOPSCOPE_WARMUP="10",
                LOOPSCOPE_STEPS="0",
                LOOPSCOPE_DETAIL="0",
            )
        command = [build / "tests" / "op_loop", "kineto" if arm == "kineto" else "plain", str(ops)]
        begun = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        program_s = time.perf_counter() - begun
        if done.returncode != 0:
            raise CannotMeasure(f"{arm}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
        result = json.loads(done.stdout.strip().splitlines()[-1])
        result["program"] = 1e9 * program_s / (result["ops"] + result["warmup_ops"])
        if arm == "probe":
            result["bytes"], result["dropped"] = capture_bytes(pathlib.Path(folder))
        return result


def measure(build, blocks, ops, seed):
    for needed in (build / "tests" / "op_loop", build / "probes" / "libloopscope_preload.so"):
        if not needed.exists():
            raise CannotMeasure(f"{needed} is missing: run `make build`")
    return run_blocks(ARMS, lambda arm: launch(build, arm, ops), blocks, seed)


def report_added(blocks, clock, what):
    """What each adds to an op by one clock, and the ratio of the two."""

    def nanoseconds(arm):
        return [block[arm][clock] for block in blocks]

    plain = nanoseconds("plain")
    added = {arm: [ns - base for ns, base in zip(nanoseconds(arm), plain)] for arm in ARMS[1:]}
    print(what)
    print(f"  op alone        {statistics.median(plain):7.1f} ns, spread {min(plain):.1f} to {max(plain):.1f}")
    for arm, name in (("probe", "Loopscope"), ("kineto", "torch.profiler")):
        estimate, low, high = interval(added[arm])
        print(f"  {name:<15} {estimate:+7.1f} ns per op, 95% CI [{low:.1f}, {high:.1f}], n={len(blocks)}")
    if min(added["kineto"]) <= 0:
        raise CannotMeasure("too noisy: in a block the profiler seems to cost nothing; use more --ops")
    estimate, low, high = interval([probe / kineto for probe, kineto in zip(added["probe"], added["kineto"])])
    print(f"  ratio           {estimate:7.3f} of torch.profiler's cost, 95% CI [{low:.3f}, {high:.3f}]")


def report(blocks, clock):
    report_added(blocks, clock, f"in the loop, {clock} time per op:")
    # torch.profiler makes its events when it stops, and the program waits for that.
    report_added(blocks, "program", "the whole program, start and end included, wall time per op:")
    probe = blocks[-1]["probe"]
    recorded = probe["ops"] + probe["warmup_ops"]
    events = blocks[-1]["kineto"]["events"] / blocks[-1]["kineto"]["ops"]
    print(f"capture         {probe['bytes'] / recorded / events:7.1f} bytes per op")
    dropped = sum(block["probe"]["dropped"] for block in blocks)
    print(f"dropped         {dropped:7d} of {recorded * len(blocks)} ops")
    if probe["bytes"] < recorded:
        raise CannotMeasure("the capture is too small to hold the ops: the probe recorded nothing")


def main():
    chosen = options(__doc__, "ops", 400_000, "wall")

    def measured():
        report(measure(chosen.build, chosen.blocks, chosen.ops, chosen.seed), chosen.clock)
        return 0

    return outcome("probe_cost", measured)


if __name__ == "__main__":
    sys.exit(main())
