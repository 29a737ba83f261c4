# Word vectors for a large vocabulary.
import time

import torch
from torch import nn

WORDS = 200_000


class WordVectors(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner = nn.Embedding(WORDS, size)
        self.outer = nn.Embedding(WORDS, size)

    def forward(self, centre, context, noise):
        inner = self.inner(centre).unsqueeze(2)
        near = (self.outer(context) @ inner).squeeze(2)
        far = (self.outer(noise) @ inner).squeeze(2)
        return -(nn.functional.logsigmoid(near).mean() + nn.functional.logsigmoid(-far).mean())


torch.manual_seed(0)
model = WordVectors(48)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
start = time.time()
for step in range(150):
    centre = torch.randint(0, WORDS, (256,))
    loss = model(centre, torch.randint(0, WORDS, (256, 4)), torch.randint(0, WORDS, (256, 8)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) / 30 * 1e3:.1f} ms/step", flush=True)
        start = time.time()
