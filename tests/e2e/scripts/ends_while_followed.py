"""Ends right after an epoch has begun, while the calls of the training thread are followed."""

import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.rand(64, 8), torch.zeros(64, dtype=torch.long)), batch_size=4)
for _ in range(3):
    for inputs, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
next(iter(loader))
print("all done", flush=True)
