# The layer norm of the annotated transformer.
import torch
from torch import nn

torch.manual_seed(0)


class LayerNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)


class Block(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.norm, self.linear = LayerNorm(width), nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.linear(self.norm(x)))


model = nn.Sequential(nn.Linear(32, 256), *(Block() for _ in range(4)), nn.Linear(256, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
data = torch.randn(4096, 32)
for step in range(80):
    x = data[torch.randint(0, len(data), (2048,))]
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
