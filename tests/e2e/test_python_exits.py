# ctest labels: slow
"""However a Python program ends: its exit code comes through, its capture stays readable, no process survives."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import BUILD, ROOT

SCRIPT = ROOT / "tests" / "e2e" / "scripts" / "endings.py"
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}

pytestmark = pytest.mark.skipif(
    not (BUILD / "probes" / "python" / "site" / "sitecustomize.py").exists(), reason="the Python shim is not built"
)


def marked(folder):
    return {**ENVIRONMENT, "ENDING_MARK": str(folder)}


def left_behind(folder):
    """Processes that carry the mark of `folder` in their environment."""
    mark = f"ENDING_MARK={folder}".encode()
    left = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes() and (process / "cmdline").read_bytes():
                left.append(process.name)
        except OSError:
            pass
    return left


def read_again(loopscope, folder):
    """`report` on the folder's capture."""
    done, report = loopscope.report("report", folder)
    assert done.code == 0, done.err
    return report


@pytest.mark.parametrize(
    "way, code, said, clean",
    [
        ("exception", 1, "ValueError: planted", True),
        ("os._exit", 5, "", False),
        ("interrupted", 130, "KeyboardInterrupt", True),
        # Which one depends on what the loader was about when it happened; where torch's signal handler raises another while
        # Python prints the first, only the first one's type is printed.
        ("killed worker", 1, "Error", True),
    ],
)
def test_a_program_that_fails(loopscope, tmp_path, way, code, said, clean):
    folder = tmp_path / "out"
    done = loopscope(
        "run", "--warmup", "3", "--steps", "0", "-o", folder, "--", sys.executable, SCRIPT, way, env=marked(tmp_path)
    )
    assert done.code == code and said in done.err, done.err
    assert re.search(r"after \d{1,3}(,\d{3})* steps", done.message()), done.message()
    assert not left_behind(tmp_path)
    report = read_again(loopscope, folder)
    assert report["steps"]["measured"] >= 12
    assert report["quality"]["clean_end"] == clean


def test_ctrl_c(loopscope, tmp_path):
    """The terminal's signal reaches Loopscope and the program alike; a test's reaches Loopscope, which passes it on."""
    folder = tmp_path / "out"
    process = subprocess.Popen(
        [
            loopscope.program,
            "run",
            "--warmup",
            "3",
            "--steps",
            "0",
            "-o",
            folder,
            "--",
            sys.executable,
            SCRIPT,
            "waits",
        ],
        cwd=tmp_path,
        env={**os.environ, **marked(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout.readline() == "twenty\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "KeyboardInterrupt" in err, err
    assert not left_behind(tmp_path)
    report = read_again(loopscope, folder)
    assert report["steps"]["measured"] >= 15 and report["quality"]["clean_end"]


@pytest.mark.parametrize("way, code", [("workers", 0), ("fork", 3), ("spawn", 0)])
def test_more_processes_than_one(loopscope, tmp_path, way, code):
    folder = tmp_path / "out"
    done = loopscope(
        "run", "--warmup", "3", "--steps", "0", "-o", folder, "--", sys.executable, SCRIPT, way, env=marked(tmp_path)
    )
    assert done.code == code, done.err
    assert code == 0 or re.search(r"after \d{1,3}(,\d{3})* steps", done.message()), done.message()
    assert not left_behind(tmp_path)
    report = read_again(loopscope, folder)
    assert report["steps"]["measured"] >= 15 and report["quality"]["clean_end"]
    assert report["steps"]["measured"] + report["steps"]["without_operators"] >= 25


def test_a_bounded_run_ends_persistent_workers(loopscope, tmp_path):
    begin = time.monotonic()
    done, report = loopscope.report(
        "run", "--warmup", "3", "--steps", "20", "--", sys.executable, SCRIPT, "persistent", env=marked(tmp_path)
    )
    assert done.code == 0, done.err
    assert not left_behind(tmp_path)
    assert report["steps"]["measured"] >= 15 and report["quality"]["clean_end"]
    assert time.monotonic() - begin < 90  # the run waits for one epoch's end, not for --time


def test_a_program_that_ends_while_its_calls_are_followed(loopscope, tmp_path):
    """The interpreter is gone when the last step is written; so are the frames that were followed."""
    script = SCRIPT.parent / "ends_while_followed.py"
    for steps in (0, 45):
        folder = tmp_path / f"out{steps}"
        done, report = loopscope.report(
            "run", "--yes", "--steps", steps, "-o", folder, "--", sys.executable, script, env=ENVIRONMENT
        )
        assert done.code == 0, done.err
        assert report["quality"]["clean_end"], report["quality"]
    assert "all done" in done.out + done.err
