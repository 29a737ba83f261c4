"""schedulefree: an optimizer with modes."""

import time

import torch
from schedulefree import AdamWScheduleFree
from torch import nn

model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(12)])
optimizer = AdamWScheduleFree(model.parameters())
optimizer.train()
inputs, labels = torch.randn(64, 64), torch.randn(64, 64)
for _ in range(60):
    time.sleep(0.005)  # slow
    optimizer.zero_grad()
    nn.functional.mse_loss(model(inputs), labels).backward()
    optimizer.step()
print("truth steps=60 optimizer=AdamWScheduleFree loader=none evaluations=0")
