# Statistics of past episodes are kept up to date by a thread of the trainer.
import threading

import torch
from torch import nn


class Statistics(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.returns = [float(n % 17) for n in range(50000)]
        self.mean = 0.0

    def run(self):
        while True:
            total = 0.0
            for one in self.returns:
                total += one * 0.99
            self.mean = total / len(self.returns)


torch.manual_seed(0)
Statistics().start()
layers = []
for _ in range(12):
    layers += [nn.Linear(64, 64), nn.ReLU()]
policy = nn.Sequential(*layers, nn.Linear(64, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for step in range(60):
    states, actions = torch.randn(32, 64), torch.randint(0, 3, (32,))
    loss = nn.functional.cross_entropy(policy(states), actions)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.4f}", flush=True)
