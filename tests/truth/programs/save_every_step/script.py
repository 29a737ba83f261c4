# Trains on a machine that may be taken away at any time, so the newest weights are always on disk.
import os
import tempfile

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(), nn.Flatten()
        )
        self.head = nn.Sequential(nn.Linear(32 * 36, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU())
        self.out = nn.Linear(1024, 10)

    def forward(self, x):
        return self.out(self.head(self.features(x)))


def main():
    torch.manual_seed(0)
    folder = tempfile.mkdtemp()
    newest = os.path.join(folder, "newest.pt")
    images, labels = torch.rand(2048, 1, 28, 28), torch.randint(0, 10, (2048,))
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for step in range(200):
        rows = torch.randint(0, 2048, (32,))
        loss = nn.functional.cross_entropy(model(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, newest)
        if step % 50 == 49:
            print(f"step {step + 1} loss {loss.item():.3f}", flush=True)
    os.remove(newest)
    os.rmdir(folder)


if __name__ == "__main__":
    main()
