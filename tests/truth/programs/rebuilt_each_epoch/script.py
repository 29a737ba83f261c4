# Tags of words. The data set is made again for each epoch, from the raw lines.
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(0)
torch.manual_seed(0)
LINES = [" ".join(f"w{random.randrange(3000)}/{random.randrange(12)}" for _ in range(30)) for _ in range(6000)]


class Tagged(Dataset):
    def __init__(self, lines):
        self.samples = []
        for line in lines:
            pairs = [item.split("/") for item in line.split()]
            words = [int(word[1:]) for word, _ in pairs]
            tags = [int(tag) for _, tag in pairs]
            self.samples.append((torch.tensor(words), torch.tensor(tags)))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(3000, 32)
        self.out = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 12))

    def forward(self, words):
        return self.out(self.words(words))


model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(40):
    data = Tagged(LINES)
    loader = DataLoader(data, batch_size=200, shuffle=True)
    for words, tags in loader:
        loss = nn.functional.cross_entropy(model(words).flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
