# Trains a small classifier and keeps a histogram of every weight and gradient for a dashboard.
import time

import numpy as np
import torch
from torch import nn


class Board:
    def __init__(self):
        self.records = {}

    def add_histogram(self, tag, tensor, step):
        values = tensor.detach().numpy().ravel()
        counts, edges = np.histogram(values, bins=256)
        self.records[tag] = (step, counts, edges)

    def add_scalar(self, tag, value, step):
        self.records[tag] = (step, value)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
inputs, labels = torch.randn(4096, 256), torch.randint(0, 10, (4096,))
board = Board()
start = time.time()
for step in range(250):
    rows = torch.randint(0, 4096, (128,))
    loss = nn.functional.cross_entropy(model(inputs[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    board.add_scalar("loss", loss.item(), step)
    for name, parameter in model.named_parameters():
        board.add_histogram(f"weights/{name}", parameter, step)
        board.add_histogram(f"gradients/{name}", parameter.grad, step)
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 20:.1f} ms/step", flush=True)
        start = time.time()
