# Measured once which layers take long, and left the profiler on ever since.
import time

import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Linear(32, 64)]
for _ in range(20):
    layers += [nn.LayerNorm(64), nn.SiLU(), nn.Linear(64, 64)]
model = nn.Sequential(*layers, nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
inputs, targets = torch.randn(4096, 32), torch.randn(4096, 8)


def train(steps):
    start = time.time()
    for step in range(steps):
        rows = torch.randint(0, 4096, (32,))
        loss = nn.functional.mse_loss(model(inputs[rows]), targets[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 24:
            print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 40:.1f} ms/step", flush=True)
            start = time.time()


with torch.autograd.profiler.profile(record_shapes=True, with_stack=True) as profile:
    train(150)
print(profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=3))
