"""Treatments of Python scripts beyond test_python_shim.py: seen to take effect in the program, not only reported."""

import importlib
import os
import re
import types

import pytest

from test_python_shim import SITE, TRAIN, launch, launcher  # noqa: F401  (a fixture, for tests that launch by themselves)

pytestmark = pytest.mark.skipif(not (SITE / "sitecustomize.py").exists(), reason="the Python shim is not built")

LOOP = """
import os, sys
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)
torch.manual_seed(3)

class Pairs(Dataset):
    def __init__(self, samples):
        self.inputs = torch.randn(samples, 8)
        self.labels = (self.inputs.sum(1) > 0).long()
    def __len__(self):
        return len(self.inputs)
    def __getitem__(self, index):
        return self.inputs[index], self.labels[index], os.getpid()

def build():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
"""


class Together:
    """One launch of several programs, one after the other as parts of one script."""

    def __init__(self, launch, parts, **how):
        bodies = {name: f"print('= {name}')\n{body}\n" for name, body in parts.items()}
        done, captures = launch("".join(bodies.values()), prefix="", steps=0, **how)
        assert done.returncode == 0, done.stderr
        self._bodies = bodies
        self._printed = {said.split()[0]: said.splitlines()[1:] for said in done.stdout.split("= ")[1:]}
        self._applied = [one for capture in captures for one in capture.applied]

    def lines(self, part):
        """What it printed."""
        return self._printed[part]

    def words(self, part):
        return " ".join(self._printed[part]).split()

    def applied(self, key):
        """What a treatment says that it changed, or why not: (place, old, new, flags)."""
        return [one[1:] for one in self._applied if one[0] == key]

    def place(self, part, mark):
        """The place of the line with `mark` in a part."""
        script = "".join(self._bodies.values())
        return f"train.py:{1 + script[: script.index(mark, script.index(self._bodies[part]))].count(chr(10))}"


@pytest.fixture(scope="module")
def launch_together(tmp_path_factory):
    launched = {}

    def run(name):
        if name not in launched:
            parts, how = LAUNCHES[name]
            launched[name] = Together(launcher(tmp_path_factory.mktemp(name)), parts, **how)
        return launched[name]

    return run


@pytest.fixture
def plain(launch_together):
    """Without a treatment."""
    return launch_together("plain")


@pytest.fixture
def treated(launch_together):
    return launch_together("treated")


PERSISTENT = (
    LOOP
    + """
model, seen = build(), set()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Pairs(32), batch_size=8, num_workers=1)  # its workers
for epoch in range(3):
    for inputs, labels, pids in loader:
        seen.update(pids.tolist())
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
print(len(seen), loader.prefetch_factor)
"""
)


def test_persistent_workers_stay_from_pass_to_pass(plain, treated):
    assert plain.words("persistent") == ["3", "2"]
    assert treated.words("persistent") == ["1", "5"]
    place = treated.place("persistent", "# its workers")
    assert (place, "False", "True", 0) in treated.applied("loader.persistent")
    assert (place, "2", "5", 0) in treated.applied("loader.prefetch")
    assert all(one[3] == 0 for key in ("loader.persistent", "loader.prefetch") for one in treated.applied(key))


ROWS = """
import hashlib, torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

if __name__ == "__main__":
    torch.manual_seed(3)
    whole = TensorDataset(torch.randn(500, 6), torch.arange(500), torch.randn(500, 2, 3, dtype=torch.float64))
    model = nn.Linear(6, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    seen = hashlib.sha256()
    for data, options in [
        (whole, dict(batch_size=64, shuffle=True)),
        (Subset(Subset(whole, range(10, 400)), torch.arange(300)), dict(batch_size=50, num_workers=1, drop_last=True)),
        (whole, dict(batch_size=1)),
    ]:
        for batch in DataLoader(data, **options):
            assert type(batch) is list and len(batch) == 3
            for one in batch:
                assert one.is_contiguous() and not one.requires_grad
                seen.update(repr((one.shape, one.dtype, one.tolist())).encode())
            optimizer.zero_grad()
            model(batch[0]).sum().backward()
            optimizer.step()
    print(seen.hexdigest())
"""


