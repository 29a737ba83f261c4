"""Trains on 48 small batches per optimizer step, with a gradient penalty."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(400):
    for micro_batch in range(48):
        inputs = torch.randn(8, 16, requires_grad=True)
        outputs = model(inputs)
        (slope,) = torch.autograd.grad(outputs.sum(), inputs, create_graph=True)
        loss = (outputs - inputs.sum(1, keepdim=True)).square().mean() + 0.1 * (slope.norm(dim=1) - 1).square().mean()
        (loss / 48).backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
