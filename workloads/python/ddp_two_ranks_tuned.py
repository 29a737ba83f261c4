"""ddp_two_ranks.py with its flaws fixed in the script itself:

torchrun --nproc_per_node=2 ddp_two_ranks_tuned.py
"""

import argparse
import contextlib
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, TensorDataset


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
    # NCCL needs a GPU for each rank.
    enough = torch.cuda.device_count() >= int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() and enough else "cpu")
    args = parser.parse_args()

    device = torch.device(args.device)
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("gloo" if device.type == "cpu" else "nccl")
    rank = dist.get_rank()
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // dist.get_world_size()))
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 4))
    model = DistributedDataParallel(model.to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, fused=True)
    samples = data(args.samples, seed=1)
    sampler = DistributedSampler(samples)
    # The data set is asked for a batch at a time: it takes 32 rows of a tensor as quickly as one.
    batches = BatchSampler(sampler, args.batch_size, drop_last=False)
    loader = DataLoader(samples, batch_size=None, sampler=batches, pin_memory=device.type == "cuda")

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for step, (inputs, labels) in enumerate(loader):
            inputs, labels = inputs.to(device, non_blocking=True), labels.to(device, non_blocking=True)
            last = (step + 1) % args.accumulate == 0
            with contextlib.nullcontext() if last else model.no_sync():
                with torch.autocast(device.type, dtype=torch.bfloat16):
                    loss = F.cross_entropy(model(inputs), labels) / args.accumulate
                loss.backward()
            if last:
                optimizer.step()
                optimizer.zero_grad()
            if step % 64 == 0 and rank == 0:
                print(f"epoch {epoch} step {step} loss {loss.item() * args.accumulate:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
