# ctest labels: slow
"""`gate` on a real training program without timing: counters, incomparable runs, and programs that fail."""

import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from conftest import BUILD, ROOT
from test_gate import ENDLESS, SHORT, gate  # noqa: F401  (a fixture)


@pytest.mark.long
def test_a_budget_too_small_for_any_verdict(gate):
    done, verdict = gate("--budget", "1s")
    assert done.code == 3 and verdict["verdict"] == "inconclusive"
    assert "fewer than 5 decide nothing" in verdict["reason"] and "INCONCLUSIVE" in done.out
    assert gate("--budget", "1s", "--inconclusive", "pass")[0].code == 0
    assert gate("--budget", "1s", "--inconclusive", "fail")[0].code == 1


def test_another_batch_size_is_not_compared(gate):
    done, verdict = gate(base=["--samples", "1600"], candidate=["--samples", "1600", "--batch", "8"])
    assert done.code == 3 and verdict["verdict"] == "inconclusive"
    assert "does other work per step" in verdict["reason"]
    assert "samples per step" in done.message()


def test_a_candidate_that_crashes(gate, loopscope, tiny_train, script):
    crashing = script("exit 7\n")
    done, report = loopscope.report("gate", *SHORT, "--against", " ".join([*tiny_train, *ENDLESS]), "--", crashing)
    assert done.code == 4, done.err
    (row,) = report["gate"]["workloads"]
    assert row["verdict"] == "inconclusive" and "ended with status 7" in row["error"]
    assert "ended with status 7 before its first step" in done.message()
    # What may pass is what was measured.
    again = loopscope(
        "gate", *SHORT, "--inconclusive", "pass", "--against", " ".join([*tiny_train, *ENDLESS]), "--", crashing
    )
    assert again.code == 4


def failing(verdict):
    return {row["name"]: row for row in verdict["counters"] if row["fails"]}


