"""What scripts begin with."""

TRAIN = """
import gc, warnings, sys, os
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)
torch.manual_seed(0)

class Rows(Dataset):
    def __init__(self, rows=24):
        self.rows = torch.randn(rows, 4, generator=torch.Generator().manual_seed(1))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index], self.rows[index].sum()

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
loader = DataLoader(Rows(), batch_size=8)

def step(x, y):
    optimizer.zero_grad()
    loss = (model(x).squeeze(1) - y).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()

def epochs(count=2, over=None):
    for _ in range(count):
        for x, y in over or loader:
            last = step(x, y)
    return last
"""
