"""A small trace as PyTorch's profiler writes it, of a loop on GPUs with a flaw that is found: it waits for its loss."""

STEPS = 20
STEP_US = 8000
PASSES = 12  # layers
KERNEL_US = 200.125
TRAINER, BACKWARD = 7001, 7002
COMPUTE, COPIES = 7, 13  # streams


class Recording:
    def __init__(self, devices):
        self.devices, self.events, self.correlation = devices, [], 0
        self.free_us = {}  # by device and stream: when it has done what is queued

    def host(self, category, name, tid, start, duration, **args):
        event = {"ph": "X", "cat": category, "name": name, "pid": 7001, "tid": tid, "ts": start, "dur": duration}
        self.events.append({**event, "args": args})

    def launch(self, call, tid, start, duration, category, name, work_us, device=0, stream=COMPUTE, **args):
        """A call and the work that it queues; when that is done."""
        self.correlation += 1
        runtime = "cuda_runtime" if call.startswith("cuda") else "cuda_driver"
        self.host(runtime, call, tid, start, duration, correlation=self.correlation)
        begin = max(start + duration + 2.25, self.free_us.get((device, stream), 0))
        where = {"device": device, "context": device + 1, "stream": stream, "correlation": self.correlation}
        event = {"ph": "X", "cat": category, "name": name, "pid": device, "tid": stream, "ts": begin, "dur": work_us}
        self.events.append({**event, "args": {**where, **args}})
        self.free_us[device, stream] = begin + work_us + 0.5
        return begin + work_us

    def wait(self, tid, start, until, device=0, stream=COMPUTE):
        self.correlation += 1
        self.host("cuda_runtime", "cudaStreamSynchronize", tid, start, until - start, correlation=self.correlation)
        args = {"device": device, "context": device + 1, "stream": stream, "correlation": self.correlation}
        event = {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": device, "tid": stream}
        self.events.append({**event, "ts": start + 0.75, "dur": until - start - 1.5, "args": args})

    def op(self, name, tid, start, duration, **args):
        self.host("cpu_op", name, tid, start, duration, **args)


def add_passes(trace, step, start):
    sequence = step * PASSES
    for layer in range(PASSES):
        at = start + 300 + layer * 60
        device = layer % trace.devices
        trace.op("aten::addmm", TRAINER, at, 50.5, **{"Sequence number": sequence + layer, "Fwd thread id": 0})
        call = "cuLaunchKernelEx" if layer % 4 == 3 else "cudaLaunchKernel"
        trace.launch(call, TRAINER, at + 20, 6.125, "kernel", "ampere_sgemm_128x64_tn", KERNEL_US, device)
        at = start + 1400 + layer * 80
        back = {"Sequence number": sequence + PASSES - 1 - layer, "Fwd thread id": 1}
        trace.op("autograd::engine::evaluate_function: AddmmBackward0", BACKWARD, at, 70, **back)
        trace.op("AddmmBackward0", BACKWARD, at + 5, 60, **back)
        trace.op("aten::mm", BACKWARD, at + 10, 50)
        trace.launch("cudaLaunchKernel", BACKWARD, at + 25, 6, "kernel", "ampere_sgemm_64x64_nn", KERNEL_US, device)


def add_step(trace, step):
    start = 10_000.5 + step * STEP_US
    trace.host("user_annotation", f"ProfilerStep#{step + 5}", TRAINER, start, STEP_US - 1)
    trace.op("aten::copy_", TRAINER, start + 100, 60)
    copied = {"bytes": 1 << 20, "stream": COPIES}
    trace.launch(
        "cudaMemcpyAsync", TRAINER, start + 110, 30, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 90.25, **copied
    )
    trace.launch("cudaMemsetAsync", TRAINER, start + 200, 5, "gpu_memset", "Memset (Device)", 3.5, bytes=4096)
    add_passes(trace, step, start)
    trace.host("user_annotation", "Optimizer.step#SGD.step", TRAINER, start + 2500, 200)
    trace.op("aten::_foreach_add_", TRAINER, start + 2520, 100)
    trace.launch("cudaLaunchKernel", TRAINER, start + 2550, 7, "kernel", "multi_tensor_apply_kernel", 150)
    at = start + 2800
    name = "Memcpy DtoH (Device -> Pageable)"
    done = trace.launch("cudaMemcpyAsync", TRAINER, at + 10, 9, "gpu_memcpy", name, 1.75, bytes=4)
    for op, inside in (("aten::item", 0), ("aten::_local_scalar_dense", 2)):
        trace.op(op, TRAINER, at + inside, done + 20 - at - 2 * inside)
    trace.wait(TRAINER, at + 25, done + 8)


def made(devices=1):
    trace = Recording(devices)
    for step in range(STEPS):
        add_step(trace, step)
    properties = {"name": "NVIDIA A100", "totalGlobalMem": 42 << 30, "computeMajor": 8, "computeMinor": 0}
    devices = [{"id": device, **properties, "numSms": 108} for device in range(devices)]
    return {"schemaVersion": 1, "deviceProperties": devices, "traceEvents": trace.events}
