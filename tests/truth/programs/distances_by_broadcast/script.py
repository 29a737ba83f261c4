# Prototypes are learnt: each point goes to the nearest of them.
import torch
from torch import nn

torch.manual_seed(0)
POINTS, PROTOTYPES, WIDTH = 256, 256, 64
encoder = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, WIDTH))
prototypes = nn.Parameter(torch.randn(PROTOTYPES, WIDTH))
optimizer = torch.optim.Adam([*encoder.parameters(), prototypes], lr=1e-3, fused=True)


def squared_distances(x, y):
    return ((x.unsqueeze(1) - y.unsqueeze(0)) ** 2).sum(-1)


data = torch.randn(4096, 32)
for step in range(200):
    x = encoder(data[torch.randint(0, len(data), (POINTS,))])
    distances = squared_distances(x, prototypes)
    loss = distances.min(1).values.mean() + (distances.softmax(1).mean(0) ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
