# Off-policy learning: an actor thread adds to the buffer and holds its lock while it talks to the environment.
import random
import threading
import time
from collections import deque

import torch
from torch import nn


class Buffer:
    def __init__(self):
        self.lock = threading.Lock()
        self.steps = deque((torch.randn(16), random.random()) for _ in range(1000))

    def sample(self, count):
        with self.lock:
            picked = random.sample(self.steps, count)
        states, rewards = zip(*picked)
        return torch.stack(states), torch.tensor(rewards)


def act(buffer, stop):
    while not stop.is_set():
        with buffer.lock:
            time.sleep(0.02)  # the environment is on another machine
            buffer.steps.append((torch.randn(16), random.random()))
            buffer.steps.popleft()
        time.sleep(0.001)


random.seed(0)
torch.manual_seed(0)
buffer, stop = Buffer(), threading.Event()
actor = threading.Thread(target=act, args=(buffer, stop))
actor.start()
critic = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(300):
    states, rewards = buffer.sample(64)
    loss = nn.functional.mse_loss(critic(states).squeeze(1), rewards)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(f"step {step + 1} loss {loss.item():.4f}", flush=True)
stop.set()
actor.join()