def test_rows_of_tensors_come_a_batch_at_a_time_and_are_the_same(plain, treated):
    assert treated.words("rows") == plain.words("rows")
    assert {one[1:3] for one in treated.applied("loader.rows")} == {("one by one", "batch")}


OTHER_BATCHES = (
    LOOP
    + """
from torch.utils.data import BatchSampler, SequentialSampler, TensorDataset
x = torch.randn(8, 8)
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in {loader}:
    optimizer.zero_grad()
    model(torch.as_tensor(batch[0][0] if isinstance(batch, list) else batch)).sum().backward()
    optimizer.step()
"""
)
PUT_TOGETHER = "DataLoader(TensorDataset(x, x), batch_size=4, collate_fn=lambda rows: rows)"
WHOLE = "DataLoader(TensorDataset(x, x), sampler=BatchSampler(SequentialSampler(x), 4, False), batch_size=None)"


@pytest.mark.parametrize(
    "name, reason", [("fp16", "puts batches together itself"), ("compiled", "whole batches are fetched already")]
)
def test_other_batches_are_left_alone(launch_together, name, reason):
    [(_, _, said, flags)] = launch_together(name).applied("loader.rows")
    assert flags == 1 and reason in said


CLIPPED = (
    LOOP
    + """
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
for step in range(3):
    optimizer.zero_grad()
    (1e3 * nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.zeros(4, dtype=torch.long))).backward()
    OWN
    optimizer.step()
    norm = torch.stack([one.grad.norm() for one in model.parameters()]).norm()
    print("clipped" if norm < 1.001 else "free")
"""
)


def test_gradients_are_clipped_before_the_step(plain, launch_together):
    compiled = launch_together("compiled")
    assert compiled.words("clipped") == ["clipped"] * 3
    assert compiled.applied("clip")[0][1:] == ("none", "norm", 0)
    assert plain.words("clipped") == ["free"] * 3


def test_gradients_that_the_program_clips_are_left_to_it(launch_together):
    accumulated = launch_together("accumulated")
    assert accumulated.words("clips_itself") == ["free"] * 3
    [(_, _, said, flags)] = accumulated.applied("clip")
    assert flags == 1 and "clips its gradients already" in said


COMPILED = (
    LOOP
    + """
compile_it = nn.Module.compile
nn.Module.compile = lambda module: compile_it(module, backend="eager")  # no minutes in a C++ compiler
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = build()
    def forward(self, inputs):
        return self.layers(inputs).relu()
model = Net()
OWN
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.zeros(4, dtype=torch.long)).backward()
    optimizer.step()
from torch._dynamo.utils import counters
print(counters["stats"]["unique_graphs"])
"""
)


def test_models_are_compiled(plain, launch_together):
    compiled = launch_together("compiled")
    assert compiled.words("compiled") == ["1"]
    assert [one for one in compiled.applied("compile") if one[0] == "Net"] == [("Net", "eager", "compiled", 0)]
    assert plain.words("compiles_itself") == ["1"]


# No graph is recorded here: what a model is compiled with is written down, and nothing is compiled from then on.
GRAPHED = (
    LOOP
    + """
modes = []
nn.Parameter.is_cuda = property(lambda parameter: {on_gpu})
nn.Module.compile = lambda module, **named: modes.append(named.get("mode", "plain"))
class Graphed{on_gpu}(nn.Sequential):
    pass
model = Graphed{on_gpu}(*build())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.zeros(4, dtype=torch.long)).backward()
    optimizer.step()
print(*modes)
del nn.Parameter.is_cuda
"""
)


