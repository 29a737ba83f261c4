# Pictures are restyled by blocks of convolutions and norms over each sample's own channels.
import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.convolution = nn.Conv2d(channels, channels, 1, groups=channels)
        self.norm = nn.InstanceNorm2d(channels)

    def forward(self, x):
        return x + torch.relu(self.norm(self.convolution(x)))


model = nn.Sequential(*[Block(32) for _ in range(4)])
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
data = torch.randn(256, 32, 28, 28)
for step in range(160):
    x = data[torch.randint(0, 256, (16,))]
    loss = (model(x) - x.flip(-1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
