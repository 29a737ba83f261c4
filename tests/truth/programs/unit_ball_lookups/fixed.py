# Item vectors are kept inside the unit ball by the embedding itself.
import torch
from torch import nn

torch.manual_seed(0)
ITEMS, WIDTH, BATCH = 3000, 96, 2048
items = nn.Embedding(ITEMS, WIDTH)
users = nn.Embedding(500, WIDTH)
optimizer = torch.optim.SGD([*items.parameters(), *users.parameters()], lr=0.05)
for step in range(250):
    user, good, bad = torch.randint(0, 500, (BATCH,)), *torch.randint(0, ITEMS, (2, BATCH))
    who = users(user)
    loss = nn.functional.softplus((who * items(bad)).sum(1) - (who * items(good)).sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    items.weight.data.renorm_(2, 0, 1.0)
print(f"loss {loss.item():.4f}")
