# ctest labels: measured
"""Programs of a block run side by side, one at a time: what of them runs when, and what happens when they do not."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from conftest import BUILD

pytestmark = pytest.mark.skipif(
    not (BUILD / "probes" / "python" / "site" / "sitecustomize.py").exists(), reason="the Python shim is not built")

# Tells when its steps end, and when a process of its own gets to run. NAME FAULT: "crash" ends it in the window.
SCRIPT = """
import os, subprocess, sys, time
import torch
name, fault = sys.argv[1:3]
torch.set_num_threads(1)
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ticking = "import time\\nwhile True: print('tick', time.monotonic(), flush=True); time.sleep(0.01)"
ticker = subprocess.Popen([sys.executable, "-S", "-c", ticking, sys.argv[0]])
for step in range(100000):
    if fault == "crash" and step == 30:
        os._exit(7)
    optimizer.zero_grad()
    model(torch.randn(64, 64)).sum().backward()
    time.sleep(0.01)
    optimizer.step()
    print("step", time.monotonic(), flush=True)
"""
WARMUP, STEPS = 5, 60
OPTIONS = ["--warmup", WARMUP, "--steps", STEPS, "--blocks", "2", "--budget", "60s", "--keep"]


@pytest.fixture
def command(tmp_path):
    file = tmp_path / "train.py"
    file.write_text(SCRIPT)
    return lambda name, fault="none": [sys.executable, str(file), name, fault]


def times(output, what):
    words = [line.split() for line in output.read_text().splitlines()]
    return [float(line[1]) for line in words if line[0] == what]


def in_window(output):
    """The times of the steps that are measured."""
    return times(output, "step")[WARMUP - 1 : WARMUP + STEPS]


def longest_run(mine, others):
    """How many of `mine` come before one of `others` does, at most."""
    longest = here = 0
    for _, is_mine in sorted([(one, True) for one in mine] + [(one, False) for one in others]):
        here = here + 1 if is_mine else 0
        longest = max(longest, here)
    return longest


def test_programs_take_turns(loopscope, command, tmp_path):
    done, report = loopscope.report("ab", *OPTIONS, "-o", "out", " ".join(command("a")), "--", *command("b"))
    assert done.code == 0, done.err
    assert any("started together" in line for line in report["plan"]), report["plan"]
    assert not report["quality"]["warnings"]
    (trial,) = report["trials"]
    assert trial["n"] == 2
    (turn,) = [int(line.split("turns of ")[1].split()[0]) for line in report["plan"] if "turns of" in line]
    for pair in ("pair-1", "pair-2"):
        a, b = (next((tmp_path / "out" / "launches").glob(f"*-{pair}-of-2-*-{side}")) / "output.txt" for side in "AB")
        mine, others = in_window(a), in_window(b)
        # Neither runs on into the other's turn.
        gaps = [later - earlier for earlier, later in zip(mine, mine[1:])]
        assert sum(gap > 0.1 for gap in gaps) >= STEPS // turn - 1, gaps
        assert longest_run(mine, others) <= 2 * turn + 1 and longest_run(others, mine) <= 2 * turn + 1
        # Nor does the process that belongs to it: it ticks in the steps of its own program.
        start, end = max(mine[0], others[0]), min(mine[-1], others[-1])
        ticks = [tick for tick in times(a, "tick") if start < tick < end]
        beside = [tick for tick in ticks if min(abs(tick - step) for step in mine) > 0.06]
        assert len(ticks) > 20 and len(beside) <= len(ticks) // 10, (len(beside), len(ticks))
        # And the time of the others' turns is no time of this one's steps.
        assert sum(gap for gap in gaps if gap < 0.1) / len(gaps) < 0.03


def test_without_turns_they_run_one_after_another(loopscope, command):
    done, report = loopscope.report("ab", *OPTIONS, "--no-turns", "-o", "out", " ".join(command("a")), "--", *command("b"))
    assert done.code == 0, done.err
    assert not any("started together" in line for line in report["plan"]) and report["trials"][0]["n"] == 2


def test_the_other_one_goes_on_when_one_crashes(loopscope, command, tmp_path):
    """Pilots are fine; then B ends in its window, beside A and alone."""
    flag = tmp_path / "crash"
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace('fault == "crash"', f'fault == "crash" and os.path.exists({str(flag)!r})'))
    prepare = f"test -d {tmp_path}/out/launches/001-pilot-B && touch {flag}; true"
    done = loopscope("ab", *OPTIONS, "--allow-writes", "--prepare", prepare, "-o", "out", " ".join(command("a")), "--",
                     *command("b", "crash"), timeout=120)
    assert "exit 7" in done.out + done.err, done.err
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


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_when_it_is_ended(command, tmp_path, signal_number):
    running = subprocess.Popen(
        [BUILD / "loopscope", "ab", *map(str, OPTIONS), "--steps", "300", "-o", tmp_path / "out", " ".join(command("a")),
         "--", *command("b")], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)})
    stopped = 0
    deadline = time.monotonic() + 120
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
