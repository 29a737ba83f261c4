"""Findings on a Python script name the modules that their ops ran in; what the script does with modules goes on as before."""

import json
import os
import subprocess
import sys

import pytest

from conftest import BUILD

BOUNDS = ["--warmup", "5", "--steps", "20", "--time", "10s"]
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
NETWORK = """
import json, sys
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, images):
        return torch.relu(self.norm(self.conv(images)))

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Block()
        self.head = nn.Linear(8, 2)

    def forward(self, images):
        return self.head(self.stem(images).mean((2, 3)))
"""
TRAIN = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=True)
for step in range(60):
    optimizer.zero_grad()
    model(torch.randn(8, 3, 32, 32)).square().mean().backward()
    optimizer.step()
"""

pytestmark = pytest.mark.skipif(
    not (BUILD / "probes" / "python" / "site" / "sitecustomize.py").exists(), reason="the Python shim is not built"
)


def run(loopscope, body):
    path = loopscope.folder / "train.py"
    path.write_text(NETWORK + body)
    done, report = loopscope.report("run", *BOUNDS, "--", sys.executable, path, env=ENVIRONMENT)
    assert done.code == 0 and not done.err, done.err
    return done, report


def evidence(report, rule):
    return [one["text"] for finding in report["findings"] if finding["rule"] == rule for one in finding["evidence"]]


@pytest.mark.parametrize("made", ["Network()", "nn.DataParallel(Network())"])
def test_a_finding_names_its_modules(loopscope, made):
    _, report = run(loopscope, f"model = {made}" + TRAIN)
    assert any(text.endswith(", in stem.conv") for text in evidence(report, "bias-before-norm")), report["findings"]


HOOKED = """
calls = {"before": 0, "after": 0, "raised": 0}
def count(key):
    calls[key] += 1
register_module_forward_pre_hook(lambda module, inputs: count("before"))
register_module_forward_hook(lambda module, inputs, output: count("after"))

class Fickle(nn.Module):
    def forward(self, images):
        if images is None:
            raise ValueError("no images")
        return images

class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.fickle = Fickle()
        self.network = torch.jit.script(Network())

    def forward(self, images):
        try:
            self.fickle(None)
        except ValueError:
            count("raised")
        return self.network(self.fickle(images))

model = Whole()
"""


def test_hooks_scripted_modules_and_errors_of_the_users_own(loopscope):
    """The script ends by itself before the window is full, and prints what it would print alone."""
    counts = "print('calls', json.dumps(calls), flush=True)\n"
    done, report = run(loopscope, HOOKED + TRAIN.replace("range(60)", "range(20)") + counts)
    assert report["steps"]["measured"] == 15
    line = next(line for line in done.out.splitlines() if line.startswith("calls"))
    # In each step a call of Whole, one of Fickle that raises, one that does not, and the scripted network with its parts.
    calls = json.loads(line.removeprefix("calls"))
    assert calls["raised"] == 20 and calls["after"] == calls["before"] - 20, calls


def test_a_compiled_model_is_captured_whole(loopscope):
    """Neither the model nor a function that calls it is cut into more graphs than without Loopscope; both are compiled
    in the detail window, where every module's call is recorded."""
    body = """
import torch._dynamo.utils as utils
model = Network()
compiled = torch.compile(model, backend="eager")
function = torch.compile(lambda images: model(images).square().mean(), backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    optimizer.zero_grad()
    images = torch.randn(8, 3, 32, 32)
    network = compiled if step > 6 else model
    (function(images) if step in (8, 9) else network(images).square().mean()).backward()
    optimizer.step()
    if step == 12:
        print("graphs", utils.counters["stats"]["unique_graphs"], sum(utils.counters["graph_break"].values()), flush=True)
"""
    path = loopscope.folder / "train.py"
    path.write_text(NETWORK + body)
    plain = subprocess.run([sys.executable, path], env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True)
    expected = [one for one in plain.stdout.splitlines() if one.startswith("graphs")]
    assert expected == ["graphs 2 0"], plain.stderr
    done, report = run(loopscope, body)
    assert [one for one in done.out.splitlines() if one.startswith("graphs")] == expected
    assert report["steps"]["measured"] >= 10
