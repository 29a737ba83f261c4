"""webdataset: shards of tar files."""

import io
import os
import tarfile
import tempfile
import time

import torch
import webdataset
from torch import nn

folder = tempfile.mkdtemp()
for shard in range(2):
    with tarfile.open(os.path.join(folder, f"{shard}.tar"), "w") as tar:
        for index in range(160):
            for name, data in (("x.pth", torch.randn(64)), ("y.cls", index % 4)):
                stream = io.BytesIO()
                torch.save(data, stream) if name == "x.pth" else stream.write(str(data).encode())
                entry = tarfile.TarInfo(f"{index:04}.{name}")
                entry.size = stream.tell()
                stream.seek(0)
                tar.addfile(entry, stream)


def prepare(pair):
    time.sleep(0.001)  # slow
    return pair


def decode(sample):
    return torch.load(io.BytesIO(sample["x.pth"])), int(sample["y.cls"])


data = (
    webdataset.WebDataset(sorted(os.path.join(folder, name) for name in os.listdir(folder)), shardshuffle=False)
    .map(decode)
    .map(prepare)
    .batched(16)
)
loader = webdataset.WebLoader(data, batch_size=None)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
print("truth steps=60 optimizer=AdamW loader=yes evaluations=0")
