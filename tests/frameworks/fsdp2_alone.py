"""FSDP2: fully_shard, one rank over gloo."""

import time

import torch
from torch import nn
from torch.distributed import HashStore, destroy_process_group, init_process_group
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 4))
fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)
inputs, labels = torch.randn(64, 64), torch.randint(0, 4, (64,))
for _ in range(60):
    time.sleep(0.005)  # slow
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
destroy_process_group()
print("truth steps=60 optimizer=AdamW loader=none evaluations=0")
