"""Training that sleeps at known lines: in the step and, with an argument for the number of workers, in the loader."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Naps(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        time.sleep(0.001)  # data: 1 ms
        time.sleep(0.003)  # data: 3 ms
        return torch.full((8,), float(index)), index % 2


def log():
    time.sleep(0.004)  # step: 4 ms


def collate(rows):
    time.sleep(0.004)  # batch: 4 ms
    return torch.stack([row[0] for row in rows]), torch.tensor([row[1] for row in rows])


def main(workers):
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Naps(), batch_size=4, num_workers=workers, collate_fn=collate)
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        time.sleep(0.012)  # step: 12 ms
        loss.backward()
        optimizer.step()
        log()


main(int(sys.argv[1]))
