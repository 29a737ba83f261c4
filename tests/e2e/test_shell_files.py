"""Shell completions and the manual page, generated from --help: all commands and options, and bash completes them."""

import re
import shutil
import subprocess

import pytest

from conftest import BUILD, commands

FOLDER = BUILD / "shell"
pytestmark = pytest.mark.skipif(not (FOLDER / "loopscope.bash").exists(), reason="not built")


def complete(*words, folder="."):
    """The words that bash offers for the last one."""
    script = f"""source "{FOLDER}/loopscope.bash"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_loopscope
printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(
        ["bash", "-c", script, "bash", "loopscope", *words], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def test_commands_options_and_values():
    assert set(commands()) <= set(complete(""))
    assert complete("pro") == ["prove"]
    assert "--budget" in complete("prove", "--")
    assert "--budget" not in complete("rules", "--")
    assert complete("run", "--format", "sar") == ["sarif"]
    assert complete("rules", "host-s") == ["host-sync"]
    assert complete("run", "--steps", "") == []


def test_files_and_the_program_behind_the_dashes(tmp_path):
    (tmp_path / "train.py").touch()
    (tmp_path / "runs").mkdir()
    assert complete("run", "-o", "r", folder=tmp_path) == ["runs"]
    assert complete("report", "tr", folder=tmp_path) == ["train.py"]
    assert "bash" in complete("run", "--", "bas")
    assert complete("run", "--quiet", "--", "python", "tr", folder=tmp_path) == ["train.py"]


@pytest.mark.parametrize("command", commands())
def test_every_option_is_in_all_of_them(loopscope, command):
    shown = loopscope(command, "--help").out
    options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", shown, re.MULTILINE))
    zsh = (FOLDER / "_loopscope").read_text().partition(f"    {command})\n")[2].partition(";;")[0]
    fish = (FOLDER / "loopscope.fish").read_text()
    manual = (FOLDER / "loopscope.1").read_text().replace("\\-", "-")
    page = manual.partition(f".SH {command.upper()}\n")[2].partition("\n.SH ")[0]
    assert options
    for option in options:
        assert option in complete(command, option)
        assert f"'{option}[" in zsh
        assert re.search(rf"__loopscope_is {command}'.* -l {option[2:]} ", fish)
        assert re.search(rf"\\fB.*{option}\\fR", page)


@pytest.mark.parametrize("shell, file", [("bash", "loopscope.bash"), ("zsh", "_loopscope"), ("fish", "loopscope.fish")])
def test_each_shell_can_read_its_file(shell, file):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", FOLDER / file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_man_can_read_the_manual_page():
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tascii", FOLDER / "loopscope.1"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and not done.stderr and "--budget" in done.stdout, done.stderr
