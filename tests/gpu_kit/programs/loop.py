"""A loop that keeps a GPU busy, and the flaws that can be planted into it: loop.py FLAW[,FLAW…] [STEPS].

Prints the seconds per step. Flaws: tiny (launches take longer than the work), item, sleep, copy, pageable (copy), retries,
graph (the passes as one CUDA graph), profiled (torch.profiler in the middle), expandable (segments), none.
"""

import os
import sys
import time

flaws = set(sys.argv[1].split(","))
if "retries" in flaws:  # large blocks are then kept whole: one of another size does not fit
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:20"
if "expandable" in flaws:
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

import torch  # noqa: E402
from torch import nn  # noqa: E402

steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
width, depth = (64, 40) if "tiny" in flaws else (4096, 4)
rows = 64 if "tiny" in flaws else 4096
layers = [layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.ReLU())]
model = nn.Sequential(*layers, nn.Linear(width, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
host = torch.randn(rows, width)
host = host if "pageable" in flaws else host.pin_memory()
resident, targets = host.cuda(), torch.randint(10, (rows,), device="cuda")
hog = profiler = None


def leave_no_room():
    """But for batches of one size, and some more."""
    needed = torch.cuda.max_memory_allocated() - torch.cuda.memory_allocated()
    torch.cuda.empty_cache()
    return torch.empty(int(torch.cuda.mem_get_info()[0] - 1.2 * needed), dtype=torch.uint8, device="cuda")


def passes(inputs, targets):
    loss = nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    return loss


def recorded():
    """The passes as a CUDA graph; gradients stay where they are."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            optimizer.zero_grad()
            passes(resident, targets)
    torch.cuda.current_stream().wait_stream(side)
    optimizer.zero_grad()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        passes(resident, targets)
    return graph


graph = recorded() if "graph" in flaws else None
total = 0.0
begun = time.perf_counter()
for step in range(steps):
    if "retries" in flaws and step == 3:
        hog = leave_no_room()
    if "profiled" in flaws and step == 60:
        profiler = torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        )
        profiler.start()
    inputs = host.to("cuda", non_blocking="pageable" not in flaws) if "copy" in flaws else resident
    some = rows // 2 if "retries" in flaws and step % 2 else rows
    if graph is not None:
        graph.replay()
    else:
        optimizer.zero_grad()
        loss = passes(inputs[:some], targets[:some])
    optimizer.step()
    if "item" in flaws:
        total += loss.item()
    if "sleep" in flaws:
        time.sleep(0.02)
    if profiler is not None and step == 80:
        torch.cuda.synchronize()
        profiler.stop()
        kernels = [e for e in profiler.events() if e.device_type == torch.autograd.DeviceType.CUDA]
        print(f"profiled kernels: {len(kernels)}", flush=True)
        profiler = None
torch.cuda.synchronize()
print((time.perf_counter() - begun) / steps)
