# Only the hardest examples of a batch train: the losses of all pixels are sorted for them.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
images, labels = torch.randn(32, 3, 192, 192), torch.randint(0, 4, (32, 192, 192))
KEPT = 512


def hardest(logits, target):
    losses = nn.functional.cross_entropy(logits, target, reduction="none").flatten(1)
    return losses.topk(KEPT, dim=1).values.mean()


for step in range(80):
    rows = torch.randint(0, 32, (8,))
    loss = hardest(model(images[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
