"""Every planted flaw of train_image is found by its rule, at its line, and nothing else is."""
import json
import os
import pathlib
import subprocess

import pytest

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
# Flaws that `naive` does without: they hide or worsen the others.
FURTHER = ["too-many-workers", "thread-oversubscription", "periodic-stall", "deterministic-mode"]
# The rules whose evidence is a line of the program; fp32-compute and the optimizer's are facts about the whole loop.
WITH_A_LINE = {"input-starvation", "host-sync", "bias-before-norm", "grad-in-eval", "graph-retained", "needless-copy"}


def diagnose(tmp_path, preset, *options):
    report = tmp_path / "report.json"
    done = subprocess.run(
        [BUILD / "loopscope", "run", "-o", tmp_path / "out", "--json", report, "--quiet", *options, "--",
         BUILD / "workloads/train_image", "--preset", preset],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(report.read_text())


def above_info(report):
    return {finding["rule"] for finding in report["findings"] if finding["severity"] != "info"}


def has_16_bit_units():
    return any(unit in pathlib.Path("/proc/cpuinfo").read_text() for unit in ("avx512_bf16", "amx_bf16", "avx512_fp16"))


def expected(rules):
    return {rule for rule in rules if rule != "fp32-compute" or has_16_bit_units()}


def test_naive_has_every_planted_flaw_and_no_other(tmp_path):
    report = diagnose(tmp_path, "naive")
    assert {finding["rule"] for finding in report["findings"]} == expected(RULES)
    host_sync = [finding for finding in report["findings"] if finding["rule"] == "host-sync"]
    assert [finding["severity"] for finding in host_sync] == ["info"], "a host read costs nothing on a CPU"
    for finding in report["findings"]:
        if finding["rule"] in WITH_A_LINE:
            where = [evidence["where"] for evidence in finding["evidence"] if evidence["where"]]
            assert where and where[0]["line"] and "workloads/" in where[0]["path"], finding


def test_tuned_is_clean(tmp_path):
    report = diagnose(tmp_path, "tuned")
    assert above_info(report) == set()
    undecided = {row["id"]: row["reason"] for row in report["rules"] if row["verdict"] == "cannot-tell"}
    assert not undecided, "the tuned run holds enough for every rule"


@pytest.mark.parametrize("rule", RULES)
def test_one_planted_flaw_is_found_alone(tmp_path, rule):
    if rule == "fp32-compute" and not has_16_bit_units():
        pytest.skip("this CPU has no fast 16-bit units")
    report = diagnose(tmp_path, f"only:{rule}")
    found = above_info(report)
    if rule == "host-sync":
        assert found == set()
        assert rule in {finding["rule"] for finding in report["findings"]}
    else:
        assert found == {rule}


@pytest.mark.parametrize("rule", FURTHER)
def test_a_further_flaw_is_found_alone(tmp_path, rule):
    # Steps of that many threads take long: fewer of them.
    few = ["--warmup", "3", "--steps", "20", "--time", "1s"] if rule == "thread-oversubscription" else []
    report = diagnose(tmp_path, f"only:{rule}", *few)
    assert above_info(report) == {rule}
    if rule == "periodic-stall":
        finding, = [finding for finding in report["findings"] if finding["rule"] == rule]
        where = finding["evidence"][0]["where"]
        assert where["path"].endswith("training.cpp") and where["line"] and where["function"] == "LogSpectra"


def test_the_parts_of_a_step_sum_to_the_step(tmp_path):
    report = diagnose(tmp_path, "naive")
    assert sum(report["breakdown"].values()) == pytest.approx(report["steps"]["mean_ms"], rel=1e-6)
