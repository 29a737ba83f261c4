# Texts as the mean of their words.
import torch
from torch import nn

torch.manual_seed(0)
WORDS, WIDTH, BATCH, LENGTH = 5000, 256, 512, 96


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.head = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, 8))

    def forward(self, tokens):
        return self.head(self.words(tokens).sum(1))


model = Bag()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, fused=True)
for step in range(100):
    tokens, labels = torch.randint(0, WORDS, (BATCH, LENGTH)), torch.randint(0, 8, (BATCH,))
    loss = nn.functional.cross_entropy(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
