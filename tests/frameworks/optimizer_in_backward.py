"""An optimizer for each parameter, stepped in hooks of the backward pass."""

import time

import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(12)])
optimizers = {one: torch.optim.Adam([one], foreach=False) for one in model.parameters()}


def update(parameter):
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()


for one in model.parameters():
    one.register_post_accumulate_grad_hook(update)

inputs, labels = torch.randn(64, 64), torch.randn(64, 64)
for _ in range(60):
    time.sleep(0.005)  # slow
    nn.functional.mse_loss(model(inputs), labels).backward()
print("truth steps=60 optimizer=Adam loader=none evaluations=0")
