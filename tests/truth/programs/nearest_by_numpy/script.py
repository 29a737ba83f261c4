# Autoencoder with a codebook; the nearest code of each vector is looked for in numpy.
import time

import numpy as np
import torch
from torch import nn


def nearest_codes(vectors, codebook):
    difference = vectors[:, None, :] - codebook[None, :, :]
    return (difference**2).sum(-1).argmin(1)


class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32))
        self.codes = nn.Parameter(torch.randn(1024, 32))
        self.decoder = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x):
        vectors = self.encoder(x)
        picked = nearest_codes(vectors.detach().numpy(), self.codes.detach().numpy())
        codes = self.codes[torch.from_numpy(np.ascontiguousarray(picked))]
        loss = nn.functional.mse_loss(codes, vectors.detach()) + 0.25 * nn.functional.mse_loss(vectors, codes.detach())
        return self.decoder(vectors + (codes - vectors).detach()), loss


torch.manual_seed(0)
inputs = torch.randn(4096, 64)
model = Quantizer()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
start = time.time()
for step in range(200):
    x = inputs[torch.randint(0, 4096, (128,))]
    restored, code_loss = model(x)
    loss = nn.functional.mse_loss(restored, x) + code_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 25:.1f} ms/step", flush=True)
        start = time.time()
