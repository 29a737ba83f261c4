#!/usr/bin/env python3
"""Three programs with a long start-up for prove_budget.py: budget_programs.py NAME."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

EPOCHS = 200  # more than any window needs


class Autoencoder(nn.Module):
    def __init__(self, width=784, hidden=256, latent=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, width)
        )

    def forward(self, x):
        encoded = self.encoder(x)
        mean, log_variance = self.mean(encoded), self.log_variance(encoded)
        latent = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(latent), mean, log_variance


def autoencoder():
    """A variational autoencoder with steps of a few milliseconds, under anomaly detection, with a sum that keeps graphs."""
    torch.manual_seed(1)
    torch.autograd.set_detect_anomaly(True)
    images = torch.rand(8192, 784).bernoulli()
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False)
    for _ in range(EPOCHS):
        total = 0
        for (x,) in DataLoader(TensorDataset(images), batch_size=64, shuffle=True):
            decoded, mean, log_variance = model(x)
            divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum()
            loss = F.binary_cross_entropy_with_logits(decoded, x, reduction="sum") + divergence
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            optimizer.step()
            total += loss


class Rows(Dataset):
    """Rows of text that are parsed anew for each sample."""

    def __init__(self, count, columns):
        draw = random.Random(1)
        self.lines = [",".join(f"{draw.gauss(0, 1):.5f}" for _ in range(columns)) for _ in range(count)]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        values = [float(cell) for cell in self.lines[index].split(",")]
        return torch.tensor(values), int(sum(values) > 0)


def table():
    """A perceptron on rows of text: some ten seconds until they are written, and one process that parses them."""
    torch.manual_seed(1)
    rows = Rows(60000, 120)
    model = nn.Sequential(nn.Linear(120, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    right = seen = 0
    for _ in range(EPOCHS):
        for x, y in DataLoader(rows, batch_size=256, shuffle=True):
            optimizer.zero_grad(set_to_none=False)
            scores = model(x)
            F.cross_entropy(scores, y).backward()
            optimizer.step()
            right += (scores.argmax(1) == y).sum().item()
            seen += len(y)


def letters():
    """A recurrent network that guesses the next letter: some five seconds until the text is drawn and encoded, every
    hidden state's graph kept in a sum, evaluation with graphs."""
    torch.manual_seed(1)
    draw = random.Random(1)
    words = ["".join(draw.choice("etaoinshrdlu") for _ in range(draw.randrange(2, 9))) for _ in range(3000)]
    text = " ".join(draw.choice(words) for _ in range(800000))
    places = {letter: place for place, letter in enumerate(sorted(set(text)))}
    codes = torch.tensor([places[letter] for letter in text])
    pieces = codes[: len(codes) // 65 * 65].view(-1, 65)
    training, evaluation = pieces[:6400], pieces[6400:8000]
    embed, cell, out = nn.Embedding(len(places), 64), nn.LSTM(64, 192, batch_first=True), nn.Linear(192, len(places))
    parameters = [*embed.parameters(), *cell.parameters(), *out.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=2e-3, foreach=False)

    def loss_of(batch):
        scores = out(cell(embed(batch[:, :-1]))[0])
        return F.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten())

    for _ in range(EPOCHS):
        cell.train()
        total = 0
        for (batch,) in DataLoader(TensorDataset(training), batch_size=64, shuffle=True):
            optimizer.zero_grad(set_to_none=False)
            loss = loss_of(batch)
            loss.backward()
            optimizer.step()
            total += loss
        cell.eval()
        lost = sum(loss_of(batch).item() for batch in evaluation.split(64))
        print(f"{total.item() / 100:.4f} {lost / 25:.4f}", flush=True)


PROGRAMS = {"autoencoder": autoencoder, "letters": letters, "table": table}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=PROGRAMS)
    PROGRAMS[parser.parse_args().name]()
