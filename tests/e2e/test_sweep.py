# ctest labels: slow
"""`sweep` on real training programs: every cell is launched and shown, and no cell is falsely called best."""

import csv
import io
import json
import sys
import textwrap

import jsonschema
import pytest

from conftest import BUILD, ROOT

SHORT = ["--budget", "240s", "--min-window", "50ms", "--warmup", "2", "--steps", "10"]
SCHEMA = json.loads((ROOT / "reports/schema.json").read_text())

# Loading a batch sleeps; training on one sleeps longer. What is measured is known from the sleeps.
SCRIPT = """
    import sys, time, torch
    class Slow(torch.utils.data.Dataset):
        def __len__(self): return 64
        def __getitem__(self, index):
            time.sleep(0.002)
            return torch.zeros(4), index % 2
    def main():
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        loader = torch.utils.data.DataLoader(Slow(), 4)
        for epoch in range(10**6):
            for data, label in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(data), label).backward()
                optimizer.step()
                time.sleep(0.05)
    main()
"""


@pytest.fixture
def slow_loader(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(SCRIPT))
    return [sys.executable, str(path)]


def names(sweep):
    return [dict(zip([axis["key"] for axis in sweep["axes"]], cell["values"])) for cell in sweep["cells"]]


def test_debug_switch_is_seen_in_the_grid(loopscope, tiny_train):
    """Anomaly mode costs many times a step: off is best, whatever the noise."""
    done, report = loopscope.report(
        "sweep",
        "-o",
        "out",
        "debug=off",
        "threads=1",
        "--blocks",
        "4",
        *SHORT,
        "--",
        *tiny_train,
        "--epochs",
        "100000000",
        "--anomaly",
        "--shallow",
        timeout=600,
    )
    assert done.code == 0, done.err
    jsonschema.validate(report, SCHEMA)
    sweep = report["sweep"]
    assert names(sweep) == [{"debug": "off", "threads": "1"}, {}]
    assert sweep["best"] == 0 and sweep["cells"][1]["own"]
    assert sweep["cells"][1]["ratio"] > 1.3, sweep["cells"]
    (row,) = sweep["comparisons"]
    assert row["verdict"] == "faster" and row["ci95"][0] > 1 and row["n"] == 4, row
    assert "2 blocks of the grid" in done.err and "4 fresh blocks" in done.err, "the plan is printed first"
    assert ("measured in turns of" in done.err) == (not report["run"]["host"]["gpus"]), done.err
    again = loopscope("report", "--format", "markdown", "out")
    assert again.code == 0 and "debug=off" in again.out

    table = list(csv.DictReader(io.StringIO(loopscope("report", "--format", "csv", "out").out)))
    assert [row["verdict"] for row in table] == ["best", "measured"] and float(table[0]["ms"]) > 0


def test_the_programs_own_cell_is_known(loopscope, slow_loader):
    done, report = loopscope.report(
        "sweep", "loader.workers=0", "loader.pin_memory=0,1", "--blocks", "2", *SHORT, "--", *slow_loader, timeout=600
    )
    assert done.code == 0, done.err
    own, pinned = report["sweep"]["cells"]
    assert own["own"] and own["verdict"] == "best" and own["published_s"] == 25.26
    import torch

    if not torch.cuda.is_available():
        assert pinned["verdict"] == "not-applicable" and "accelerator" in pinned["reason"]
        assert "was not compared with a neighbour" in report["sweep"]["verdict"]


def test_loader_alone_leaves_the_training_out(loopscope, slow_loader):
    """8 ms of loading against 50 ms of training a step: alone, the loader takes far less than a step."""
    done, report = loopscope.report(
        "sweep", "--loader-only", "loader.workers=0,2", "--blocks", "2", *SHORT, "--", *slow_loader, timeout=600
    )
    assert done.code == 0, done.err
    sweep = report["sweep"]
    assert sweep["loader_only"] and sweep["cells"][0]["own"]
    assert 8 <= sweep["cells"][0]["ms"] < 50, sweep["cells"]
    assert sweep["cells"][1]["ms"] < 50
    assert "the loader alone" in done.out.replace("\n", " ")


def test_loader_alone_of_train_image(loopscope, tmp_path):
    program = BUILD / "workloads" / "train_image"
    data = ["--data", str(tmp_path / "images"), "--set", "train_images=64", "--set", "val_images=10"]
    done, report = loopscope.report(
        "sweep",
        "--loader-only",
        "loader.workers=0,1",
        "--blocks",
        "4",
        *SHORT,
        "--",
        str(program),
        *data,
        "--set",
        "batch.size=8",
        timeout=600,
    )
    assert done.code == 0, done.err
    cells = report["sweep"]["cells"]
    assert len(cells) == 2 and all(cell["n"] == 2 and cell["ms"] > 0 for cell in cells), cells
    assert cells[1]["own"], "one worker is its default"


def test_resume_relaunches_nothing(loopscope, tiny_train):
    command = ["threads=1,2", "--blocks", "4", *SHORT, "--", *tiny_train, "--epochs", "100000000", "--shallow"]
    first, report = loopscope.report("sweep", "-o", "out", *command)
    assert first.code == 0, first.err
    journal = (loopscope.folder / "out/journal.jsonl").read_bytes()
    again, resumed = loopscope.report("sweep", "--resume", "-o", "out", *command)
    assert again.code == 0, again.err
    assert (loopscope.folder / "out/journal.jsonl").read_bytes() == journal
    assert resumed["sweep"]["comparisons"] == report["sweep"]["comparisons"]
