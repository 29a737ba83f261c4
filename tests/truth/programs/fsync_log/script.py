# A log of metrics as JSON lines that must survive a crash of the machine.
import json
import os
import tempfile
import time

import torch
from torch import nn


class MetricLog:
    def __init__(self, path):
        self.file = open(path, "a")

    def write(self, step, **values):
        for name, value in values.items():
            self.file.write(json.dumps({"step": step, "name": name, "value": value, "time": time.time()}) + "\n")
            self.file.flush()
            os.fsync(self.file.fileno())


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
inputs, labels = torch.randn(4096, 64), torch.randint(0, 10, (4096,))
path = os.path.join(tempfile.mkdtemp(), "metrics.jsonl")
log = MetricLog(path)
for step in range(600):
    rows = torch.randint(0, 4096, (64,))
    logits = model(inputs[rows])
    loss = nn.functional.cross_entropy(logits, labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    hits = (logits.argmax(1) == labels[rows]).float().mean()
    log.write(step, loss=loss.item(), accuracy=hits.item(), rate=optimizer.param_groups[0]["lr"])
    if step % 100 == 99:
        print(f"step {step + 1} loss {loss.item():.3f}", flush=True)
os.remove(path)
