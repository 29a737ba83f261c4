"""Trains a multi-layer perceptron on two ranks that exchange over gloo, the way a first version is often written:

torchrun --nproc_per_node=2 ddp_two_ranks.py
"""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset


def data(samples, seed):
    draws = torch.Generator().manual_seed(seed)
    inputs = torch.randn(samples, 256, generator=draws)
    return TensorDataset(inputs, (inputs[:, :64].sum(1) > 0).long() + 2 * (inputs[:, 64:128].sum(1) > 0).long())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=8192)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // dist.get_world_size()))
    torch.manual_seed(0)
    device = torch.device(args.device)
    if device.type == "cuda":
        device = torch.device("cuda", rank % torch.cuda.device_count())
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 4))
    model = DistributedDataParallel(model.to(device), find_unused_parameters=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = DataLoader(data(args.samples, seed=1), batch_size=args.batch_size, shuffle=True)

    for epoch in range(args.epochs):
        for step, (inputs, labels) in enumerate(loader):
            inputs, labels = inputs.to(device), labels.to(device)
            loss = F.cross_entropy(model(inputs), labels) / args.accumulate
            loss.backward()
            if (step + 1) % args.accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            if step % 64 == 0:
                print(f"rank {rank} epoch {epoch} step {step} loss {mean.item() * args.accumulate / 2:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
