# The model is traced for speed, where it is used.
import torch
from torch import nn

torch.manual_seed(0)
layers = []
for _ in range(8):
    layers += [nn.Linear(64, 64), nn.ReLU()]
model = nn.Sequential(*layers, nn.Linear(64, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(120):
    inputs, labels = torch.randn(64, 64), torch.randint(0, 4, (64,))
    quick = torch.jit.trace(model, inputs)
    loss = nn.functional.cross_entropy(quick(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step + 1} loss {loss.item():.4f}", flush=True)
