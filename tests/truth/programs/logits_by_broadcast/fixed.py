# A critic: pairs of states and goals that belong together get the largest energy.
import torch
from torch import nn

torch.manual_seed(0)
PAIRS, WIDTH = 256, 64
states, goals = (nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, WIDTH)) for _ in range(2))
optimizer = torch.optim.Adam([*states.parameters(), *goals.parameters()], lr=3e-4, fused=True)


def energies(state, goal):
    return state @ goal.T


data = torch.randn(4096, 32)
for step in range(220):
    x = data[torch.randint(0, len(data), (PAIRS,))]
    logits = energies(states(x), goals(x + 0.2 * torch.randn_like(x)))
    loss = nn.functional.cross_entropy(logits, torch.arange(PAIRS))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
