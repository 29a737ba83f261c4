# Five tasks share one body; each task's loss is propagated by itself.
import time

import torch
from torch import nn

TASKS = 5


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4)
        )

    def forward(self, images):
        return self.layers(images).flatten(1)


torch.manual_seed(0)
body = Body()
heads = nn.ModuleList(nn.Linear(512, 10) for _ in range(TASKS))
optimizer = torch.optim.SGD([*body.parameters(), *heads.parameters()], lr=0.01)
start = time.time()
for step in range(150):
    images = torch.randn(16, 3, 32, 32)
    labels = torch.randint(0, 10, (TASKS, 16))
    optimizer.zero_grad()
    features = body(images)
    for head, target in zip(heads, labels):
        loss = nn.functional.cross_entropy(head(features), target)
        loss.backward(retain_graph=True)
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} {(time.time() - start) * 20:.1f} ms/step", flush=True)
        start = time.time()
