# ctest labels: measured
"""Each line's share of the time, on programs that sleep at known lines: within three points of the truth."""

import json
import pathlib
import re
import sys

import pytest

from conftest import BUILD

HERE = pathlib.Path(__file__).resolve().parent


def naps(source, kind):
    """Line number to ms, of the lines marked "step: 12 ms"."""
    marked = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if found := re.search(rf"(?:#|//) {kind}: (\d+) ms", line):
            marked[number] = int(found[1])
    assert marked
    return marked


def shares(rows, source):
    """Line number to percent of the rows' whole."""
    found = {}
    for row in rows:
        where = row["where"] or {}
        if where.get("path", "").endswith(source.name):
            found[where["line"]] = found.get(where["line"], 0) + row["share_pct"]
    return found


def test_python_lines_and_their_sum(loopscope):
    script = HERE / "scripts" / "sleeps.py"
    done, report = loopscope.report("run", "--yes", "--", sys.executable, script, 0)
    assert done.code == 0, done.err
    mean_ms = report["steps"]["mean_ms"]
    assert sum(row["ms_per_step"] for row in report["lines"]) == pytest.approx(mean_ms, rel=0.01)
    found = shares(report["lines"], script)
    expected = {**naps(script, "step"), **naps(script, "batch")}
    expected.update({line: 4 * ms for line, ms in naps(script, "data").items()})  # four samples a batch
    for line, ms in expected.items():
        assert found.get(line, 0) == pytest.approx(100 * ms / mean_ms, abs=3), (line, found)


def test_python_lines_of_workers(loopscope):
    """A worker is followed for its second and third batch: their sleeps are what the program saw of them itself."""
    script, truth = HERE / "scripts" / "sleeps.py", loopscope.folder / "naps"
    done, report = loopscope.report("run", "--yes", "--", sys.executable, script, 1, truth)
    assert done.code == 0, done.err
    rows = report["worker_lines"]
    batch_ms = sum(row["ms_per_step"] for row in rows)
    followed = [json.loads(line) for line in truth.read_text().splitlines()[1:3]]
    found = shares(rows, script)
    assert set(followed[0]) == {str(line) for kind in ("data", "batch") for line in naps(script, kind)}
    for line in followed[0]:
        ms = (followed[0][line] + followed[1][line]) / 2
        assert found.get(int(line), 0) == pytest.approx(100 * ms / batch_ms, abs=3), (line, found)
    mean_ms = report["steps"]["mean_ms"]
    for line, ms in naps(script, "step").items():
        assert shares(report["lines"], script).get(line, 0) == pytest.approx(100 * ms / mean_ms, abs=3)


def test_cpp_lines(loopscope):
    source = HERE / "programs" / "sleeps.cpp"
    done, report = loopscope.report("run", "--", BUILD / "tests" / "sleeps")
    assert done.code == 0, done.err
    mean_ms = report["steps"]["mean_ms"]
    assert sum(row["ms_per_step"] for row in report["lines"]) == pytest.approx(mean_ms, rel=0.01)
    found = shares(report["lines"], source)
    for line, ms in naps(source, "step").items():
        assert found.get(line, 0) == pytest.approx(100 * ms / mean_ms, abs=3), (line, found)
