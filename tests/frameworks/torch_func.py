"""torch.func: gradients without a backward pass of tensors."""

import time

import torch
from torch import nn
from torch.func import functional_call, grad

model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(12)])
parameters = {name: one.detach() for name, one in model.named_parameters()}


def loss_of(parameters, inputs, labels):
    return nn.functional.mse_loss(functional_call(model, parameters, inputs), labels)


inputs, labels = torch.randn(64, 64), torch.randn(64, 64)
for _ in range(60):
    time.sleep(0.005)  # slow
    gradients = grad(loss_of)(parameters, inputs, labels)
    parameters = {name: one - 0.01 * gradients[name] for name, one in parameters.items()}
print("truth steps=60 optimizer=none loader=none evaluations=0")
