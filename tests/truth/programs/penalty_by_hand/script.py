# A penalty on the weights, as a loop over the parameters of a network of many small layers.
import torch
from torch import nn

torch.manual_seed(0)
layers = []
for _ in range(60):
    layers += [nn.Linear(48, 48), nn.LayerNorm(48)]
model = nn.Sequential(*layers, nn.Linear(48, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(200):
    inputs, labels = torch.randn(64, 48), torch.randint(0, 5, (64,))
    loss = nn.functional.cross_entropy(model(inputs), labels)
    penalty = 0.0
    for name, parameter in model.named_parameters():
        if "weight" in name:
            penalty = penalty + parameter.pow(2.0).sum()
    loss = loss + 1e-4 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.4f}", flush=True)
