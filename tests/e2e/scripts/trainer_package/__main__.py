import sys

import torch

from .model import Regression


def main(epochs=200):
    draws = torch.Generator().manual_seed(0)
    inputs = torch.randn(1024, 64, generator=draws)
    data = torch.utils.data.TensorDataset(inputs, inputs.square().sum(1, keepdim=True))
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
    model = Regression()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    for epoch in range(epochs):
        running = 0.0
        for features, targets in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(features), targets)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch} loss {running / len(loader):.3f}")


sys.exit(main())
