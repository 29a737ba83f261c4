# ctest labels: long measured
"""The fixes of ranks, tried on train_image and on a Python example under torchrun: each is applied and trains on."""

import pytest

from conftest import BUILD
from test_rank_rules import EXAMPLES
from test_train_ranks import BIN, clean_environment, command, data  # noqa: F401


@pytest.mark.skipif(not (BIN / "torchrun").exists(), reason="torchrun is not beside this Python")
def test_fixes_of_python_ranks_are_applied_without_an_edit(loopscope):
    torchrun = ["torchrun", "--standalone", "--nproc-per-node", "2", EXAMPLES / "ddp_two_ranks.py", "--epochs", "50"]
    done, report = loopscope.report(
        "prove", "-o", "out", "--only", "sampler.distributed=on,sync.defer=on,ddp.bucket_mb=1", "--blocks", "1",
        "--warmup", "5", "--min-window", "100ms", "--budget", "150s", "--time", "5s", "--", *torchrun,
        env=clean_environment())  # fmt: skip
    assert done.code == 0, done.err
    rows = {row["treatment"]: row for row in report["trials"]}
    assert set(rows) == {"sampler.distributed", "sync.defer", "ddp.bucket_mb"}
    for row in rows.values():
        assert row["applied"]["changed"] > 0, row
        assert row["verdict"] not in ("failed", "different-training", "not-applicable"), row


@pytest.mark.skipif(not (BUILD / "workloads" / "train_image").exists(), reason="train_image is not built")
def test_fixes_of_ranks_are_applied(loopscope, data):  # noqa: F811
    arguments = command(data, "--ranks", "2", accumulate=2, ddp__no_sync="off", ddp__find_unused="on")
    done, report = loopscope.report(
        "prove", "-o", "out", "--only", "ddp.no_sync=on,ddp.find_unused=off", "--blocks", "1", "--warmup", "5",
        "--min-window", "100ms", "--budget", "100s", "--time", "5s", "--", *arguments, env=clean_environment())  # fmt: skip
    assert done.code == 0, done.err
    rows = {row["treatment"]: row for row in report["trials"]}
    assert set(rows) == {"ddp.no_sync", "ddp.find_unused"}
    for row in rows.values():
        assert row["applied"]["changed"] > 0, row
        assert row["verdict"] not in ("failed", "different-training", "not-applicable"), row
