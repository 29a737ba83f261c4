# Semi-supervised learning: the teacher of each step is a copy of the student as it was before the step.
import copy
import time

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Dropout(0.1), nn.Linear(width, width))

    def forward(self, x):
        return x + self.mix(self.norm(x))


torch.manual_seed(0)
student = nn.Sequential(nn.Linear(40, 64), *[Block(64) for _ in range(20)], nn.Linear(64, 10))
optimizer = torch.optim.SGD(student.parameters(), lr=0.02, momentum=0.9)
inputs, labels = torch.randn(4096, 40), torch.randint(0, 10, (4096,))
start = time.time()
for step in range(250):
    rows = torch.randint(0, 4096, (32,))
    teacher = copy.deepcopy(student).eval().requires_grad_(False)
    logits = student(inputs[rows])
    wanted = teacher(inputs[rows] + 0.1 * torch.randn(32, 40)).softmax(1)
    loss = nn.functional.cross_entropy(logits, labels[rows]) + nn.functional.mse_loss(logits.softmax(1), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 20:.1f} ms/step", flush=True)
        start = time.time()
