"""Trains a small transformer on characters whose parameters two ranks share (FSDP2) over gloo, the way the first page
of a tutorial has it:

torchrun --nproc_per_node=2 fsdp_two_ranks.py
"""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

CHARACTERS, LENGTH = 96, 64


def batches(rank, size, steps):
    """Each character follows from the previous one, except for a few random ones."""
    draws = torch.Generator().manual_seed(rank)
    for _ in range(steps):
        first = torch.randint(CHARACTERS, (size, 1), generator=draws)
        text = (first + 7 * torch.arange(LENGTH + 1)) % CHARACTERS
        noise = torch.rand(text.shape, generator=draws) < 0.1
        text[noise] = torch.randint(CHARACTERS, (int(noise.sum()),), generator=draws)
        yield text[:, :-1], text[:, 1:]


class Model(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.embedding = nn.Embedding(CHARACTERS, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0, batch_first=True, norm_first=True)
            for _ in range(layers)
        )
        self.head = nn.Linear(width, CHARACTERS)

    def forward(self, text):
        mask = nn.Transformer.generate_square_subsequent_mask(text.shape[1], text.device)
        x = self.embedding(text)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=True)
        return self.head(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--keep-parameters", action="store_true", help="from the forward to the backward pass")
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
    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    model = Model(args.width, args.layers).to(device)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, reshard_after_forward=not args.keep_parameters)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)

    for step, (text, targets) in enumerate(batches(rank, args.batch_size, args.steps)):
        text, targets = text.to(device), targets.to(device)
        loss = F.cross_entropy(model(text).flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 50 == 0 and rank == 0:
            print(f"step {step} loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
