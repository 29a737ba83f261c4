"""The Python shim, without the launcher: what it records of a script, and that the script is not affected."""

import collections
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time

import pytest

from capture_records import Capture
from conftest import BUILD, ROOT, preloaded

SITE = BUILD / "probes" / "python" / "site"

pytestmark = pytest.mark.skipif(not (SITE / "sitecustomize.py").exists(), reason="the Python shim is not built")


def shim_module(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "probes" / "python" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TRAIN = """
import random, sys
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Noise(Dataset):
    def __init__(self, samples):
        self.samples = samples
    def __len__(self):
        return self.samples
    def __getitem__(self, index):
        sample = torch.randn(3, 8, 8, generator=torch.Generator().manual_seed(index))
        return sample + random.random() + torch.rand(1), index % 4

def build():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4))

def main(epochs=4, batch=8, samples=64, workers=0):
    torch.set_num_threads(1)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train = DataLoader(Noise(samples), batch_size=batch, shuffle=True, num_workers=workers)
    held_out = DataLoader(Noise(16), batch_size=batch)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        total = 0
        for images, labels in train:  # loader line
            optimizer.zero_grad(set_to_none=False)
            loss = criterion(model(images), labels)
            loss.backward()  # backward line
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss
        model.eval()
        right = sum((model(images).argmax(1) == labels).sum().item() for images, labels in held_out)
        print("epoch", epoch, float(total), right)
"""


def launcher(tmp_path):
    """What runs a script under the probes; gives the finished process and its captures, the one with most steps first."""
    runs = []

    def run(body, mode="clock", warmup=2, steps=6, prefix=TRAIN, arguments=(), environment=None, **extra):
        folder = tmp_path / f"run{len(runs)}"
        folder.mkdir()
        runs.append(folder)
        script = tmp_path / "train.py"
        script.write_text(prefix + body)
        variables = {f"LOOPSCOPE_{name.upper()}": str(value) for name, value in extra.items()}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", *(arguments or [str(script)])],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(SITE),
                "LD_PRELOAD": preloaded(mode),
                "LOOPSCOPE_RUN_DIR": str(folder),
                "LOOPSCOPE_MODE": mode,
                "LOOPSCOPE_WARMUP": str(warmup),
                "LOOPSCOPE_STEPS": str(steps),
                **variables,
                **(environment or {}),
            },
            capture_output=True,
            text=True,
            timeout=240,
        )
        captures = [Capture(path) for path in sorted(folder.glob("*.cap"))]
        return done, sorted(captures, key=lambda one: -len(one.of("step")))

    return run


@pytest.fixture
def launch(tmp_path):
    return launcher(tmp_path)


@pytest.fixture(scope="module")
def launch_once(tmp_path_factory):
    """Like `launch`, shared by several tests: an identical launch is not repeated."""
    launched = {}

    def run(body, **how):
        key = (body, repr(sorted(how.items())))
        if key not in launched:
            launched[key] = launcher(tmp_path_factory.mktemp("shared"))(body, **how)
        return launched[key]

    return run


def line_of(mark):
    return 1 + TRAIN[: TRAIN.index(mark)].count("\n")


BOUNDED = dict(body="main()", mode="trace", warmup=3, steps=20, until="epoch", time=30)


