# A moving average of the weights for evaluation, kept by hand.
import copy
import time

import torch
from torch import nn

DECAY = 0.999


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


@torch.no_grad()
def update_average(average, model):
    for name, value in average.state_dict().items():
        if value.dtype.is_floating_point:
            value.mul_(DECAY).add_(model.state_dict()[name], alpha=1 - DECAY)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 128), *[Block(128) for _ in range(16)], nn.Linear(128, 10))
average = copy.deepcopy(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
inputs, labels = torch.randn(4096, 32), torch.randint(0, 10, (4096,))
start = time.time()
for step in range(300):
    rows = torch.randint(0, 4096, (128,))
    loss = nn.functional.cross_entropy(model(inputs[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_average(average, model)
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 20:.1f} ms/step", flush=True)
        start = time.time()
