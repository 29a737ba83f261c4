"""image_classifier.py with its flaws fixed in the script itself."""

import argparse
import os
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
        image = Image.open(path)
        image.draft("RGB", (96, 96))  # the decoder itself halves the size while that is still large enough
        image = image.convert("RGB").resize((96, 96), Image.BILINEAR)
        if self.augment and random.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        pixels = torch.from_numpy(np.array(image))
        return pixels.permute(2, 0, 1), image_data.label_of(path)


class Block(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.shortcut = nn.Conv2d(channels_in, channels, 1, stride)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.shortcut(x))


class Net(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, stride=3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(width)
        self.blocks = nn.Sequential(Block(width, width * 2, 2), Block(width * 2, width * 4, 2))
        self.head = nn.Sequential(nn.Linear(width * 4 * 8 * 8, 512), nn.ReLU(), nn.Linear(512, image_data.CLASSES))

    def forward(self, x):
        x = F.relu(self.bn(self.stem(x)))
        x = self.blocks(x).flatten(1)
        return self.head(x)


@torch.no_grad()
def validate(model, loader, device):
    model.eval()
    correct = torch.zeros((), dtype=torch.long, device=device)
    for images, labels in loader:
        images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        with torch.autocast(device, dtype=torch.bfloat16):
            output = model(images / 255)
        correct += (output.argmax(1) == labels).sum()
    return correct.item() / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="image_data_files")
    parser.add_argument("--samples", type=int, default=1200)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--workers", type=int)
    args = parser.parse_args()

    on_gpu = args.device == "cuda"
    cores = len(os.sched_getaffinity(0))
    if args.workers is None:
        args.workers = max(1, min(16, cores - 2)) if on_gpu else 1
    torch.set_num_threads(max(1, cores - args.workers))  # the others load
    # The training thread opens a batch by its name, without asking a busy worker for its descriptor.
    torch.multiprocessing.set_sharing_strategy("file_system")
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(0)
    paths = image_data.make(args.data, args.samples, seed=1)
    split = len(paths) * 4 // 5
    random.Random(0).shuffle(paths)
    options = {
        "batch_size": args.batch_size,
        "num_workers": args.workers,
        "persistent_workers": args.workers > 0,
        "pin_memory": on_gpu,
    }
    train_loader = DataLoader(Images(paths[:split], augment=True), shuffle=True, **options)
    val_loader = DataLoader(Images(paths[split:], augment=False), **options)

    model = Net().to(args.device)
    if on_gpu:
        model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)
    for epoch in range(args.epochs):
        model.train()
        total_loss = torch.zeros((), device=args.device)
        for step, (images, labels) in enumerate(train_loader):
            images, labels = images.to(args.device, non_blocking=True), labels.to(args.device, non_blocking=True)
            optimizer.zero_grad()
            with torch.autocast(args.device, dtype=torch.bfloat16):
                loss = F.cross_entropy(model(images / 255), labels)
            loss.backward()
            optimizer.step()
            total_loss += loss.detach()
            if step % 50 == 49:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
        accuracy = validate(model, val_loader, args.device)
        print(f"epoch {epoch} mean loss {total_loss / len(train_loader):.4f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