def test_a_bounded_run_is_seen_whole(launch_once):
    done, [capture] = launch_once(**BOUNDED)
    assert done.returncode == 0 and "loopscope" not in done.stderr, done.stderr
    assert done.stdout.startswith("epoch 0 ")  # what was printed before the end is not lost
    assert capture.clean_end and {mark[1] for mark in capture.of("step")} == {"optimizer:Adam#1"}
    assert [mark[2] for mark in capture.of("step")[:20]] == [8] * 20
    assert len(capture.of("measure_begin")) == len(capture.of("measure_end")) == 1
    assert len(capture.of("epoch_end")) >= 1 and len(capture.ranges_of("evaluation")) >= 1
    assert not capture.of("probe_off")
    assert len(capture.ops) > 500 and "aten::conv2d" in capture.ops
    names = {one[1] for one in capture.ranges_of("loader")}
    assert names == {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"}


def test_ranges_name_the_lines_of_the_script(launch_once):
    _, [capture] = launch_once(**BOUNDED)
    for category, mark in (("loader", "# loader line"), ("backward", "# backward line")):
        assert f"train.py:{line_of(mark)}:main" in capture.lines(category)[-1]
    shown = [frame for stack in capture.stacks.values() for frame in stack]
    assert not [frame for frame in shown if "site-packages" in frame or "probes/python" in frame]


@pytest.fixture(scope="module")
def bounded_with_workers(launch_once):
    """The launch, its capture, and what was left of its processes: looked for at once, as workers soon end by
    themselves."""
    done, [capture] = launch_once("main(workers=2)")
    script, deadline = done.args[-1], time.monotonic() + 1
    while left := [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if _command(path).endswith(script)]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return done, capture, left


def test_facts_of_loader_and_optimizer(bounded_with_workers):
    _, capture, _ = bounded_with_workers
    expected = {
        "loader.workers": "2",
        "loader.batch_size": "8",
        "loader.sampler": "RandomSampler",
        "optimizer.class": "Adam",
        "optimizer.parameters": "6",
    }
    assert expected.items() <= capture.facts.items()
    assert re.fullmatch(r"train\.py:\d+", capture.facts["loader.where"])


IN_THE_HEAD = """
def made_inside():
    class Mine(torch.optim.Adam):
        pass
    return Mine

model = build()
optimizer = made_inside()(model.parameters())
for epoch in range(3):
    for images, labels in DataLoader(Noise(64), batch_size=8, shuffle=True, num_workers=1):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
print("trained")
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_loader_made_in_the_head_of_its_loop_tells_the_same(launch, launch_once, workers):
    if workers == "1":
        _, [capture] = launch_once(**ending(IN_THE_HEAD))
    else:
        _, [capture] = launch(IN_THE_HEAD, steps=16, treatment="loader.workers=2")
    expected = {"loader.workers": workers, "loader.batch_size": "8", "loader.samples": "64"}
    expected["optimizer.class"] = "Mine"  # as the clock names it, wherever the class was made
    assert expected.items() <= capture.facts.items()
    assert {mark[1] for mark in capture.of("step")} == {"optimizer:Mine#1"}


def test_the_clock_records_no_ops(bounded_with_workers):
    _, capture, _ = bounded_with_workers
    assert not capture.ops and not capture.ranges and len(capture.of("step")) == 8


LOADERS = """
from torch.utils.data import BatchSampler, RandomSampler
class Grows(BatchSampler):
    def __iter__(self):
        yield from ([at] * (1 + at % 3) for at in range(7))
    def __len__(self):
        return 7
class Short(RandomSampler):  # says that it gives fewer than it does
    def __len__(self):
        return 16
data = Noise(26)
model = build().eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def train(batches):
    for images, labels in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
for how in {loaders}:
    loader = DataLoader(data, **how)
    for epoch in range(2):
        alone = how.get("batch_size", 1) is None
        train(((one[0][None], torch.tensor([one[1]])) for one in loader) if alone else loader)
"""
# What a loader is made of, and how many samples its batches have.
SAMPLES = {
    "dict(batch_size=8)": [8] * 3 + [2],
    "dict(batch_size=8, num_workers=2)": [8] * 3 + [2],
    "dict(batch_size=8, drop_last=True)": [8] * 3,
    "dict(batch_size=None)": [1] * 26,
    "dict(batch_sampler=Grows(range(26), 8, False))": [1 + at % 3 for at in range(7)],
    "dict(batch_size=8, sampler=Short(range(26)))": [8] * 3 + [2],
}


@pytest.mark.parametrize("mode", ["clock", "trace"])
def test_a_steps_samples_are_its_batchs(launch, mode):
    body = LOADERS.replace("{loaders}", f"[{', '.join(SAMPLES)}]")
    done, [capture, *_] = launch(body, mode=mode, warmup=1, steps=0)
    assert done.returncode == 0, done.stderr
    steps = [mark[2] for mark in capture.of("step")]
    for loader, samples in SAMPLES.items():
        seen, steps = steps[: 2 * len(samples)], steps[2 * len(samples) :]
        assert seen == 2 * samples, loader
    assert not steps


DRAWS = """
import random
import numpy, torch
print(torch.rand(1).item(), random.random(), numpy.random.rand())
"""
CHECKED = dict(body=DRAWS + "main(epochs=3)", mode="check", steps=0)


def hashes_of(capture):
    return [mark[2] for mark in capture.of("sample_hash")]


def test_same_seed_same_losses_and_samples(launch, launch_once):
    (one, [first]), (_, [second]) = (launch(seed=7, **CHECKED) for _ in range(2))
    assert len(first.losses()) == 24 and first.losses() == second.losses()
    assert hashes_of(first) and hashes_of(first) == hashes_of(second)
    another, [other] = launch_once(treatment="", sample_rng="hash", seed=8, **CHECKED)
    assert hashes_of(other) != hashes_of(first)
    drawn = [done.stdout.splitlines()[0].split() for done in (one, another)]
    assert len(drawn[0]) == 3 and all(one != other for one, other in zip(*drawn))


def test_workers_train_on_the_same_draws_when_draws_belong_to_samples(launch_once):
    alone, workers = (
        launch_once(treatment=treatment, sample_rng="hash", seed=8, **CHECKED)[1][0]
        for treatment in ("", "loader.workers=2")
    )
    assert alone.losses() == workers.losses()
    drawn = launch_once(treatment="loader.workers=2", seed=8, **CHECKED)[1][0]
    assert drawn.losses() != workers.losses()
    assert hashes_of(drawn) == hashes_of(workers)


def test_workers_that_stay_leave_the_shuffles_as_they_were(launch_once):
    hashes = []
    for treatment in ("loader.workers=2", "loader.workers=2;loader.persistent=on"):
        done, [capture] = launch_once(treatment=treatment, seed=8, **CHECKED)
        assert done.returncode == 0, done.stderr
        hashes.append(hashes_of(capture))
    assert ("loader.persistent", "False", "True", 0) in [(one[0], *one[2:]) for one in capture.applied]
    assert hashes[0] == hashes[1] and len(set(hashes[0])) > 24  # of each of three epochs another order


# What each treatment reports as changed; those in one set do not interact.
CHANGES = [
    {
        "loader.workers=2": ("0", "2", 2),
        "amp=bf16": ("float32", "bf16", 1),
        "bias.before_norm=off": ("bias", "none", 1),
        "grad.set_to_none=on": ("zeros", "none", 1),
        "optimizer.impl=fused": ("default", "fused", 1),
        "loss.detach=on": ("holds its graph", "detached", 1),
        "clip.foreach=on": ("default", "True", 1),
        "relu.inplace=on": ("False", "True", 1),
        "batch.size=16": ("8", "16", 1),
    },
    {
        "optimizer.impl=foreach": ("default", "foreach", 1),
        "channels_last=on": ("contiguous", "channels_last", 1),
        "accumulate=2": ("1", "2", 1),
        "eval.no_grad=on": ("records a graph", "no_grad", 1),
    },
]


@pytest.mark.parametrize("changes", CHANGES, ids=["first", "second"])
def test_treatments_say_what_they_changed(launch, changes):
    done, [capture] = launch("main(epochs=8)", treatment=";".join(changes))
    assert done.returncode == 0, done.stderr
    for treatment, (old, now, places) in changes.items():
        applied = [one for one in capture.applied if one[0] == treatment.split("=")[0] and not one[2].startswith("lr ")]
        assert [(one[2], one[3], one[4]) for one in applied] == [(old, now, 0)] * places, treatment
    assert len(capture.of("step")) == 8


def test_debug_switches_go_off_and_what_the_program_undoes_is_said(launch):
    """The program takes back what is done to its loaders, and is treated otherwise all the same."""
    body = """
torch.autograd.set_detect_anomaly(True)
original, loaders = DataLoader.__init__, []
def reset(self, *positional, **named):
    original(self, *positional, **named)
    object.__setattr__(self, "num_workers", 0)
    loaders.append(self)
DataLoader.__init__ = reset
with torch.profiler.profile() as p:
    main(epochs=1)
print(len(p.key_averages()), 'events')
"""
    done, [capture] = launch(body, treatment="debug=off;loader.workers=2", steps=0)
    assert done.returncode == 0 and done.stdout.endswith("0 events\n"), done.stderr
    switches = [one for one in capture.applied if one[0] == "debug"]
    line = (TRAIN + body)[: (TRAIN + body).index("torch.autograd.set_detect")].count("\n") + 1
    assert switches[0][:4] == ("debug", f"train.py:{line}", "anomaly mode on", "off")
    assert [one[2:4] for one in switches[1:]] == [("profiler on", "off")]
    undone = [one for one in capture.applied if one[0] == "loader.workers"]
    assert undone and all(one[3] == "0" and one[4] == 2 for one in undone)


STREAM = """
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter([(torch.randn(3, 8, 8), 1)] * 200)
refused = Stream()
"""
OPEN_FILE = """
Noise.handle = None
class OpenFile(Noise):
    def __init__(self, samples):
        super().__init__(samples)
        self.handle = open(sys.argv[0])
refused = OpenFile(80)
"""
# Which has no normalization for the treatment of biases to find.
ON_REFUSED = """
model = nn.Sequential(nn.Flatten(), nn.Linear(192, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, labels in DataLoader(refused, batch_size=4):
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
"""
WITHOUT_BIAS = """
import copy
torch.manual_seed(0)
model = build()
reference = copy.deepcopy(model)
reference[0].bias = None
images = torch.randn(8, 3, 8, 8)
for one in (model, reference):
    optimizer = torch.optim.SGD(one.parameters(), lr=0.01)
    for _ in range(3):
        optimizer.zero_grad()
        one(images).pow(2).mean().backward()
        optimizer.step()
    one.eval()
print(len(list(model.parameters())), float((model(images) - reference(images)).abs().max()) < 1e-4)
"""
AVERAGED = """
model = build()
average = torch.optim.swa_utils.AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(3):
    model(torch.randn(8, 3, 8, 8)).pow(2).mean().backward()
    optimizer.step()
    average.update_parameters(model)
print(len(list(model.parameters())))
"""
BIAS_AND_WORKERS = dict(steps=0, treatment="bias.before_norm=off;loader.workers=2")


@pytest.mark.parametrize(
    "body, reason",
    [(AVERAGED + STREAM, "iterable"), (WITHOUT_BIAS + OPEN_FILE, "open TextIOWrapper")],
    ids=["iterable", "open file"],
)
def test_workers_are_refused_where_they_would_change_the_data(launch_once, body, reason):
    done, [capture] = launch_once(body + ON_REFUSED, **BIAS_AND_WORKERS)
    assert done.returncode == 0, done.stderr
    [(_, _, _, said, flags)] = [one for one in capture.applied if one[0] == "loader.workers"]
    assert flags == 1 and reason in said


def test_without_its_bias_a_model_is_the_one_built_without(launch_once):
    done, [capture] = launch_once(WITHOUT_BIAS + OPEN_FILE + ON_REFUSED, **BIAS_AND_WORKERS)
    assert done.stdout.split() == ["5", "True"], done.stderr
    assert [one[4] for one in capture.applied if one[0] == "bias.before_norm"] == [0]


def test_a_bias_stays_where_an_average_of_the_model_counts_on_it(launch_once):
    done, [capture] = launch_once(AVERAGED + STREAM + ON_REFUSED, **BIAS_AND_WORKERS)
    assert done.returncode == 0 and done.stdout.split() == ["6"], done.stderr
    [(_, _, _, said, flags)] = [one for one in capture.applied if one[0] == "bias.before_norm"]
    assert flags == 1 and "average of the weights" in said


TWO_OPTIMIZERS = """
model, small = build(), nn.Linear(4, 4)
first = torch.optim.SGD(small.parameters(), lr=0.1)
second = torch.optim.AdamW(model.parameters())
for images, labels in DataLoader(Noise(160), batch_size=4):
    for half in (images, images):
        nn.functional.cross_entropy(small(model(half)), labels).backward()
    first.step()
    second.step()
print("trained", flush=True)
"""

# All that a backward pass takes as its roots; then a loader with an iterator of its own.
ROOTS_AND_ITERATOR = """
class Loader(DataLoader):
    def _get_iterator(self):
        return (batch for batch in list(super()._get_iterator()))

model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(40):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 3, 8, 8)).sum()
    edge = torch.autograd.graph.get_gradient_edge(loss)
    torch.autograd.backward([edge, {'a': loss}.values(), (one for one in [loss]), loss][step % 4])
    optimizer.step()
print("trained")
for images, labels in Loader(Noise(64), batch_size=8):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
print("trained on")
"""

# How a program ends after its training: the training, its steps, the last line and the exit code.
ENDINGS = [
    (ROOTS_AND_ITERATOR, 48, "raise ValueError('planted')", 1),
    (IN_THE_HEAD, 24, "sys.exit(3)", 3),
    (TWO_OPTIMIZERS, 40, "import os; os._exit(5)", 5),
]


def ending(training):
    """What launches `training` with its ending."""
    [last] = [line for body, _, line, _ in ENDINGS if body == training]
    return dict(body=training + last, steps=0)


@pytest.mark.parametrize(
    "training, steps, code",
    [pytest.param(body, steps, code, id=line) for body, steps, line, code in ENDINGS],
)
def test_exit_codes_come_through(launch_once, training, steps, code):
    done, [capture] = launch_once(**ending(training))
    assert done.returncode == code
    assert len(capture.of("step")) == steps
    assert capture.clean_end == (code != 5)
    assert ("planted" in done.stderr) == (code == 1)


def test_two_optimizers_are_one_step_and_accumulation_too(launch_once):
    _, [capture] = launch_once(**ending(TWO_OPTIMIZERS))
    assert [mark[1] for mark in capture.of("step")] == ["optimizer:AdamW#2"] * 40


def test_all_that_backward_takes_as_roots_and_a_loader_with_an_iterator_of_its_own(launch_once):
    done, [capture] = launch_once(**ending(ROOTS_AND_ITERATOR))
    assert "trained\ntrained on\n" in done.stdout, done.stderr
    assert len(capture.of("step")) == 40 + 8


FICKLE = """
class Fickle(torch.optim.Optimizer):
    calls = 0
    def __init__(self, parameters):
        super().__init__(parameters, {})
    def step(self, closure=None):
        self.calls += 1
        if self.calls % 3 == 0:
            raise FloatingPointError("no step")

class Around(torch.optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner
        super().__init__(inner.param_groups, {})
    def step(self, closure=None):
        self.inner.step()

model, failed = build(), 0
optimizer = {optimizer}
for step in range(30):
    model(torch.randn(4, 3, 8, 8)).sum().backward()
    try:
        optimizer.step()
    except FloatingPointError as error:
        failed += str(error) == "no step"
print("failed", failed)
"""


@pytest.mark.parametrize(
    "mode, optimizer",
    [
        ("clock", "Around(Fickle(model.parameters()))"),
        ("trace", "Fickle(model.parameters())"),
        ("trace", "Around(Fickle(model.parameters()))"),
    ],
)
def test_a_step_that_raises_is_none_and_one_inside_anothers_is_its_part(launch, optimizer, mode):
    done, [capture] = launch(FICKLE.replace("{optimizer}", optimizer), mode=mode, steps=0)
    assert "failed 10\n" in done.stdout, done.stderr
    assert [mark[1] for mark in capture.of("step")] == [f"optimizer:{optimizer[:6]}#1"] * 20


# Two iterable data sets of which one gives each worker its share; a thread that computes in Python all the time.
STREAMS = """
import threading

class Stream(torch.utils.data.IterableDataset):
    def __init__(self, shared):
        self.shared = shared

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        first, of = (worker.id, worker.num_workers) if self.shared else (0, 1)
        generator = torch.Generator().manual_seed(0)
        images = torch.randn(16, 3, 8, 8, generator=generator)
        yield from ((images[i], i % 4) for i in range(first, 16, of))

def count():
    total = 0
    while True:
        total += 1  # thread line

model = build()
optimizer = torch.optim.Adam(model.parameters())
counter = threading.Thread(target=count, daemon=True, name="counter")
for shared in (False, True, True, True):
    if shared and not counter.is_alive():
        counter.start()
    for images, labels in DataLoader(Stream(shared), batch_size=4, num_workers=2):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
"""


def test_what_workers_repeat_and_who_holds_the_interpreters_lock(launch):
    done, [capture, *_] = launch(STREAMS, mode="trace", warmup=4, steps=14)
    assert done.returncode == 0, done.stderr
    lines = (TRAIN + STREAMS).splitlines()
    assert capture.facts["loader.repeats"] == "workers"
    assert capture.facts["loader.iterates"] == f"train.py:{lines.index('    def __iter__(self):') + 1}"
    assert "loader#2.workers" in capture.facts and "loader#2.repeats" not in capture.facts
    assert int(capture.facts["contention.held"]) >= 2 and capture.facts["contention.thread"] == "counter"
    assert lines[int(capture.facts["contention.where"].removeprefix("train.py:")) - 1].endswith(
        ("True:", "thread line")
    )


# Nodes whose names are not their types', and a backward pass within one.
OWN_NODES = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            inner = torch.ones(3, requires_grad=True)
            (inner * inner).sum().backward()
        return 2 * gradient

def own_nodes():
    weight = torch.ones(3, requires_grad=True)
    Twice.apply(Twice.apply(weight) + 1).sum().backward()
"""


def test_ops_are_recorded_alike_with_and_without_preloading(launch):
    """Preloaded, the probe intercepts LibTorch's own calls; otherwise, and beside torch.profiler, it is a callback."""
    body = (
        OWN_NODES
        + "main(epochs=1)\nown_nodes()\nwith torch.profiler.profile():\n    main(epochs=1)\nown_nodes()\nmain(epochs=1)"
    )
    launched = [
        launch(body, mode="trace", warmup=2, steps=0, detail=3, seed=1, all_ops=0, environment=environment)
        for environment in ({}, {"LD_PRELOAD": ""}, {"LD_PRELOAD": preloaded("clock")})
    ]
    for done, _ in launched:
        assert done.returncode == 0 and "training goes on unobserved" not in done.stderr, done.stderr
    [one], *others = (captures for _, captures in launched)
    assert len(one.op_states) > 2000
    for [other] in others:
        assert one.op_states == other.op_states
    engine = "autograd::engine::evaluate_function: "
    assert {engine + "TwiceBackward", engine + "torch::autograd::AccumulateGrad"} < set(one.ops), set(one.ops)
    assert any(flags & 64 for *_, flags in one.op_states) and any(shapes for _, _, shapes, *_ in one.op_states)


def probes_for_another_torch(folder):
    """The probes, as if built for another torch."""
    probes = folder / "probes"
    shutil.copytree(BUILD / "probes", probes, ignore=shutil.ignore_patterns("CMakeFiles", "*.a", "sources"))
    (probes / "torch_version").write_text("1.2.0\n")
    return {"PYTHONPATH": str(probes / "python" / "site"), "LD_PRELOAD": preloaded("trace", probes)}


def test_a_torch_without_a_probe_gives_steps_and_says_what_is_missing(launch, tmp_path):
    done, [capture] = launch("main(epochs=1)", mode="trace", steps=0, environment=probes_for_another_torch(tmp_path))
    assert done.returncode == 0 and "built for torch 1.2.0" in done.stderr
    assert len(capture.of("step")) == 8 and len(capture.ranges_of("loader")) >= 8
    _, said, probe, _ = capture.of("probe_off")[0]
    assert not capture.ops and "LibTorch probe off" in said and probe == 1  # wire.h, ProbeId


def cached_probe(tmp_path):
    """A folder in the cache with a probe for this torch, and the environment of probes that are for another."""
    import torch

    name = f"torch-{torch.__version__}-abi{int(torch._C._GLIBCXX_USE_CXX11_ABI)}"
    (tmp_path / "cache" / name).mkdir(parents=True)
    shutil.copy(BUILD / "probes" / "libloopscope_torch.so", tmp_path / "cache" / name)
    return tmp_path / "cache" / name, probes_for_another_torch(tmp_path)


def test_a_probe_from_the_cache_is_used(launch, tmp_path):
    folder, environment = cached_probe(tmp_path)
    done, [capture] = launch(
        "main(epochs=1)", mode="trace", steps=0, environment=environment, probe_cache=folder.parent
    )
    assert done.returncode == 0 and "loopscope" not in done.stderr, done.stderr
    assert capture.ops and not capture.of("probe_off")


def test_a_probe_that_others_can_write_to_is_not_loaded(launch, tmp_path):
    folder, environment = cached_probe(tmp_path)
    folder.chmod(0o777)
    done, [capture] = launch(
        "main(epochs=1)", mode="trace", steps=0, environment=environment, probe_cache=folder.parent
    )
    assert done.returncode == 0 and "others can write to" in done.stderr, done.stderr
    assert capture.of("probe_off") and not capture.ops


def test_a_probe_for_another_torch_beside_the_first_is_used(launch, tmp_path):
    import torch

    environment = probes_for_another_torch(tmp_path)
    beside = tmp_path / "probes" / ("torch-" + ".".join(torch.__version__.split(".")[:2]))
    beside.mkdir()
    (tmp_path / "probes" / "libloopscope_torch.so").rename(beside / "libloopscope_torch.so")
    done, [capture] = launch("main(epochs=1)", mode="trace", steps=0, environment=environment)
    assert done.returncode == 0 and "loopscope" not in done.stderr, done.stderr
    assert capture.ops and not capture.of("probe_off")


MODULE = 12  # wire.h, RangeCategory
SLOW = """
import ctypes
import _loopscope.probe as probe
quick = probe._builtins
class Lacking:
    loopscope_script_builtins = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: None)
probe._builtins = lambda library: quick(Lacking)
"""


@pytest.mark.long
@pytest.mark.parametrize("mode", ["trace", "check"])
def test_a_python_that_lacks_what_builtins_need(launch, tmp_path, mode):
    """The shim's own wrappers record the same."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text(SLOW)
    seen = []
    for path in (f"{SITE}", f"{SITE}:{own}"):
        environment = {"PYTHONPATH": path}
        done, [capture] = launch("main(workers=1)", mode=mode, steps=0, environment=environment, detail=5, seed=1)
        assert done.returncode == 0 and "loopscope" not in done.stderr, done.stderr
        kinds = ("loader", "forward", MODULE, "zero_grad", "backward", "optimizer", "evaluation")
        marks = [
            mark[:3] for mark in capture.marks if mark[0] in ("step", "loss", "sample_hash", "epoch_end", "epoch_start")
        ]
        seen.append(
            [collections.Counter(one[:3] for one in capture.ranges if one[0] in kinds), collections.Counter(marks)]
        )
    assert len(seen[0][1]) > 2 and seen[0] == seen[1]


def test_unusual_ways_to_use_torch_go_on_as_before(launch):
    script = [pathlib.Path(__file__).parent / "scripts" / "unusual.py"]
    alone = subprocess.run([sys.executable, *script], capture_output=True, text=True, timeout=120)
    assert alone.returncode == 0, alone.stderr
    for mode in ("clock", "trace"):
        done, captures = launch("", mode=mode, steps=0, detail=40, arguments=script)
        assert done.returncode == 0 and "loopscope" not in done.stderr, done.stderr
        assert done.stdout == alone.stdout and len(captures[0].of("step")) > 60


def test_a_script_without_torch_leaves_nothing(launch):
    body = "import sys, json\nprint('ctypes' in sys.modules, [n for n in sys.modules if 'loopscope' in n])"
    done, captures = launch(body, prefix="")
    assert done.returncode == 0 and not captures
    assert done.stdout.split(maxsplit=1)[0] == "False"


@pytest.fixture(scope="module")
def own_modules(tmp_path_factory):
    """A user's folder with modules named like some of the shim's, and a PYTHONPATH with both."""
    own = tmp_path_factory.mktemp("own")
    (own / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = __name__\n")
    (own / "treatments.py").write_text("name = 'mine'\n")
    return own, {"PYTHONPATH": f"{SITE}:{own}"}


def test_the_users_own_sitecustomize_runs(launch, own_modules):
    own, path = own_modules
    body = "import treatments, sys\nprint(mine, treatments.name, sys.modules['sitecustomize'].__file__)"
    done, _ = launch(body, prefix="", environment=path)
    assert done.stdout.split() == ["sitecustomize", "mine", str(own / "sitecustomize.py")], done.stderr


def test_processes_that_train_beside(launch, own_modules):
    """Forked and started anew; where there is a sitecustomize of the user's too."""
    body = """
if __name__ == "__main__":
    import multiprocessing
    for method in ("fork", "spawn"):
        child = multiprocessing.get_context(method).Process(target=main, args=(1,))
        child.start()
        child.join()
        print(mine, method, child.exitcode)
    main(epochs=1)
"""
    done, captures = launch(body, steps=0, environment=own_modules[1])
    assert done.returncode == 0, done.stderr
    assert "sitecustomize fork 0\n" in done.stdout and "sitecustomize spawn 0\n" in done.stdout, done.stderr
    assert len(captures[0].of("step")) == 8


def test_no_worker_survives_a_bounded_run(bounded_with_workers):
    done, capture, left = bounded_with_workers
    assert done.returncode == 0 and capture.clean_end and not left


def test_interrupted_by_ctrl_c(launch):
    body = """
import os, signal
load = Noise.__getitem__
def interrupted(self, index, calls=[]):
    calls.append(index)
    if len(calls) == 100:
        os.kill(os.getpid(), signal.SIGINT)
    return load(self, index)
Noise.__getitem__ = interrupted
main()
"""
    done, [capture] = launch(body, steps=0)
    assert done.returncode == -signal.SIGINT and "KeyboardInterrupt" in done.stderr
    assert len(capture.of("step")) >= 9 and capture.of("clean_end")[0][2] == 130


def _command(path):
    try:
        return path.read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def test_each_rank_draws_from_its_own_seed(launch):
    """A rank's seed is the base seed plus its rank; torchrun and mpirun are started inside srun."""

    def draws(seed, number):
        inside = {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}
        done, _ = launch(DRAWS, prefix="", seed=seed, environment={**inside, "RANK": number, "WORLD_SIZE": "2"})
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert draws(7, "1") == draws(8, "0")  # draws of two seeds differ: test_same_seed_same_losses_and_samples


def test_a_rank_is_read_as_the_libraries_read_it():
    """The unit test `environment` has the same cases for C++."""
    settings = shim_module("settings")
    header = (ROOT / "probes" / "environment.h").read_text()
    listed = header[header.index("kRankVariables[]") :]
    pairs = re.findall(r'^    \{"(\w+)", "(\w+)"\},', listed[: listed.index("};")], re.M)
    assert tuple(pairs) == settings._RANK_VARIABLES
    srun = {"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4"}
    assert settings._rank({}) == settings._rank({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}) == (0, 1)
    assert settings._rank(srun) == (3, 4)
    assert settings._rank({**srun, "RANK": "5", "WORLD_SIZE": "8"}) == (5, 8)
    assert settings._rank({**srun, "RANK": "0", "WORLD_SIZE": "1"}) == (0, 1)
    for rank, size in settings._RANK_VARIABLES:
        assert settings._rank({**srun, rank: "1", size: "2"}) == (1, 2)
    for wrong in ("", "x", "-1", "2"):
        assert settings._rank({"RANK": wrong, "WORLD_SIZE": "2"}) == (0, 1)
        assert settings._rank({"RANK": wrong, "WORLD_SIZE": "2", "PMI_RANK": "1", "PMI_SIZE": "2"}) == (1, 2)


def test_a_place_is_found_without_asking_for_folders_again():
    """Treatments ask for the user's line in every step, and asking for the folders takes milliseconds."""
    frames = shim_module("frames")
    folders, asked = frames.foreign_folders(), []
    frames.foreign_folders = lambda: asked.append(folders) or folders
    inside = {"place": frames.place}
    library = os.path.join(sysconfig.get_path("stdlib"), "library.py")
    exec(compile("def call():\n    return place()", library, "exec"), inside)
    assert "test_python_shim.py:" in inside["call"]()
    known = len(asked)
    assert known > 0 and all("test_python_shim.py:" in inside["call"]() for _ in range(20)) and len(asked) == known


def test_of_many_loaders_and_optimizers_the_first_are_described(launch):
    """A program may make new ones for each epoch: records and memory do not grow with them."""
    body = """
for epoch in range(40):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(8, 4)), batch_size=4):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""
    done, [capture] = launch("import torch, torch.utils.data\n" + body, prefix="", steps=0)
    assert len(capture.of("step")) == 80
    for kind in ("loader", "optimizer"):
        described = {
            key.split(".")[0] for key in capture.facts if key.startswith(f"{kind}.") or key.startswith(f"{kind}#")
        }
        assert described == {kind} | {f"{kind}#{number}" for number in range(2, 17)}
