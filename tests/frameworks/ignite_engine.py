"""Ignite: two engines."""

import time

import torch
from ignite.engine import Engine, Events
from torch import nn


class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.001)  # slow
        generator = torch.Generator().manual_seed(index)
        return torch.randn(64, generator=generator), index % 4


def build():
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))


model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
loader = torch.utils.data.DataLoader(Pairs(), batch_size=16)
held_out = torch.utils.data.DataLoader(Pairs(), batch_size=64)


def update(_, batch):
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
    loss.backward()
    optimizer.step()


def evaluate(_, batch):
    model.eval()
    with torch.no_grad():
        model(batch[0])


trainer, evaluator = Engine(update), Engine(evaluate)
trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda _: evaluator.run(held_out))
trainer.run(loader, max_epochs=3)
print("truth steps=60 optimizer=SGD loader=yes evaluations=2")
