# Contrastive learning with a bank of everything encoded so far, of which the newest are used as negatives.
import time

import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 128))
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05)
views = torch.randn(20_000, 128)
bank = torch.randn(512, 128)
start = time.time()
for step in range(200):
    rows = torch.randint(0, 20_000, (512,))
    one = nn.functional.normalize(encoder(views[rows] + 0.1 * torch.randn(512, 128)))
    with torch.no_grad():
        two = nn.functional.normalize(encoder(views[rows] + 0.1 * torch.randn(512, 128)))
    positive = (one * two).sum(1, keepdim=True)
    negative = one @ bank[-512:].T
    logits = torch.cat([positive, negative], 1) / 0.1
    loss = nn.functional.cross_entropy(logits, torch.zeros(512, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bank = torch.cat([bank, two])
    if step % 40 == 39:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 25:.1f} ms/step", flush=True)
        start = time.time()
