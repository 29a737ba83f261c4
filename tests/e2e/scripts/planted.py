"""Trains a small network on pictures without a flaw, or with those that are named: python planted.py graph-retained.

The line that does it ends in a comment with the flaw's name; each flaw is that of the rule of this name."""

import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

FLAWS = set(sys.argv[1:])
SEED = next((int(one[5:]) for one in FLAWS if one.startswith("seed=")), 0)
PROCESSORS = len(os.sched_getaffinity(0))
CLASSES, PICTURES, BATCH = 8, 512, 16


class Pictures(Dataset):
    def __init__(self, count):
        self.pixels = torch.randn(count, 3, 64, 64)
        self.labels = torch.arange(count) % CLASSES

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        if "input-starvation" in FLAWS:
            time.sleep(0.002)
        return self.pixels[index], self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        bias = "bias-before-norm" in FLAWS
        self.first = nn.Conv2d(3, 32, 3, padding=1, bias=bias)
        self.norm = nn.BatchNorm2d(32)
        self.second = nn.Conv2d(32, 32, 3, stride=2, padding=1, bias=bias)
        self.norm2 = nn.BatchNorm2d(32)
        self.places = nn.Embedding(2048, 32)
        self.hidden = nn.Linear(32, 1024)
        self.wide = nn.Linear(1024, 1024)
        self.head = nn.Linear(1024, CLASSES)

    def forward(self, x):
        if "too-many-workers" not in FLAWS:  # their start is to cost, not their handing over
            x = F.avg_pool2d(x, 2)
        x = F.relu(self.norm(self.first(x)), inplace=True)  # bias-before-norm fp32-compute
        x = F.relu(self.norm2(self.second(x)), inplace=True)  # grad-in-eval fp32-compute
        x = x.mean(dim=(2, 3)) + self.places(torch.arange(2048)).mean(0)
        return self.head(F.relu(self.wide(F.relu(self.hidden(x), inplace=True)), inplace=True))  # fp32-compute


def outputs(model, inputs):
    sixteen_bit = "fp32-compute" not in FLAWS and torch.cpu._is_avx512_bf16_supported()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=sixteen_bit):
        return model(inputs).float()  # fp32-compute


def validate(model, loader):
    model.eval()
    correct = torch.zeros((), dtype=torch.long)
    with torch.set_grad_enabled("grad-in-eval" in FLAWS):
        for inputs, labels in loader:
            correct += (outputs(model, inputs).argmax(1) == labels).sum()
    return correct.item() / len(loader.dataset)


def main():
    if "thread-oversubscription" in FLAWS:
        torch.set_num_threads(2 * PROCESSORS)
    else:
        torch.set_num_threads(1)
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms("deterministic-mode" in FLAWS)
    workers = {"num_workers": 8 * PROCESSORS} if "too-many-workers" in FLAWS else {}
    loader = DataLoader(Pictures(PICTURES), batch_size=BATCH, shuffle=True, **workers)  # too-many-workers
    held_out = DataLoader(Pictures(4 * BATCH), batch_size=BATCH)
    model = Net()
    optimizer = torch.optim.Adam(
        model.parameters(), lr=1e-3, **({"foreach": False} if "single-tensor-optimizer" in FLAWS else {"fused": True})
    )
    torch.autograd.set_detect_anomaly("debug-left-on" in FLAWS)
    step = 0
    for epoch in range(1000):
        model.train()
        total = torch.zeros(())
        for inputs, labels in loader:  # input-starvation
            if "needless-copy" in FLAWS:
                inputs = torch.tensor(inputs.numpy()).clone()  # needless-copy
            loss = F.cross_entropy(outputs(model, inputs), labels)
            optimizer.zero_grad(set_to_none="grads-zeroed" not in FLAWS)  # grads-zeroed
            loss.backward()  # debug-left-on
            optimizer.step()  # single-tensor-optimizer
            if "graph-retained" in FLAWS:
                total = total + loss  # graph-retained
            else:
                total = total + loss.detach()
            step += 1
            if "host-sync" in FLAWS or step % 20 == 0:
                shown = loss.item()  # host-sync
            if "periodic-stall" in FLAWS and step % 10 == 0:
                torch.linalg.svdvals(torch.randn(800, 800))  # periodic-stall
        print(
            f"epoch {epoch} loss {shown:.4f} mean {total.item() / len(loader):.4f} held out {validate(model, held_out):.3f}",
            flush=True,
        )


main()
