"""A small training loop that ends in one of many ways: `endings.py WAY`."""

import multiprocessing
import os
import signal
import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self, samples=256, killed_at=None):
        self.samples, self.killed_at = samples, killed_at

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        if index == self.killed_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.full((16,), index / self.samples), index % 2


def train(epochs=1, on_step=None, data=None, **options):
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(data or Numbers(), batch_size=8, **options)
    step = 0
    for _ in range(epochs):
        for inputs, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if on_step:
                on_step(step)


def at_20(act):
    return lambda step: act() if step == 20 else None


def fail():
    raise ValueError("planted")


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def main(way):
    if way == "exception":
        train(on_step=at_20(fail))
    elif way == "os._exit":
        train(on_step=at_20(lambda: os._exit(5)))
    elif way == "interrupted":
        train(on_step=at_20(interrupt))
    elif way == "waits":
        train(epochs=1_000_000, on_step=at_20(lambda: print("twenty", flush=True)))
    elif way == "killed worker":
        train(data=Numbers(killed_at=170), num_workers=2)
    elif way == "workers":
        train(epochs=2, num_workers=2)
    elif way == "persistent":
        train(epochs=1_000_000, num_workers=2, persistent_workers=True)
    elif way in ("fork", "spawn"):
        child = multiprocessing.get_context(way).Process(target=train)
        child.start()
        train()
        child.join()
        sys.exit(child.exitcode or (3 if way == "fork" else 0))
    print("done")


if __name__ == "__main__":
    main(sys.argv[1])
