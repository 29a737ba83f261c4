# Sentiment of reviews: a bag of words over raw text, which is split into words when a batch is made.
import random
import re
import time

import torch
from torch import nn

WORD = re.compile(r"[a-z]+|[0-9]|[^\sa-z0-9]")
random.seed(0)
torch.manual_seed(0)
syllables = ["ba", "co", "di", "fu", "ge", "ha", "jo", "ki", "lu", "me", "no", "pa", "qui", "ro", "su", "ti"]
dictionary = sorted({a + b + c for a in syllables for b in syllables for c in syllables})
vocabulary = {word: number + 1 for number, word in enumerate(dictionary)}
reviews = [(" ".join(random.choices(dictionary, k=500)).capitalize() + ".", random.randrange(2)) for _ in range(1000)]


def encode(text):
    return [vocabulary.get(word, 0) for word in WORD.findall(text.lower())]


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag(len(vocabulary) + 1, 64, mode="mean")
        self.head = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, numbers, offsets):
        return self.head(self.words(numbers, offsets))


model = Sentiment()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
start = time.time()
for step in range(300):
    texts, labels = zip(*random.sample(reviews, 64))
    encoded = [encode(text) for text in texts]
    offsets = torch.tensor([0] + [len(one) for one in encoded[:-1]]).cumsum(0)
    numbers = torch.tensor([number for one in encoded for number in one])
    loss = nn.functional.cross_entropy(model(numbers, offsets), torch.tensor(labels))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 20:.1f} ms/step", flush=True)
        start = time.time()
