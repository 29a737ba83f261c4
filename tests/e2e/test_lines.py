# ctest labels: measured
"""Each line's share of the time, on programs that sleep at known lines: within three points of the truth."""

import json
import pathlib
import re
import sys

import pytest

from conftest import BUILD

HERE = pathlib.Path(__file__).resolve().parent


def lines_of(source, *kinds):
    """The lines marked "step: 12 ms" and the like, as text."""
    marks = re.compile(rf"(?:#|//) (?:{'|'.join(kinds)}): \d+ ms")
    return {str(number) for number, line in enumerate(source.read_text().splitlines(), 1) if marks.search(line)}


def shares(rows, source):
    """Line number to percent of the rows' whole."""
    found = {}
    for row in rows:
        where = row["where"] or {}
        if where.get("path", "").endswith(source.name):
            found[where["line"]] = found.get(where["line"], 0) + row["share_pct"]
    return found


def expect(rows, source, whole_ms, taken):
    """Each line has its share: what it took in any one of the steps, or batches, of which some were looked at."""
    found = shares(rows, source)
    for line in taken[0]:
        each = [100 * one[line] / whole_ms for one in taken]
        share = found.get(int(line), 0)
        assert min(each) - 3 <= share <= max(each) + 3, (line, found, min(each), max(each))


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_python_lines_and_their_sum(loopscope):
    script, batches, steps = HERE / "scripts" / "sleeps.py", loopscope.folder / "batches", loopscope.folder / "steps"
    done, report = loopscope.report("run", "--yes", "--", sys.executable, script, 0, batches, steps)
    assert done.code == 0, done.err
    mean_ms = report["steps"]["mean_ms"]
    assert sum(row["ms_per_step"] for row in report["lines"]) == pytest.approx(mean_ms, rel=0.01)
    taken = [{**step, **batch} for step, batch in zip(read(steps), read(batches))]
    assert set(taken[0]) == lines_of(script, "step", "batch", "data")
    expect(report["lines"], script, mean_ms, taken)


def test_python_lines_of_workers(loopscope):
    """A worker is followed for its second and third batch."""
    script, batches, steps = HERE / "scripts" / "sleeps.py", loopscope.folder / "batches", loopscope.folder / "steps"
    done, report = loopscope.report("run", "--yes", "--", sys.executable, script, 1, batches, steps)
    assert done.code == 0, done.err
    rows = report["worker_lines"]
    followed = read(batches)[1:3]
    assert set(followed[0]) == lines_of(script, "data", "batch")
    mean = {line: (followed[0][line] + followed[1][line]) / 2 for line in followed[0]}
    expect(rows, script, sum(row["ms_per_step"] for row in rows), [mean])
    expect(report["lines"], script, report["steps"]["mean_ms"], read(steps))


def test_cpp_lines(loopscope):
    source, steps = HERE / "programs" / "sleeps.cpp", loopscope.folder / "steps"
    done, report = loopscope.report("run", "--", BUILD / "tests" / "sleeps", steps)
    assert done.code == 0, done.err
    mean_ms = report["steps"]["mean_ms"]
    assert sum(row["ms_per_step"] for row in report["lines"]) == pytest.approx(mean_ms, rel=0.01)
    taken = read(steps)
    assert set(taken[0]) == lines_of(source, "step")
    expect(report["lines"], source, mean_ms, taken)
    [locked] = [n for n, text in enumerate(source.read_text().splitlines(), 1) if "a lock" in text]
    assert "pthread_mutex_lock" in {
        row["what"] for row in report["lines"] if row["where"] and row["where"]["line"] == locked
    }


def test_a_wait_for_a_lock_is_no_code_of_the_line(loopscope):
    script = HERE / "scripts" / "waits_for_a_lock.py"
    done, report = loopscope.report("run", "--yes", "--", sys.executable, script)
    assert done.code == 0, done.err
    [line] = [n for n, text in enumerate(script.read_text().splitlines(), 1) if "waits here" in text]
    waits = [row for row in report["lines"] if row["where"] and row["where"]["line"] == line]
    assert max(waits, key=lambda row: row["ms_per_step"])["what"] == "a wait for another thread"
    [finding] = [one for one in report["findings"] if one["rule"] == "host-code"]
    assert finding["title"].startswith("the loop waits ") and finding["evidence"][0]["where"]["line"] == line
