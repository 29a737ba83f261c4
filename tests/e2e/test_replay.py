"""A trace of PyTorch's profiler, played back as raw CUPTI buffers, recorded as on a GPU: the same report comes out.

LOOPSCOPE_TRACES names a folder with further, real traces.
"""

import copy
import gzip
import json
import os
import pathlib
import subprocess

import pytest

import replay_lines
import replay_trace
from conftest import BUILD

LAYOUTS = ("12.4", "12.8", "13.0", "13.4")
FIGURES = ("devices", "steps", "span_us", "idle_us", "compute_us", "communication_us", "memory_us", "other_us")
FIGURES += ("launch_delay_us", "queue_depth")
SHARES = ("busy_pct", "idle_pct", "comm_overlap_pct")
REPLAY = BUILD / "tests" / "cupti_replay"
TRACES = sorted(pathlib.Path(os.environ.get("LOOPSCOPE_TRACES") or "/nonexistent").glob("*.json.gz"))

pytestmark = pytest.mark.skipif(not REPLAY.exists(), reason="cupti_replay is not built")


@pytest.fixture
def of_trace(loopscope, tmp_path):
    """The report of a trace's JSON."""

    def report(trace):
        path = tmp_path / "trace.json"
        path.write_text(trace if isinstance(trace, str) else json.dumps(trace))
        done, report = loopscope.report("report", path)
        assert done.code == 0, done.err
        return report

    return report


@pytest.fixture
def replayed(loopscope, tmp_path):
    """The report of a trace that was played back."""

    def report(trace, layout="13.0", variant=""):
        program, capture = tmp_path / "program.txt", tmp_path / "replayed.cap"
        text = trace if isinstance(trace, str) else json.dumps(trace)
        program.write_text(replay_lines.lines_of(replay_lines.read_trace(text)))
        played = subprocess.run([REPLAY, program, capture, layout, variant], capture_output=True, text=True, timeout=60)
        assert played.returncode == 0, played.stderr
        done, report = loopscope.report("report", capture)
        assert done.code == 0, done.err
        return report

    return report


def findings(report):
    return sorted(
        (finding["rule"], finding["severity"], json.dumps([one["where"] for one in finding["evidence"]]))
        for finding in report["findings"]
    )


def same(ours, theirs):
    """Both reports say the same of the GPU."""
    for figure in FIGURES:
        assert ours["gpu"][figure] == pytest.approx(theirs["gpu"][figure], abs=0.01), figure
    for share in SHARES:
        assert ours["gpu"][share] == pytest.approx(theirs["gpu"][share], abs=0.001), share
    # Unrecorded calls would have given slightly more.
    for cause, idle_us in theirs["gpu"]["idle_causes"].items():
        assert ours["gpu"]["idle_causes"][cause] == pytest.approx(idle_us, abs=0.002 * theirs["gpu"]["idle_us"]), cause
    assert findings(ours) == findings(theirs)


def warned(report, text):
    return any(text in warning for warning in report["quality"]["warnings"])


@pytest.fixture(scope="module")
def trace():
    return replay_trace.made()


@pytest.fixture
def expected(of_trace, trace):
    return of_trace(trace)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_cupti(replayed, trace, expected, layout):
    assert expected["gpu"]["steps"] == replay_trace.STEPS
    assert "host-sync" in [finding["rule"] for finding in expected["findings"]]
    report = replayed(trace, layout)
    same(report, expected)
    assert report["quality"]["warnings"] == []


@pytest.mark.skipif(not TRACES, reason="LOOPSCOPE_TRACES names no folder with traces")
@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
def test_real_traces(replayed, of_trace, path):
    text = gzip.decompress(path.read_bytes()).decode()
    expected = of_trace(text)
    if expected["gpu"] is None:
        pytest.skip("no GPU in it")
    same(replayed(text), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_several_devices(replayed, of_trace, layout):
    trace = replay_trace.made(devices=2)
    expected = of_trace(trace)
    assert expected["gpu"]["devices"] == 2
    same(replayed(trace, layout), expected)


def test_launches_of_the_driver_inside_those_of_the_runtime(replayed, trace, expected):
    nested = copy.deepcopy(trace)
    for event in trace["traceEvents"]:
        if event["name"] == "cudaLaunchKernel":
            inside = {"ts": event["ts"] + 1, "dur": event["dur"] - 2, "args": {"correlation": 0}}
            inside["args"]["correlation"] = event["args"]["correlation"] + 1_000_000
            nested["traceEvents"].append({**event, "cat": "cuda_driver", "name": "cuLaunchKernel", **inside})
    same(replayed(nested), expected)


def with_graph_launch(trace, at):
    """A launch of a CUDA graph that leaves no record, so many µs after the first step's beginning."""
    call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 7001, "tid": replay_trace.TRAINER}
    stray = {**call, "ts": 10_000 + at, "dur": 10, "args": {"correlation": 3_900_000_000}}
    return {**trace, "traceEvents": [*trace["traceEvents"], stray]}


def test_a_graph_launch_that_left_no_record(replayed, trace):
    report = replayed(with_graph_launch(trace, 3 * replay_trace.STEP_US + 7000))
    assert warned(report, "1 of 1 launches of CUDA graphs left nothing in the trace")
    gpu = report["gpu"]
    assert "CUDA graphs" in gpu["incomplete"] and gpu["compute_us"] > 0
    assert gpu["idle_us"] is None and gpu["idle_causes"] == {} and report["findings"] == []


def test_a_last_graph_launch_that_was_not_waited_for(replayed, trace):
    report = replayed(with_graph_launch(trace, replay_trace.STEPS * replay_trace.STEP_US - 500))
    assert report["gpu"]["steps"] == replay_trace.STEPS - 1
    assert not warned(report, "CUDA graphs")
    assert "host-sync" in [finding["rule"] for finding in report["findings"]]


def test_a_killed_program_keeps_what_was_handed_over(replayed, trace, expected):
    report = replayed(trace, variant="killed")
    assert not report["quality"]["clean_end"]
    assert replay_trace.STEPS / 4 < report["gpu"]["steps"] < replay_trace.STEPS
    assert report["gpu"]["busy_pct"] == pytest.approx(expected["gpu"]["busy_pct"], abs=1)


def test_lost_records_are_told(replayed, trace, expected):
    report = replayed(trace, variant="drops")
    assert report["quality"]["dropped"] == 25
    assert warned(report, "25 records of the GPU were lost")
    assert report["gpu"]["idle_us"] == pytest.approx(expected["gpu"]["idle_us"], abs=0.01)


def test_after_another_client_came_steps_are_left_out(replayed, trace, expected):
    report = replayed(trace, variant="second-client")
    assert warned(report, "not recorded from here on: another profiler uses CUPTI")
    assert replay_trace.STEPS / 2 - 1 <= report["gpu"]["steps"] <= replay_trace.STEPS / 2 + 1
    assert report["gpu"]["busy_pct"] == pytest.approx(expected["gpu"]["busy_pct"], abs=1)
    assert "host-sync" in [finding["rule"] for finding in report["findings"]]


def test_a_forked_child_writes_nothing(replayed, trace, expected):
    same(replayed(trace, variant="fork"), expected)


def test_without_cupti_nothing_is_said_of_the_gpu(replayed, trace):
    report = replayed(trace, variant="no-gpu")
    assert report["gpu"] is None and report["findings"] == []
    assert warned(report, "CUPTI cannot be loaded")
    (host_sync,) = (rule for rule in report["rules"] if rule["id"] == "host-sync")
    assert host_sync["verdict"] == "cannot-tell" and "holds no times of what the GPU did" in host_sync["reason"]
