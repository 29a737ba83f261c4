# Metric learning: the loss looks at one anchor of the batch after the other.
import time

import torch
from torch import nn


def similarity_loss(embeddings, labels, low=2.0, high=40.0, base=0.5):
    similarity = embeddings @ embeddings.T
    losses = []
    for i in range(len(labels)):
        same = similarity[i][labels == labels[i]]
        other = similarity[i][labels != labels[i]]
        pull = torch.log1p(torch.exp(-low * (same - base)).sum()) / low
        push = torch.log1p(torch.exp(high * (other - base)).sum()) / high
        losses.append(pull + push)
    return torch.stack(losses).mean()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 64))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
inputs, labels = torch.randn(4096, 128), torch.randint(0, 50, (4096,))
start = time.time()
for step in range(200):
    rows = torch.randint(0, 4096, (128,))
    loss = similarity_loss(nn.functional.normalize(model(inputs[rows])), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step + 1} loss {loss.item():.4f} {(time.time() - start) * 25:.1f} ms/step", flush=True)
        start = time.time()
