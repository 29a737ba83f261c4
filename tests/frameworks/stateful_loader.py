"""torchdata: StatefulDataLoader."""

import time

import torch
from torch import nn
from torchdata.stateful_dataloader import StatefulDataLoader


class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.001)  # slow
        generator = torch.Generator().manual_seed(index)
        return torch.randn(64, generator=generator), index % 4


def build():
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))


model = build()
optimizer = torch.optim.AdamW(model.parameters())
loader = StatefulDataLoader(Pairs(), batch_size=16)
for _ in range(3):
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
print("truth steps=60 optimizer=AdamW loader=yes evaluations=0")
