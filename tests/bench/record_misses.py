#!/usr/bin/env python3
"""Where the cost of a recorded operator goes in a step of a small CNN in Python, by part of what it passes through: counted
by valgrind's callgrind, so that no quiet machine is needed. Per operator: instructions, and lines of code and of data that
a first-level cache of 32 KiB, and behind it a second-level one of 512 KiB, did not hold. A recorded step is set against
the same step of the plain program; what the records drive out of the caches is in "the program itself".

With a second --build, say one of before a change, the same is counted of it. Exits with 3 when something could not be
counted.
"""

import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from paired import CannotMeasure, outcome
from python_overhead import SCRIPT, environment_of
from turns import Player

STEPS, WARM_UP_TURNS = 4, 5  # a turn's steps; those of the run's warm-up and a few more
CACHES = ("--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=524288,8,64")
COLUMNS = ("instructions", "code L1", "data L1", "code L2", "data L2")
# Parts by their functions' names, the first that fits; else by their library.
PARTS = (
    ("begin", ("loopscope::BeginDirectly", "::StateFlags(", "loopscope::OnStart", "::Recording(", "::Begin")),
    ("end", ("loopscope::OnEnd", "::Append", "::Ended(", "::Destroy(", "(anonymous namespace)::End(")),
    ("callbacks", ("::CallbacksUnlessEmpty(", "::Records(", "::ConstructFrom(", "(anonymous namespace)::Run(")),
    ("inputs, stacks", ("loopscope::InputsText", "::AddInput", "::AddTensor", "loopscope::TakeProducers", "::NoteUse")),
    ("RecordFunction", ("at::RecordFunction::",)),
    (
        "LibTorch's detour",
        ("SlowPath", "c10::impl::OperatorEntry::schema", "::highestPriorityTypeId", "at::StepCallbacks"),
    ),
    ("sequence number", ("at::sequence_number", "__tls_get_addr", "update_get_addr")),
)
BEGINNINGS = ("loopscope::BeginDirectly", "loopscope::BeginNode", "loopscope::OnStart")
LIBRARIES = {"libloopscope_calls.so": "stubs", "libloopscope_torch.so": "other of the probe"}
OTHER_LIBRARY, PROGRAM = "other of Loopscope", "the program itself"


def part_of(library, function):
    for part, names in PARTS:
        if any(name in function for name in names) and not (part == "RecordFunction" and "loopscope_calls" in library):
            return part
    name = pathlib.PurePath(library).name
    return LIBRARIES.get(name, OTHER_LIBRARY if name.startswith("libloopscope_") else PROGRAM)


def read(path):
    """({part: the columns' counts}, operators) of a file of callgrind's."""
    counts, operators = collections.defaultdict(lambda: [0] * len(COLUMNS)), 0
    library = function = called = ""
    events, is_call = [], False
    for line in path.read_text(errors="replace").splitlines():
        key, is_field, value = line.partition("=")
        if line.startswith("events:"):
            events = line.split()[1:]
        elif is_field and key in ("ob", "fn", "cfn", "calls"):
            library = value if key == "ob" else library
            function = value if key == "fn" else function
            called = value if key == "cfn" else called
            is_call = key == "calls"
            if is_call and ".cold" not in called and any(name in called for name in BEGINNINGS):
                operators += int(value.split()[0])
        elif events and line[:1].isdigit():
            if not is_call:  # the line behind a call is the called function's
                one = dict(zip(events, map(int, line.split()[1:])))
                add(counts[part_of(library, function)], one)
            is_call = False
    return counts, operators


def add(counts, one):
    get = lambda *names: sum(one.get(name, 0) for name in names)  # noqa: E731
    new = (get("Ir"), get("I1mr"), get("D1mr", "D1mw"), get("ILmr"), get("DLmr", "DLmw"))
    for column, value in enumerate(new):
        counts[column] += value


def control(player, command):
    subprocess.run(
        ["callgrind_control", command, str(player.process.pid)], check=True, capture_output=True, timeout=300
    )


def count(build, arm, batch, folder):
    output = folder / "callgrind"
    valgrind = [
        "valgrind",
        "-q",
        "--tool=callgrind",
        "--instr-atstart=no",
        "--compress-strings=no",
        "--compress-pos=no",
    ]
    command = [*valgrind, *CACHES, f"--callgrind-out-file={output}", sys.executable, SCRIPT, "steady", str(STEPS)]
    with Player(arm, [*command, str(batch)], environment_of(build, arm, folder)) as player:
        for _ in range(WARM_UP_TURNS):
            player.turn()
        control(player, "--instr=on")
        player.turn()  # fills the simulated caches
        control(player, "--zero")
        player.turn()
        control(player, "--dump")  # written when this returns: the program need not end, which takes minutes
    return read(output.with_name("callgrind.1"))


def report(name, counted, plain, operators):
    print(f"{name + ':':<20}" + "".join(f"{column:>14}" for column in COLUMNS) + "   per operator")
    parts = {part: [(a - b) / operators for a, b in zip(counted[part], plain[part])] for part in {*counted, *plain}}
    order = [part for part, _ in PARTS] + [*LIBRARIES.values(), OTHER_LIBRARY, PROGRAM]
    for part in sorted(parts, key=order.index):
        print(f"  {part:<18}" + "".join(f"{value:14.2f}" for value in parts[part]))
    print(f"  {'all':<18}" + "".join(f"{sum(column):14.2f}" for column in zip(*parts.values())))
    print(f"  {operators / STEPS:.0f} operators in a step")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, action="append", dest="builds")
    parser.add_argument("--arm", choices=("records", "detail"), default="records", help="as in python_overhead.py")
    parser.add_argument("--batch", type=int, default=8, help="samples in a step")
    chosen = parser.parse_args()
    builds = [one.resolve() for one in chosen.builds or [pathlib.Path("build")]]

    def measure():
        if not shutil.which("valgrind"):
            raise CannotMeasure("valgrind is not installed")
        counted = {}
        for name, build, arm in [("plain", builds[0], "plain"), *((str(build), build, chosen.arm) for build in builds)]:
            with tempfile.TemporaryDirectory(prefix="loopscope-bench-") as folder:
                counted[name] = count(build, arm, chosen.batch, pathlib.Path(folder))
        for build in builds:
            parts, operators = counted[str(build)]
            if operators == 0:
                raise CannotMeasure(f"{build}: no operator was recorded")
            report(os.path.relpath(build), parts, counted["plain"][0], operators)
        return 0

    return outcome("record_misses", measure)


if __name__ == "__main__":
    sys.exit(main())
