"""torch.optim: Muon, whose update is made of products."""

import time

import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(12)])
optimizer = torch.optim.Muon([one for one in model.parameters() if one.ndim == 2])
inputs, labels = torch.randn(64, 64), torch.randn(64, 64)
for _ in range(60):
    time.sleep(0.005)  # slow
    optimizer.zero_grad()
    nn.functional.mse_loss(model(inputs), labels).backward()
    optimizer.step()
print("truth steps=60 optimizer=Muon loader=none evaluations=0")