@pytest.mark.parametrize(
    "name, on_gpu, mode, now",
    [
        ("accumulated", True, "reduce-overhead", {"cuda_graphs": "compiled, in CUDA graphs"}),
        ("graphed", True, "reduce-overhead", {"compile": "compiled", "cuda_graphs": "compiled, in CUDA graphs"}),
        ("graphed", False, "plain", {"compile": "compiled"}),
        ("compiled", True, "plain", {"compile": "compiled"}),
    ],
)
def test_what_a_model_launches_is_recorded(launch_together, name, on_gpu, mode, now):
    launched = launch_together(name)
    assert launched.words(f"on_gpu_{on_gpu}") == [mode]
    applied = {
        key: [one[1:] for one in launched.applied(key) if one[0] == f"Graphed{on_gpu}"]
        for key in ("compile", "cuda_graphs")
    }
    assert applied == {key: [("eager", now[key], 0)] if key in now else [] for key in applied}


PARALLEL = (
    LOOP
    + """
import tempfile
torch.distributed.init_process_group("gloo", init_method="file://" + tempfile.mktemp(), rank=0, world_size=1)
model = nn.parallel.DistributedDataParallel(build(), find_unused_parameters=True)
exchanges = []
def hook(state, bucket):
    exchanges.append(1)
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done
model.register_comm_hook(None, hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    optimizer.zero_grad()
    for part in range(4):
        nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.zeros(4, dtype=torch.long)).backward()
    optimizer.step()
print("exchanges", len(exchanges), "searches", model.find_unused_parameters)
"""
)


def test_gradients_are_exchanged_once_per_step(plain, treated):
    assert plain.words("parallel")[:2] == ["exchanges", "40"]
    assert treated.words("parallel")[:2] == ["exchanges", str(2 * 4 + 8)]  # two steps teach the rhythm
    [(_, old, now, flags)] = treated.applied("ddp.no_sync")
    assert (old, now, flags) == ("every backward", "one of 4 backwards", 0)


def test_unused_parameters_are_not_searched(plain, treated):
    assert plain.words("parallel")[2:] == ["searches", "True"]
    assert treated.words("parallel")[2:] == ["searches", "False"]
    assert [one[1:] for one in treated.applied("ddp.find_unused")] == [("True", "False", 0)]


HALF = (
    LOOP
    + """
model = build()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)
data, kinds, losses = Pairs(64), set(), []
model[0].register_forward_hook(lambda module, inputs, output: kinds.add(str(output.dtype)))
for step in range(40):
    if {zero}:
        optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(data.inputs), data.labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    losses.append(loss.item())
print(*kinds, losses[0] < 1, losses[-1] < 0.9 * losses[0], optimizer.state[model[0].weight]["step"].item())
"""
)


def test_fp16_trains_with_scaled_losses(launch_together):
    fp16 = launch_together("fp16")
    assert fp16.words("half")[:3] == ["torch.float16", "True", "True"]
    assert [one[1:] for one in fp16.applied("amp")] == [("float32", "fp16", 0)]


def test_fp16_is_refused_where_gradients_add_up(launch_together):
    [(_, _, said, flags)] = launch_together("refused_too").applied("amp")
    assert flags == 4 and "several backward passes" in said


@pytest.mark.parametrize("name, steps", [("plain", "40.0"), ("accumulated", "10.0")])
def test_accumulation_beside_a_schedule(launch_together, name, steps):
    assert launch_together(name).words("half")[-1] == steps


EVALUATION = (
    LOOP
    + """
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train, held_out = DataLoader(Pairs(32), batch_size=8), DataLoader(Pairs(16), batch_size=8)
for epoch in range(3):
    for inputs, labels, _ in train:
        optimizer.zero_grad()
        output = model(inputs)
        nn.functional.cross_entropy(output, labels).backward()
        optimizer.step()
    graphs = [output.requires_grad]
    for inputs, labels, _ in held_out:  # in training mode, as people forget
        graphs.append(model(inputs).requires_grad)
    print(*graphs)
"""
)