def test_a_new_host_read_fails_at_its_line_without_a_pair(gate, loopscope):
    sarif = loopscope.folder / "sarif"
    done, verdict = gate("--sarif", sarif, candidate=["--item"])
    assert done.code == 1 and verdict["verdict"] == "fail" and verdict["pairs"] == 0, done.err
    row = failing(verdict)["host reads"]
    assert row["before"] == 0 and row["after"] == 1 and row["change"] == "new" and row["kind"] == "sync"
    where = row["places"][0]["where"]
    assert where["path"].endswith("tiny_train.cpp") and "Step" in where["function"], where
    text = (ROOT / "tests/e2e/programs/tiny_train.cpp").read_text().splitlines()
    assert ".item<double>()" in text[where["line"] - 1], where
    assert "counters have failed already" in done.out and f"tiny_train.cpp:{where['line']}" in done.out
    (result,) = [one for one in json.loads(sarif.read_text())["runs"][0]["results"] if one["ruleId"] == "gate-sync"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region["startLine"] == where["line"]


def test_a_debugging_switch_fails(gate):
    done, verdict = gate(candidate=["--anomaly"])
    assert done.code == 1 and "anomaly mode" in failing(verdict), done.err
    assert failing(verdict)["anomaly mode"]["after"] == 1


def test_recorded_counters(loopscope, tiny_train):
    command = ["--baseline", "counters.json", "--", *tiny_train, *ENDLESS]
    recorded = loopscope("gate", *SHORT, "--accept", *command)
    assert recorded.code == 0 and "in counters.json" in recorded.out, recorded.err
    file = loopscope.folder / "counters.json"
    text = file.read_text()

    done, report = loopscope.report("gate", *SHORT, "--strict-counters", *command)
    assert done.code == 0 and report["gate"]["verdict"] == "pass", done.out
    assert report["gate"]["workloads"][0]["counters_compared"] > 10

    copying, report = loopscope.report("gate", *SHORT, *command, "--clone")
    row = next(row for row in report["gate"]["counters"] if row["name"] == "op aten::clone")
    assert copying.code == 0 and row["before"] == 0 and row["after"] == 1 and not row["fails"], copying.out
    assert row["places"][0]["where"]["path"].endswith("tiny_train.cpp")
    assert loopscope("gate", *SHORT, "--strict-counters", *command, "--clone").code == 1

    def edited(change):
        counters = json.loads(text)
        change(counters)
        file.write_text(json.dumps(counters))
        return loopscope("gate", *SHORT, *command)

    elsewhere = edited(lambda counters: counters["machine"].update(cpu="Another CPU"))
    assert elsewhere.code == 0 and "recorded on another machine" in " ".join(elsewhere.out.split())
    older = edited(lambda counters: counters["machine"].update(torch="1.13.0"))
    assert older.code == 3 and "record them anew" in " ".join(older.out.split())
    batch = edited(lambda counters: counters["workloads"][0].update(samples_per_step=99))
    assert batch.code == 3 and "samples per step" in batch.message()
    newer = edited(lambda counters: counters.update(schema="loopscope.counters/2"))
    assert newer.code == 2 and "loopscope.counters/2" in newer.message()
    file.unlink()
    assert loopscope("gate", *SHORT, *command).code == 2


def test_too_few_steps(gate):
    done, verdict = gate(base=["--epochs", "1", "--samples", "8"], candidate=["--epochs", "1", "--samples", "8"])
    assert done.code == 4 and verdict["verdict"] == "inconclusive"
    assert "never finished the steps" in done.message()


@pytest.mark.long
def test_the_other_side_has_its_folder_and_environment(loopscope, tiny_train):
    """The same words start another script on each side, and each asks for its own environment."""
    for name, asks, more in [("base", '[ "$SIDE" = base ]', ""), ("here", '[ -z "$SIDE" ]', "--anomaly")]:
        folder = loopscope.folder / name
        folder.mkdir()
        program = folder / "train.sh"
        program.write_text(f"#!/bin/sh\n{asks} || exit 9\nexec {' '.join([*tiny_train, *ENDLESS])} {more}\n")
        program.chmod(0o755)
    file = loopscope.folder / "report.json"
    done = loopscope(
        "gate",
        *SHORT,
        "--budget",
        "1s",
        "--json",
        file,
        "--against-dir",
        "../base",
        "--against-env",
        "SIDE=base",
        "--",
        "./train.sh",
        cwd=loopscope.folder / "here",
    )
    gate = json.loads(file.read_text())["gate"]
    assert done.code == 1 and "anomaly mode" in gate["reason"], done.err
    assert gate["workloads"][0]["against"] == "SIDE=base ./train.sh (in ../base)"

    (loopscope.folder / "base/train.sh").unlink()
    gone = loopscope("gate", *SHORT, "--against-dir", "../base", "--", "./train.sh", cwd=loopscope.folder / "here")
    assert gone.code == 4 and "no such command" in gone.message()
    shutil.rmtree(loopscope.folder / "base")
    nowhere = loopscope("gate", *SHORT, "--against-dir", "../base", "--", "./train.sh", cwd=loopscope.folder / "here")
    assert nowhere.code == 2 and "--against-dir" in nowhere.message()


def test_several_workloads_end_with_the_worst(loopscope, tiny_train):
    good = " ".join([*tiny_train, *ENDLESS])
    done, report = loopscope.report(
        "gate",
        *SHORT,
        "--budget",
        "1s",
        "--against",
        good,
        "--against",
        "/no/such",
        "--workload",
        good,
        "--",
        *tiny_train,
        *ENDLESS,
        timeout=600,
    )
    assert done.code == 4, done.err
    gate = report["gate"]
    assert [row["verdict"] for row in gate["workloads"]] == ["inconclusive", "inconclusive"]
    assert gate["workloads"][0]["error"] == "" and "no such command" in gate["workloads"][1]["error"]
    assert "no such command" in gate["reason"] and "0 of 2 workloads passed" in " ".join(done.out.split())


@pytest.mark.parametrize("delay_s", [0.01, 0.03, 0.1])
def test_one_that_is_interrupted_at_once_ends_in_order(tiny_train, tmp_path, delay_s):
    (tmp_path / "tmp").mkdir()
    command = [str(word) for word in tiny_train]
    running = subprocess.Popen(
        [
            BUILD / "loopscope",
            "gate",
            "--quiet",
            "-o",
            tmp_path / "out",
            "--against",
            " ".join(command),
            "--",
            *command,
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )
    time.sleep(delay_s)
    running.send_signal(signal.SIGTERM)
    printed = running.communicate(timeout=60)[0]
    # Before it begins, it ends like any program.
    assert running.returncode in (3, -signal.SIGTERM), printed
    assert list((tmp_path / "tmp").iterdir()) == []
    assert running.returncode != 3 or "interrupted" in printed, printed
