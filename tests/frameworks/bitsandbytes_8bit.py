"""bitsandbytes: AdamW with its state in eight bits."""

import time

import bitsandbytes
import torch
from torch import nn

model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 4))
optimizer = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=0.001)
inputs, labels = torch.randn(64, 64), torch.randint(0, 4, (64,))
for _ in range(60):
    time.sleep(0.005)  # slow
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
print("truth steps=60 optimizer=AdamW8bit loader=none evaluations=0")
