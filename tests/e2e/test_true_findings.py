# ctest labels: measured
"""A report's findings hold in ordinary steps, at the line that switches them on or takes the time."""

import sys

import pytest

HEAD = """
import contextlib
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_num_threads(1)
"""
TRAIN = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(100):
    before_step(step)
    loss = model(torch.randn(64, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def report(loopscope, tmp_path):
    """The report of a run of this script."""

    def run(body, *launch, steps=30):
        (tmp_path / "train.py").write_text(HEAD + body)
        command = ["run", "--quiet", "--warmup", "4", "--steps", str(steps), "--", sys.executable, *launch, "train.py"]
        return loopscope.report(*command)[1]

    return run


def line_of(body, text):
    return next(i for i, line in enumerate((HEAD + body).split("\n"), 1) if text in line)


def of_rule(report, rule):
    return [one for one in report["findings"] if one["rule"] == rule]


def test_a_compilers_anomaly_mode_is_not_the_programs(report):
    """AOTAutograd traces under anomaly mode; every second step compiles anew."""
    body = (
        """
model = torch.compile(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)), backend="aot_eager")
def before_step(step):
    if step % 2 == 0:
        torch._dynamo.reset()
"""
        + TRAIN
    )
    found = report(body)
    assert not of_rule(found, "debug-left-on"), of_rule(found, "debug-left-on")


def test_anomaly_mode_stands_at_the_line_that_switches_it_on(report):
    body = (
        """
torch.set_anomaly_enabled(True)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
def before_step(step):
    pass
"""
        + TRAIN
    )
    [found] = of_rule(report(body), "debug-left-on")
    assert found["evidence"][0]["where"]["line"] == line_of(body, "set_anomaly_enabled"), found


def test_hooks_that_pile_up_stand_at_the_line_that_registers_them(report):
    body = (
        """
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
kept = {}
def hook(module, inputs, output):
    for _ in range(20):
        kept["mean"] = output.detach().mean(0)
def before_step(step):
    model[0].register_forward_hook(hook)
"""
        + TRAIN
    )
    told = report(body, steps=80)
    rule = next(one for one in told["rules"] if one["id"] == "growing-step")
    if rule["verdict"] == "cannot-tell":
        pytest.skip(rule["reason"])  # the machine is busy
    [found] = of_rule(told, "growing-step")
    assert found["evidence"][0]["where"]["line"] == line_of(body, "register_forward_hook"), found
    assert "hooks are registered again and again" in found["title"]
    assert found["advice"].startswith("Register hooks once")


def test_a_list_of_transforms_is_told_by_its_members(report):
    body = """
class Noisy(Dataset):
    def __init__(self):
        self.transform = nn.Sequential(nn.Conv2d(1, 64, 5), nn.ReLU(), nn.Conv2d(64, 8, 5))
    def __len__(self):
        return 4 * 60
    def __getitem__(self, index):
        with torch.no_grad():
            return self.transform(torch.randn(1, 1, 80, 80))[0].mean((1, 2))

if __name__ == "__main__":
    model = nn.Linear(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in DataLoader(Noisy(), batch_size=4, num_workers=1):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""
    [found] = of_rule(report(body), "input-starvation")
    assert found["evidence"][0]["where"]["line"] == line_of(body, "return self.transform"), found
    assert "Conv2d.forward" in found["evidence"][0]["text"], found
    assert "Make a sample cheaper" in found["advice"], found


def test_no_sync_around_the_backward_pass_alone_is_told(report):
    body = """
import torch.distributed as dist
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(40):
    optimizer.zero_grad()
    for micro in range(4):
        loss = model(torch.randn(16, 64)).pow(2).mean()
        with contextlib.nullcontext() if micro == 3 else model.no_sync():
            loss.backward()
    optimizer.step()
dist.destroy_process_group()
"""
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    [found] = of_rule(report(body, *launch), "accumulation-allreduce")
    assert found["evidence"][0]["where"]["line"] == line_of(body, "model.no_sync()"), found
    assert "around the backward pass alone" in found["evidence"][0]["text"]
    assert found["advice"].startswith("Move the forward pass into the no_sync()")
