"""`loopscope run -- python …` on training loops of every shape, and the messages for scripts that cannot be seen."""

import os
import pathlib
import pty
import subprocess
import sys

import pytest

from conftest import BUILD
from terminals import all_of

BOUNDS = ["--warmup", "5", "--steps", "25", "--time", "20s"]
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
START = """
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

def build(width=64):
    return nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 2))

data = TensorDataset(torch.randn(320, 16), torch.randint(2, (320,)))
"""

pytestmark = pytest.mark.skipif(
    not (BUILD / "probes" / "python" / "site" / "sitecustomize.py").exists(), reason="the Python shim is not built"
)


@pytest.fixture
def write(tmp_path):
    def to(body, start=START):
        path = tmp_path / "train.py"
        path.write_text(start + body)
        return path

    return to


@pytest.fixture
def run(loopscope, write):
    """Runs a script that must come through; its report."""

    def one(body, **environment):
        words = ["run", *BOUNDS, "--", sys.executable, write(body)]
        done, report = loopscope.report(*words, env={**ENVIRONMENT, **environment})
        assert done.code == 0 and not done.err, done.err
        return report

    return one


def line_of(body, text):
    return START[: START.rfind("\n") + 1].count("\n") + body[: body.index(text)].count("\n") + 1


def places(report, rule):
    return [
        (pathlib.Path(one["where"]["path"]).name, one["where"]["line"])
        for finding in report["findings"]
        if finding["rule"] == rule
        for one in finding["evidence"]
        if one["where"]
    ]


def test_two_optimizers_make_one_step(run):
    body = """
generator, critic = build(), build(256)
generator_steps = torch.optim.Adam(generator.parameters(), fused=True)
critic_steps = torch.optim.Adam(critic.parameters(), fused=True)
for epoch in range(50):
    for inputs, labels in DataLoader(data, batch_size=16):
        critic_steps.zero_grad()
        cross_entropy(critic(inputs), labels).backward()
        critic_steps.step()
        generator_steps.zero_grad()
        cross_entropy(critic(generator(inputs).repeat(1, 8)), labels).backward()
        generator_steps.step()
"""
    report = run(body)
    assert report["steps"]["measured"] >= 23
    assert report["steps"]["samples_per_s"] == pytest.approx(16e3 / report["steps"]["mean_ms"], rel=0.2)
    assert not places(report, "graph-retained")


