"""Gains that are measured in the program at the end of a bounded run."""

import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tests"))
from tricks import matrix  # noqa: E402

pytestmark = pytest.mark.skipif(
    not (BUILD / "probes" / "python" / "site" / "sitecustomize.py").exists(), reason="the Python shim is not built"
)
units = pytest.mark.skipif(not matrix.has_16_bit_units(), reason="this CPU has no fast 16-bit units")

TRAIN = """
import contextlib, torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

class Counts(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        return function(*arguments, **(keywords or {}))

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, labels = torch.randn(512, 256), torch.randint(0, 10, (512,))
with AROUND:
    for step in range(1000):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
"""


def fp32_compute(report):
    (rule,) = [row for row in report["rules"] if row["id"] == "fp32-compute"]
    return rule, [one for one in report["findings"] if one["rule"] == "fp32-compute"]


def test_work_is_done_again_as_the_program_does_it():
    checked = BUILD / "tests" / "check_gain_work"
    done = subprocess.run([checked], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "6 kinds, 0 wrong\n", done.stdout + done.stderr


@units
@pytest.mark.parametrize("around", ["contextlib.nullcontext()", "Counts()", "torch.autograd.set_detect_anomaly(True)"])
def test_a_gain_or_its_absence_has_a_figure(loopscope, around):
    """Whatever is switched on around the loop: modes see nothing of it."""
    (loopscope.folder / "train.py").write_text(TRAIN.replace("AROUND", around))
    done, report = loopscope.report("run", "--steps", "20", "--", sys.executable, "train.py")
    assert done.code == 0, done.err
    rule, found = fp32_compute(report)
    if rule["verdict"] == "clear":  # depends on the machine, or under anomaly mode the layers are a small part
        assert "measured" in rule["reason"] or "anomaly" in around
    else:
        assert 0 < found[0]["expected_gain_ms"] < found[0]["cost_ms_per_step"], found
        assert "of the time" in found[0]["title"]
    assert not [one for one in report["quality"]["warnings"] if "mode" in one or "dispatch" in one]


@units
def test_a_run_that_is_not_ended_is_left_alone(loopscope):
    (loopscope.folder / "train.py").write_text(
        TRAIN.replace("AROUND", "contextlib.nullcontext()").replace("1000", "60")
    )
    done, report = loopscope.report("run", "--steps", "0", "--", sys.executable, "train.py")
    assert done.code == 0, done.err
    rule, found = fp32_compute(report)
    assert rule["reason"] == "" and all(one["expected_gain_ms"] is None for one in found)
