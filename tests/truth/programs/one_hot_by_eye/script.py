# Words enter the network as one-hot vectors.
import time

import torch
from torch import nn

WORDS = 3000


def one_hot(words):
    return torch.eye(WORDS)[words]


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(WORDS, 64), nn.ReLU(), nn.Linear(64, WORDS))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
start = time.time()
for step in range(300):
    words = torch.randint(0, WORDS, (64,))
    following = torch.randint(0, WORDS, (64,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(one_hot(words)), following)
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} {(time.time() - start) * 20:.1f} ms/step", flush=True)
        start = time.time()
