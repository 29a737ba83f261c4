# Gestures from sensors: a recurrent cell that is called for one time step after another.
import time

import torch
from torch import nn


class Gestures(nn.Module):
    def __init__(self, sensors=24, width=48, kinds=6):
        super().__init__()
        self.width = width
        self.cell = nn.LSTMCell(sensors, width)
        self.out = nn.Linear(width, kinds)

    def forward(self, x):
        state = None
        for t in range(x.shape[1]):
            state = self.cell(x[:, t], state)
        return self.out(state[0])


torch.manual_seed(0)
recordings, kinds = torch.randn(1024, 250, 24), torch.randint(0, 6, (1024,))
model = Gestures()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
start = time.time()
for step in range(150):
    rows = torch.randint(0, 1024, (32,))
    loss = nn.functional.cross_entropy(model(recordings[rows]), kinds[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 24:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 40:.1f} ms/step", flush=True)
        start = time.time()
