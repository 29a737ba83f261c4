# Every tenth step writes a complete checkpoint, so that little is lost when the job is preempted.
import os
import tempfile
import time

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors)  # frozen
        self.head = nn.Sequential(nn.Linear(vectors.shape[1], 128), nn.ReLU(), nn.Linear(128, 20))

    def forward(self, text):
        return self.head(self.words(text).mean(1))


torch.manual_seed(0)
path = os.path.join(tempfile.mkdtemp(), "checkpoint.pt")
model = Classifier(torch.randn(60_000, 100))
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.05, momentum=0.9)
texts, labels = torch.randint(0, 60_000, (5000, 20)), torch.randint(0, 20, (5000,))
start = time.time()
for step in range(1, 601):
    rows = torch.randint(0, 5000, (64,))
    loss = nn.functional.cross_entropy(model(texts[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    if step % 100 == 0:
        print(f"step {step} loss {loss.item():.3f} {(time.time() - start) * 10:.1f} ms/step", flush=True)
        start = time.time()
os.remove(path)
