# Nothing to mend: a step of L-BFGS is many passes over all points, and they compute.
import time

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=5, history_size=10)
points = torch.rand(4000, 2) * 2 - 1
heights = (3 * points[:, :1]).sin() * (2 * points[:, 1:]).cos()


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(points), heights)
    loss.backward()
    return loss


start = time.time()
for step in range(100):
    loss = optimizer.step(closure)
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.5f} {(time.time() - start) * 50:.0f} ms/step", flush=True)
        start = time.time()
