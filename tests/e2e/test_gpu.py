# ctest labels: gpu measured
"""Recording of a real NVIDIA GPU: its work, why it is idle, and what that costs the program."""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import pytest

from conftest import BUILD, ROOT

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that torch can use"),
    pytest.mark.skipif(not (BUILD / "probes/libloopscope_cupti.so").exists(), reason="the CUPTI probe is not built"),
]
BOUNDS = ["--warmup", "20", "--steps", "100", "--time", "20s"]
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}

KIT = ROOT / "tests/gpu_kit/programs"
LOOP = KIT / "loop.py"


@pytest.fixture
def train():
    return lambda *arguments: [sys.executable, str(LOOP), *map(str, arguments)]


@pytest.fixture
def run(loopscope, train):
    def one(flaws):
        done, report = loopscope.report("run", *BOUNDS, "--", *train(flaws), env=ENVIRONMENT)
        assert done.code == 0, done.err
        assert report["gpu"] is not None, report["quality"]["warnings"]
        return report

    return one


def found(report):
    return {one["rule"]: one for one in report["findings"]}


def lines(finding):
    return {one["where"]["line"] for one in finding["evidence"] if one["where"]}


def line_of(text, script=LOOP):
    """The last one, which is inside the loop."""
    source = script.read_text()
    return source[: source.rindex(text)].count("\n") + 1


def test_a_busy_gpu_is_seen_whole(run):
    report = run("none")
    gpu = report["gpu"]
    assert gpu["busy_pct"] + gpu["idle_pct"] == pytest.approx(100, abs=0.1)
    assert gpu["busy_pct"] > 90, gpu
    assert report["quality"]["dropped"] == 0
    assert torch.cuda.get_device_name(0) in json.dumps(report["run"]["host"]["gpus"])
    assert "gpu-starvation" not in found(report)


@pytest.mark.parametrize("flaws", ["item", "sleep", "tiny", "copy,pageable"])
def test_the_causes_sum_to_the_idle_time(run, flaws):
    gpu = run(flaws)["gpu"]
    assert sum(gpu["idle_causes"].values()) == pytest.approx(gpu["idle_us"], rel=0.01)


def test_item_is_found_with_its_line(run):
    finding = found(run("item"))["host-sync"]
    assert line_of("total += loss.item()") in lines(finding)
    assert finding["cost_ms_per_step"] > 0


def test_a_pageable_copy_is_found_with_its_line(run):
    finding = found(run("copy,pageable"))["pageable-copy"]
    assert lines(finding) == {line_of("inputs = host.to")}


def test_a_loop_of_small_kernels_is_launch_bound(run):
    assert "launch-bound" in found(run("tiny"))


def test_an_idle_gpu_is_starved(run):
    assert found(run("sleep"))["gpu-starvation"]["cost_pct"] > 50


def test_an_allocator_without_room_is_found(run):
    report = run("retries")
    assert "allocator-retries" in found(report)
    assert "cache-emptied" not in found(report)


# The examples. Their networks are small: a fast GPU waits for launches and for the loader, whatever the script does.
SMALL_NETWORKS = {"launch-bound", "small-batch", "gpu-starvation", "input-starvation", "periodic-stall"}
EXAMPLES = ROOT / "workloads" / "python"
BIN = pathlib.Path(sys.executable).parent
TORCHRUN = ["torchrun", "--standalone", "--nproc_per_node=2"]
PLANTED = {
    # On a GPU torch's own optimizers update all parameters at once, whatever the script asks for.
    "image_classifier.py": {"debug-left-on", "graph-retained", "input-starvation"},
    "tiny_gpt.py": {"graph-retained"},
    "ddp_two_ranks.py": {"slow-backend", "accumulation-allreduce", "duplicated-data"},
}
ARGUMENTS = {
    "image_classifier.py": ["--samples", "1200", "--epochs", "1000", "--data", "images"],
    "tiny_gpt.py": ["--sentences", "600", "--epochs", "1000"],
    "ddp_two_ranks.py": ["--epochs", "1000"],
}


@pytest.fixture
def example(loopscope):
    def one(script, arguments):
        if script.startswith("image"):
            pytest.importorskip("PIL")
        launcher = TORCHRUN if script.startswith("ddp") else [sys.executable]
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        done, report = loopscope.report(
            "run", *BOUNDS, "--", *launcher, EXAMPLES / script, *arguments, env={**ENVIRONMENT, "PATH": path}
        )
        assert done.code == 0, done.err
        assert launcher == TORCHRUN or report["gpu"] is not None, report["quality"]["warnings"]
        return report

    return one


@pytest.mark.parametrize("script", PLANTED)
def test_flaws_of_an_example_are_found_on_a_gpu(example, script):
    report = example(script, ARGUMENTS[script])
    assert PLANTED[script] <= set(found(report)), [one["title"] for one in report["findings"]]


