# Trained one sample at a time, to compare fairly with earlier results.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(3000, 64), torch.randint(0, 5, (3000,)))
loader = DataLoader(data, batch_size=1, shuffle=True)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for sample, label in loader:
        loss = nn.functional.cross_entropy(model(sample), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
