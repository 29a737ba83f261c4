# Skeletons of people, one JSON file per recording; a sample is one recording.
import json
import os
import random
import shutil
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Skeletons(Dataset):
    def __init__(self, folder):
        self.folder = folder
        self.names = sorted(os.listdir(folder))

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        with open(os.path.join(self.folder, self.names[index])) as file:
            recording = json.load(file)
        points = torch.tensor(recording["frames"][0])
        return points, recording["action"]


def write_recordings(folder):
    random.seed(0)
    for number in range(320):
        frames = [[random.random() for _ in range(75)] for _ in range(60)]
        with open(os.path.join(folder, f"{number:04}.json"), "w") as file:
            json.dump({"action": number % 10, "frames": frames}, file)


def main():
    folder = tempfile.mkdtemp()
    write_recordings(folder)
    torch.manual_seed(0)
    loader = DataLoader(Skeletons(folder), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Linear(75, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(12):
        for points, actions in loader:
            loss = nn.functional.cross_entropy(model(points), actions)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
