# ctest labels: slow
"""Detection of padding in a Python script: masks and padding indices are read, masks of other kinds are ignored."""

import pathlib
import sys

import pytest

from conftest import BUILD

pytestmark = pytest.mark.skipif(
    not (BUILD / "probes" / "python" / "site" / "sitecustomize.py").exists(), reason="the Python shim is not built"
)

# Eight texts of up to 64 tokens, of which three quarters are padding.
SCRIPT = """
import torch
from torch import nn
torch.set_num_threads(1)
torch.manual_seed(1)
lengths = torch.tensor([64, 8, 8, 8, 8, 8, 12, 12])
tokens = torch.randint(1, 100, (8, 64))
padding = torch.arange(64).unsqueeze(0) >= lengths.unsqueeze(1)
tokens[padding] = 0
embedding = nn.Embedding(100, 64{padding_idx})
layer = {layer}
head = nn.Linear(64, 2)
parameters = [*embedding.parameters(), *layer.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=1e-3, foreach=True)
for step in range(60):
    optimizer.zero_grad()
    x = embedding(tokens)
    {forward}
    nn.functional.cross_entropy(head(x.mean(1)), torch.zeros(8, dtype=torch.long)).backward()
    optimizer.step()
"""
ENCODER = "nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)"
LSTM = "nn.LSTM(64, 64, batch_first=True)"
PACKED = """x, _ = layer(nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
    x, _ = nn.utils.rnn.pad_packed_sequence(x, batch_first=True)"""
CAUSAL = """mask = torch.ones(64, 64, dtype=torch.bool).tril().expand(8, 1, 64, 64).contiguous()
    x = x + nn.functional.scaled_dot_product_attention(x.unsqueeze(1), x.unsqueeze(1), x.unsqueeze(1), mask).squeeze(1)
    x = layer(x)[0]"""
GUESSED = """x = x.masked_fill(torch.rand(8, 64, 1) < 0.5, 0)
    x = layer(x)[0]"""


@pytest.mark.parametrize(
    "layer, padding_idx, forward, verdict",
    [
        (ENCODER, "", "x = layer(x, src_key_padding_mask=padding)", "found"),
        (ENCODER, "", "x = layer(x)", "cannot-tell"),
        (LSTM, ", padding_idx=0", "x = layer(x)[0]", "found"),
        (LSTM, ", padding_idx=0", PACKED, "clear"),
        (LSTM, "", CAUSAL, "clear"),
        (LSTM, "", GUESSED, "cannot-tell"),
    ],
    ids=["key_padding_mask", "no_mask", "padding_idx", "packed", "causal", "words_hidden_at_random"],
)
def test_padding_is_told(loopscope, tmp_path, layer, padding_idx, forward, verdict):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(layer=layer, padding_idx=padding_idx, forward=forward))
    done, report = loopscope.report(
        "run", "--warmup", "5", "--steps", "20", "--time", "30s", "-o", tmp_path / "out", "--", sys.executable, script
    )
    assert done.code == 0, done.err
    row = next(row for row in report["rules"] if row["id"] == "padding-waste")
    assert row["verdict"] == verdict, row
    if verdict == "found":
        (finding,) = [one for one in report["findings"] if one["rule"] == "padding-waste"]
        assert finding["title"].startswith("75 % of the tokens are padding")
        assert pathlib.Path(finding["evidence"][0]["where"]["path"]).name == "train.py"
        assert finding["treatment"] == "batch.by_length"
