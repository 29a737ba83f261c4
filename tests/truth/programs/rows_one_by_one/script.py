# Knowledge distillation: the teacher's answers lie in a table, and each row is fetched for itself.
import random
import time

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
inputs = torch.randn(50_000, 64)
answers = torch.randn(50_000, 32)
student = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32))
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
start = time.time()
for step in range(250):
    picks = random.sample(range(50_000), 1024)
    x = torch.stack([inputs[pick] for pick in picks])
    teacher = torch.stack([answers[pick] for pick in picks])
    loss = nn.functional.kl_div(student(x).log_softmax(1), teacher.softmax(1), reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 20:.1f} ms/step", flush=True)
        start = time.time()
