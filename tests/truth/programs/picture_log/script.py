# Writes the pictures of each batch beside what the model made of them, as a PNG after every step.
import os
import shutil
import struct
import tempfile
import time
import zlib

import torch
from torch import nn


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, image):
    pixels = (image.clamp(0, 1) * 255).to(torch.uint8).numpy()
    height, width, _ = pixels.shape
    packed = zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels), 9)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", packed) + chunk(b"IEND", b""))


def side_by_side(images):
    return images.view(-1, 3, 32, 32).permute(0, 2, 3, 1).reshape(-1, 32, 3)


torch.manual_seed(0)
folder = tempfile.mkdtemp()
photos = torch.rand(1024, 3 * 8 * 8).view(-1, 3, 8, 8).repeat_interleave(4, 2).repeat_interleave(4, 3).flatten(1)
photos = photos + 0.05 * torch.randn_like(photos)
model = nn.Sequential(nn.Linear(3072, 64), nn.ReLU(), nn.Linear(64, 3072))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
start = time.time()
for step in range(200):
    batch = photos[torch.randint(0, 1024, (32,))]
    restored = model(batch)
    loss = nn.functional.mse_loss(restored, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    preview = torch.cat([side_by_side(batch), side_by_side(restored.detach())], 1)
    write_png(os.path.join(folder, f"{step:04}.png"), preview)
    if step % 40 == 39:
        print(f"step {step + 1} loss {loss.item():.4f} {(time.time() - start) * 25:.1f} ms/step", flush=True)
        start = time.time()
shutil.rmtree(folder)
