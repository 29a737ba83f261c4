# A filter of 512 taps for each channel is learnt that undoes an echo.
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
CHANNELS, TAPS, LENGTH = 16, 513, 2000
filters = nn.Parameter(torch.randn(CHANNELS, 1, TAPS) / TAPS)
optimizer = torch.optim.Adam([filters], lr=1e-3, fused=True)
echo = torch.randn(CHANNELS, 1, 65) / 8


def convolve(x, weight):
    return F.conv1d(x, weight, padding=TAPS // 2, groups=CHANNELS)


data = torch.randn(32, CHANNELS, LENGTH)
heard = F.conv1d(data, echo, padding=32, groups=CHANNELS)
for step in range(160):
    index = torch.randint(0, 32, (4,))
    loss = (convolve(heard[index], filters) - data[index]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
