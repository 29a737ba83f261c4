"""Training that sleeps at known lines: in the step and, with an argument for the number of workers, in the loader. How
long the sleeps of a batch, and of a step, really took goes into the files that two more arguments name, a line each."""

import collections
import json
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

clock = time.perf_counter
taken = {"batch": collections.Counter(), "step": collections.Counter()}  # line -> ms, of the current batch or step


made = {"sleep": time.sleep}
# A function without a file, as libraries make methods.
exec("def nap(seconds):\n    for _ in range(1):\n        sleep(seconds)", made)


def note(of, begin, _, end):
    taken[of][sys._getframe(1).f_lineno] += 1e3 * (end - begin)


def write(of, argument):
    with open(sys.argv[argument], "a") as file:
        file.write(json.dumps(taken[of]) + "\n")
    taken[of].clear()


class Naps(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        note("batch", clock(), time.sleep(0.001), clock())  # data: 1 ms
        note("batch", clock(), made["nap"](0.003), clock())  # data: 3 ms
        return torch.full((8,), float(index)), index % 2


def log():
    note("step", clock(), time.sleep(0.004), clock())  # step: 4 ms


def collate(rows):
    note("batch", clock(), time.sleep(0.004), clock())  # batch: 4 ms
    write("batch", 2)
    return torch.stack([row[0] for row in rows]), torch.tensor([row[1] for row in rows])


def main(workers):
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Naps(), batch_size=4, num_workers=workers, collate_fn=collate)
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        note("step", clock(), time.sleep(0.012), clock())  # step: 12 ms
        loss.backward()
        optimizer.step()
        log()
        write("step", 3)


main(int(sys.argv[1]))
