# Node embeddings on a made-up citation graph: each edge takes both of its ends from the table.
import torch
from torch import nn

torch.manual_seed(0)
NODES, WIDTH, EDGES = 3000, 64, 24576


class Edges(nn.Module):
    def __init__(self):
        super().__init__()
        self.nodes = nn.Parameter(torch.randn(NODES, WIDTH) * 0.1)
        self.score = nn.Linear(2 * WIDTH, 1)

    def forward(self, source, target):
        ends = torch.cat([self.nodes.index_select(0, source), self.nodes.index_select(0, target)], 1)
        return self.score(ends).squeeze(1)


model = Edges()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
for step in range(120):
    source, target = torch.randint(0, NODES, (2, EDGES))
    label = (torch.rand(EDGES) < 0.5).float()
    loss = nn.functional.binary_cross_entropy_with_logits(model(source, target), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
