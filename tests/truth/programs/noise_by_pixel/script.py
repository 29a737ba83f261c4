# A denoiser: clean images get salt and pepper on the fly, pixel by pixel.
import random
import time

import torch
from torch import nn


def add_noise(images, amount):
    noisy = images.numpy().copy()
    count, _, height, width = noisy.shape
    for i in range(count):
        for row in range(height):
            for column in range(width):
                if random.random() < amount:
                    noisy[i, 0, row, column] = random.randrange(2)
    return torch.from_numpy(noisy)


random.seed(0)
torch.manual_seed(0)
clean = torch.rand(512, 1, 32, 32)
model = nn.Sequential(nn.Flatten(), nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 1024), nn.Unflatten(1, (1, 32, 32)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
start = time.time()
for step in range(400):
    images = clean[torch.randint(0, 512, (64,))]
    restored = model(add_noise(images, 0.05))
    loss = nn.functional.mse_loss(restored, images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.4f} {(time.time() - start) * 20:.1f} ms/step", flush=True)
        start = time.time()
