"""Training that sleeps at known lines: in the step and, with an argument for the number of workers, in the loader. How
long the loader's sleeps of a batch really took goes into the file that the second argument names, a line for a batch."""

import collections
import json
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

clock = time.perf_counter
taken = collections.Counter()  # line -> ms, of the batch at hand


def note(begin, _, end):
    taken[sys._getframe(1).f_lineno] += 1e3 * (end - begin)


class Naps(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        note(clock(), time.sleep(0.001), clock())  # data: 1 ms
        note(clock(), time.sleep(0.003), clock())  # data: 3 ms
        return torch.full((8,), float(index)), index % 2


def log():
    time.sleep(0.004)  # step: 4 ms


def collate(rows):
    note(clock(), time.sleep(0.004), clock())  # batch: 4 ms
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a") as file:
            file.write(json.dumps(taken) + "\n")
    taken.clear()
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
