"""`run` and `report`: what slows a loop, and nothing of the program's own changed."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import jsonschema
import pytest

from conftest import BUILD, ROOT, Loopscope

pytestmark = pytest.mark.usefixtures("one_thread")

RUN = ["--warmup", "5", "--steps", "20", "--time", "5s"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, tiny_train, one_thread):
    """The folder of a run that ended a long training, and the seconds that it took."""
    loopscope = Loopscope(tmp_path_factory.mktemp("recorded"))
    begun = time.monotonic()
    done = loopscope("run", "-o", "out", *RUN, "--", *tiny_train, "--epochs", "100000000")
    assert done.code == 0, done.err
    return loopscope.folder / "out", time.monotonic() - begun


def test_reports_steps_rules_and_where(loopscope, tiny_train):
    done, report = loopscope.report("run", "-o", "out", *RUN, "--", *tiny_train, "--epochs", "100000", "--anomaly")
    assert done.code == 0, done.err
    jsonschema.validate(report, json.loads((ROOT / "reports/schema.json").read_text()))
    assert report["steps"]["measured"] >= 10 and report["steps"]["mean_ms"] > 0
    parts = sum(part for part in report["breakdown"].values() if part is not None)
    assert abs(parts - report["steps"]["mean_ms"]) < 0.02 * report["steps"]["mean_ms"]
    debug = next(finding for finding in report["findings"] if finding["rule"] == "debug-left-on")
    assert debug["evidence"][0]["where"]["path"].endswith("tiny_train.cpp")
    assert debug["treatment"] == "debug"
    assert report["run"]["command"][0] == tiny_train[0]
    assert {path.name for path in (loopscope.folder / "out").iterdir()} >= {"run.json", "report.json"}
    assert "debug-left-on" in done.out


def test_run_ends_a_long_training(recorded):
    _, seconds = recorded
    assert seconds < 120


def test_steps_0_runs_to_the_programs_own_end(loopscope, tiny_train):
    done, report = loopscope.report("run", "--warmup", "2", "--steps", "0", "--", *tiny_train, "--epochs", "2")
    assert done.code == 0, done.err
    assert "sum " in done.out, "the program printed its last line"
    assert report["steps"]["warmup"] + report["steps"]["measured"] <= 32


def test_a_long_run_keeps_all_steps_and_the_newest_operators_within_its_size(loopscope, tiny_train):
    limit = 8 << 20
    done, report = loopscope.report(
        "run",
        "-o",
        "out",
        "--warmup",
        "5",
        "--steps",
        "0",
        "--max-capture",
        "8M",
        "--",
        *tiny_train,
        "--epochs",
        "500",
    )
    assert done.code == 0 and "recording stops" not in done.err, done.err
    (capture,) = (loopscope.folder / "out").glob("*.cap")
    assert limit / 2 < capture.stat().st_size <= limit
    (warning,) = [one for one in report["quality"]["warnings"] if "--max-capture" in one]
    assert re.match(r"operators of \d+\.\d to \d+\.\d s after the start were not kept", warning)
    assert report["quality"]["dropped"] == 0
    steps = report["steps"]
    assert steps["in_mean"] > 0.8 * 500 * 15 and 50 < steps["measured"] < steps["without_operators"]
    assert report["lines"], "the detailed steps of the start are there"
    too_small = loopscope("run", "--max-capture", "5", "--", *tiny_train)
    assert too_small.code == 2 and "'5' is not a size from 8M to 32G" in too_small.message()


def test_output_and_status_are_the_programs_own(loopscope, script):
    done = loopscope("run", "--quiet", "--", script("echo out; echo err >&2; exit 7\n"))
    assert done.code == 7
    assert done.out.splitlines()[0] == "out" and done.err.splitlines()[0] == "err"


def test_json_on_stdout_is_json_alone(loopscope, script):
    done = loopscope("run", "--format", "json", "--", script("echo chatter\n"))
    assert json.loads(done.out)["schema"] == "loopscope.report/1"
    assert "chatter" in done.err


def test_report_of_a_folder_a_capture_and_a_json(loopscope, recorded):
    out, _ = recorded
    capture = next(out.glob("*.cap"))
    means = []
    for source in (out, capture, out / "report.json"):
        again, report = loopscope.report("report", source)
        assert again.code == 0, again.err
        means.append(report["steps"]["mean_ms"])
    assert means[0] == means[1] == means[2]


def test_torn_capture_is_reported_with_a_warning(loopscope, recorded):
    torn = shutil.copytree(recorded[0], loopscope.folder / "torn")
    capture = next(torn.glob("*.cap"))
    os.truncate(capture, capture.stat().st_size * 2 // 3)
    again, report = loopscope.report("report", "torn")
    assert again.code == 0, again.err
    assert report["quality"]["warnings"], "the cut is named"


def test_interrupt_is_forwarded_once_and_still_reported(loopscope, tiny_train):
    seen, losses = loopscope.folder / "seen", loopscope.folder / "losses"
    program = loopscope.folder / "wrapper.sh"
    training = " ".join([*tiny_train, "--losses", "--epochs", "100000000"])
    program.write_text(
        f"#!/bin/sh\ntrap 'echo interrupted >> {seen}; kill -TERM $child' INT\n{training} > {losses} & child=$!\n"
        "wait $child\nwait $child\nexit 9\n"
    )
    program.chmod(0o755)
    out = loopscope.folder / "out"
    run = subprocess.Popen(
        [BUILD / "loopscope", "run", "-o", out, "--steps", "0", "--", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not (losses.exists() and losses.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    printed, errors = run.communicate(timeout=60)
    assert run.returncode == 9, errors
    assert seen.read_text().split() == ["interrupted"]
    assert re.search(r"was interrupted after [1-9][0-9]{0,2}(,[0-9]{3})* steps", errors), errors
    assert "A training step" in printed
    assert list(out.glob("*.cap"))


def test_no_secret_is_written_down(loopscope, script):
    loopscope(
        "run",
        "-o",
        "out",
        "--",
        script("true\n"),
        env={"TORCH_API_TOKEN": "hunter2", "OMP_NUM_THREADS": "1", "CUDA_SECRET": "hunter2"},
    )
    for path in (loopscope.folder / "out").iterdir():
        assert b"hunter2" not in path.read_bytes()
    recorded = json.loads((loopscope.folder / "out/run.json").read_text())["environment"]
    assert recorded["OMP_NUM_THREADS"] == "1"
    assert not recorded.keys() & {"TORCH_API_TOKEN", "CUDA_SECRET", "LD_PRELOAD", "PATH", "HOME"}
