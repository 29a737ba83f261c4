# ctest labels: measured
"""A folder of traces is one input: several ranks together, and folders that cannot be one run."""

import json
import re
import sqlite3

import jsonschema
import pytest

from conftest import ROOT

SCHEMA = json.loads((ROOT / "reports" / "schema.json").read_text())
TABLES = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL');
"""
STEP = 20_000_000


def export(path, own_ms, program="train.py", steps=20):
    """An Nsight Systems export of one rank: own work, then an all-reduce until all are there."""
    with sqlite3.connect(path) as nsys:
        nsys.executescript(TABLES)
        nsys.execute("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND', ?)", (program,))
        for step in range(steps):
            at = 1_000_000_000 + step * STEP
            own = at + int(own_ms * 1e6)
            nsys.execute(
                "INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?)", (at, at + STEP, f"step {step}", 5 << 24 | 7)
            )
            nsys.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, 0, ?, 1, 1)", (at, own, 5 << 24))
            nsys.execute(
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 8, 0, ?, 2, 2)", (own, at + STEP, 5 << 24)
            )
    nsys.close()


def test_a_straggler_among_four(loopscope):
    for rank, own_ms in enumerate([12, 12.2, 18, 11.9]):
        export(loopscope.folder / f"rank{rank}.sqlite", own_ms)
    done, report = loopscope.report("report", loopscope.folder)
    assert done.code == 0, done.err
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert [row["rank"] for row in report["per_rank"]] == [0, 1, 2, 3]
    assert [row["shown"] for row in report["per_rank"]] == [False, False, True, False]
    assert report["per_rank"][0]["own_ms"] == pytest.approx(12, abs=0.01)
    assert report["run"]["ranks"] == 4 and report["run"]["rank"] == 2
    finding = next(one for one in report["findings"] if one["rule"] == "straggler")
    assert finding["cost_ms_per_step"] == pytest.approx(5.97, abs=0.1)
    assert "for rank 2" in finding["title"]
    assert "Ranks, by their own work" in done.out and "rank2.sqlite" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_summaries_reduce_to_the_same_report(loopscope):
    traces, summaries = loopscope.folder / "traces", loopscope.folder / "summaries"
    traces.mkdir(), summaries.mkdir()
    for rank, own_ms in enumerate([12, 12.2, 18, 11.9]):
        export(traces / f"rank{rank}.sqlite", own_ms)
        done = loopscope("report", "--summary", summaries / f"rank{rank}.summary", traces / f"rank{rank}.sqlite")
        assert (done.code, done.out, done.err) == (0, "", "")
        assert (summaries / f"rank{rank}.summary").stat().st_size < 32_000
    (traces / "rank4.sqlite").write_bytes(b"SQLite format 3\0torn")
    _, of_traces = loopscope.report("report", traces)
    warning = of_traces["quality"]["warnings"].pop()
    assert "rank4.sqlite" in warning
    done, reduced = loopscope.report("report", "--reduce", summaries)
    assert done.code == 0 and reduced == of_traces
    assert "for rank 2" in done.out
    done = loopscope("report", "--summary", "all.summary", traces)
    assert done.code == 2 and "rank4.sqlite" in done.message(), "what can be read is written all the same"
    assert loopscope.report("report", "--reduce", "all.summary")[1] == of_traces
    done = loopscope("report", "--reduce", "--summary", "x", traces)
    assert done.code == 2 and "write summaries first" in done.message() and not (loopscope.folder / "x").exists()


def test_equal_ranks_are_no_finding(loopscope):
    for rank in range(2):
        export(loopscope.folder / f"rank{rank}.sqlite", 12)
    _, report = loopscope.report("report", loopscope.folder)
    assert {row["id"]: row["verdict"] for row in report["rules"]}["straggler"] == "clear"
    assert not any(one["rule"] in ("straggler", "device-imbalance") for one in report["findings"])


def test_another_run_and_missing_ranks_are_named(loopscope):
    for rank in (0, 1, 4):
        export(loopscope.folder / f"rank{rank}.sqlite", 12)
    export(loopscope.folder / "rank2.sqlite", 12, program="other.py")
    _, report = loopscope.report("report", loopscope.folder)
    warnings = "\n".join(report["quality"]["warnings"])
    assert "rank2.sqlite is left out as of another run: it ran another program" in warnings
    assert "2 of 5 ranks are missing: 2, 3" in warnings
    assert len(report["per_rank"]) == 3


@pytest.mark.parametrize("name", ["trace.nsys-rep", "trace.qdrep"])
def test_report_files_of_nsight_systems_say_how_to_export(loopscope, name):
    (loopscope.folder / name).write_bytes(b"\x00report")
    done = loopscope("report", name)
    assert done.code == 2
    assert f"nsys export --type sqlite {name}" in done.message()


def test_no_export_of_nsight_systems(loopscope):
    with sqlite3.connect(loopscope.folder / "songs.sqlite") as songs:
        songs.execute("CREATE TABLE songs (name TEXT)")
    done = loopscope("report", "songs.sqlite")
    assert done.code == 2 and "no export of Nsight Systems" in done.message()


def test_trace_for_perfetto(loopscope):
    export(loopscope.folder / "rank0.sqlite", 12)
    done = loopscope("report", "--format", "perfetto", "rank0.sqlite")
    assert done.code == 0, done.err
    events = json.loads(done.out)["traceEvents"]
    kernels = [one for one in events if one["name"] == "gemm"]
    assert len(kernels) == 20 and all(one["dur"] == 12000 for one in kernels)
    assert sum(one.get("cat") == "step" for one in events) == 20


def test_queries_over_many_runs(loopscope, monkeypatch):
    """The queries of docs/fleets.md, over two runs of ranks and one of a single rank."""
    duckdb = pytest.importorskip("duckdb")
    for run, own_ms in {"a": (12, 18, 12), "b": (15, 12), "c": (12,)}.items():
        traces, out = loopscope.folder / run, loopscope.folder / "loopscope-out" / run
        traces.mkdir()
        out.mkdir(parents=True)
        for rank, ms in enumerate(own_ms):
            export(traces / f"rank{rank}.sqlite", ms)
        with sqlite3.connect(traces / "rank0.sqlite") as nsys:
            nsys.execute("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcTime TEXT)")
            nsys.execute(
                "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?)", (f"2026-05-0{ord(run) - 96}T10:00:00",)
            )
        nsys.close()
        done = loopscope("report", "--json", out / "report.json", traces)
        assert done.code == 0, done.err
    queries = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "fleets.md").read_text(), re.S)
    assert len(queries) == 3
    monkeypatch.chdir(loopscope.folder)
    costs, late, history = (duckdb.sql(query).fetchall() for query in queries)
    assert {rule: runs for rule, runs, _ in costs}["straggler"] == 2
    assert all(seconds >= 0 for _, _, seconds in costs)
    assert [rank for _, rank, _ in late] == [1, 0]
    assert late[0][2] == pytest.approx(4, abs=0.01)
    assert len(history) == 3 and all(
        mean == pytest.approx(20, abs=0.1) and busy > 99 for _, mean, _, busy, _ in history
    )
