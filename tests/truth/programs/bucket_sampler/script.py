# Speech: batches of recordings that are about as long as one another, put together anew for each epoch.
import os
import random
import shutil
import tempfile
import wave

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler


class Recordings(Dataset):
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))

    def __len__(self):
        return len(self.paths)

    def seconds(self, index):
        with wave.open(self.paths[index]) as recording:
            return recording.getnframes() / recording.getframerate()

    def __getitem__(self, index):
        return torch.full((40,), index / len(self.paths)), index % 5


class Buckets(Sampler):
    def __init__(self, data, size):
        self.data, self.size = data, size

    def __iter__(self):
        order = sorted(range(len(self.data)), key=lambda index: self.data.seconds(index) + 0.1 * random.random())
        batches = [order[i : i + self.size] for i in range(0, len(order), self.size)]
        random.shuffle(batches)
        return iter(batches)

    def __len__(self):
        return (len(self.data) + self.size - 1) // self.size


def main():
    random.seed(0)
    torch.manual_seed(0)
    folder = tempfile.mkdtemp()
    for number in range(4000):
        with wave.open(os.path.join(folder, f"{number:05}.wav"), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(bytes(2 * random.randrange(100, 400)))
    data = Recordings(folder)
    loader = DataLoader(data, batch_sampler=Buckets(data, 80))
    model = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 5))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(30):
        for features, labels in loader:
            loss = nn.functional.cross_entropy(model(features), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
