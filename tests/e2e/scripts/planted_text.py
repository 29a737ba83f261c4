"""Trains a small language model on texts of different lengths without a flaw, or with those that are named:
python planted_text.py padding-waste.

The line that does it ends in a comment with the flaw's name; each flaw is that of the rule of this name."""

import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

FLAWS = set(sys.argv[1:])
SEED = next((int(one[5:]) for one in FLAWS if one.startswith("seed=")), 0)
WORDS, LONGEST, BATCH, WIDTH = 2048, 64, 8, 64


def batches(generator):
    """Texts of about one length share a batch, or come as they are."""
    lengths = torch.randint(8, LONGEST + 1, (BATCH * 40,), generator=generator)
    if "padding-waste" not in FLAWS:
        lengths = lengths.sort().values
    for part in lengths.view(-1, BATCH)[torch.randperm(40, generator=generator)].tolist():
        width = max(part)
        padding = torch.arange(width).unsqueeze(0) >= torch.tensor(part).unsqueeze(1)
        yield torch.randint(1, WORDS, (BATCH, width), generator=generator).masked_fill(padding, 0), padding


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH, padding_idx=0)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True) for _ in range(2))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens, padding):
        x = self.words(tokens)  # padding-waste
        for layer in self.layers:
            if "needless-recompute" in FLAWS:
                x = checkpoint(layer, x, None, padding, use_reentrant=False)  # needless-recompute
            else:
                x = layer(x, None, padding)
        return self.head(x)  # late-free


def loss_of(scores, tokens):
    return F.cross_entropy(scores.flatten(0, 1), tokens.flatten(), ignore_index=0)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    model = Model()
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, fused=True)
    for epoch in range(1000):
        for step, (tokens, padding) in enumerate(batches(torch.Generator().manual_seed(SEED * 1000 + epoch))):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=torch.cpu._is_avx512_bf16_supported()):
                if "late-free" in FLAWS:
                    scores = model(tokens, padding).float()  # late-free
                    loss = loss_of(scores, tokens)
                else:
                    loss = loss_of(model(tokens, padding).float(), tokens)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0, foreach="slow-clipping" not in FLAWS)  # slow-clipping
            optimizer.step()
            if step % 20 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)


main()
