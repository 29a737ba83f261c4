"""torchjd: a Jacobian of several losses."""

import time

import torch
from torch import nn
from torchjd.aggregation import UPGrad
from torchjd.autojac import backward

model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(12)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
aggregator = UPGrad()
inputs, labels = torch.randn(64, 64), torch.randn(64, 64)
for _ in range(60):
    time.sleep(0.005)  # slow
    outputs = model(inputs)
    losses = [nn.functional.mse_loss(outputs, labels), outputs.abs().mean()]
    optimizer.zero_grad()
    backward(losses, aggregator)
    optimizer.step()
print("truth steps=60 optimizer=SGD loader=none evaluations=0")
