# ctest labels: measured slow
"""Programs of a block run side by side, one at a time: what runs when, and what happens when they fail."""

import bisect
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from conftest import BUILD

# Prints when its steps end, and when its own process runs: `train.sh NAME FAULT`. "crash" ends it in the
# window, where it runs beside others.
SCRIPT = """#!/bin/sh
PYTHON -S -c 'import os, time
while True: os.write(1, b"tick %f\\n" % time.monotonic()); time.sleep(0.01)' "$0" &
exit=""
if [ "$2" = crash ] && [ -n "$LOOPSCOPE_TURNS" ]; then exit="--exit-at 30"; fi
exec TRAIN --epochs 100 --samples 4000 --batch 4 --shallow --sleep 10000 --times $exit "--$0"
"""
WARMUP, STEPS = 5, 60
OPTIONS = ["--warmup", WARMUP, "--steps", STEPS, "--blocks", "2", "--budget", "20m", "--keep"]


@pytest.fixture
def command(tmp_path, tiny_train):
    file = tmp_path / "train.sh"
    file.write_text(SCRIPT.replace("PYTHON", sys.executable).replace("TRAIN", tiny_train[0]))
    file.chmod(0o755)
    return lambda name, fault="none": [str(file), name, fault]


def times(output, what):
    words = [line.split() for line in output.read_text().splitlines()]
    return [float(line[1]) for line in words if line[0] == what]


def in_window(output):
    """The times of the steps that are measured."""
    return times(output, "step")[WARMUP - 1 : WARMUP + STEPS]


def stretches(mine, others):
    """How many steps one program takes before the other takes one, in order."""
    owners = [mine_ for _, mine_ in sorted([(one, True) for one in mine] + [(one, False) for one in others])]
    return [len(list(group)) for _, group in itertools.groupby(owners)]


def results(folder):
    """Label -> result of each finished launch."""
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()[1:]]
    return {line["label"]: line["result"] for line in lines}


def test_programs_take_turns(loopscope, command, tmp_path):
    done, report = loopscope.report("ab", *OPTIONS, "-o", "out", " ".join(command("a")), "--", *command("b"))
    assert done.code == 0, done.err
    assert any("started together" in line for line in report["plan"]), report["plan"]
    assert not report["quality"]["warnings"] and report["trials"][0]["n"] == 2
    (turn,) = [int(line.split("turns of ")[1].split()[0]) for line in report["plan"] if "turns of" in line]
    for label, result in results(tmp_path / "out").items():
        if not label.startswith("pair"):
            continue
        pair, side = label.split(" of ")[0].replace(" ", "-"), label[-1]
        files = {
            name: next((tmp_path / "out" / "launches").glob(f"*-{pair}-of-2-*-{name}")) / "output.txt" for name in "AB"
        }
        mine, others = in_window(files[side]), in_window(files["B" if side == "A" else "A"])
        # Neither runs into the other's turn; two in a row are the last of one round and the first of the next.
        together = stretches(mine, others)
        assert max(together) <= 2 * turn + 1 and len(together) > STEPS // turn, together
        # Nor does the process that belongs to it: when it ticks, the next step is its own program's.
        steps = sorted([(one, True) for one in mine] + [(one, False) for one in others])
        start, end = max(mine[0], others[0]), min(mine[-1], others[-1])
        ticks = [tick for tick in times(files[side], "tick") if start < tick < end]
        beside = [tick for tick in ticks if not steps[bisect.bisect(steps, (tick,))][1]]
        assert ticks and len(beside) <= len(ticks) / 4, (len(beside), len(ticks))
        # The others' turns do not count as time of this one's steps: about half of the window does.
        assert result["ms_per_step"] * STEPS / 1e3 < 0.8 * (mine[-1] - mine[0])


def test_without_turns_they_run_one_after_another(loopscope, command):
    done, report = loopscope.report(
        "ab", *OPTIONS, "--no-turns", "-o", "out", " ".join(command("a")), "--", *command("b")
    )
    assert done.code == 0, done.err
    assert not any("started together" in line for line in report["plan"]) and report["trials"][0]["n"] == 2


def test_a_program_that_fails_beside_the_others_is_launched_alone(loopscope, command, tmp_path):
    done, report = loopscope.report("ab", *OPTIONS, "-o", "out", " ".join(command("a")), "--", *command("b", "crash"))
    assert done.code == 0, done.err
    (warning,) = report["quality"]["warnings"]
    assert "one after another" in warning and "exit 7" in warning
    assert report["trials"][0]["n"] == 2
    assert not processes_of(tmp_path)


def processes_of(folder):
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            text = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(folder) in text:
            found.append((process.name, text))
    return found


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_behind_when_it_is_ended(command, tmp_path, signal_number):
    running = subprocess.Popen(
        [
            BUILD / "loopscope",
            "ab",
            *map(str, OPTIONS),
            "--steps",
            "300",
            "-o",
            tmp_path / "out",
            " ".join(command("a")),
            "--",
            *command("b"),
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    stopped = 0
    deadline = time.monotonic() + 600
    while stopped < 2 and time.monotonic() < deadline:  # one of them is stopped, with its ticking process
        time.sleep(0.05)
        states = []
        for pid, _ in processes_of(tmp_path):
            try:
                states.append(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
            except OSError:
                continue
        stopped = states.count("T")
    assert stopped >= 2, "no turns were taken"
    running.send_signal(signal_number)
    running.communicate(timeout=30)
    for _ in range(100):
        if not processes_of(tmp_path):
            break
        time.sleep(0.05)
    assert not processes_of(tmp_path)
