"""Other forms of operators: both halves have the same names, and both forms of each give the same result."""

import importlib
import json
import re
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

FORMS = ROOT / "probes" / "forms"
# One work for each form, as analyzers/forms writes it.
WORKS = {
    "attention-weights": "f32[4,24,24]!;-1;-|8|8|0|0",
    "attention-written-out": "f32[2,3,24,24]!;-1;-|8|8|1|0",
    "gelu-written-out": "f32[4,64]!|tanh",
    "silu-written-out": "f32[4,64]!",
    "hardswish-written-out": "f32[4,64]!;3;1",
    "relu-written-out": "where|leaky|f32[4,64]!",
    "batch-norm-written-out": "f32[4,6,8,8]!;f32[1,6,1,1]!;1",
    "instance-norm": "f32[4,6,8,8]!;-;-;-;-;true;0.1;1e-05;true",
    "layer-norm-written-out": "f32[4,16,64]!;f32[4,16,1]!;1",
    "softmax-written-out": "f32[4,16,64]!|[-1]",
    "power-of-number": "f32[4,64]!;3",
    "repeat-to-broadcast": "f32[4,1,8]!;[1, 5, 1]|aten::add|f32[4,5,8]!;f32[4,5,8]!;1",
    "rows-by-index": "f32[40,8]!;(i64[6])",
    "elements-by-index": "f32[4,8,9]!;(- i64[5] i64[5])",
    "rows-by-gather": "f32[4,9,8]!;1;i64[4,5,8];false",
    "rows-by-scatter": "f32[9,8];0;i64[20,8];f32[20,8]!",
    "picked-by-one-hot": "i64[10];6|f32[10,6]!;i64[10,6]",
    "elements-by-mask": "f32[4,64]!;(b1[4,64])",
    "renormalized-lookup": "2|f32[40,8]!;i64[6];1;2|f32[40,8]!;i64[9];1;2",
    "sparse-gradients": "1|f32[40,8]!;i64[6];-1;false;true",
    "lookup-then-sum": "f32[40,8]!;i64[6,5];-1;false;false|mean",
    "one-hot-product": "i64[10];64|aten::matmul|f32[10,64];f32[64,8]!",
    "loss-after-sigmoid": "f32[8,5]!;f32[8,5];-;1",
    "binary-loss-written-out": "f32[8,5]!",
    "log-of-softmax": "f32[8,5]!;i64[8];-;1;-100",
    "one-hot-labels": "f32[8,5]!;-1;-",
    "one-hot-probabilities": "f32[8,5]!",
    "packed-sequences": "aten::lstm|f32[60,8];i64[12];(f32[1,6,16] f32[1,6,16]);(f32[64,8]! f32[64,16]!);true;1;0;true;false",
    "cell-by-cell": "9|aten::lstm_cell|f32[6,8];(f32[6,16] f32[6,16]);f32[64,8]!;f32[64,16]!",
    "growing-cat": "9|(f32[4,9,8]! f32[4,1,8]!);1",
    "differences-of-pairs": "f32[6,1,8]!;f32[1,7,8]!;1|sum",
    "cosines-of-pairs": "f32[6,1,8]!;f32[1,7,8]!;-1;1e-08",
    "product-by-broadcast": "f32[4,6,1,8]!;f32[4,1,7,8]!|[-1]",
    "product-order": "left|f32[3,9,4]!;f32[3,4,9]!|f32[3,9,9]!;f32[3,9,4]!",
    "diagonal-product": "right|f32[8]!|f32[6,8]!;f32[8,8]!",
    "bilinear": "f32[4,6]!;f32[4,5]!;f32[3,6,5]!;f32[3]!",
    "one-matrix-for-all": "left|aten::expand|f32[4,7,5]!;f32[4,5,3]!",
    "product-by-product": "8|aten::linear|f32[6,8];f32[5,8]!",
    "inverse-then-product": "f32[8,8]!|f32[8,8]!;f32[8,4]!",
    "kernel-of-one": "f32[2,8,20]!;f32[5,8,1]!;f32[5]!;[1];[0];[1];1",
    "channels-first": "f32[2,8,12,12]!;f32[16,8,3,3]!;f32[16]!;[1, 1];[1, 1];[1, 1];1",
    "unfolded-convolution": "f32[2,3,8,8]!;[3, 3];[1, 1];[1, 1];[1, 1]|f32[5,27]!;f32[2,27,64]!",
    "long-kernel": "f32[2,4,400]!;f32[4,1,129]!;f32[4]!;[1];[64];[1];4",
    "kernel-equals-stride": "f32[2,3,8,12]!;f32[5,3,4,4]!;f32[5]!;[4, 4];[0, 0];[1, 1];1",
    "transform-length": "aten::fft_rfft|f32[4,61]!;-;-1;-",
    "full-matrices": "f32[12,5];true;-",
    "antialiased-resize": "aten::_upsample_bilinear2d_aa|f32[2,3,16,16];[8, 8];false;-",
    "sort-for-few": "f32[4,64]!;-1;true|8|aten::sort",
    "quantile-by-sort": "f32[4,64]!;0.5;-1;false;?",
}
# Forms that give other numbers, or that draw their own at random.
OTHER_NUMBERS = {
    "sparse-gradients",
    "packed-sequences",
    "cell-by-cell",
    "transform-length",
    "full-matrices",
    "antialiased-resize",
    "quantile-by-sort",
    "renormalized-lookup",
}


