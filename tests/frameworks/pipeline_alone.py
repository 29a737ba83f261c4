"""torch.distributed.pipelining: a schedule of one stage, its batch in four parts."""

import time

import torch
from torch import nn
from torch.distributed import HashStore, destroy_process_group, init_process_group
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)
inputs, labels = torch.randn(64, 64), torch.randint(0, 4, (64,))
stage = PipelineStage(model, 0, 1, torch.device("cpu"))
schedule = ScheduleGPipe(stage, 4, loss_fn=nn.functional.cross_entropy)
for _ in range(60):
    time.sleep(0.005)  # slow
    optimizer.zero_grad()
    schedule.step(inputs, target=labels)
    optimizer.step()
destroy_process_group()
print("truth steps=60 optimizer=AdamW loader=none evaluations=0")
