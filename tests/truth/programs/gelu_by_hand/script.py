# A feed-forward language head with the activation that GPT-2 published.
import math

import torch
from torch import nn

torch.manual_seed(0)


class NewGelu(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


model = nn.Sequential(nn.Linear(32, 128), *(nn.Sequential(nn.Linear(128, 512), NewGelu(), nn.Linear(512, 128)) for _ in range(4)))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
data = torch.randn(4096, 32)
for step in range(80):
    x = data[torch.randint(0, len(data), (1024,))]
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
