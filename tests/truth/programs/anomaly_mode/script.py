# Hunted a NaN last month; the switch for it is still on.
import time

import torch
from torch import nn

torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)


class Field(nn.Module):
    def __init__(self, width=64, depth=12):
        super().__init__()
        self.first = nn.Linear(3, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.last = nn.Linear(width, 4)

    def forward(self, points):
        x = torch.sin(self.first(points))
        for layer in self.hidden:
            x = x + torch.sin(layer(x)) * 0.5
        return self.last(x)


field = Field()
optimizer = torch.optim.Adam(field.parameters(), lr=1e-3)
points, colours = torch.rand(20_000, 3), torch.rand(20_000, 4)
start = time.time()
for step in range(400):
    rows = torch.randint(0, 20_000, (256,))
    loss = nn.functional.mse_loss(field(points[rows]), colours[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.4f} {(time.time() - start) * 20:.1f} ms/step", flush=True)
        start = time.time()
