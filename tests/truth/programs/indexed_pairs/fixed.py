# Click rates from the products of all pairs of 27 embedded features.
import torch
from torch import nn

torch.manual_seed(0)
FEATURES, WIDTH = 27, 16
first, second = torch.tril_indices(FEATURES, FEATURES, -1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(FEATURES, FEATURES * WIDTH)
        self.top = nn.Linear(len(first), 1)

    def forward(self, x):
        e = self.embed(x).unflatten(1, (FEATURES, WIDTH))
        products = e @ e.transpose(1, 2)
        pairs = products.flatten(1).index_select(1, first * FEATURES + second)
        return self.top(pairs)


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data, clicks = torch.randn(8192, FEATURES), torch.rand(8192, 1).round()
for step in range(300):
    index = torch.randint(0, len(data), (512,))
    loss = nn.functional.binary_cross_entropy_with_logits(model(data[index]), clicks[index])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
