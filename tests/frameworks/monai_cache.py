"""MONAI: transforms on a list of dictionaries."""

import time

import torch
from monai.data import DataLoader, Dataset
from monai.transforms import Compose, Lambdad
from torch import nn


def prepare(image):
    time.sleep(0.001)  # slow
    return image


items = [{"x": torch.randn(64), "y": index % 4} for index in range(320)]
loader = DataLoader(Dataset(items, Compose([Lambdad("x", prepare)])), batch_size=16)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    for batch in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(batch["x"].as_tensor()), batch["y"]).backward()
        optimizer.step()
print("truth steps=60 optimizer=AdamW loader=yes evaluations=0")
