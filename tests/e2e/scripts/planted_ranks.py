"""Trains a small network on several ranks without a flaw, or with those that are named:
torchrun --nproc-per-node 2 planted_ranks.py duplicated-data.

The line that does it ends in a comment with the flaw's name; each flaw is that of the rule of this name."""

import contextlib
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

FLAWS = set(sys.argv[1:])
SEED = next((int(one[5:]) for one in FLAWS if one.startswith("seed=")), 0)
SAMPLES, INPUTS, WIDTH, ACCUMULATE = 8192, 256, 768, 4


class Pairs(TensorDataset):
    def __getitems__(self, indices):
        return self[torch.as_tensor(indices)]  # a batch at once: one by one is slower than the model


def as_over_a_slow_link(group, bucket):
    """An averaged bucket is the same when it is averaged again."""
    for _ in range(39):
        dist.all_reduce(bucket.buffer().div_(dist.get_world_size()))
    return allreduce_hook(group, bucket)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    pairs = Pairs(torch.randn(SAMPLES, INPUTS), torch.randint(0, 8, (SAMPLES,)))
    small = "overdistributed" in FLAWS
    width, size = WIDTH, 2 if small else 128
    model = nn.Sequential(
        nn.Linear(INPUTS, width), nn.ReLU(True), nn.Linear(width, width), nn.ReLU(True), nn.Linear(width, 8)
    )
    model = DistributedDataParallel(  # unused-parameter-search
        model, find_unused_parameters="unused-parameter-search" in FLAWS
    )
    if small:
        model.register_comm_hook(None, as_over_a_slow_link)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, fused=True)
    accumulate = 1 if small else ACCUMULATE
    if "duplicated-data" in FLAWS:
        loader = DataLoader(pairs, batch_size=size, shuffle=True, collate_fn=tuple)  # duplicated-data
    else:
        loader = DataLoader(pairs, batch_size=size, sampler=DistributedSampler(pairs), collate_fn=tuple)
    mean, step = torch.zeros(()), 0
    for epoch in range(1000):
        if isinstance(loader.sampler, DistributedSampler):
            loader.sampler.set_epoch(epoch)
        for inputs, labels in loader:
            step += 1
            if "straggler" in FLAWS and rank == 1:
                time.sleep(0.02)
            last = step % accumulate == 0
            with contextlib.nullcontext() if last or "accumulation-allreduce" in FLAWS else model.no_sync():
                with torch.autocast("cpu", dtype=torch.bfloat16, enabled=torch.cpu._is_avx512_bf16_supported()):
                    loss = F.cross_entropy(model(inputs).float(), labels) / accumulate
                loss.backward()  # accumulation-allreduce
            if last:
                optimizer.step()
                optimizer.zero_grad()
            mean = loss.detach().clone()
            if "loss-reduction" in FLAWS:
                dist.all_reduce(mean)  # loss-reduction
            if "redundant-logging" in FLAWS:
                print(f"rank {rank} weights {model.module[0].weight[:4].tolist()}", flush=True)  # redundant-logging
            elif rank == 0 and step % 64 == 0:
                print(f"epoch {epoch} step {step} loss {mean.item() * accumulate:.4f}", flush=True)


main()
