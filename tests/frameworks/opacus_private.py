"""Opacus: gradients of each sample."""

import time

import torch
from opacus import PrivacyEngine
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


model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = torch.utils.data.DataLoader(Pairs(), batch_size=16)
model, optimizer, loader = PrivacyEngine().make_private(
    module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0
)
steps = 0
for _ in range(3):
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        steps += 1
print(f"truth steps={steps} optimizer=SGD|DPOptimizer loader=yes evaluations=0")
