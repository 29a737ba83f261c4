"""Accelerate: a prepared loop."""

import time

import torch
from accelerate import Accelerator
from torch import nn


class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.001)  # slow
        generator = torch.Generator().manual_seed(index)
        return torch.randn(64, generator=generator), index % 4


def build():
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))


accelerator = Accelerator(cpu=True)
model = build()
optimizer = torch.optim.AdamW(model.parameters())
loader = torch.utils.data.DataLoader(Pairs(), batch_size=16)
held_out = torch.utils.data.DataLoader(Pairs(), batch_size=64)
model, optimizer, loader, held_out = accelerator.prepare(model, optimizer, loader, held_out)
for _ in range(3):
    model.train()
    for inputs, labels in loader:
        optimizer.zero_grad()
        accelerator.backward(nn.functional.cross_entropy(model(inputs), labels))
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for inputs, _ in held_out:
            model(inputs)
print("truth steps=60 optimizer=AdamW loader=yes evaluations=2")
