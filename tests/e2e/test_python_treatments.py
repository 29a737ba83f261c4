"""Treatments of Python scripts beyond test_python_shim.py: seen to take effect in the program, not only reported."""

import importlib
import os
import re
import types

import pytest

from test_python_shim import SITE, TRAIN, launch, launch_once  # noqa: F401  (fixtures)

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


def line_of(body, mark):
    return 1 + body[: body.index(mark)].count("\n")


def words(done):
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_persistent_workers_stay_from_pass_to_pass(launch):
    body = (
        LOOP
        + """
model, seen = build(), set()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Pairs(32), batch_size=8, num_workers=1)
for epoch in range(3):
    for inputs, labels, pids in loader:
        seen.update(pids.tolist())
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
print(len(seen), loader.prefetch_factor)
"""
    )
    assert words(launch(body, prefix="", steps=0)[0]) == ["3", "2"]
    done, [capture] = launch(body, prefix="", steps=0, treatment="loader.persistent=on;loader.prefetch=5")
    assert words(done) == ["1", "5"]
    assert sorted(one[0::2][:2] for one in capture.applied) == [
        ("loader.persistent", "False"),
        ("loader.prefetch", "2"),
    ]
    assert all(one[4] == 0 for one in capture.applied)


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


def test_rows_of_tensors_come_a_batch_at_a_time_and_are_the_same(launch):
    plain, _ = launch(ROWS, prefix="", steps=0)
    treated, [capture] = launch(ROWS, prefix="", steps=0, treatment="loader.rows=batch")
    assert words(treated) == words(plain)
    assert {one[2:4] for one in capture.applied} == {("one by one", "batch")}


@pytest.mark.parametrize(
    "loader, reason",
    [
        ("DataLoader(TensorDataset(x, x), batch_size=4, collate_fn=lambda rows: rows)", "puts batches together itself"),
        (
            "DataLoader(TensorDataset(x, x), sampler=BatchSampler(SequentialSampler(x), 4, False), batch_size=None)",
            "already",
        ),
        ("DataLoader(list(x), batch_size=4)", "not rows of a TensorDataset"),
    ],
)
def test_other_batches_are_left_alone(launch, loader, reason):
    body = (
        LOOP
        + f"""
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
    done, [capture] = launch(body, prefix="", steps=0, treatment="loader.rows=batch")
    assert done.returncode == 0, done.stderr
    [(_, _, _, said, flags)] = capture.applied
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


def test_gradients_are_clipped_before_the_step(launch):
    done, [capture] = launch(CLIPPED.replace("OWN", ""), treatment="clip=norm", steps=0)
    assert words(done) == ["clipped"] * 3
    assert capture.applied[0][2:] == ("none", "norm", 0)
    assert words(launch(CLIPPED.replace("OWN", ""), steps=0)[0]) == ["free"] * 3
    own = "nn.utils.clip_grad_norm_(model.parameters(), 1e9)"
    done, [capture] = launch(CLIPPED.replace("OWN", own), treatment="clip=norm", steps=0)
    assert words(done) == ["free"] * 3 and "clips its gradients already" in capture.applied[0][3]


def test_models_are_compiled(launch):
    body = (
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
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.zeros(4, dtype=torch.long)).backward()
    optimizer.step()
from torch._dynamo.utils import counters
print(counters["stats"]["unique_graphs"])
"""
    )
    done, captures = launch(body, prefix="", steps=0, treatment="compile=on")
    assert words(done) == ["1"]
    applied = [one for capture in captures for one in capture.applied]
    assert [one[1:] for one in applied] == [("Net", "eager", "compiled", 0)]
    assert words(
        launch(body.replace("model = Net()", "model = Net()\nmodel.compile()"), prefix="", mode="trace", steps=0)[0]
    ) == ["1"]


GRAPHED = (
    LOOP
    + """
modes = []
nn.Parameter.is_cuda = property(lambda parameter: {on_gpu})  # no graph is recorded here
nn.Module.compile = lambda module, **named: modes.append(named.get("mode", "plain"))
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.zeros(4, dtype=torch.long)).backward()
    optimizer.step()
print(*modes)
"""
)


@pytest.mark.parametrize(
    "treatment, on_gpu, mode, now",
    [
        ("cuda_graphs=on", True, "reduce-overhead", ["compiled, in CUDA graphs"]),
        ("cuda_graphs=on;compile=on", True, "reduce-overhead", ["compiled", "compiled, in CUDA graphs"]),
        ("cuda_graphs=on;compile=on", False, "plain", ["compiled"]),
        ("compile=on", True, "plain", ["compiled"]),
    ],
)
def test_what_a_model_launches_is_recorded(launch, treatment, on_gpu, mode, now):
    done, [capture] = launch(GRAPHED.replace("{on_gpu}", str(on_gpu)), prefix="", steps=0, treatment=treatment)
    assert words(done) == [mode]
    applied = [one for one in capture.applied if one[4] == 0]
    assert sorted(one[1:4] for one in applied) == [("Sequential", "eager", one) for one in now]


