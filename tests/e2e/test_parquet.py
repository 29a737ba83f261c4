"""The Parquet tables, read by DuckDB as docs/traces.md shows it."""

import json
import re
import shutil

import pytest

from conftest import BUILD, ROOT

duckdb = pytest.importorskip("duckdb")
STEPS, STEP_US, SLOW = 12, 1000, 7


def event(category, name, start, length, tid=7, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": 0 if "stream" in args else 5, "tid": tid, "ts": start,
            "dur": length, "args": args}  # fmt: skip


def write_trace(path, mm_us):
    """Steps of 1 ms with two operators and a kernel of 300 us; the optimizer of one step takes 2 ms more."""
    events, at = [], 1_000_000
    for step in range(STEPS):
        extra = 2000 if step == SLOW else 0
        events += [
            event("user_annotation", f"ProfilerStep#{step}", at, STEP_US + extra),
            event("cpu_op", "aten::linear", at + 10, mm_us + 20, **{"Sequence number": step, "Fwd thread id": 0}),
            event("cpu_op", "aten::mm", at + 20, mm_us),
            event("cuda_runtime", "cudaLaunchKernel", at + 25, 5, correlation=step + 1),
            event("kernel", "gemm", at + 40, 300, correlation=step + 1, device=0, stream=7),
            event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", at + 500, 200,
                  **{"Sequence number": step, "Fwd thread id": 1}),
            event("user_annotation", "Optimizer.step#SGD.step", at + 800, 100 + extra),
        ]  # fmt: skip
        at += STEP_US + extra
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.fixture
def tables(loopscope, monkeypatch):
    if not (BUILD / "libloopscope_parquet.so").exists():
        pytest.skip("Parquet was not built: make parquet")
    for run, mm_us in {"before": 100, "after": 250}.items():
        trace = write_trace(loopscope.folder / f"{run}.json", mm_us)
        done = loopscope("report", "--parquet", loopscope.folder / "tables" / run, trace)
        assert done.code == 0, done.err
    monkeypatch.chdir(loopscope.folder)
    return loopscope


def test_documented_queries(tables):
    queries = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "traces.md").read_text(), re.S)
    assert len(queries) == 3
    kernels, slow, grown = (duckdb.sql(query).fetchall() for query in queries)
    assert kernels == [("gemm", pytest.approx(1), pytest.approx(0.3))]
    assert [(step, part) for step, _, part, _ in slow] == [(SLOW, "optimizer_ms")]
    assert slow[0][3] == pytest.approx(2, abs=0.01)
    name, before_ms, after_ms, more_ms = grown[0]
    # Without the 5 us of the launching call.
    assert (name, before_ms, after_ms) == ("aten::mm", pytest.approx(0.095), pytest.approx(0.245))
    assert all(row[3] <= more_ms for row in grown)


def test_columns_are_those_of_the_document(tables):
    text = (ROOT / "docs" / "traces.md").read_text()
    for file in ("steps", "ops", "kernels", "findings", "lines"):
        named = re.search(rf"\| `{file}\.parquet` \| [^|]* \| (.*) \|", text).group(1)
        told = {"started", "rank", *re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", named))}
        columns = {row[0] for row in duckdb.sql(f"DESCRIBE FROM 'tables/after/{file}.parquet'").fetchall()}
        assert columns == told, file


def test_findings_agree_with_the_report(tables):
    report = json.loads(tables("report", "--format", "json", "after.json").out)
    rows = duckdb.sql("SELECT rule, severity, cost_ms_per_step FROM 'tables/after/findings.parquet'").fetchall()
    assert rows == [
        (one["rule"], one["severity"], pytest.approx(one["cost_ms_per_step"])) for one in report["findings"]
    ]


def test_the_format_goes_to_a_folder(tables):
    done = tables("report", "--format", "parquet", "after.json")
    assert (done.code, done.out) == (0, "loopscope-parquet\n"), done.err
    assert duckdb.sql("SELECT count(*) FROM 'loopscope-parquet/steps.parquet'").fetchall() == [(STEPS,)]


def test_a_folder_that_cannot_be_made(tables):
    done = tables("report", "--parquet", "after.json/tables", "after.json")
    assert done.code == 2
    assert "after.json/tables" in done.message()


def test_without_the_module_it_says_how_to_get_it(loopscope):
    alone = loopscope.folder / "elsewhere" / "bin" / "loopscope"
    alone.parent.mkdir(parents=True)
    shutil.copy(BUILD / "loopscope", alone)
    loopscope.program = alone
    done = loopscope("report", "--parquet", "tables", write_trace(loopscope.folder / "trace.json", 100))
    assert done.code == 2
    assert "make parquet" in done.message()
    assert done.out.startswith("Loopscope"), "the report itself is printed all the same"
    assert not (loopscope.folder / "tables").exists()
