# ctest labels: measured slow
# ctest timeout: 2400
"""Training scripts of the public kind run unmodified: nothing but the script's own lines is blamed, and nothing falsely."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from capture_records import Capture
from conftest import BUILD, ROOT

SCRIPTS = ROOT / "tests" / "e2e" / "scripts"
BIN = pathlib.Path(sys.executable).parent
BOUNDS = ["--warmup", "5", "--steps", "25", "--time", "40s"]
ENVIRONMENT = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "ignore",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
}

pytestmark = pytest.mark.skipif(
    not (BUILD / "probes" / "python" / "site" / "sitecustomize.py").exists(), reason="the Python shim is not built"
)


def needs(*packages):
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def line_of(file, text):
    """ "mnist.py:57" of the one line that holds `text`."""
    lines = [number for number, line in enumerate((SCRIPTS / file).read_text().splitlines(), 1) if text in line]
    assert len(lines) == 1, (file, text, lines)
    return f"{file}:{lines[0]}"


@pytest.fixture(scope="module", autouse=True)
def packages_are_read():
    """From a slow disk the first import of these takes minutes, which no bounded run would wait for."""
    packages = [name for name in ("torch", "lightning", "transformers", "accelerate") if importlib.util.find_spec(name)]
    subprocess.run(
        [sys.executable, "-c", f"import {', '.join(packages)}"],
        env={**os.environ, **ENVIRONMENT},
        stderr=subprocess.DEVNULL,
        timeout=1200,
    )


@pytest.fixture
def run(loopscope, tmp_path):
    """Runs a copy of the scripts; the report of a run that came through, and "clock": what ended its steps."""

    def one(*command):
        folder, output = tmp_path / "scripts", tmp_path / "out"
        shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        done, report = loopscope.report("run", *BOUNDS, "-o", output, "--", *command, cwd=folder, env=ENVIRONMENT)
        assert done.code == 0 and "loopscope:" not in done.err, done.err
        steps = max((Capture(path).of("step") for path in output.glob("*.cap")), key=len)
        (report["clock"],) = {mark[1] for mark in steps}
        return report

    return one


def found(report):
    """Rule -> places of its evidence, "file:line"; every place lies in the script's own folder."""
    rules = {}
    for finding in report["findings"]:
        wheres = [one["where"] for one in finding["evidence"] if one["where"]]
        for where in wheres:
            assert not pathlib.Path(where["path"]).is_absolute(), where
            assert "site-packages" not in where["path"] and where["line"] > 0, where
        rules[finding["rule"]] = {f"{where['path']}:{where['line']}" for where in wheres}
    return rules


def is_sound(report, clock, batch=None, steps=20):
    """Checks for every such script: enough steps of the right clock, parts that add up to the step."""
    measured = report["steps"]
    assert measured["measured"] >= steps
    assert report["quality"]["clean_end"] and report["quality"]["dropped"] == 0
    assert report["clock"] == clock
    assert sum(part or 0 for part in report["breakdown"].values()) == pytest.approx(measured["mean_ms"], rel=0.01)
    if batch:
        assert measured["samples_per_s"] == pytest.approx(batch * 1e3 / measured["mean_ms"], rel=0.2)


# Depends on the machine: on the speed of its memory, its 16-bit units and its other cores, and of starting an iterator
# over a small data set.
MAYBE = {
    "input-starvation",
    "fp32-compute",
    "single-tensor-optimizer",
    "too-many-workers",
    "slow-epoch-start",
    "slow-evaluation",
    "host-code",
}
# True of programs this small (most of their time is calls; two ranks exchange for longer than they compute), of the one
# thread that they are given, and of processors without 16-bit units.
TRUE_HERE = {"small-batch", "overdistributed", "exposed-communication", "idle-processors", "half-on-cpu"}


def only(places, expected):
    """Rules that must be there with just these places, and those of MAYBE, at the given places if they are."""
    for rule, lines in expected.items():
        if rule in MAYBE and rule not in places:
            continue
        assert places[rule] and places[rule] <= lines, (rule, places)
    assert set(places) - TRUE_HERE <= set(expected), places


def test_digits_with_argparse(run):
    file = "mnist.py"
    report = run(sys.executable, file, "--epochs", "3", "--samples", "3000")
    is_sound(report, "optimizer:Adadelta#1", batch=64)
    only(
        found(report),
        {
            "single-tensor-optimizer": {line_of(file, "        optimizer.step()")},
            "fp32-compute": {
                line_of(file, text) for text in ("self.conv1(x)", "self.conv2(x)", "self.fc1(", "self.fc2(self")
            },
            "input-starvation": {line_of(file, "in enumerate(train_loader)")},
        },
    )


