# ctest labels: slow
"""Experiments on two ranks: one of them leads, and a launch's window, time and losses are its own."""

import json
import os
import pathlib
import shutil
import struct
import sys

import pytest

from conftest import BUILD, ROOT

BIN = pathlib.Path(sys.executable).parent
ENVIRONMENT = {
    "OMP_NUM_THREADS": "2",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
}
STEPS = 18  # after 5 of warm-up: the window closes one step before the ranks meet, with rank 1 far ahead
BOUNDS = ["--blocks", "1", "--warmup", "5", "--steps", STEPS, "--budget", "10m"]

pytestmark = pytest.mark.skipif(
    not (BIN / "torchrun").exists() or not (BUILD / "probes" / "python" / "site" / "sitecustomize.py").exists(),
    reason="torchrun is not beside this Python, or the Python shim is not built",
)


def train(pause_ms):
    return ["torchrun", "--standalone", "--nproc-per-node", "2", "local_sgd.py", str(pause_ms)]


@pytest.fixture
def experiment(loopscope):
    """Runs an experiment on the script; the report and the finished launches."""

    def one(*arguments):
        shutil.copy(ROOT / "tests" / "e2e" / "scripts" / "local_sgd.py", loopscope.folder)
        done, report = loopscope.report(*arguments, env=ENVIRONMENT, timeout=800)
        assert done.code == 0, done.err
        lines = (loopscope.folder / "out" / "journal.jsonl").read_text().splitlines()
        ended = [line for line in map(json.loads, lines) if "result" in line]
        launches = [line["result"] for line in ended if line["label"] != "diagnosis"]
        assert launches and all(one["status"] == "ok" for one in launches), launches
        assert {one["clock"] for one in launches} == {"optimizer:SGD#1"}
        return report, launches

    return one


def test_a_fix(experiment):
    report, launches = experiment(
        "prove", "-o", "out", "--only", "threads=1", *BOUNDS, "--time", "5s", "--", *train(10)
    )
    timed = [one for one in launches if not one["losses"]]
    assert len(timed) == 4  # baseline and ALL, as pilots and in the block
    assert all(one["steps"] == STEPS and one["ms_per_step"] > 10 for one in timed), timed
    checks = [[struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in one["losses"]]
              for one in launches if one["losses"]]  # fmt: skip
    assert len(checks) >= 3 and len({len(losses) for losses in checks}) == 1
    for losses in checks:
        assert max(losses) < 100, "the losses of rank 1 are over 100"
        assert losses[-1] < losses[0]
    (row,) = report["trials"]
    assert row["applied"] and row["loss"]["verdict"] in ("bit-identical", "within rounding"), row
