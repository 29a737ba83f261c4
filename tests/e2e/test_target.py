# ctest labels: slow
"""`prove --target`: ways of training compared by the time to a metric, with censored runs reported as such."""

import json

import jsonschema
import pytest

from conftest import BUILD, ROOT

SCHEMA = json.loads((ROOT / "reports/schema.json").read_text())

REGEX = "score=([0-9.]+)"


@pytest.fixture
def scores(tiny_train):
    """Its score rises by a hundredth in each step of 5 ms, and by four without anomaly mode: what is reached when is
    known from the counts."""

    def make(epochs=10**6):
        """An epoch has 16 steps."""
        return [*tiny_train, "--shallow", "--anomaly", "--score", "--sleep", "5000", "--epochs", str(epochs)]

    return make


def prove(loopscope, program, *arguments, **options):
    return loopscope.report(
        "prove", "--only", "debug=off", "--budget", "10m", *arguments, "--", *program, timeout=800, **options
    )


@pytest.mark.long
def test_a_quicker_way_takes_fewer_steps(loopscope, scores):
    """80 steps against 20."""
    done, report = prove(loopscope, scores(), "--target", "score=0.8", "--metric-regex", REGEX, "--blocks", "6")
    assert done.code == 0, done.err
    jsonschema.validate(report, SCHEMA)
    target = report["target"]
    assert target["source"] == "output" and [arm["reached"] for arm in target["arms"]] == [6, 6]
    (row,) = report["trials"]
    # Seconds are the machine's, and its start-up is the longest part; steps are the script's.
    assert row["metric"] == "time-to-target" and (row["verdict"] == "faster") == (row["p_holm"] <= 0.05), row
    assert row["verdict"] != "slower"
    steps = target["comparisons"][0]["steps"]
    assert 3 < steps["estimate"] < 5 and steps["low"] > 2, steps
    assert "Time to the target" in done.out and "6 of 6 reached it" in done.out


def test_runs_that_never_get_there_are_censored(loopscope, scores):
    """The untreated program ends after 64 steps at 0.64: what is not reached has no number."""
    done, report = prove(loopscope, scores(epochs=4), "--target", "score=0.8", "--metric-regex", REGEX, "--blocks", "6")
    assert done.code == 0, done.err
    baseline, quick = report["target"]["arms"]
    assert baseline["reached"] == 0 and baseline["median_s"] is None and quick["reached"] == 6
    assert {run["status"] for run in baseline["runs"]} == {"ended without it"}
    assert all(run["last"] == 0.64 for run in baseline["runs"])
    (row,) = report["trials"]
    assert row["verdict"] == "faster" and row["speedup"] is None and row["ci95"] is None
    ratio = report["target"]["comparisons"][0]["seconds"]
    assert ratio["low"] > 1 and ratio["high"] is None
    assert "6 of 6 runs of baseline never reached it" in row["reason"]


def test_a_target_that_nobody_reaches(loopscope, scores):
    done = loopscope(
        "prove",
        "--only",
        "debug=off",
        "--target",
        "score=99",
        "--metric-regex",
        REGEX,
        "--time",
        "60s",
        "--",
        *scores(epochs=3),
    )
    assert done.code == 3
    assert "no arm came to score >= 99" in done.message() and "the best was" in done.message()


def test_a_metric_that_is_never_printed(loopscope, scores):
    done = loopscope(
        "prove", "--only", "debug=off", "--target", "accuracy=0.9", "--time", "60s", "--", *scores(epochs=3)
    )
    assert done.code == 3 and "no metric named accuracy" in done.message() and "--metric-regex" in done.message()
    done = loopscope(
        "prove",
        "--only",
        "debug=off",
        "--target",
        "accuracy=0.9",
        "--metric-regex",
        "acc: ([0-9]+)",
        "--time",
        "60s",
        "--",
        *scores(epochs=3),
    )
    assert done.code == 3 and "nothing that the program printed matched" in done.message()


def test_a_failing_program(loopscope, script):
    done = loopscope("prove", "--only", "clip", "--target", "a=1", "--", script("exit 9"))
    assert done.code == 4 and "exit 9" in done.message()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--target", "accuracy"], "is not a target"),
        (["--target", "accuracy=0.9"], "no treatments to compare"),
        (["--target", "accuracy=0.9", "--only", "clip", "--metric-regex", "acc [0-9]+"], "has no group"),
        (["--target", "accuracy=0.9", "--only", "clip", "--metric-regex", "acc ("], "not a regular expression"),
        (["--metric-regex", "acc (.*)"], "no target"),
        (["--only", "schedule=onecycle"], "judged by the time to a target"),
    ],
)
def test_bad_wishes(loopscope, tiny_train, arguments, message):
    done = loopscope("prove", *arguments, "--", *tiny_train)
    assert done.code == 2 and message in done.message()


def test_marks_of_a_program_tell(loopscope, tmp_path):
    """train_image marks its accuracy: any share of the images is reached at the end of an epoch."""
    program = [str(BUILD / "workloads" / "train_image"), "--data", str(tmp_path / "images")]
    for item in [
        "train_images=64",
        "val_images=10",
        "batch.size=8",
        "model.size=small",
        "image_size=32",
        "source_size=48",
    ]:
        program += ["--set", item]
    done, report = loopscope.report(
        "prove",
        "--only",
        "schedule=onecycle,clip=norm,optimizer=lamb",
        "--target",
        "accuracy>=0.01",
        "--blocks",
        "2",
        "--time",
        "60s",
        "--budget",
        "300s",
        "--",
        *program,
        timeout=600,
    )
    assert done.code == 0, done.err
    assert report["target"]["source"] == "marks"
    assert [row["verdict"] for row in report["trials"]] == ["inconclusive"] * 3, report["trials"]
    baseline = report["target"]["arms"][0]
    assert baseline["reached"] == 2 and all(run["steps"] % 8 == 0 for run in baseline["runs"]), (
        "whole epochs of 8 steps"
    )
    assert all(run["samples"] == 8 * run["steps"] for run in baseline["runs"])