def test_accumulated_gradients_make_one_step_beside_a_sitecustomize_of_the_users_own(run, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = 'mine'\n")
    report = run(
        """
open("mine", "w").write(mine)
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(100):
    for step, (inputs, labels) in enumerate(DataLoader(data, batch_size=8)):
        (cross_entropy(model(inputs), labels) / 4).backward()
        if step % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
""",
        PYTHONPATH=str(tmp_path / "own"),
    )
    assert (tmp_path / "mine").read_text() == "mine"
    assert report["steps"]["measured"] >= 20
    assert report["steps"]["samples_per_s"] == pytest.approx(32e3 / report["steps"]["mean_ms"], rel=0.2)


def test_a_function_that_trains_and_is_called_again_and_again(run):
    report = run("""
def fit(rate):
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for inputs, labels in DataLoader(data, batch_size=32):
        optimizer.zero_grad()
        cross_entropy(model(inputs), labels).backward()
        optimizer.step()
    return model

models = [fit(0.1 / (1 + number)) for number in range(300)]
""")
    assert report["steps"]["measured"] >= 20
    assert report["quality"]["clean_end"]


def test_a_closure_is_no_work_of_its_optimizer(run):
    body = """
model = build(512)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, labels = torch.randn(256, 16), torch.randint(2, (256,))
def closure():
    optimizer.zero_grad()
    loss = cross_entropy(model(inputs), labels)
    loss.backward()
    return loss
for step in range(500):
    optimizer.step(closure)
"""
    report = run(body)
    assert report["breakdown"]["forward"] > 0 and report["breakdown"]["backward"] > 0
    assert report["breakdown"]["optimizer"] < 0.7 * report["steps"]["mean_ms"]


def test_weights_that_are_updated_by_hand(run):
    report = run("""
model = build()
for inputs, labels in DataLoader(data.__class__(*(one.repeat(30, *[1] * (one.dim() - 1)) for one in data.tensors)), 32):
    model.zero_grad()
    cross_entropy(model(inputs), labels).backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
""")
    assert 25 <= report["steps"]["measured"] <= 25 + report["steps"]["disturbed"]


def test_a_profiler_that_the_script_uses_itself(loopscope, write):
    body = """
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=8)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
    for inputs, labels in loader:
        optimizer.zero_grad()
        cross_entropy(model(inputs), labels).backward()
        optimizer.step()
print("events", sum(one.count for one in profiler.key_averages() if one.key == "aten::addmm"))
"""
    bounds = ["--warmup", "5", "--steps", "0"]
    done, report = loopscope.report("run", *bounds, "--", sys.executable, write(body), env=ENVIRONMENT)
    assert done.code == 0 and "loopscope:" not in done.err, done.err
    assert done.out.startswith("events 80\n") or "\nevents 80\n" in done.out  # the script's own profile is whole
    finding = next(one for one in report["findings"] if one["rule"] == "debug-left-on")
    assert "profiler" in finding["title"] + finding["evidence"][0]["text"]


@pytest.mark.parametrize(
    "body, start, said",
    [
        ("print('no torch here')\n", "", "did not import torch"),
        ("print(torch.ones(3).sum().item())\n", START, "does neither does not train"),
        (
            "with torch.no_grad():\n    for inputs, labels in DataLoader(data):\n        build()(inputs)\n",
            START,
            "does neither does not train",
        ),
    ],
)
def test_a_script_that_does_not_train(loopscope, write, body, start, said):
    done = loopscope("run", *BOUNDS, "--", sys.executable, write(body, start), env=ENVIRONMENT)
    assert done.code == 0 and said in done.message(), done.err
    assert done.err.count("loopscope:") == 1


TALK = """
import sys
if {needs}:
    sys.exit("this program needs a terminal")
rate = float(input("learning rate? "))
print("rate", rate, flush=True)
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=rate)
for step in range(400):
    model(data.tensors[0]).mean().backward()
    optimizer.step()
"""


def test_a_script_that_talks_to_its_terminal(loopscope, write):
    script = write(TALK.replace("{needs}", "not (sys.stdin.isatty() and sys.stdout.isatty())"))
    control, terminal = pty.openpty()
    process = subprocess.Popen(
        [loopscope.program, "run", *BOUNDS, "--json", "talk.json", "--", sys.executable, script],
        cwd=loopscope.folder,
        env={**os.environ, **ENVIRONMENT},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.write(control, b"0.5\n")
    shown = all_of(control, terminal, process)
    assert process.returncode == 0 and b"rate 0.5" in shown, shown.decode()
    assert (loopscope.folder / "talk.json").exists()


@pytest.mark.parametrize(
    "needs, said", [("False", "It asks for input"), ("not sys.stdin.isatty()", "this program needs a terminal")]
)
def test_trials_have_no_terminal_and_say_so(loopscope, write, needs, said):
    script = write(TALK.replace("{needs}", needs), start="")  # it ends before it would need torch
    done = loopscope("prove", "--budget", "20s", *BOUNDS, "--", sys.executable, script, env=ENVIRONMENT)
    assert done.code == 4 and said in done.message(), done.err


def test_a_python_without_the_programs_packages_is_said(loopscope, write):
    script = write("import a_package_that_is_not_there\n")
    done = loopscope("run", "--", sys.executable, script, env=ENVIRONMENT)
    assert done.code == 1 and "name the Python of your environment by its path" in done.message(), done.err
