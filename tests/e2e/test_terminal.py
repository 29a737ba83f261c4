"""Output of each command on a terminal of 80 columns; a log gets the same words without colours."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unicodedata

import pytest

from conftest import commands
from terminals import all_of

pytestmark = pytest.mark.usefixtures("one_thread")

COLOR = re.compile(r"\x1b\[[0-9;]*[mK]")
COMMANDS = commands()


def width(line):
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


def widest(text):
    """The widest line as it stands after every return of the carriage."""
    return max(width(part) for line in text.split("\n") for part in COLOR.sub("", line).split("\r"))


def at_a_terminal(command, folder, columns=80, **env):
    """What the command writes to a terminal, both streams as they come; and its exit code."""
    own, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    streams = {"stdin": subprocess.DEVNULL, "stdout": terminal, "stderr": terminal}
    process = subprocess.Popen([str(word) for word in command], cwd=folder, env={**os.environ, **env}, **streams)
    return all_of(own, terminal, process).decode().replace("\r\n", "\n"), process.returncode


@pytest.fixture
def shown(loopscope):
    def at(*arguments, **options):
        return at_a_terminal([loopscope.program, *arguments], loopscope.folder, **options)

    return at


def test_the_commands_are_all_known():
    assert {"run", "prove", "compare", "rules", "doctor"} <= set(COMMANDS)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits(loopscope, shown, command):
    words = [command, "--help"] if command else ["--help"]
    text = loopscope(*words).out
    assert "Usage: loopscope" in text and widest(text) <= 80
    assert shown(*words) == (text, 0)


@pytest.mark.parametrize("command", ["rules", "treatments"])
def test_lists_and_their_texts_fit(loopscope, shown, command):
    listed = loopscope(command).out
    assert shown(command)[0] == listed and widest(listed) <= 80
    for one in re.findall(r"^[a-z][\w.-]+", listed.split("\n\n")[0], re.M):
        assert widest(loopscope(command, one).out) <= 80, one


def test_doctor_fits(shown, tiny_train):
    text, code = shown("doctor", "--", *tiny_train)
    assert code == 0 and "libtorch" in "".join(text.split()) and widest(text) <= 80


def test_a_run_and_its_report_fit(loopscope, shown, tiny_train):
    long = loopscope.folder / ("a_folder_with_a_long_name_" * 3)
    text, code = shown("run", "--time", "3s", "-o", long, "--", *tiny_train)
    assert code == 0 and "\x1b[" in text and "A training step" in text and widest(text) <= 80
    assert shown("report", long)[0].count("\x1b[") > 5
    again = loopscope("report", long).out
    assert "\x1b" not in again and COLOR.sub("", shown("report", long)[0]) == again
    for quiet in [shown("report", "--no-color", long), shown("report", long, NO_COLOR="1")]:
        assert quiet[0] == again
    compared, code = shown("compare", long, long)
    assert code == 0 and "Step  " in COLOR.sub("", compared) and widest(compared) <= 80
    for columns, most in [(40, 80), (100, 100), (300, 120)]:
        assert 40 < widest(shown("report", long, columns=columns)[0]) <= most


def test_an_experiment_fits(loopscope, shown, tiny_train):
    few = ["--blocks", "1", "--min-window", "50ms", "--warmup", "5", "--budget", "60s"]
    text, code = shown("ab", *few, " ".join(tiny_train), "--", *tiny_train)
    assert code in (0, 3) and "left" in text and "inconclusive" in text and widest(text) <= 80
    assert "\x1b[36m" in text


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "--stepz", "9", "--", "x"],
        ["prove", "--budget", "soon", "--", "x"],
        ["report", "/no/such/folder/anywhere/to/be/found"],
        ["compare", "a"],
        ["rules", "host-synk"],
        ["flap"],
        [],
    ],
    ids=" ".join,
)
def test_messages_fit_a_terminal_and_stay_whole_in_a_log(loopscope, shown, words):
    text, code = shown(*words)
    assert code == 2 and text.startswith("loopscope: ") and widest(text) <= 80
    logged = loopscope(*words).err
    assert " ".join(text.split()) == " ".join(logged.split())