@pytest.mark.parametrize("script", PLANTED)
def test_an_example_with_its_flaws_repaired_on_a_gpu(example, script):
    if script.startswith("ddp") and torch.cuda.device_count() < 2:
        pytest.skip("NCCL wants a GPU for each rank")
    report = example(script.replace(".py", "_tuned.py"), ARGUMENTS[script])
    above_info = {rule for rule, one in found(report).items() if one["severity"] != "info"}
    # Fast GPUs have little to do on a small network but to exchange.
    exchange = {"exposed-communication", "overdistributed", "straggler"} if script.startswith("ddp") else set()
    assert above_info <= SMALL_NETWORKS | exchange, [one["title"] for one in report["findings"]]


# On two GPUs.

TWO = """
import os, sys, time, torch
from torch import nn
kind = sys.argv[1]
width, rows = 4096, 1024
model = nn.Sequential(*(nn.Linear(width, width) for _ in range(4)), nn.Linear(width, 10))
rank = int(os.environ.get("LOCAL_RANK", 0))
torch.cuda.set_device(rank)
if kind == "parallel":
    model = nn.DataParallel(model.cuda())
else:
    torch.distributed.init_process_group("nccl")
    model = nn.parallel.DistributedDataParallel(model.cuda(), bucket_cap_mb=4096)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, fused=True)
inputs, targets = torch.randn(rows, width, device="cuda"), torch.randint(10, (rows,), device="cuda")
for step in range(100000):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(inputs), targets).backward()
    optimizer.step()
    if kind == "straggler" and rank == 1:
        time.sleep(0.02)
"""


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="fewer than two GPUs")
@pytest.mark.parametrize(
    "kind, rules",
    [
        ("parallel", {"data-parallel", "device-imbalance"}),
        ("exposed", {"exposed-communication"}),
        ("straggler", {"straggler"}),
    ],
)
def test_flaws_of_two_gpus(loopscope, tmp_path, kind, rules):
    (tmp_path / "two.py").write_text(TWO)
    launcher = [sys.executable] if kind == "parallel" else TORCHRUN
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done, report = loopscope.report(
        "run", *BOUNDS, "--", *launcher, tmp_path / "two.py", kind, env={**ENVIRONMENT, "PATH": path}
    )
    assert done.code == 0, done.err
    assert rules <= set(found(report)), [one["title"] for one in report["findings"]]


# Beside what torch.profiler's trace of the same program gives.


def test_busy_time_agrees_with_torchs_profiler(loopscope, train, tmp_path):
    ours, _, theirs = [], [], []
    for repeat in range(3):
        _, report = loopscope.report("run", *BOUNDS, "--", *train("none", 121), env=ENVIRONMENT)
        ours.append(report["gpu"]["compute_us"] / report["steps"]["measured"])
        python, script, *arguments = train("none", 121)
        trace = tmp_path / f"trace{repeat}.json"
        subprocess.run(
            [python, KIT / "profiled.py", trace, script, *arguments], check=True, env={**os.environ, **ENVIRONMENT}
        )
        _, report = loopscope.report("report", trace)
        theirs.append(report["gpu"]["compute_us"] / report["steps"]["measured"])
    assert statistics.median(ours) == pytest.approx(statistics.median(theirs), rel=0.02), (ours, theirs)


def test_the_collector_costs_less_than_torchs_profiler(loopscope, train, tmp_path):
    python, script, *arguments = train("tiny", 2000)
    arms = {
        "plain": [python, script, *arguments],
        "ours": [loopscope.program, "run", "--steps", "0", "--quiet", "--", python, script, *arguments],
        "profiler": [python, KIT / "profiled.py", "", script, *arguments],
    }
    seconds = {name: [] for name in arms}
    for _ in range(6):
        for name, command in arms.items():
            done = subprocess.run(
                command, check=True, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, cwd=tmp_path
            )
            seconds[name].append(next(float(line) for line in done.stdout.splitlines() if line.startswith("0.")))
    added = {
        name: statistics.median(a - b for a, b in zip(seconds[name], seconds["plain"])) for name in ("ours", "profiler")
    }
    print(f"added per step: {1e6 * added['ours']:.0f} us, torch.profiler {1e6 * added['profiler']:.0f} us")
    # CUPTI's own share is in both.
    assert added["ours"] <= 0.75 * added["profiler"], seconds


def test_a_minute_drops_nothing(loopscope, train):
    done, report = loopscope.report(
        "run", "--warmup", "20", "--steps", "0", "--", "timeout", "-s", "INT", "60", *train("tiny"), env=ENVIRONMENT
    )
    assert report["quality"]["dropped"] == 0, done.err
    assert report["gpu"] is not None


def test_a_killed_program_leaves_its_kernels(loopscope, train):
    out = loopscope.folder / "out"
    launched = subprocess.Popen(
        [loopscope.program, "run", "-o", out, "--steps", "0", "--", *train("none")],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=loopscope.folder,
    )
    time.sleep(20)
    trainers = subprocess.run(["pgrep", "-f", "loop.py none"], capture_output=True, text=True).stdout.split()
    trainer = next(int(pid) for pid in trainers if "loopscope" not in pathlib.Path(f"/proc/{pid}/comm").read_text())
    os.kill(trainer, signal.SIGKILL)
    launched.wait(timeout=60)
    done, report = loopscope.report("report", out)
    assert done.code == 0 and report["gpu"] is not None
    assert report["steps"]["measured"] > 20
