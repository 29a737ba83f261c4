# A tiny transformer with a window of attention; the mask is written number by number in every pass.
import time

import torch
from torch import nn


def window_mask(length, window):
    mask = torch.full((length, length), float("-inf"))
    for i in range(length):
        for j in range(max(0, i - window), i + 1):
            mask[i, j] = 0.0
    return mask


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(500, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(64, 500)

    def forward(self, x):
        mask = window_mask(x.shape[1], 32)
        return self.out(self.encoder(self.tokens(x), mask=mask))


torch.manual_seed(0)
text = torch.randint(0, 500, (400, 97))
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
start = time.time()
for step in range(200):
    rows = text[torch.randint(0, 400, (4,))]
    logits = model(rows[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 25:.1f} ms/step", flush=True)
        start = time.time()
