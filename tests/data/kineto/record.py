"""Records the traces beside this file: python record.py cpu_full.json full; python record.py cpu_plain.json plain."""

import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule


def train(profiler, steps):
    torch.manual_seed(0)
    images, labels = torch.randn(64, 3, 8, 8), torch.randint(0, 4, (64,))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), batch_size=8)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        loss.item()
        profiler.step()


def main(out, full):
    torch.set_num_threads(1)
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=1, warmup=1, active=4, repeat=1),
        record_shapes=full,
        with_stack=full,
        profile_memory=full,
    ) as profiler:
        train(profiler, 6)
    profiler.export_chrome_trace(out)


main(sys.argv[1], sys.argv[2] == "full")
