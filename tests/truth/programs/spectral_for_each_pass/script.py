# A critic of low rank: its weight is made of two factors, anew for each of the sixteen pieces of a clip.
import torch
from torch import nn
from torch.nn.utils import parametrize

torch.manual_seed(0)
WIDTH = 192


class Exponential(nn.Module):
    def forward(self, x):
        return torch.matrix_exp(x.triu(1) - x.triu(1).T)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.into = nn.Linear(64, WIDTH)
        self.turn = nn.Linear(WIDTH, WIDTH, bias=False)
        parametrize.register_parametrization(self.turn, "weight", Exponential())
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, pieces):
        scores = [self.head(torch.relu(self.turn(self.into(piece)))) for piece in pieces.unbind(1)]
        return torch.stack(scores, 1).mean(1)


model = Critic()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
for step in range(70):
    clips, labels = torch.randn(32, 8, 64), (torch.rand(32, 1) < 0.5).float()
    loss = nn.functional.binary_cross_entropy_with_logits(model(clips), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
