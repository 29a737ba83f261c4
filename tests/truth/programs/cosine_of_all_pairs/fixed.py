# Two views of each sample are embedded; each has to find its own among the others'.
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
SAMPLES = 192
encoder = nn.Sequential(nn.Linear(96, 256), nn.ReLU(), nn.Linear(256, 64))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3, fused=True)


def similarities(a, b):
    return F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T


data = torch.randn(4096, 96)
for step in range(200):
    x = data[torch.randint(0, len(data), (SAMPLES,))]
    a, b = encoder(x + 0.1 * torch.randn_like(x)), encoder(x + 0.1 * torch.randn_like(x))
    loss = F.cross_entropy(similarities(a, b) / 0.1, torch.arange(SAMPLES))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
