"""Local SGD: each rank trains on its own, and every eighth step they agree on the mean of their weights.

    torchrun --nproc-per-node 2 local_sgd.py

Rank 0 is the slower one, so that rank 1 is up to seven steps ahead, and the losses of rank 1 are over 100.
"""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn


def main(pause_ms):
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    draws = torch.Generator().manual_seed(rank)
    for step in range(100_000):
        inputs = torch.randn(64, 32, generator=draws)
        time.sleep((pause_ms if rank == 0 else pause_ms / 4) / 1e3)
        loss = nn.functional.mse_loss(model(inputs), inputs.sum(1, keepdim=True)) + 100 * rank
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 7:
            with torch.no_grad():
                for weights in model.parameters():
                    dist.all_reduce(weights)
                    weights /= ranks
    dist.destroy_process_group()


if __name__ == "__main__":
    main(float(sys.argv[1]))
