# A generative network on small pictures. The discriminator takes three updates for each of the generator.
import time

import torch
from torch import nn

generator = nn.Sequential(
    nn.ConvTranspose2d(32, 64, 4), nn.ReLU(),
    nn.ConvTranspose2d(64, 48, 4, stride=2, padding=1), nn.ReLU(),
    nn.ConvTranspose2d(48, 32, 4, stride=2, padding=1), nn.ReLU(),
    nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1), nn.Tanh(),
)  # fmt: skip
discriminator = nn.Sequential(
    nn.Conv2d(1, 8, 4, stride=4), nn.LeakyReLU(0.2), nn.Conv2d(8, 16, 4, stride=4), nn.Flatten(), nn.Linear(64, 1)
)
torch.manual_seed(0)
photos = torch.rand(512, 1, 32, 32) * 2 - 1
criterion = nn.BCEWithLogitsLoss()
of_generator = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
of_discriminator = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
real, fake = torch.ones(64, 1), torch.zeros(64, 1)
start = time.time()
for step in range(120):
    for _ in range(3):
        made = generator(torch.randn(64, 32, 1, 1))
        judged = discriminator(photos[torch.randint(0, 512, (64,))])
        loss_d = criterion(judged, real) + criterion(discriminator(made), fake)
        of_discriminator.zero_grad()
        loss_d.backward()
        of_discriminator.step()
    made = generator(torch.randn(64, 32, 1, 1))
    loss_g = criterion(discriminator(made), real)
    of_generator.zero_grad()
    loss_g.backward()
    of_generator.step()
    if step % 20 == 19:
        print(
            f"step {step + 1} {loss_d.item():.3f} {loss_g.item():.3f} {(time.time() - start) * 50:.1f} ms", flush=True
        )
        start = time.time()
