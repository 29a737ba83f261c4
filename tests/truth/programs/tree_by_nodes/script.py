import random

import torch
from torch import nn


class TreeLstm(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.leaf = nn.Embedding(500, width)
        self.gates = nn.Linear(2 * width, 4 * width)
        self.out = nn.Linear(width, 5)

    def node(self, tree):
        if isinstance(tree, int):
            state = self.leaf(torch.tensor([tree]))
            return state, state
        (left, left_cell), (right, right_cell) = self.node(tree[0]), self.node(tree[1])
        gates = self.gates(torch.cat([left, right], 1))
        keep, show, new, forget = gates.chunk(4, 1)
        cell = keep.sigmoid() * new.tanh() + forget.sigmoid() * (left_cell + right_cell)
        return show.sigmoid() * cell.tanh(), cell

    def forward(self, trees):
        return self.out(torch.cat([self.node(tree)[0] for tree in trees]))


def grow(leaves):
    if leaves == 1:
        return random.randrange(500)
    left = random.randrange(1, leaves)
    return grow(left), grow(leaves - left)


random.seed(0)
torch.manual_seed(0)
sentences = [[grow(20) for _ in range(8)] for _ in range(40)]
model = TreeLstm()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05, foreach=True)
for epoch in range(8):
    for trees in sentences:
        loss = nn.functional.cross_entropy(model(trees), torch.randint(0, 5, (8,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
