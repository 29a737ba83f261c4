# Nothing to mend: one worker reads ahead, and the model takes longer than it does.
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Patches(Dataset):
    def __init__(self):
        self.pictures = torch.randint(0, 256, (1000, 1, 40, 40), dtype=torch.uint8)

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        row, column = torch.randint(0, 8, (2,)).tolist()
        return self.pictures[index, :, row : row + 32, column : column + 32].float() / 255, index % 10


def main():
    torch.manual_seed(0)
    loader = DataLoader(Patches(), batch_size=40, shuffle=True, num_workers=1, persistent_workers=True)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    )  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(4):
        start = time.time()
        for patches, labels in loader:
            loss = nn.functional.cross_entropy(model(patches), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} {time.time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
