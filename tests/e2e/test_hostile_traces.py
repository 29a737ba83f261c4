"""Malicious traces: a clear message, in little memory, from the program itself."""

import gzip
import os
import subprocess
import sys

import pytest

from conftest import BUILD

MOST_BYTES = 200 << 20
GIGABYTE = 1 << 30
HEAD = '{"traceEvents": ['
STEPS = ",".join(
    f'{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{i}", "pid": 5, "tid": 5, "ts": {1000 * i}, "dur": 1000}}'
    for i in range(8)
)
STRING_OPENS = '{"ph": "X", "cat": "cpu_op", "pid": 5, "tid": 5, "ts": 1, "dur": 1, "name": "'


def with_hole(path, before, after):
    """A file with a gigabyte of NUL bytes in the middle, which takes no room on the disk."""
    with path.open("wb") as file:
        file.write(before.encode())
        file.seek(GIGABYTE, os.SEEK_CUR)
        file.truncate()
        file.write(after.encode())
    return path


def text(path, *parts):
    path.write_text("".join(parts))
    return path


def bomb(path):
    """Eight gigabytes of blanks in a few hundred kilobytes."""
    member = gzip.compress(b" " * (64 << 20))
    path.write_bytes(gzip.compress(HEAD.encode()) + member * 128)
    return path


def report(path):
    """Exit code, both outputs and peak memory of `loopscope report`, which may not go beyond what any trace needs."""
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)\n"
        "sys.stdout.buffer.write(done.stdout)\n"
        "print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)\n"
        "sys.exit(done.returncode)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, BUILD / "loopscope", "report", path], capture_output=True, text=True, timeout=120
    )
    out, _, bytes_text = done.stdout.rpartition("peak ")
    assert int(bytes_text) < MOST_BYTES, f"{path.name} took {int(bytes_text) >> 20} MiB"
    return done.returncode, " ".join(out.split())


MADE = {
    "a string of 1 GB in an event": (
        lambda path: with_hole(path, HEAD + STEPS + "," + STRING_OPENS, '"}]}'),
        "1 event of more than 16 MiB left out",
    ),
    "a string of 1 GB beside the events": (
        lambda path: with_hole(path, '{"note": "', '", "traceEvents": [' + STEPS + "]}"),
        "8 events, ended in order",
    ),
    "a string of 1 GB that does not end": (
        lambda path: with_hole(path, HEAD + STEPS + "," + STRING_OPENS, ""),
        "the trace is cut off",
    ),
    "ten million brackets": (
        lambda path: text(path, HEAD, "[" * 10_000_000, "]" * 10_000_000, ",", STEPS, "]}"),
        "1 event of more than 16 MiB left out",
    ),
    "brackets that do not close": (
        lambda path: text(path, HEAD, STEPS, ",", "[{" * 5_000_000),
        "the trace is cut off",
    ),
    "numbers without end": (
        lambda path: text(path, HEAD, STEPS, ",", STRING_OPENS, 'x", "ts": ', "9" * 1_000_000, "},", STRING_OPENS,
                          'x", "dur": 1e999999}, ', STRING_OPENS, 'x", "ts": -', "0." + "1" * 1_000_000, "}]}"),
        "2 events have impossible times: left out",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_what_is_sound_is_used_and_the_rest_is_said(tmp_path, name):
    make, expected = MADE[name]
    code, out = report(make(tmp_path / "trace.json"))
    assert code == 0, out
    assert expected in out
    assert "1.00 ms on average over" in out


def test_a_bomb_is_refused(tmp_path):
    code, out = report(bomb(tmp_path / "trace.json.gz"))
    assert code == 2
    assert "expands to more than 400 times its size" in out and "unpack it" in out
