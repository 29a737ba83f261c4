# Depth from pictures; the validation set goes through the model one picture at a time.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_model():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 1),
    )  # fmt: skip


def validate(model, loader):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for pictures, depths in loader:
            total += nn.functional.l1_loss(model(pictures), depths).item()
    model.train()
    return total / len(loader)


def main():
    torch.manual_seed(0)
    train = TensorDataset(torch.rand(960, 3, 32, 32), torch.rand(960, 1))
    valid = TensorDataset(torch.rand(1500, 3, 32, 32), torch.rand(1500, 1))
    train_loader = DataLoader(train, batch_size=32, shuffle=True)
    valid_loader = DataLoader(valid, batch_size=1)
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(8):
        for pictures, depths in train_loader:
            loss = nn.functional.l1_loss(model(pictures), depths)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} train {loss.item():.3f} valid {validate(model, valid_loader):.3f}", flush=True)


if __name__ == "__main__":
    main()