def test_image_folders_with_workers_and_dummy_data(run):
    file = "imagenet.py"
    report = run(sys.executable, file, "--dummy", "-j", "2", "--dummy-size", "480", "--epochs", "20")
    is_sound(report, "optimizer:SGD#1", batch=16)
    layers = ("self.conv1(x)))\n", "out = self.bn2(", "self.downsample(x)", "x = self.maxpool(", "return self.fc(")
    text = (SCRIPTS / file).read_text()
    convolutions = {
        f"{file}:{n}" for n, line in enumerate(text.splitlines(), 1) if any(layer.strip() in line for layer in layers)
    }
    # The workers' costliest work is named too.
    loading = {
        line_of(file, line) for line in ("draws = torch.Generator()", "image = torch.randn(", "return image, int(")
    }
    only(
        found(report),
        {
            "host-sync": {line_of(file, "losses.update(loss.item(), images.size(0))")},
            "single-tensor-optimizer": {line_of(file, "        optimizer.step()")},
            "fp32-compute": convolutions,
            "input-starvation": {line_of(file, "in enumerate(train_loader)"), *loading},
            "too-many-workers": {line_of(file, "train_loader = DataLoader(")},  # they start anew with each epoch
        },
    )


def test_word_language_model_without_an_optimizer(run):
    file = "word_language_model.py"
    report = run(sys.executable, file)
    is_sound(report, "backward")
    # The clock is chosen after the requested warm-up: the detail window opens then.
    assert "late-free" not in {row["id"] for row in report["rules"] if row["verdict"] == "cannot-tell"}
    only(
        found(report),
        {
            "host-sync": {line_of(file, "total_loss += loss.item()")},
            "host-code": {line_of(file, text) for text in ("p.data.add_(p.grad", "clip_grad_norm_(")},  # by hand
            "fp32-compute": {line_of(file, "self.rnn(emb"), line_of(file, "self.decoder(self.drop")},
        },
    )
    rules = {row["id"]: row for row in report["rules"]}
    assert rules["input-starvation"]["verdict"] == "cannot-tell" and rules["input-starvation"]["reason"]


BY_HAND = (
    "return F.cross_entropy(",
    "gradients = gradients_of_each(",
    "norms = torch.sqrt(",
    "scale = (1 / norms)",
    "mean = torch.einsum(",
    "parameters[name] -=",
    "        step(image, label)",
)


def test_training_in_functional_style(run):
    """torch.func takes the gradients: no backward pass and no optimizer ends a step."""
    file = "private_sgd.py"
    report = run(sys.executable, file)
    is_sound(report, "gradient", batch=64)
    assert report["steps"]["per_epoch_ms"] is not None and report["breakdown"]["backward"] > 0
    only(
        found(report),
        {
            "input-starvation": {line_of(file, "in loader:")},
            "fp32-compute": {line_of(file, "return F.cross_entropy("), line_of(file, "mean = torch.einsum(")},
            # Gradients are cut and parameters updated by hand.
            "host-code": {line_of(file, text) for text in BY_HAND},
        },
    )


def test_a_gradient_penalty_over_a_long_accumulation(run):
    """A step is the optimizer's, though 48 backward passes and as many penalties come before the first one."""
    file = "long_accumulation.py"
    report = run(sys.executable, file)
    is_sound(report, "optimizer:AdamW#1")
    assert report["steps"]["measured"] < 100
    only(found(report), {"fp32-compute": {line_of(file, "outputs = model(inputs)")}})


def test_minimal_gpt(run):
    file = "minimal_gpt.py"
    report = run(sys.executable, file, "eval_interval=1000")
    is_sound(report, "optimizer:AdamW#1")
    rows = {line_of(file, "x = torch.stack("), line_of(file, "y = torch.stack(")}  # `for i in ix` reads each index
    only(found(report), {"host-sync": rows})


@needs("lightning")
def test_lightning_trainer(run):
    file = "lightning_autoencoder.py"
    report = run(sys.executable, file)
    is_sound(report, "optimizer:Adam#1", batch=64)
    assert report["breakdown"]["forward"] > 0 and report["steps"]["per_epoch_ms"] is not None
    fit = {line_of(file, "trainer.fit(")}
    only(
        found(report),
        {
            "host-sync": fit,
            "single-tensor-optimizer": fit,
            "input-starvation": fit,
            "slow-evaluation": fit | {line_of(file, "return self.decoder("), line_of(file, '"val_loss"')},
            "fp32-compute": {line_of(file, "return self.decoder(")},
        },
    )


@needs("transformers", "accelerate")
def test_hugging_face_trainer(run):
    file = "hugging_face_trainer.py"
    report = run(sys.executable, file)
    is_sound(report, "optimizer:AdamW#1", batch=16)
    train = {line_of(file, "trainer.train()")}
    only(found(report), {"host-sync": train, "fp32-compute": train, "input-starvation": train})
