"""A small CNN in training, which takes turns: what tests/bench/python_overhead.py times. For each line it reads it prints the
microseconds of a step of one stretch, of wall time and of the training thread's processor time. With `steady` all turns are
steps of one training, and nothing but them: what tests/bench/record_misses.py counts.

Usage: small_cnn.py plain|profiler|steady STEPS BATCH"""

import contextlib
import itertools
import json
import random
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

TURN_WARMUP = 4  # steps: another program ran before


def convolution(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


def batches(loader):
    while True:
        yield from loader


def another_heap():
    """What the program allocates later lies at other places in each turn. Where tensors lie against each other changes a
    step by more than what is looked for, and without this would be the same in a whole process, or in all of one kind."""
    kept = [torch.empty(random.randrange(1, 1 << 16), dtype=torch.uint8) for _ in range(2000)]
    return random.sample(kept, len(kept) // 2)


def steps_of_training(batch):
    """Trains a step each time it is asked for the next one."""
    heap = another_heap()  # noqa: F841
    torch.manual_seed(1)
    model = nn.Sequential(
        *convolution(3, 8),
        *convolution(8, 16),
        nn.MaxPool2d(2),
        *convolution(16, 16),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    data = TensorDataset(torch.randn(64 * batch, 3, 16, 16), torch.randint(0, 10, (64 * batch,)))
    for images, labels in batches(DataLoader(data, batch_size=batch, shuffle=True)):
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        yield


def steady(stretch, batch):
    training = steps_of_training(batch)
    for _ in sys.stdin:
        next(itertools.islice(training, stretch - 1, None))
        print(json.dumps({"steps": stretch}), flush=True)
    print(json.dumps({}))


def main():
    mode, stretch, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    if mode == "steady":
        return steady(stretch, batch)
    profiler = contextlib.nullcontext()
    if mode == "profiler":
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
    turns = 0
    with profiler:
        for turns, _ in enumerate(sys.stdin, 1):  # noqa: B007  read after the loop
            training = steps_of_training(batch)
            next(itertools.islice(training, TURN_WARMUP - 1, None))
            wall_ns, cpu_ns = time.perf_counter_ns(), time.thread_time_ns()
            next(itertools.islice(training, stretch - 1, None))
            wall_ns, cpu_ns = time.perf_counter_ns() - wall_ns, time.thread_time_ns() - cpu_ns
            print(json.dumps({"wall": wall_ns / 1e3 / stretch, "cpu": cpu_ns / 1e3 / stretch}), flush=True)
            training.close()
    print(json.dumps({"steps": turns * (TURN_WARMUP + stretch)}))


if __name__ == "__main__":
    main()
