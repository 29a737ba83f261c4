# ctest labels: slow
"""Python programs that another program starts, and those that cannot be reached: records and messages."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT
from test_python_scripts import BIN, BOUNDS, ENVIRONMENT, found, is_sound, line_of, needs, only, pytestmark, run  # noqa: F401


def test_a_package_run_by_name(run):
    report = run(sys.executable, "-m", "trainer_package")
    is_sound(report, "optimizer:SGD#1", batch=64)
    file = "trainer_package/__main__.py"
    only(
        found(report),
        {
            "host-sync": {line_of(file, "running += loss.item()")},
            "single-tensor-optimizer": {line_of(file, "optimizer.step()")},
            "input-starvation": {line_of(file, "for features, targets in loader")},
            "fp32-compute": {line_of("trainer_package/model.py", "return self.layers(inputs)")},
        },
    )


def test_two_ranks_of_torchrun(run):
    report = run("torchrun", "--nproc_per_node=2", "--standalone", "ddp.py", "60", "100")
    is_sound(report, "optimizer:SGD#1", batch=32)
    file = "ddp.py"
    only(
        found(report),
        {
            "input-starvation": {line_of(file, "for source, targets in self.train_data")},
            "single-tensor-optimizer": {line_of(file, "self.optimizer.step()")},
            "fp32-compute": {line_of(file, "self.model(source)")},
        },
    )


def test_ranks_that_a_script_starts_itself(run):
    report = run(sys.executable, "spawned_ranks.py")
    is_sound(report, "optimizer:SGD#1", batch=16)
    file = "spawned_ranks.py"
    only(
        found(report),
        {
            "input-starvation": {line_of(file, "for source, targets in loader")},
            "single-tensor-optimizer": {line_of(file, "optimizer.step()")},
            "fp32-compute": {line_of(file, "F.cross_entropy(model(source), targets).backward()")},
        },
    )


@pytest.mark.parametrize("sets", ["PYTHONPATH=.", "LD_PRELOAD="])
def test_a_shell_script_that_sets_anew_what_brings_the_probes_in(run, sets):
    report = run("sh", "-c", f"export {sets}; python -m trainer_package")
    is_sound(report, "optimizer:SGD#1", batch=64)
    assert found(report)["host-sync"] == {line_of("trainer_package/__main__.py", "running += loss.item()")}


@needs("accelerate")
def test_accelerate_launch(run):
    file = "accelerate_train.py"
    report = run("accelerate", "launch", "--cpu", "--num_processes", "1", file)
    is_sound(report, "optimizer:AdamW#1", batch=64)  # two batches of 32 in a step
    only(
        found(report),
        {
            "single-tensor-optimizer": {line_of(file, "optimizer.step()")},
            "fp32-compute": {line_of(file, "loss = F.cross_entropy(model(inputs), labels)")},
            "input-starvation": {line_of(file, "for inputs, labels in train_dataloader")},
        },
    )


@needs("nbclient", "ipykernel")
def test_a_notebook(run):
    report = run("jupyter", "execute", "notebook.ipynb")
    is_sound(report, "optimizer:Adam#1", batch=64)
    cell = {f"In[4]:{line}" for line in (3, 5, 7, 8)}  # the cells have no file, only their number
    places = found(report)
    rules = ("host-sync", "single-tensor-optimizer", "fp32-compute", "input-starvation", "slow-epoch-start")
    only(places, {rule: cell for rule in rules})
    assert places["host-sync"] == {"In[4]:8"}
    assert "which it was not" in " ".join(report["quality"]["warnings"])


@needs("nbclient", "ipykernel")
def test_a_notebook_that_fails_by_itself(loopscope, tmp_path):
    # Before it would need torch.
    text = (ROOT / "tests/e2e/scripts/notebook.ipynb").read_text().replace("import torch\\n", "nothing\\n")
    (tmp_path / "broken.ipynb").write_text(text)
    done = loopscope("run", *BOUNDS, "--", "jupyter", "execute", "broken.ipynb", env=ENVIRONMENT)
    assert done.code == 1 and "NameError" in done.err
    assert "before its first step" in done.message()


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_a_python_that_ignores_its_environment(loopscope, tmp_path, option):
    script = tmp_path / "train.py"
    script.write_text("import sys; print('ran', sys.flags.isolated); sys.exit(7)\n")
    done = loopscope("run", *BOUNDS, "--", sys.executable, "-u" + option[1], script, env=ENVIRONMENT)
    assert done.code == 7 and "ran" in done.out  # it goes on, unobserved
    assert done.err.startswith("loopscope: this run is not observed: ") and f"`python {option}`" in done.err
    done = loopscope("prove", *BOUNDS, "--", sys.executable, option, script, env=ENVIRONMENT)
    assert done.code == 3 and f"`python {option}`" in done.message() and "ran" not in done.out


@pytest.mark.parametrize(
    "name, said", [("docker", "run loopscope inside it"), ("ssh", "run loopscope there"), ("sudo", "`sudo loopscope")]
)
def test_a_command_in_another_world(loopscope, tmp_path, script, name, said):
    script("shift; echo reached; exec env -i true\n", name)
    environment = {**ENVIRONMENT, "PATH": f"{tmp_path}{os.pathsep}{ENVIRONMENT['PATH']}"}
    done = loopscope("run", *BOUNDS, "--", name, "host", "python", "train.py", env=environment)
    assert done.code == 0 and "reached" in done.out
    assert said in done.err.splitlines()[0] and said in done.message()
    done = loopscope("prove", *BOUNDS, "--", name, "host", "python", "train.py", env=environment)
    assert done.code == 3 and said in done.message() and "reached" not in done.out


def pythons():
    """Every Python from 3.10 on that is installed here, by version."""
    found = {}
    candidates = glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))
    candidates += [path for minor in range(10, 15) if (path := shutil.which(f"python3.{minor}"))]
    for path in candidates:
        asked = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True
        )
        version = asked.stdout.strip()
        if asked.returncode == 0 and tuple(map(int, version.split("."))) >= (3, 10):
            found.setdefault(version, path)
    return found


PYTHONS = pythons()


@pytest.mark.parametrize("version", sorted(PYTHONS))
def test_every_python_starts_as_without_loopscope(loopscope, tmp_path, version):
    """The shim's own modules load everywhere; a torch of that Python is found where there is one."""
    script = tmp_path / "plain.py"
    script.write_text("import sys\nprint(*sys.version_info[:2], sep='.')\nsys.exit(9)\n")
    done = loopscope(
        "run", *BOUNDS, "--", PYTHONS[version], script, env={**ENVIRONMENT, "LOOPSCOPE_SHIM_TRACEBACK": "1"}
    )
    assert done.code == 9 and done.out.startswith(version + "\n"), done.err
    assert done.err.count("loopscope:") == 1 and "before its first step" in done.message(), done.err
    modules = sorted(pathlib.Path(loopscope.program.parent / "probes" / "python").rglob("*.py"))
    compiled = subprocess.run(
        [PYTHONS[version], "-c", "import sys\nfor p in sys.argv[1:]: compile(open(p).read(), p, 'exec')", *modules],
        capture_output=True,
        text=True,
    )
    assert compiled.returncode == 0, compiled.stderr
