"""pytorch_optimizer: SAM, two backward passes in each step."""

import time

import torch
from pytorch_optimizer import SAM
from torch import nn

model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(12)])
optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.01)
inputs, labels = torch.randn(64, 64), torch.randn(64, 64)
for _ in range(60):
    time.sleep(0.005)  # slow
    nn.functional.mse_loss(model(inputs), labels).backward()
    optimizer.first_step(zero_grad=True)
    nn.functional.mse_loss(model(inputs), labels).backward()
    optimizer.second_step(zero_grad=True)
print("truth steps=60 optimizer=SGD|SAM loader=none evaluations=0")