def test_evaluation_in_training_mode_is_learned_from_the_loader(treated):
    assert treated.lines("evaluation") == ["True True True", "True False False", "True False False"]
    assert [one[1:] for one in treated.applied("eval.no_grad")] == [("records a graph", "no_grad", 0)]


RECOMPUTE = (
    LOOP
    + """
from torch.utils.checkpoint import checkpoint
model, calls = build(), 0
def block(inputs):
    global calls
    calls += 1
    return model(inputs)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    scores = checkpoint(block, torch.randn(4, 8), use_reentrant=False)  # the block
    nn.functional.cross_entropy(scores, torch.zeros(4, dtype=torch.long)).backward()
    optimizer.step()
print(calls, f"{float(model[0].weight.sum()):.6f}")
"""
)


def test_recomputed_blocks_keep_their_activations(plain, treated):
    before, after = plain.words("recompute"), treated.words("recompute")
    assert before[0] == "12" and after[0] == "6" and after[1] == before[1]  # the same training, each block once
    place = treated.place("recompute", "# the block")
    assert treated.applied("checkpoint") == [(place, "recomputes", "keeps its activations", 0)]


SUM = (
    LOOP
    + """
model, total = build(), 0
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.zeros(4, dtype=torch.long))
    extra = sum(parameter.pow(2).sum() for parameter in model.parameters())
    {sum}  # the sum
    (loss + 0.001 * extra).backward()
    optimizer.step()
    del loss, extra
print(total.requires_grad, f"{float(total):.6f}", f"{float(model[0].weight.sum()):.6f}")
"""
)


SUMS = {"sum_in_place": "total += loss", "sum_anew": "total = total + loss"}


@pytest.mark.parametrize("part", SUMS)
def test_a_sum_taken_before_backward_lets_go(plain, treated, part):
    before, after = plain.words(part), treated.words(part)
    assert before[0] == "True" and after[0] == "False" and after[1:] == before[1:]  # the same training, the same sum
    place = treated.place(part, "# the sum")
    assert (place, "a sum holds its graphs", "detached", 0) in treated.applied("loss.detach")


# Launched together, since what does not apply changes nothing for the others; then other values of the same.
REFUSED = {
    "loader.workers=0": "0 workers already",
    "loader.persistent=on": "no workers to keep",
    "loader.prefetch=4": "no workers",
    "loader.rows=batch": "not rows of a TensorDataset",
    "debug=off": "no debugging switch",
    "ddp.no_sync=on": "no DistributedDataParallel",
    "fsdp.reshard=off": "no FullyShardedDataParallel",
    "sync.defer=on": "on a CPU|no value on a GPU",
    "loader.pin_memory=on": "no accelerator",
    "copy.non_blocking=on": "no GPU",
    "cache.empty=off": "not called",
    "compile=maybe": "only compile=on",
    "cuda_graphs=maybe": "only cuda_graphs=on",
    "amp=int8": "no such precision",
    "ddp.find_unused=off": "no DistributedDataParallel",
    "checkpoint=off": "was not called",
    "ddp.bucket_mb=5": "no DistributedDataParallel",
    "sampler.distributed=on": "one rank",
    "ddp.backend=nccl": "no GPU for NCCL",
    "alloc.expandable=on": "no CUDA device",
}
REFUSED_TOO = {
    "cuda_graphs=on": "needs a GPU: no model on one",
    "checkpoint=on": "the script has to choose which blocks to recompute",
    "ddp.backend=mpi": "only ddp.backend=nccl",
}


@pytest.mark.parametrize("treatment, reason", [*REFUSED.items(), *REFUSED_TOO.items()])
def test_why_a_treatment_does_not_apply(launch_together, treatment, reason):
    launched = launch_together("refused" if treatment in REFUSED else "refused_too")
    [(_, _, said, flags)] = launched.applied(treatment.split("=")[0])
    assert flags == 1 and re.search(reason, said)


