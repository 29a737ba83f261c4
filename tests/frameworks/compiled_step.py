"""torch.compile: the model, and the optimizer's step."""

import time

import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(12)])
optimizer = torch.optim.AdamW(model.parameters(), capturable=False)
model = torch.compile(model)


@torch.compile(fullgraph=False)
def update():
    optimizer.step()


inputs, labels = torch.randn(64, 64), torch.randn(64, 64)
for _ in range(60):
    time.sleep(0.005)  # slow
    optimizer.zero_grad()
    nn.functional.mse_loss(model(inputs), labels).backward()
    update()
print("truth steps=60 optimizer=AdamW loader=none evaluations=0")
