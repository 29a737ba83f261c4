"""`run --watch`: shows a training while it runs."""

import re
import signal
import subprocess

import pytest

from test_terminal import at_a_terminal, widest

pytestmark = pytest.mark.usefixtures("one_thread")

EPOCHS, STEPS = 50, 16  # of 5 ms each: four seconds, and little to read afterwards
SLOW = ["--sleep", "5000"]


def test_a_terminal_shows_the_step_each_second(loopscope, tiny_train):
    command = [loopscope.program, "run", "-o", "out", "--watch", "--", *tiny_train, *SLOW, "--epochs", str(EPOCHS)]
    shown, code = at_a_terminal(command, loopscope.folder)
    assert code == 0, shown
    updates = re.findall(r"\r([\d,]+) steps?, ([\d,]+) epochs?, [^\r]*; ([^\r]*) per step", shown)
    assert len(updates) >= 2, shown[:2000]
    counts = [int(one[0].replace(",", "")) for one in updates]
    assert counts == sorted(counts) and counts[-1] <= EPOCHS * STEPS
    assert "backward" in shown and "What slows it" in shown
    assert max(map(widest, re.findall(r"\r(.*?)\x1b\[K", shown))) < 80


def test_it_goes_on_until_it_is_interrupted_and_then_reports(loopscope, tiny_train):
    command = [loopscope.program, "run", "-o", "out", "--watch", "--", *tiny_train, *SLOW, "--epochs", "100000000"]
    process = subprocess.Popen(command, cwd=loopscope.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = process.stderr.readline()
    assert re.match(r"loopscope: [\d,]+ steps, ", first), first
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert "What slows it" in out
