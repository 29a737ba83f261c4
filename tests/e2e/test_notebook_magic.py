# ctest labels: slow
"""`%%loopscope` in a notebook: a cell's training in a fresh process, its report inline, and what it says where that cannot work."""

import os
import re
import shutil

import pytest

from conftest import BUILD, ROOT

pytest.importorskip("ipykernel")
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

MODEL = """import torch
from torch import nn
model = nn.Linear(8, 2)
loader = torch.utils.data.DataLoader([(torch.randn(8), n % 2) for n in range(64)], batch_size=8)"""
TRAINING = """%%loopscope {options} --warmup 2 --steps 10 --time 2s
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
import os
print("begun in", os.getcwd())
for epoch in range(1000):
    for inputs, targets in loader:
        loss = nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs cells after `%load_ext loopscope`, of a package as the wheel has it; returns the outputs of the last."""
    package = tmp_path / "packages" / "loopscope"
    package.mkdir(parents=True)
    shutil.copy(ROOT / "cmake" / "wheel" / "loopscope" / "__init__.py", package)
    for name in ("dask_report.py", "notebook.py"):
        shutil.copy(ROOT / "integrations" / name, package)
    monkeypatch.setenv("PYTHONPATH", f"{package.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("LOOPSCOPE", str(BUILD / "loopscope"))

    def run(*cells):
        notebook = nbformat.v4.new_notebook()
        notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in ("%load_ext loopscope", *cells)]
        client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
        client.execute()
        return notebook.cells[-1].outputs

    return run


def texts(outputs):
    return "".join(one.text for one in outputs if one.output_type == "stream")


def test_a_cells_training_is_reported_inline_with_its_lines(run, tmp_path):
    outputs = run(MODEL, TRAINING.format(options="--cells 2"))
    assert f"begun in {tmp_path}" in texts(outputs)
    (page,) = [one.data["text/html"] for one in outputs if "text/html" in one.get("data", {})]
    assert page.startswith("<iframe") and re.search(r"&quot;In\[3\]&quot;,&quot;line&quot;:\d", page), (
        "places are the cell's"
    )


def test_what_other_cells_define_is_asked_for(run):
    said = texts(run(MODEL, TRAINING.format(options="")))
    assert "this cell uses loader, model, nn, torch, which a fresh process does not have" in said
    assert "`%%loopscope --cells 2`" in said


@pytest.mark.parametrize(
    "cell, message",
    [
        ("%%loopscope --cells x\npass", "--cells takes numbers of cells"),
        ("%%loopscope --cells 77\npass", "there was no cell 77"),
        ("%%loopscope --steps many\npass", "'many' is not a number of steps"),
    ],
)
def test_wrong_usage(run, cell, message):
    outputs = run(cell)
    assert message in texts(outputs) and not any("text/html" in one.get("data", {}) for one in outputs)


def test_no_program(run, monkeypatch):
    monkeypatch.setenv("LOOPSCOPE", "/no/such/loopscope")
    assert "/no/such/loopscope cannot be started" in texts(run("%%loopscope\npass"))
