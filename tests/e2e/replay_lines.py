"""A trace of PyTorch's profiler as the lines that tests/replay plays back (tests/replay/program.h has their form)."""

import decimal
import json

CATEGORIES = {"user": 0, "loader": 1, "optimizer": 3, "zero_grad": 4}  # wire::RangeCategory
WAYS = {"HtoD": 1, "DtoH": 2, "DtoD": 8, "HtoH": 9, "PtoP": 10}  # CUpti_ActivityMemcpyKind
PAGEABLE, PINNED, DEVICE = 1, 2, 3  # CUpti_ActivityMemoryKind
HOST = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")


def read_trace(text):
    """Times keep all their digits: as floats they lose the last ones."""
    return json.loads(text, parse_float=decimal.Decimal)


def ns(us):
    return int(us * 1000)


class Lines:
    def __init__(self, events):
        self.lines, self.names, self.threads = [], {}, {}
        self.first_us = min(event["ts"] for event in events)

    def add(self, letter, *fields):
        self.lines.append(" ".join([letter, *map(str, fields)]))

    def name(self, text):
        if text not in self.names:
            self.names[text] = len(self.names) + 1
            self.add("N", self.names[text], text)
        return self.names[text]

    def thread(self, event):
        return self.threads.setdefault(event["tid"], len(self.threads))

    def times(self, event):
        return ns(event["ts"] - self.first_us), ns(event["dur"])


def range_of(name):
    """The category of a range and the name that is shown of it."""
    if name.startswith("enumerate(DataLoader)"):
        return "loader", name
    for category in ("step", "zero_grad"):
        if name.startswith(f"Optimizer.{category}#"):
            return category.replace("step", "optimizer"), name.split("#", 1)[1].rpartition(".")[0]
    return "user", name


def add_host(lines, event):
    args, category = event.get("args", {}), event["cat"]
    thread, (start, duration) = lines.thread(event), lines.times(event)
    name = event["name"]
    if category.startswith("cuda_"):
        runtime = int(category == "cuda_runtime")
        lines.add("A", thread, runtime, start, duration, lines.name(name), args.get("correlation", 0))
    elif category == "user_annotation":
        kind, shown = range_of(name)
        lines.add("R", thread, start, duration, lines.name(shown), CATEGORIES[kind])
    else:
        sequence = args.get("Sequence number", -1)
        backward = int(name.endswith("Backward0") and not name.startswith("autograd::"))
        graph = int(sequence >= 0 and not backward and args.get("Fwd thread id", 0) == 0)
        lines.add("O", thread, start, duration, lines.name(name), sequence, backward, graph)


def add_work(lines, event):
    args = event["args"]
    device, stream = args.get("device", event["pid"]), args.get("stream", event["tid"]) & 0xFFFFFFFF
    where = (device, stream, *lines.times(event), args.get("correlation", 0))
    if event["cat"] == "kernel":
        lines.add("K", *where, lines.name(event["name"]))
    elif event["cat"] == "gpu_memset":
        lines.add("M", *where, args.get("bytes", 0))
    elif event["cat"] == "cuda_sync":
        lines.add("W", *where)
    else:
        way = event["name"].split()[1]
        host = PAGEABLE if "Pageable" in event["name"] else PINNED if "Pinned" in event["name"] else DEVICE
        ends = {"HtoD": (host, DEVICE), "DtoH": (DEVICE, host)}.get(way, (DEVICE, DEVICE))
        lines.add("C", *where, args.get("bytes", 0), WAYS[way], *ends)


def lines_of(trace):
    """The text of a trace (the parsed JSON)."""
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X" and event.get("cat") != "Trace"]
    lines = Lines(events)
    is_step = [event.get("name", "").startswith("ProfilerStep#") for event in events]
    steps = sorted(
        (event for event, step in zip(events, is_step) if step and event["cat"] in HOST), key=lambda e: e["ts"]
    )
    for event, step in zip(events, is_step):
        if event["cat"] in HOST and not step:
            add_host(lines, event)
        elif event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync"):
            add_work(lines, event)
    for device in trace.get("deviceProperties", []):
        number, capability = device["id"], (device["computeMajor"], device["computeMinor"])
        name = lines.name(device["name"])
        lines.add("D", number, name, device["totalGlobalMem"], *capability, device["numSms"])
    if steps:
        warm = int(steps[0]["name"] != "ProfilerStep#0")
        lines.add("B", lines.thread(steps[0]), warm, lines.times(steps[0])[0])
        for step in steps:
            lines.add("E", sum(lines.times(step)))
    return "\n".join([*lines.lines, ""])
