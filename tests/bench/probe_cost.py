#!/usr/bin/env python3
"""What the LibTorch probe adds to each op, beside torch.profiler (CPU activity, no shapes) on the same loop.

The loop runs plain, under the probe and under the profiler: three programs that take turns, so that differences are taken
within a fraction of a second; a block is one set of them. The whole program is timed too, one launch of each in a block,
since torch.profiler leaves most of its work to the end. Exits with 1 when a limit is exceeded beyond the interval, with 3
when something could not be measured.
"""

import os
import pathlib
import random
import statistics
import struct
import sys
import tempfile
import time

from paired import CannotMeasure, interval, outcome
from turns import Player, added, options, preloaded, take_turns

ARMS = ("plain", "probe", "kineto")
MOST_OF_KINETO, MOST_BYTES = 1 / 3, 40
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


def start(build, arm, ops, folder):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LOOPSCOPE_")}
    environment["OMP_NUM_THREADS"] = "1"
    if arm == "probe":
        environment.update(
            LD_PRELOAD=preloaded(build, "trace"),
            LOOPSCOPE_RUN_DIR=folder,
            LOOPSCOPE_MODE="trace",
            LOOPSCOPE_WARMUP="10",
            LOOPSCOPE_STEPS="0",
            LOOPSCOPE_DETAIL="1",  # of the steps; closed before the first turn that counts
        )
    return Player(arm, [build / "tests" / "op_loop", "kineto" if arm == "kineto" else "plain", str(ops)], environment)


def whole_program(build, arm, ops, turns):
    """ns of wall time per op from start to end, with what is left in the capture."""
    with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as folder:
        begun = time.perf_counter()
        with start(build, arm, ops, folder) as program:
            for _ in range(turns):
                program.turn()
            last = program.end()
        last["wall"] = 1e9 * (time.perf_counter() - begun) / (last["ops"] + last["warmup_ops"])
        if arm == "probe":
            last["bytes"], last["dropped"] = capture_bytes(pathlib.Path(folder))
        return last


def block(build, ops, rounds, order):
    """What each arm adds to an op, in the loop and over the whole program."""
    with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as folder:
        with start(build, "plain", ops, folder) as plain, start(build, "probe", ops, folder) as probe:
            with start(build, "kineto", ops, folder) as kineto:
                in_loop = take_turns((plain, probe, kineto), rounds, order)
    whole = {arm: whole_program(build, arm, ops, rounds) for arm in order.sample(ARMS, len(ARMS))}
    return {"loop": in_loop, "whole": [whole], "capture": whole["probe"], "kineto": whole["kineto"]}


def report_added(blocks, part, clock, what):
    """What each adds to an op; gives the ratio of the two with its interval."""
    alone = [statistics.median(one["plain"][clock] for one in block[part]) for block in blocks]
    adds = {arm: [added(block[part], arm, "plain", clock) for block in blocks] for arm in ARMS[1:]}
    print(what)
    print(f"  op alone        {statistics.median(alone):7.1f} ns, spread {min(alone):.1f} to {max(alone):.1f}")
    for arm, name in (("probe", "Loopscope"), ("kineto", "torch.profiler")):
        estimate, low, high = interval(adds[arm])
        print(f"  {name:<15} {estimate:+7.1f} ns per op, 95% CI [{low:.1f}, {high:.1f}], n={len(blocks)}")
    if min(adds["kineto"]) <= 0:
        raise CannotMeasure("too noisy: in a block the profiler seems to cost nothing; use more --rounds")
    ratio = interval([probe / kineto for probe, kineto in zip(adds["probe"], adds["kineto"])])
    print(f"  ratio           {ratio[0]:7.3f} of torch.profiler's cost, 95% CI [{ratio[1]:.3f}, {ratio[2]:.3f}]")
    return ratio


def report(blocks, clock):
    """Prints the table; returns the limits that were exceeded."""
    ratio = report_added(blocks, "loop", clock, f"in the loop, {clock} time per op:")
    # torch.profiler makes its events when it stops, and the program waits for that.
    report_added(blocks, "whole", "wall", "the whole program, start and end included, wall time per op:")
    last = blocks[-1]
    recorded = last["capture"]["ops"] + last["capture"]["warmup_ops"]
    op_bytes = last["capture"]["bytes"] / recorded / (last["kineto"]["events"] / last["kineto"]["ops"])
    print(f"capture         {op_bytes:7.1f} bytes per op")
    print(f"dropped         {sum(block['capture']['dropped'] for block in blocks):7d} of {recorded * len(blocks)} ops")
    if last["capture"]["bytes"] < recorded:
        raise CannotMeasure("the capture is too small to hold the ops: the probe recorded nothing")
    limits = (
        ("probe", ratio[1], MOST_OF_KINETO, "of torch.profiler"),
        ("capture", op_bytes, MOST_BYTES, "bytes per op"),
    )
    return [f"{name}: over {limit:.3g} {unit}" for name, least, limit, unit in limits if least > limit]


def main():
    chosen = options(__doc__, "ops", 20_000, "wall")

    def measure():
        for needed in (chosen.build / "tests" / "op_loop", chosen.build / "probes" / "libloopscope_preload.so"):
            if not needed.exists():
                raise CannotMeasure(f"{needed} is missing: run `make build`")
        order = random.Random(chosen.seed)
        exceeded = report(
            [block(chosen.build, chosen.ops, chosen.rounds, order) for _ in range(chosen.blocks)], chosen.clock
        )
        for one in exceeded:
            print(f"exceeded        {one}")
        return 1 if exceeded else 0

    return outcome("probe_cost", measure)


if __name__ == "__main__":
    sys.exit(main())
