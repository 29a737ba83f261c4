"""skorch: fit with a held-out part."""

import time

import torch
from skorch import NeuralNetClassifier
from skorch.helper import predefined_split
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


net = NeuralNetClassifier(
    build(),
    criterion=nn.CrossEntropyLoss,
    classes=list(range(4)),
    max_epochs=3,
    batch_size=16,
    optimizer=torch.optim.RMSprop,
    train_split=predefined_split(Pairs()),
    iterator_valid__batch_size=64,
    verbose=0,
)
net.fit(Pairs(), y=None)
print("truth steps=60 optimizer=RMSprop loader=yes evaluations=2")