def whole_half(zero):
    return HALF.replace("{zero}", zero)


# What is launched: the parts of the script, and how. No part does what another part's treatment looks for, unless a
# test says so; a treatment reports only the first reason that it found in the whole launch.
ALIKE = {
    "persistent": PERSISTENT,
    "rows": ROWS,
    "recompute": RECOMPUTE,
    **{name: SUM.replace("{sum}", line) for name, line in SUMS.items()},
    "parallel": PARALLEL,
}
LAUNCHES = {
    "plain": (
        {
            **ALIKE,
            "half": whole_half("True"),
            "clipped": CLIPPED.replace("OWN", ""),
            "compiles_itself": COMPILED.replace("OWN", "model.compile()"),
        },
        dict(mode="trace"),
    ),
    "treated": (
        {**ALIKE, "evaluation": EVALUATION},
        dict(
            treatment="loader.persistent=on;loader.prefetch=5;loader.rows=batch;checkpoint=off;loss.detach=on;"
            "ddp.no_sync=on;ddp.find_unused=off;eval.no_grad=on"
        ),
    ),
    "compiled": (
        {
            "compiled": COMPILED.replace("OWN", ""),
            "on_gpu_True": GRAPHED.replace("{on_gpu}", "True"),
            "clipped": CLIPPED.replace("OWN", ""),
            "whole_batches": OTHER_BATCHES.replace("{loader}", WHOLE),
        },
        dict(treatment="compile=on;clip=norm;loader.rows=batch"),
    ),
    "accumulated": (
        {
            "clips_itself": CLIPPED.replace("OWN", "nn.utils.clip_grad_norm_(model.parameters(), 1e9)"),
            "half": whole_half("True"),
            "on_gpu_True": GRAPHED.replace("{on_gpu}", "True"),
        },
        dict(treatment="accumulate=4;clip=norm;cuda_graphs=on"),
    ),
    "graphed": (
        {f"on_gpu_{on_gpu}": GRAPHED.replace("{on_gpu}", str(on_gpu)) for on_gpu in (False, True)},
        dict(treatment="cuda_graphs=on;compile=on"),
    ),
    "fp16": (
        {"half": whole_half("True"), "put_together": OTHER_BATCHES.replace("{loader}", PUT_TOGETHER)},
        dict(treatment="amp=fp16;loader.rows=batch"),
    ),
    "refused": ({"train": TRAIN + "main(epochs=1)"}, dict(treatment=";".join(REFUSED))),
    "refused_too": ({"half": whole_half("step % 2")}, dict(treatment=";".join(["amp=fp16", *REFUSED_TOO]))),
}


@pytest.mark.parametrize("before", [None, "0"])
def test_whether_there_is_a_gpu_is_asked_without_starting_cuda(monkeypatch, before):
    """Asked of CUDA, it would be lost for children that are forked later."""
    name = "PYTORCH_NVML_BASED_CUDA_CHECK"
    if before is None:
        monkeypatch.delenv(name, raising=False)
    else:
        monkeypatch.setenv(name, before)
    monkeypatch.syspath_prepend(SITE.parent.parent)
    appliers = importlib.import_module("python.appliers")
    asked = []
    cuda = types.SimpleNamespace(is_available=lambda: asked.append(os.environ.get(name)) or True)
    assert appliers.Report("sync.defer", types.SimpleNamespace(cuda=cuda), live=False).has_gpu()
    assert asked == ["1"] and os.environ.get(name) == before


def test_no_treatment_asks_cuda_itself():
    sources = {path.name: path.read_text() for path in (SITE.parent / "treatments").glob("*.py")}
    assert len(sources) > 20
    assert [name for name, text in sources.items() if "cuda.is_available" in text] == []
