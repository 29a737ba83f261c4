"""A small CNN trained for some steps: what tests/bench/python_overhead.py times. Prints the microseconds of a step, of
wall time and of the training thread's processor time: the lower quartile of the means over stretches of steps.

Usage: small_cnn.py plain|profiler [STEPS]"""

import contextlib
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WARMUP = 32
STRETCH = 32  # steps: what a probe does once in several steps is in every stretch


def convolution(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


def batches(loader):
    while True:
        yield from loader


def train(steps):
    """Times at the steps' ends: (wall, processor) in ns."""
    torch.manual_seed(1)
    model = nn.Sequential(*convolution(3, 8), *convolution(8, 16), nn.MaxPool2d(2), *convolution(16, 16),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    data = TensorDataset(torch.randn(512, 3, 16, 16), torch.randint(0, 10, (512,)))
    ends = []
    for images, labels in batches(DataLoader(data, batch_size=8, shuffle=True)):
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        ends.append((time.perf_counter_ns(), time.thread_time_ns()))
        if len(ends) == WARMUP + steps:
            return ends[WARMUP:]


def main():
    mode, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 600
    torch.set_num_threads(1)
    profiler = contextlib.nullcontext()
    if mode == "profiler":
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
    with profiler:
        ends = train(steps)
    result = {"steps": WARMUP + steps}
    for name, column in (("wall", 0), ("cpu", 1)):
        times = [end[column] for end in ends[::STRETCH]]
        means = [(after - before) / 1e3 / STRETCH for before, after in zip(times, times[1:])]
        result[name] = statistics.quantiles(means, n=4)[0]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
