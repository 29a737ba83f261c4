"""In each step another thread holds a lock for 10 ms, which the step needs."""

import threading
import time

import torch

lock, begin, held = threading.Lock(), threading.Event(), threading.Event()


def other():
    for _ in range(STEPS):
        begin.wait()
        begin.clear()
        with lock:
            held.set()
            time.sleep(0.01)


STEPS = 80
torch.set_num_threads(1)
thread = threading.Thread(target=other)
thread.start()
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(STEPS):
    begin.set()
    held.wait()
    held.clear()
    with lock:  # waits here
        x = torch.ones(4, 8)
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
thread.join()
