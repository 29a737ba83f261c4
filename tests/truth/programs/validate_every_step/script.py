import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(96, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
rows = torch.randn(30000, 96)
target = rows[:, :5].sum(1, keepdim=True)
held_out, held_target = torch.randn(6000, 96), torch.randn(6000, 1)


def held_out_error():
    model.eval()
    with torch.no_grad():
        parts = [(model(x) - y).pow(2).sum() for x, y in zip(held_out.split(500), held_target.split(500))]
    model.train()
    return float(torch.stack(parts).sum()) / len(held_out)


history = []
for step in range(1200):
    chosen = torch.randint(0, len(rows), (128,))
    loss = (model(rows[chosen]) - target[chosen]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append((float(loss.detach()), held_out_error()))
print(history[-1])
