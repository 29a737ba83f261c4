"""Trains a small residual network on JPEG files, the way a first version is often written."""

import argparse
import random

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

import image_data


class Images(Dataset):
    def __init__(self, paths, augment):
        self.paths = paths
        self.augment = augment

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        image = Image.open(path).convert("RGB").resize((96, 96), Image.BILINEAR)
        if self.augment and random.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        return np.asarray(image, dtype=np.float32).transpose(2, 0, 1) / 255, image_data.label_of(path)


def collate(samples):
    images, labels = zip(*samples)
    return torch.tensor(np.stack(images)), torch.tensor(labels)


class Block(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, padding=1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(channels)
        self.shortcut = nn.Conv2d(channels_in, channels, 1, stride)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.shortcut(x))


class Net(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, stride=3, padding=1)
        self.bn = nn.BatchNorm2d(width)
        self.blocks = nn.Sequential(Block(width, width * 2, 2), Block(width * 2, width * 4, 2))
        self.head = nn.Sequential(nn.Linear(width * 4 * 8 * 8, 512), nn.ReLU(), nn.Linear(512, image_data.CLASSES))

    def forward(self, x):
        x = F.relu(self.bn(self.stem(x)))
        x = self.blocks(x).flatten(1)
        return self.head(x)


def validate(model, loader, device):
    model.eval()
    correct = 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        output = model(images)
        correct += (output.argmax(1) == labels).sum().item()
    return correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="image_data_files")
    parser.add_argument("--samples", type=int, default=1200)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()

    torch.manual_seed(0)
    torch.autograd.set_detect_anomaly(True)  # there was a NaN once
    paths = image_data.make(args.data, args.samples, seed=1)
    split = len(paths) * 4 // 5
    random.Random(0).shuffle(paths)
    options = {"batch_size": args.batch_size, "collate_fn": collate}
    train_loader = DataLoader(Images(paths[:split], augment=True), shuffle=True, **options)
    val_loader = DataLoader(Images(paths[split:], augment=False), **options)

    model = Net().to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        model.train()
        total_loss = 0
        for step, (images, labels) in enumerate(train_loader):
            images, labels = images.to(args.device), labels.to(args.device)
            optimizer.zero_grad(set_to_none=False)
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            total_loss += loss
            if step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
        accuracy = validate(model, val_loader, args.device)
        print(f"epoch {epoch} mean loss {total_loss / len(train_loader):.4f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
