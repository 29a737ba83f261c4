# ctest labels: measured
"""`prove` and `ab` on a real training program: fixes are measured, and no verdict goes beyond the measurement."""

import json

import jsonschema

from conftest import QUICK, ROOT

ANOMALY = ["--epochs", "100000000", "--anomaly", "--shallow"]
SHORT = ["--budget", "120s", "--min-window", "100ms", "--warmup", "2", "--steps", "10", "--time", "5s"]


def trial(report, treatment):
    return next(row for row in report["trials"] if row["treatment"] == treatment)


def test_anomaly_mode_is_proved_costly(loopscope, tiny_train):
    done, report = loopscope.report(
        "prove", "-o", "out", "--only", "debug=off", "--blocks", "6", *SHORT, "--", *tiny_train, *ANOMALY, timeout=600
    )
    assert done.code == 0, done.err
    jsonschema.validate(report, json.loads((ROOT / "reports/schema.json").read_text()))
    row = trial(report, "debug")
    assert row["verdict"] == "faster" and row["ci95"][0] > 1, row
    assert row["applied"], "what was changed is told"
    assert row["loss"]["verdict"] == "bit-identical"
    assert report["combined"]["speedup"] > 1 and report["combined"]["treatments"] == ["debug=off"]
    assert "each launch writes to a throw-away overlay" in done.err or "fresh copy" in done.err
    assert not (loopscope.folder / "out/launches").exists(), "launches that went well leave nothing behind"

    again = loopscope("report", "out")
    assert again.code == 0 and "debug" in again.out, "the folder's report is the experiment's"


def test_treatment_that_nothing_takes_up_is_not_applicable(loopscope, tiny_train):
    done, report = loopscope.report(
        "prove", "--only", "loader.workers=2", "--blocks", "4", *QUICK, "--", *tiny_train, "--epochs", "100000000"
    )
    assert done.code == 0, done.err
    assert trial(report, "loader.workers")["verdict"] == "not-applicable"


def test_a_program_is_not_faster_than_itself(loopscope, tiny_train):
    command = [*tiny_train, "--epochs", "100000000"]
    done, report = loopscope.report(
        "ab",
        "-o",
        "out",
        "--blocks",
        "6",
        "--budget",
        "120s",
        "--min-window",
        "100ms",
        " ".join(command),
        "--",
        *command,
    )
    assert done.code == 0, done.err
    (row,) = report["trials"]
    # At its 5 % level the verdict itself is wrong in one run of twenty by design; a p this small never comes by chance.
    assert row["n"] >= 4 and row["p"] > 1e-4, row
    assert (row["verdict"] in ("faster", "slower")) == (row["p_holm"] <= 0.05), row
