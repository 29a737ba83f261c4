"""PyTorch Geometric: batches of graphs."""

import time

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool


class Graphs(torch.utils.data.Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.001)  # slow
        edges = torch.randint(0, 20, (2, 60))
        return Data(x=torch.randn(20, 64), edge_index=edges, y=torch.tensor([index % 4]))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(64, 64), GCNConv(64, 4)

    def forward(self, data):
        hidden = self.first(data.x, data.edge_index).relu()
        return global_mean_pool(self.second(hidden, data.edge_index), data.batch)


model = Net()
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(Graphs(), batch_size=16)
for _ in range(3):
    for batch in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(batch), batch.y).backward()
        optimizer.step()
print("truth steps=60 optimizer=Adam loader=yes evaluations=0")
