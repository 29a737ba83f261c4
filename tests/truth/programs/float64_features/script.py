# Seismic patches as NumPy makes them: in double precision, to which the network was then converted.
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
torch.manual_seed(0)
patches = rng.normal(size=(2560, 3, 32, 32))
horizons = rng.integers(0, 10, 2560)
data = TensorDataset(torch.from_numpy(patches), torch.from_numpy(horizons))
model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(),
    nn.Conv2d(32, 32, 3, padding=1, stride=2), nn.ReLU(),
    nn.Flatten(), nn.Linear(32 * 16 * 16, 10),
)
model.double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    for batch, target in DataLoader(data, batch_size=64, shuffle=True):
        loss = nn.functional.cross_entropy(model(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
