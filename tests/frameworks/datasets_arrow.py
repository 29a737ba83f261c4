"""Hugging Face datasets: rows of Arrow tables."""

import time

import torch
from datasets import Dataset
from torch import nn

rows = Dataset.from_dict({"x": torch.randn(320, 64).tolist(), "y": [index % 4 for index in range(320)]})


def prepare(batch):
    time.sleep(0.016)  # slow
    return {"x": [torch.tensor(x) for x in batch["x"]], "y": [torch.tensor(y) for y in batch["y"]]}


rows.set_transform(prepare)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
optimizer = torch.optim.AdamW(model.parameters())
loader = torch.utils.data.DataLoader(rows, batch_size=16)
for _ in range(3):
    for batch in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(batch["x"]), batch["y"]).backward()
        optimizer.step()
print("truth steps=60 optimizer=AdamW loader=yes evaluations=0")
