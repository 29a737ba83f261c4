# Patches of pictures are mixed by attention; its weights are thrown away.
import torch
from torch import nn

torch.manual_seed(0)
WIDTH, PATCHES = 96, 196


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 6, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        y = self.norm(x)
        mixed, _ = self.attention(y, y, y)
        return x + self.mlp(x + mixed)


model = nn.Sequential(nn.Linear(48, WIDTH), Mixer(), Mixer(), nn.Linear(WIDTH, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
for step in range(80):
    patches, labels = torch.randn(12, PATCHES, 48), torch.randint(0, 10, (12,))
    loss = nn.functional.cross_entropy(model(patches).mean(1), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
