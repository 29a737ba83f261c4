# ctest labels: measured
"""All planted flaws of train_image together are found, at their lines, and nothing else is; test_matrix.py plants each alone."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests"))
from tricks import matrix  # noqa: E402

BUILD = pathlib.Path(os.environ["LOOPSCOPE_BUILD"])
RULES = [
    "input-starvation",
    "host-sync",
    "debug-left-on",
    "bias-before-norm",
    "fp32-compute",
    "grads-zeroed",
    "single-tensor-optimizer",
    "grad-in-eval",
    "graph-retained",
    "needless-copy",
]
# The knobs that the program offers and `prove` tries.
OFFERED = {
    "debug-left-on": "debug",
    "single-tensor-optimizer": "optimizer.impl",
    "input-starvation": "loader.workers",
    "bias-before-norm": "bias.before_norm",
    "grads-zeroed": "grad.set_to_none",
    "grad-in-eval": "eval.no_grad",
    "graph-retained": "loss.detach",
    "needless-copy": "loader.from_numpy",
}
# The rules whose evidence is a line of the program; fp32-compute and the optimizer's are facts about the whole loop.
WITH_A_LINE = {"input-starvation", "host-sync", "bias-before-norm", "grad-in-eval", "graph-retained", "needless-copy"}


def diagnose(tmp_path, preset):
    report = tmp_path / "report.json"
    done = subprocess.run(
        [
            BUILD / "loopscope",
            "run",
            "-o",
            tmp_path / "out",
            "--json",
            report,
            "--quiet",
            "--",
            BUILD / "workloads/train_image",
            "--preset",
            preset,
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(report.read_text())


def expected(rules, report):
    bits = matrix.has_16_bit_units() and not matrix.measured_without_gain(report, "fp32-compute")
    return {rule for rule in rules if rule != "fp32-compute" or bits}


def test_naive_has_every_planted_flaw_and_no_other(tmp_path):
    report = diagnose(tmp_path, "naive")
    # Without workers and with one thread another core, if any, is idle: its share of the step depends on the cost of
    # the other flaws.
    assert {finding["rule"] for finding in report["findings"]} - {"idle-processors"} == expected(RULES, report)
    host_sync = [finding for finding in report["findings"] if finding["rule"] == "host-sync"]
    assert [finding["severity"] for finding in host_sync] == ["info"], "a host read costs nothing on a CPU"
    offered = {finding["rule"]: finding["treatment"] for finding in report["findings"]}
    assert {rule: offered[rule] for rule in OFFERED} == OFFERED
    for finding in report["findings"]:
        if finding["rule"] in WITH_A_LINE:
            where = [evidence["where"] for evidence in finding["evidence"] if evidence["where"]]
            assert where and where[0]["line"] and "workloads/" in where[0]["path"], finding


def test_the_parts_of_a_step_sum_to_the_step(tmp_path):
    report = diagnose(tmp_path, "naive")
    assert sum(report["breakdown"].values()) == pytest.approx(report["steps"]["mean_ms"], rel=1e-6)
