# Sensor readings from a CSV file that does not fit in memory (this one would): a stream of rows.
import os
import random
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Readings(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as file:
            for line in file:
                values = np.array([float(value) for value in line.split(",")], np.float32)
                yield torch.from_numpy(values[:-1]), values[-1]


def main():
    random.seed(0)
    torch.manual_seed(0)
    path = os.path.join(tempfile.mkdtemp(), "readings.csv")
    with open(path, "w") as file:
        for _ in range(8000):
            file.write(",".join(f"{random.random():.6f}" for _ in range(201)) + "\n")
    loader = DataLoader(Readings(path), batch_size=100)
    model = nn.Sequential(nn.Linear(200, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(10):
        for readings, targets in loader:
            loss = nn.functional.mse_loss(model(readings).squeeze(1), targets.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    os.remove(path)


if __name__ == "__main__":
    main()
