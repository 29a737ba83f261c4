# Batches are made by a process of its own, which hands them over in a queue.
import multiprocessing

import numpy as np
import torch
from torch import nn


def make_batches(queue):
    rng = np.random.default_rng(0)
    while True:
        faces = rng.normal(size=(64, 32)).astype("float32")
        checksum = 0
        for number in range(150000):
            checksum += number % 7
        queue.put((faces, rng.integers(0, 4, 64)))


if __name__ == "__main__":
    torch.manual_seed(0)
    queue = multiprocessing.Queue(4)
    multiprocessing.Process(target=make_batches, args=(queue,), daemon=True).start()
    model = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(400):
        faces, labels = queue.get()
        loss = nn.functional.cross_entropy(model(torch.from_numpy(faces)), torch.from_numpy(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            print(f"step {step + 1} loss {loss.item():.4f}", flush=True)
