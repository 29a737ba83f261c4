# ctest labels: slow
"""The shim with unusual programs: custom iterators, workers of a fork server, updates in hooks and in compiled code,
code that libraries generate, a script started by an indirect path."""

import os
import subprocess
import sys

import pytest

from capture_records import Capture
from conftest import preloaded
from test_python_shim import SITE, TRAIN, launch  # noqa: F401  (a fixture)

pytestmark = pytest.mark.skipif(not (SITE / "sitecustomize.py").exists(), reason="the Python shim is not built")

# As torchdata's StatefulDataLoader: its iterator derives from torch's base and overrides all that it has, some of it by
# asking the base; a loader gives it without asking DataLoader, and keeps it for the next pass.
DERIVED = """
from torch.utils.data import dataloader

class {name}(dataloader._BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        self.inner = dataloader._DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last)
        self.asked = 0
    def _reset(self, loader, first_iter=False):
        super()._reset(loader, first_iter)
        self.asked = 0
    def _next_index(self):
        self.asked += 1
        return super()._next_index()
    def _next_data(self):
        return self.inner.fetch(self._next_index())
    def __next__(self):
        {call}

class Loader{name}(torch.utils.data.DataLoader):
    kept = None
    def __iter__(self):
        if self.kept is None:
            self.kept = {name}(self)
        else:
            self.kept._reset(self)
        return self.kept

DataLoader = Loader{name}
main(epochs=2)
"""


@pytest.mark.parametrize("mode", ["trace", "check"])
def test_an_iterator_that_derives_from_torchs(launch, mode):
    """Two of them, one after the other, are seen as two of torch's own are."""
    calls = {"Asks": "return super().__next__()", "Overrides": "return self._next_data()"}
    derived = "".join(DERIVED.replace("{name}", name).replace("{call}", call) for name, call in calls.items())
    done, [capture] = launch(derived, mode=mode, steps=0)
    plain, [as_torchs] = launch("main(epochs=2)\nmain(epochs=2)", mode=mode, steps=0)
    assert done.returncode == 0 and done.stdout.count("epoch") == plain.stdout.count("epoch") == 4, done.stderr
    assert [mark[2] for mark in capture.of("step")] == [mark[2] for mark in as_torchs.of("step")] == [8] * 32
    kinds = ("step", "epoch_start", "epoch_end", "sample_hash")
    seen, expected = ([mark[0] for mark in one.marks if mark[0] in kinds] for one in (capture, as_torchs))
    assert seen == expected
    assert len(capture.ranges_of("loader")) == len(as_torchs.ranges_of("loader"))


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_workers_of_a_fork_server_are_no_trainings(launch, method):
    body = f"""
if __name__ == "__main__":
    torch.multiprocessing.set_start_method("{method}")
    main(workers=2, epochs=3)
"""
    done, captures = launch(body, mode="trace", steps=6)
    assert done.returncode == 0, done.stderr
    assert len(captures) == 1 and len(captures[0].of("step")) >= 6
    assert "leaked" not in done.stderr, done.stderr


COMPILED = """
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

images, labels = torch.randn(8, 3, 8, 8), torch.arange(8) % 4
for _ in range(20):
    model.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    with torch.no_grad():  # as compiled code: no hook of an optimizer is called
        for one in model.parameters():
            one.sub_(one.grad, alpha=1e-3)
"""


def test_updates_that_no_hook_sees_are_steps(launch):
    done, [capture] = launch(COMPILED, mode="trace", steps=0, warmup=1)
    assert done.returncode == 0, done.stderr
    assert {mark[1] for mark in capture.of("step")} == {"backward"}
    assert len(capture.of("step")) >= 15


# A library writes a module into the folder of temporary files, under a new name in each start, and calls it.
GENERATED = """
import importlib.util, tempfile
with tempfile.NamedTemporaryFile("w", prefix="conv_", suffix=".py", delete=False) as file:
    file.write("import torch\\ndef propagate(x):\\n    return torch.relu(x) * 2\\n")
spec = importlib.util.spec_from_file_location("conv", file.name)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
weight = nn.Parameter(torch.ones(8))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(10):
    optimizer.zero_grad()
    module.propagate(weight).sum().backward()  # generated line
    optimizer.step()
"""


def test_generated_code_is_not_the_users(launch, tmp_path):
    own = tmp_path / "temporary"
    own.mkdir()
    done, [capture] = launch(GENERATED, mode="trace", steps=0, detail=5, environment={"TMPDIR": str(own)})
    assert done.returncode == 0 and len(list(own.glob("conv_*.py"))) == 1, done.stderr
    frames = [frame for stack in capture.stacks.values() for frame in stack]
    line = 1 + (TRAIN + GENERATED).split("# generated line")[0].count("\n")
    assert any(f"train.py:{line}:" in frame for frame in frames)
    assert not [frame for frame in frames if "conv_" in frame]


def test_a_path_has_one_spelling(tmp_path):
    away, run = tmp_path / "a/b", tmp_path / "run"
    for folder in (away, run):
        folder.mkdir(parents=True)
    (tmp_path / "part.py").write_text("def double(x):\n    return x * 2\n")
    body = TRAIN.replace("import random, sys\n", "import random, sys\nimport part\n") + "main(epochs=2)\n"
    (tmp_path / "train.py").write_text(body.replace("criterion(model(images)", "criterion(part.double(model(images))"))
    environment = {
        **os.environ,
        "PYTHONPATH": str(SITE),
        "LD_PRELOAD": preloaded("trace"),
        "LOOPSCOPE_RUN_DIR": str(run),
        "LOOPSCOPE_MODE": "trace",
        "LOOPSCOPE_WARMUP": "2",
        "LOOPSCOPE_STEPS": "0",
        "LOOPSCOPE_DETAIL": "5",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "../../train.py"], cwd=away, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    [path] = run.glob("*.cap")
    capture = Capture(path)
    files = {frame.split(".py:")[0] + ".py" for stack in capture.stacks.values() for frame in stack}
    assert files == {str(tmp_path / "train.py"), str(tmp_path / "part.py")}
    facts = {key: value for key, value in capture.facts.items() if key.endswith("where")}
    assert facts and all(value.startswith(str(tmp_path / "train.py")) for value in facts.values() if value)


# As a policy that acts as a whole (a rollout, between the updates) and trains by its parts alone.
ACTS = """
import time
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 4)
    def forward(self, x):
        return self.head(self.body(x))
policy = Policy()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for _ in range(4):
    policy.eval()
    with torch.no_grad():
        for _ in range(5):
            policy(torch.rand(1, 8))
            time.sleep(0.002)
    policy.train()
    for _ in range(3):
        optimizer.zero_grad()
        policy.head(policy.body(torch.rand(8, 8))).sum().backward()
        optimizer.step()
"""


def test_a_model_that_trains_by_its_parts_evaluates_as_a_whole(launch):
    done, [capture] = launch(ACTS, mode="trace", steps=0, warmup=1)
    assert done.returncode == 0, done.stderr
    lengths_ms = [one[4] / 1e6 for one in capture.ranges_of("evaluation")]
    assert len(lengths_ms) == 3 and min(lengths_ms) > 8, lengths_ms
