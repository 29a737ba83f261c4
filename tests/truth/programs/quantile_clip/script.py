# Losses above their 95 % quantile are left out of each image's mean.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(), nn.Conv2d(4, 3, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
images = torch.randn(64, 3, 128, 128)
for step in range(80):
    batch = images[torch.randint(0, 64, (8,))]
    losses = (model(batch + 0.1 * torch.randn_like(batch)) - batch).pow(2).flatten(1)
    limit = torch.quantile(losses.detach(), 0.95, dim=1, keepdim=True)
    loss = (losses * (losses < limit)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
