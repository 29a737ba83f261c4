# Records are streamed; two workers were added to load them sooner.
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Records(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        generator = torch.Generator().manual_seed(0)
        for number in range(self.count):
            yield torch.randn(32, generator=generator), number % 3


torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(32, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 3)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
loader = DataLoader(Records(6400), batch_size=64, num_workers=2)
for epoch in range(3):
    for record, label in loader:
        loss = nn.functional.cross_entropy(model(record), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
