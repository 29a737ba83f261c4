# ctest labels: long
"""`loopscope run -- python …`: unmodified scripts, the examples among them, and what is said where nothing can be seen."""

import importlib.util
import pathlib
import sys

import pytest

from conftest import BUILD, ROOT

EXAMPLES = ROOT / "workloads" / "python"
BOUNDS = ["--warmup", "5", "--steps", "25", "--time", "60s"]
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}

pytestmark = pytest.mark.skipif(
    not (BUILD / "probes" / "python" / "site" / "sitecustomize.py").exists(), reason="the Python shim is not built"
)
needs_images = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("PIL", "numpy")), reason="Pillow and numpy are not installed"
)


def run(loopscope, *command):
    done, report = loopscope.report("run", *BOUNDS, "--", *command, cwd=EXAMPLES, env=ENVIRONMENT)
    assert done.code == 0, done.err
    return report


def found(report):
    """Rule -> "file:line" of its first evidence, for findings above info."""
    places = {}
    for finding in report["findings"]:
        where = finding["evidence"][0]["where"]
        if finding["severity"] != "info":
            places[finding["rule"]] = where and f"{pathlib.Path(where['path']).name}:{where['line']}"
    return places


def line(file, text):
    lines = (EXAMPLES / file).read_text().splitlines()
    return f"{file}:{next(number for number, one in enumerate(lines, 1) if text in one)}"


def rule_can_fire(report, rule):
    return next(row["verdict"] for row in report["rules"] if row["id"] == rule) != "not-applicable"


@needs_images
def test_every_flaw_of_the_image_classifier_has_its_line(loopscope, tmp_path):
    file = "image_classifier.py"
    data = ["--data", tmp_path / "images", "--samples", "300", "--epochs", "50"]
    report = run(loopscope, sys.executable, file, *data)
    places = found(report)
    assert places["debug-left-on"] == line(file, "loss.backward()")
    assert places["graph-retained"] == line(file, "total_loss += loss")
    assert places["single-tensor-optimizer"] == line(file, "optimizer.step()")
    assert places["bias-before-norm"] in {line(file, f"self.bn{n}(self.conv{n}") for n in (1, 2)}
    assert "grad-in-eval" in places and "input-starvation" in places
    if rule_can_fire(report, "fp32-compute"):
        assert places.pop("fp32-compute").startswith(file)
    assert set(places) <= {"debug-left-on", "graph-retained", "single-tensor-optimizer", "bias-before-norm",
                           "grad-in-eval", "input-starvation", "grads-zeroed", "needless-copy"}
    tuned = run(loopscope, sys.executable, "image_classifier_tuned.py", *data)
    # Two workers may or may not keep up on a busy machine: that is no flaw of the script.
    assert set(found(tuned)) <= {"input-starvation", "too-many-workers"}


def test_the_language_model_and_its_twin(loopscope):
    file = "tiny_gpt.py"
    places = found(run(loopscope, sys.executable, file, "--sentences", "300", "--epochs", "50"))
    assert places["graph-retained"] == line(file, "history = history + loss")
    assert places["single-tensor-optimizer"] == line(file, "optimizer.step()")
    assert set(places) <= {"graph-retained", "single-tensor-optimizer", "grad-in-eval", "fp32-compute"}
    tuned = run(loopscope, sys.executable, "tiny_gpt_tuned.py", "--sentences", "300", "--epochs", "50")
    assert not found(tuned)


def test_two_ranks_under_torchrun(loopscope):
    torchrun = pathlib.Path(sys.executable).with_name("torchrun")
    if not torchrun.exists():
        pytest.skip("torchrun is not beside this Python")
    report = run(loopscope, torchrun, "--nproc_per_node=2", "ddp_two_ranks.py", "--epochs", "50")
    assert report["steps"]["measured"] >= 20
    # Four batches of 32 in a step.
    assert report["steps"]["samples_per_s"] == pytest.approx(128e3 / report["steps"]["mean_ms"], rel=0.01)


def test_a_module_run_by_name(loopscope, tmp_path):
    package = tmp_path / "trainer"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(
        "import torch\n"
        "model = torch.nn.Linear(8, 8)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(1000):\n"
        "    optimizer.zero_grad()\n"
        "    model(torch.ones(4, 8)).sum().backward()\n"
        "    optimizer.step()\n"
    )
    done, report = loopscope.report("run", *BOUNDS, "--", sys.executable, "-m", "trainer", env=ENVIRONMENT)
    assert done.code == 0 and report["steps"]["measured"] == 25


def test_what_cannot_be_seen_is_said(loopscope, tmp_path):
    script = tmp_path / "nothing.py"
    script.write_text("print('no torch here')\n")
    done = loopscope("run", *BOUNDS, "--", sys.executable, script)
    assert "Python" in done.err and "import torch" in done.err
    script.write_text("import torch\nprint(torch.ones(3).sum().item())\n")
    done = loopscope("run", *BOUNDS, "--", sys.executable, script, env=ENVIRONMENT)
    assert "step" in done.err + done.out
    done = loopscope("run", *BOUNDS, "--", sys.executable, "-I", script)
    assert "`python -I`" in done.err