def test_gradients_are_exchanged_once_per_step(launch):
    assert words(launch(PARALLEL, prefix="", steps=0)[0]) == ["exchanges", "40", "searches", "True"]
    done, [capture] = launch(PARALLEL, prefix="", steps=0, treatment="ddp.no_sync=on")
    assert words(done) == ["exchanges", str(2 * 4 + 8), "searches", "True"]  # two steps teach the rhythm
    [(key, _, old, now, flags)] = capture.applied
    assert (key, old, now, flags) == ("ddp.no_sync", "every backward", "one of 4 backwards", 0)


def test_unused_parameters_are_not_searched(launch):
    done, [capture] = launch(PARALLEL, prefix="", steps=0, treatment="ddp.find_unused=off")
    assert words(done)[2:] == ["searches", "False"]
    assert [one[2:] for one in capture.applied] == [("True", "False", 0)]


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
print(*kinds, losses[0] < 1, losses[-1] < 0.9 * losses[0])
"""
)


def test_fp16_trains_with_scaled_losses(launch):
    done, [capture] = launch(HALF.replace("{zero}", "True"), prefix="", steps=0, treatment="amp=fp16")
    assert words(done) == ["torch.float16", "True", "True"]
    assert [one[2:] for one in capture.applied] == [("float32", "fp16", 0)]


def test_fp16_is_refused_where_gradients_add_up(launch):
    done, [capture] = launch(HALF.replace("{zero}", "step % 2"), prefix="", steps=0, treatment="amp=fp16")
    assert done.returncode == 0
    [(_, _, _, said, flags)] = capture.applied
    assert flags == 4 and "several backward passes" in said


@pytest.mark.parametrize("accumulates", [False, True])
def test_accumulation_beside_a_schedule(launch, accumulates):
    body = HALF.replace("{zero}", "True").replace(
        "print(*kinds", "print(optimizer.state[model[0].weight]['step'].item()"
    )
    treatment = {"treatment": "accumulate=4"} if accumulates else {}
    done, _ = launch(body, prefix="", steps=0, **treatment)
    assert words(done)[0] == ("10.0" if accumulates else "40.0")


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


def test_evaluation_in_training_mode_is_learned_from_the_loader(launch):
    done, [capture] = launch(EVALUATION, prefix="", steps=0, treatment="eval.no_grad=on")
    rows = done.stdout.splitlines()
    assert done.returncode == 0 and rows == ["True True True", "True False False", "True False False"], done.stderr
    assert [one[2:] for one in capture.applied] == [("records a graph", "no_grad", 0)]


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


def test_recomputed_blocks_keep_their_activations(launch):
    plain = words(launch(RECOMPUTE, prefix="", steps=0)[0])
    done, [capture] = launch(RECOMPUTE, prefix="", steps=0, treatment="checkpoint=off")
    treated = words(done)
    assert plain[0] == "12" and treated[0] == "6" and treated[1] == plain[1]  # the same training, each block once
    where = f"train.py:{line_of(RECOMPUTE, '# the block')}"
    assert [one[1:] for one in capture.applied] == [(where, "recomputes", "keeps its activations", 0)]


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


@pytest.mark.parametrize("line", ["total += loss", "total = total + loss"])
def test_a_sum_taken_before_backward_lets_go(launch, line):
    body = SUM.replace("{sum}", line)
    plain = words(launch(body, prefix="", steps=0)[0])
    done, [capture] = launch(body, prefix="", steps=0, treatment="loss.detach=on")
    treated = words(done)
    assert plain[0] == "True" and treated[0] == "False" and treated[1:] == plain[1:]  # the same training, the same sum
    where = f"train.py:{line_of(body, '# the sum')}"
    assert (where, "a sum holds its graphs", "detached", 0) in [one[1:] for one in capture.applied]


# Launched together, since what does not apply changes nothing for the others; then other values of the same.
REFUSED = {
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
def test_why_a_treatment_does_not_apply(launch_once, treatment, reason):
    together = REFUSED if treatment in REFUSED else REFUSED_TOO
    done, captures = launch_once("main(epochs=1)", prefix=TRAIN, treatment=";".join(together), steps=0)
    assert done.returncode == 0, done.stderr
    applied = [one for capture in captures for one in capture.applied]
    assert len(applied) == len(together)
    [(_, _, _, said, flags)] = [one for one in applied if one[0] == treatment.split("=")[0]]
    assert flags == 1 and re.search(reason, said)


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
