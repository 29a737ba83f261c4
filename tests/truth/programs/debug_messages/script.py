# Messages for debugging that nobody sees: the level is INFO, but their text is made all the same.
import logging
import time

import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("train")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
inputs, labels = torch.randn(4096, 64), torch.randint(0, 10, (4096,))
start = time.time()
for step in range(300):
    rows = torch.randint(0, 4096, (128,))
    logits = model(inputs[rows])
    loss = nn.functional.cross_entropy(logits, labels[rows])
    optimizer.zero_grad()
    loss.backward()
    for name, parameter in model.named_parameters():
        log.debug(f"{name}: {parameter.data} gradient {parameter.grad}")
    optimizer.step()
    if step % 50 == 49:
        log.info(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 20:.1f} ms/step")
        start = time.time()
