"""Ten networks in training, from a few thousand to a few million weights: what tests/bench/amp_gain.py measures on.

Usage: networks.py NAME"""

import sys

import torch
from torch import nn


def mlp(width, layers=3):
    inside = [one for _ in range(layers) for one in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), *inside, nn.Linear(width, 10))


def convolutions(channels, layers=3):
    inside = [
        one
        for _ in range(layers)
        for one in (nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU())
    ]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10)]
    return nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), nn.ReLU(), *inside, *head)


class Encoder(nn.Module):
    def __init__(self, width, layers=2):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.layers, self.head = nn.TransformerEncoder(layer, layers), nn.Linear(width, 10)

    def forward(self, inputs):
        return self.head(self.layers(inputs).mean(1))


NETWORKS = {
    "mlp-64": (lambda: mlp(64), (32, 64)),
    "mlp-256": (lambda: mlp(256), (64, 64)),
    "mlp-1024": (lambda: mlp(1024), (64, 64)),
    "mlp-2048": (lambda: mlp(2048, 2), (256, 64)),
    "cnn-8": (lambda: convolutions(8), (8, 3, 16, 16)),
    "cnn-16": (lambda: convolutions(16), (32, 3, 32, 32)),
    "cnn-64": (lambda: convolutions(64), (16, 3, 32, 32)),
    "cnn-128": (lambda: convolutions(128, 2), (8, 3, 32, 32)),
    "encoder-64": (lambda: Encoder(64), (16, 32, 64)),
    "encoder-256": (lambda: Encoder(256), (16, 64, 256)),
}


def main(name):
    torch.manual_seed(1)
    build, shape = NETWORKS[name]
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs, labels = torch.randn(shape), torch.randint(0, 10, shape[:1])
    for _ in range(10**9):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main(sys.argv[1])
