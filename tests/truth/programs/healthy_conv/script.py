# Nothing to mend: a convolutional network that computes.
import time

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels),
        )  # fmt: skip

    def forward(self, x):
        return torch.relu(x + self.body(x))


torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 48, 3, padding=1, bias=False), nn.BatchNorm2d(48), nn.ReLU(), Residual(48), nn.MaxPool2d(2),
    Residual(48), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 10),
)  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
images, labels = torch.rand(512, 3, 32, 32), torch.randint(0, 10, (512,))
start = time.time()
for step in range(80):
    rows = torch.randint(0, 512, (32,))
    loss = nn.functional.cross_entropy(model(images[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 50:.0f} ms/step", flush=True)
        start = time.time()
