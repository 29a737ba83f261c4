# ctest labels: slow
"""Several ranks of train_image as ordinary programs: they train as one, and dying and hanging ranks are named and leave
nothing behind."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from conftest import BUILD

PROGRAM = BUILD / "workloads" / "train_image"
BIN = pathlib.Path(sys.executable).parent
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
}
LAUNCHERS = ("RANK", "WORLD_SIZE", "SLURM_", "OMPI_", "PMI_", "LOOPSCOPE_", "MASTER_", "TORCHELASTIC_")
SMALL = {
    "train_images": 512,
    "val_images": 64,
    "source_size": 64,
    "image_size": 48,  # with 32, bfloat16 gradients of the last blocks are not always numbers on processors with AMX
    "batch.size": 16,
    "model.size": "small",
}

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="train_image is not built")


def clean_environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
    return {**kept, **ENVIRONMENT, **more}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("images") / "data"


def command(data, *options, **knobs):
    settings = {**SMALL, **{name.replace("__", "."): value for name, value in knobs.items()}}
    items = [argument for name, value in settings.items() for argument in ("--set", f"{name}={value}")]
    return [str(one) for one in (PROGRAM, "--data", data, *options, *items)]


def launch(*arguments, timeout=180, **more):
    return subprocess.run(arguments, env=clean_environment(**more), capture_output=True, text=True, timeout=timeout)


def losses(done):
    assert done.returncode == 0, done.stderr
    return [float(one) for one in re.findall(r"^loss (\S+)$", done.stdout, re.M)]


def test_two_ranks_train_as_one_on_the_same_samples(data):
    """Two ranks that each see all samples in the same order average equal gradients: the losses are one rank's."""
    alone = losses(launch(*command(data, "--print-losses", epochs=1)))
    both = losses(launch(*command(data, "--print-losses", "--ranks", "2", epochs=1, sampler__distributed="off")))
    assert len(alone) == 32
    assert both == pytest.approx(alone, rel=1e-3)


def test_each_rank_has_its_share_of_an_epoch(data):
    done = launch(*command(data, "--ranks", "2", "--print-losses", epochs=1, log__every=1))
    assert len(losses(done)) == 16, "32 batches for two ranks"
    assert done.stdout.count("epoch 1 step 1/16") == 1, "rank 0 alone writes"
    everyone = launch(*command(data, "--ranks", "2", epochs=1, log__every=1, log__rank0="off"))
    assert everyone.stdout.count("epoch 1 step 1/16") == 2


def test_accumulated_gradients_are_the_same_without_sync(data):
    settings = dict(epochs=1, accumulate=4)
    each = losses(launch(*command(data, "--print-losses", "--ranks", "2", **settings, ddp__no_sync="off")))
    once = losses(launch(*command(data, "--print-losses", "--ranks", "2", **settings)))
    assert once == pytest.approx(each, rel=1e-3)


def test_more_ranks_than_cores_are_said(data):
    cores = len(os.sched_getaffinity(0))
    done = launch(*command(data, "--ranks", cores + 1, epochs=1, batch__size=8))
    assert done.returncode == 0, done.stderr
    assert f"{cores + 1} ranks share {cores} core" in done.stderr


@pytest.mark.skipif(not (BIN / "torchrun").exists(), reason="torchrun is not beside this Python")
def test_other_launchers_start_ranks_too(data):
    arguments = command(data, "--print-losses", epochs=1)
    torchrun = launch("torchrun", "--standalone", "--no-python", "--nproc-per-node", "2", *arguments)
    assert losses(torchrun) == losses(launch(*arguments, "--ranks", "2"))


def test_ranks_find_each_other_by_the_variables_of_mpi(data):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "MASTER_PORT": str(port)}
    started = [
        subprocess.Popen(command(data, epochs=1), env=clean_environment(**variables, OMPI_COMM_WORLD_RANK=str(rank)),
                         stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]  # fmt: skip
    outputs = [one.communicate(timeout=120)[0] for one in started]
    assert [one.returncode for one in started] == [0, 0]
    assert "final accuracy" in outputs[0] and not outputs[1]


@pytest.mark.parametrize(
    "options, environment, message",
    [
        (["--ranks", "0"], {}, "--ranks 0: it takes 1 to 1024"),
        (["--ranks", "two"], {}, "--ranks two: it takes 1 to 1024"),
        (["--ranks", "2", "--set", "ddp.backend=nccl"], {}, "ddp.backend=nccl needs GPUs"),
        (["--ranks", "2", "--set", "batch.size=400"], {}, "no full step"),
        (["--ranks", "2"], {"RANK": "0", "WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1"}, "leave --ranks out"),
        ([], {"RANK": "4", "WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1"}, "RANK=4: it takes 0 to 3"),
        ([], {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4"}, "MASTER_ADDR is not set"),
    ],
)
def test_wrong_usage(data, options, environment, message):
    done = launch(*command(data), *options, **environment)
    assert done.returncode != 0
    assert message in done.stderr and done.stderr.count("\n") == 1, done.stderr


def children(pid):
    return [int(one) for one in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def training(data):
    """Two ranks in the middle of training: the launcher and the ranks' process ids, by rank."""
    started = subprocess.Popen(
        command(data, "--ranks", "2", ranks__timeout=5, log__every=1),
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in started.stdout:
        if "step 3/" in line:
            break
    environments = {
        pid: pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") for pid in children(started.pid)
    }
    ranks = {
        pid: int(next(one for one in items if one.startswith(b"RANK="))[5:]) for pid, items in environments.items()
    }
    yield started, [pid for pid, _ in sorted(ranks.items(), key=lambda one: one[1])]
    started.kill()
    started.wait()


def test_a_rank_that_dies_is_named_and_the_others_end(training):
    launcher, ranks = training
    os.kill(ranks[1], signal.SIGKILL)
    _, err = launcher.communicate(timeout=60)
    assert launcher.returncode == 128 + signal.SIGKILL
    assert re.search(
        r"train_image: rank 1 was killed by signal 9 \(Killed\) in epoch \d+, step \d+ \(\w+\); rank 0 was in", err
    )
    assert not any(map(alive, ranks))


def test_a_rank_that_hangs_is_seen_by_the_others(training):
    launcher, ranks = training
    os.kill(ranks[1], signal.SIGSTOP)
    launcher.stdout.close()
    launcher.wait(timeout=90)
    err = launcher.stderr.read()
    assert launcher.returncode == 1
    assert re.search(r"rank 0 failed with status 1 in epoch \d+, step \d+ \(\w+\); rank 1 was in epoch", err), err
    assert not any(map(alive, ranks))


def test_no_rank_outlives_its_launcher(training):
    launcher, ranks = training
    launcher.kill()
    launcher.wait()
    until = time.monotonic() + 30
    while any(map(alive, ranks)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, ranks))
