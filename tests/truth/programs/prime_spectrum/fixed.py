# Spectral loss on audio of 20011 samples, which is a prime number.
import torch
from torch import nn

torch.manual_seed(0)
SAMPLES = 20011
model = nn.Sequential(nn.Conv1d(1, 4, 9, padding=4), nn.Tanh(), nn.Conv1d(4, 1, 9, padding=4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
sounds = torch.randn(64, 1, SAMPLES)


def spectrum(x):
    return torch.fft.rfft(x, 20250).abs()


for step in range(80):
    clean = sounds[torch.randint(0, 64, (8,))]
    loss = (spectrum(model(clean + 0.1 * torch.randn_like(clean))) - spectrum(clean)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
