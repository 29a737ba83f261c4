"""torchao: AdamW with its state in eight bits."""

import time

import torch
from torch import nn
from torchao.optim import AdamW8bit

model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(12)])
optimizer = AdamW8bit(model.parameters())
inputs, labels = torch.randn(64, 64), torch.randn(64, 64)
for _ in range(60):
    time.sleep(0.005)  # slow
    optimizer.zero_grad()
    nn.functional.mse_loss(model(inputs), labels).backward()
    optimizer.step()
print("truth steps=60 optimizer=AdamW8bit loader=none evaluations=0")
