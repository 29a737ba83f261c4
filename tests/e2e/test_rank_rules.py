# ctest labels: measured slow
"""Several ranks of train_image and of the Python examples: planted flaws are found. Each alone: test_matrix_long.py."""

import pathlib

import pytest

from conftest import ROOT
from test_train_ranks import BIN, PROGRAM, clean_environment, command, data  # noqa: F401  (a fixture)

EXAMPLES = ROOT / "workloads" / "python"
BOUNDS = ["--warmup", "5", "--steps", "20", "--time", "10s"]

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="train_image is not built")


def verdicts(report):
    return {row["id"]: row["verdict"] for row in report["rules"]}


def finding(report, rule):
    return next(one for one in report["findings"] if one["rule"] == rule)


def diagnose(loopscope, *arguments):
    done, report = loopscope.report("run", "-o", "out", *BOUNDS, "--", *arguments, env=clean_environment())
    assert done.code == 0, done.err
    return report


def test_two_ranks_without_a_flaw(loopscope, data):
    report = diagnose(loopscope, *command(data, "--preset", "tuned", "--ranks", "2"))
    assert [row["rank"] for row in report["per_rank"]] == [0, 1]
    assert report["run"]["ranks"] == 2
    said = verdicts(report)
    for rule in ("accumulation-allreduce", "duplicated-data", "unused-parameter-search", "redundant-logging"):
        assert said[rule] == "clear", (rule, report["rules"])


@pytest.mark.parametrize(
    "rule, knobs",
    [
        ("straggler", {"ranks__slow_ms": 60}),
        ("overdistributed", {}),
    ],
)
def test_a_flaw_of_ranks_is_found(loopscope, data, rule, knobs):
    arguments = command(data, "--ranks", "2", **knobs)
    report = diagnose(loopscope, *arguments[:3], "--preset", f"only:{rule}", *arguments[3:])
    assert verdicts(report)[rule] == "found", [row for row in report["rules"] if row["id"] == rule]
    others = {"duplicated-data", "unused-parameter-search", "accumulation-allreduce", "redundant-logging"} - {rule}
    assert not others & {one["rule"] for one in report["findings"]}
    if rule == "straggler":
        assert "for rank 1" in finding(report, rule)["title"]


def line(file, text):
    lines = (EXAMPLES / file).read_text().splitlines()
    return next(number for number, one in enumerate(lines, 1) if text in one)


@pytest.mark.skipif(not (BIN / "torchrun").exists(), reason="torchrun is not beside this Python")
def test_every_flaw_of_two_python_ranks_has_its_line(loopscope):
    file = "ddp_two_ranks.py"
    torchrun = ["torchrun", "--standalone", "--nproc-per-node", "2", EXAMPLES / file, "--epochs", "50"]
    report = diagnose(loopscope, *torchrun)
    expected = {
        "accumulation-allreduce": "loss.backward()",
        "duplicated-data": "DataLoader(data(",
        "unused-parameter-search": "find_unused_parameters=True",
        "loss-reduction": "dist.all_reduce(mean)",
    }
    for rule, text in expected.items():
        where = finding(report, rule)["evidence"][0]["where"]
        assert (pathlib.Path(where["path"]).name, where["line"]) == (file, line(file, text)), rule
    assert verdicts(report)["redundant-logging"] == "clear", "a line in 64 batches costs nothing"
    assert [row["rank"] for row in report["per_rank"]] == [0, 1]
    assert all(pathlib.Path(row["input"]).exists() for row in report["per_rank"])
    again, later = loopscope.report("report", "out")
    assert again.code == 0 and [row["rank"] for row in later["per_rank"]] == [0, 1]


@pytest.mark.skipif(not (BIN / "torchrun").exists(), reason="torchrun is not beside this Python")
@pytest.mark.parametrize("keep", [False, True])
def test_sharded_parameters_that_are_gathered_twice(loopscope, keep):
    file = "fsdp_two_ranks.py"
    options = ["--keep-parameters"] if keep else []
    torchrun = ["torchrun", "--standalone", "--nproc-per-node", "2", EXAMPLES / file]
    report = diagnose(loopscope, *torchrun, "--steps", "1000", *options)
    if keep:
        assert verdicts(report)["needless-resharding"] == "clear"
        return
    where = finding(report, "needless-resharding")["evidence"][0]["where"]
    assert (pathlib.Path(where["path"]).name, where["line"]) == (file, line(file, "reshard_after_forward="))
    rows = {(one["operation"], one["phase"]): one["per_step"] for one in report["collectives"]}
    assert rows["allgather", "backward"] >= 4 and ("allgather", None) not in rows, rows


@pytest.mark.skipif(not (BIN / "torchrun").exists(), reason="torchrun is not beside this Python")
def test_two_python_ranks_with_their_flaws_repaired(loopscope):
    torchrun = [
        "torchrun",
        "--standalone",
        "--nproc-per-node",
        "2",
        EXAMPLES / "ddp_two_ranks_tuned.py",
        "--epochs",
        "50",
    ]
    said = verdicts(diagnose(loopscope, *torchrun))
    for rule in ("accumulation-allreduce", "duplicated-data", "unused-parameter-search", "redundant-logging"):
        assert said[rule] == "clear", rule
    assert said["loss-reduction"] == "not-applicable"