@pytest.fixture(scope="module")
def catalogue():
    sys.path.insert(0, str(FORMS))
    try:
        yield importlib.import_module("catalogue")
    finally:
        sys.path.remove(str(FORMS))


def names_in_tables():
    folder = ROOT / "analyzers" / "forms"
    return {name for path in folder.glob("form_*.cpp") for name in re.findall(r'\.id = "([a-z-]+)"', path.read_text())}


def test_each_form_has_both_halves(catalogue):
    assert names_in_tables() == set(catalogue.FORMS) == set(WORKS)
    text = (ROOT / "analyzers" / "better_form.md").read_text()
    assert {name for name in WORKS if f"`{name}`" not in text} == set()


@pytest.mark.parametrize("name", sorted(WORKS))
def test_both_forms_run_and_agree(catalogue, name):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    pair = catalogue.FORMS[name](WORKS[name])
    before, after = pair.before(), pair.after()
    flat = [
        torch.stack(list(one)) if isinstance(one, (list, tuple)) and name == "product-by-product" else one
        for one in (before, after)
    ]
    if name in OTHER_NUMBERS:
        return
    torch.testing.assert_close(flat[0], flat[1], rtol=1e-3, atol=1e-4)


# Each form as people write it, small enough to run in seconds.
SCRIPT = """
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence

torch.set_num_threads(1)
torch.manual_seed(0)
w = torch.nn.Parameter(torch.randn(64, 64) / 8)
mha = torch.nn.MultiheadAttention(64, 4, batch_first=True)
lstm, cell = torch.nn.LSTM(64, 32, batch_first=True), torch.nn.LSTMCell(64, 32)
table, ball = torch.nn.Embedding(80, 32), torch.nn.Embedding(80, 32, max_norm=1)
line, picture = torch.nn.Conv1d(16, 8, 1), torch.nn.Conv2d(8, 8, 3)
optimizer = torch.optim.SGD([w, *mha.parameters(), *lstm.parameters(), *cell.parameters(), *table.parameters(),
                             *ball.parameters(), *line.parameters(), *picture.parameters()], lr=1e-6)
keep = torch.tril(torch.ones(16, 16)).bool()
for step in range(40):
    x = torch.randn(4, 16, 64) @ w
    flat = x.reshape(64, 64)
    rows = torch.randint(0, 64, (10,))
    results = [
        0.5 * x * (1 + torch.tanh(0.79 * (x + 0.044 * torch.pow(x, 3)))),
        x * 0.5 * (1 + torch.erf(x / 1.41)),
        x * torch.sigmoid(x),
        F.dropout(F.softmax((x @ x.transpose(-2, -1) / 8.0).masked_fill(~keep, float("-inf")), dim=-1), 0.1) @ x,
        mha(x, x, x)[0],
        w[0] * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) + w[1],
        ((flat[:, None] - flat[None]) ** 2).sum(-1),
        flat[rows],
        flat[flat > 0].mean(),
        F.one_hot(rows, 64).float() @ flat,
        F.binary_cross_entropy(torch.sigmoid(flat), torch.rand(64, 64)),
        F.nll_loss(torch.log(F.softmax(flat, -1)), torch.randint(0, 64, (64,))),
        -(F.one_hot(torch.randint(0, 64, (64,)), 64) * F.log_softmax(flat, -1)).sum(-1).mean(),
        flat.sort(-1, descending=True)[0][:, :4],
        torch.quantile(flat, 0.9, dim=-1),
        torch.fft.rfft(flat, n=61).abs(),
        flat[:, :1].repeat(1, 64) + flat,
        torch.linalg.inv(flat + 9 * torch.eye(64)) @ flat,
        table(torch.randint(0, 80, (16, 8))).sum(1),
        ball(torch.randint(0, 80, (16,))),
        line(x),
        picture(x.reshape(2, 8, 16, 16)),
        w.flatten()[: 8 * 72].reshape(8, 72) @ F.unfold(x.reshape(2, 8, 16, 16), 3),
        lstm(pack_padded_sequence(x, torch.tensor([16, 12, 9, 5]), batch_first=True))[0].data,
    ]
    columns, (i, j) = torch.randint(0, 64, (8,)), torch.tril_indices(16, 16, -1)
    results += [
        flat * F.relu6(flat + 3) / 6,
        torch.where(flat > 0, flat, 0.1 * flat),
        (flat - flat.mean(0, keepdim=True)) / torch.sqrt(flat.var(0, keepdim=True) + 1e-5),
        F.instance_norm(x.reshape(2, 8, 16, 16)),
        flat[:, columns],
        (x @ x.transpose(-2, -1))[:, i, j],
        x.gather(1, torch.randint(0, 16, (4, 5)).unsqueeze(-1).expand(-1, -1, 64)),
        torch.zeros(80, 64).scatter_add(0, torch.randint(0, 80, (64,)).unsqueeze(-1).expand(-1, 64), flat),
        (flat * F.one_hot(torch.randint(0, 64, (64,)), 64)).sum(-1),
        F.cross_entropy(flat, F.one_hot(torch.randint(0, 64, (64,)), 64).float()),
        F.cosine_similarity(flat[:, None], flat[None], dim=-1),
        (flat[:, None] - flat[None]).abs().sum(-1),
        (flat[:, None] * flat[None]).sum(-1),
        (flat[:, :4] @ flat[:4]) @ flat[:, 4:8],
        torch.diag(flat[0]) @ flat,
        F.bilinear(flat, flat, w.reshape(1, 64, 64)),
        torch.bmm(x, w.unsqueeze(0).expand(4, -1, -1)),
        F.conv1d(flat.reshape(4, 1, 1024), w.reshape(1, 1, 4096)[..., :200]),
        F.conv2d(x.reshape(4, 1, 32, 32), w.flatten()[:64].reshape(4, 1, 4, 4), stride=4),
    ]
    powers = torch.exp(x - x.max(-1, keepdim=True)[0])
    results.append(powers / powers.sum(-1, keepdim=True))
    p = torch.sigmoid(flat)
    results.append(-(torch.log(p + 1e-8) + torch.log(1 - p + 1e-8)).mean())
    whole, state = x[:, :1], (torch.zeros(4, 32), torch.zeros(4, 32))
    for t in range(1, 10):
        whole = torch.cat([whole, x[:, t : t + 1]], 1)
        state = cell(x[:, t], state)
    results += [whole, state[0]]
    loss = sum(one.float().pow(2).mean() for one in results)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
# Left out of the script: they need another optimizer, or what cannot be told apart in one step.
NOT_IN_SCRIPT = {"sparse-gradients", "product-by-product", "full-matrices", "antialiased-resize"}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    script = folder / "script.py"
    script.write_text(SCRIPT)
    command = [
        BUILD / "loopscope",
        "run",
        "--format",
        "json",
        "--steps",
        "20",
        "-o",
        folder / "out",
        "--",
        sys.executable,
        script,
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout), folder


def test_each_form_is_recognized_in_a_program(report):
    seen = {row["form"] for row in report[0]["forms"]}
    assert seen >= set(WORKS) - NOT_IN_SCRIPT, set(WORKS) - NOT_IN_SCRIPT - seen


def test_what_takes_most_is_tried_and_kept(report):
    read, folder = report
    kept = json.loads((folder / "out" / "forms.json").read_text())
    assert kept["schema"] == "loopscope.forms/1"
    assert kept["trials"]
    assert all(0 < one["ratio_low"] <= one["ratio_high"] for one in kept["trials"])
    tried = {row["form"] for row in read["forms"] if row["ratio"] is not None}
    assert tried == {one["change"].removeprefix("form=") for one in kept["trials"]}
    assert not list((folder / "out").glob("forms-*.txt")), "nothing failed"
    # The report of the folder is the same later, when nothing is run any more.
    again = subprocess.run(
        [BUILD / "loopscope", "report", "--format", "json", folder / "out"], capture_output=True, text=True, timeout=300
    )
    assert json.loads(again.stdout)["forms"] == read["forms"]
