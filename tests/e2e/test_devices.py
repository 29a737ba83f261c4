# ctest labels: slow
"""--device of the training programs where there is no GPU, gradient scaling, and the knobs that GPUs gave rise to."""

import os
import re
import subprocess
import sys

import pytest
import torch

from conftest import BUILD

PROGRAM = BUILD / "workloads" / "train_image"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="train_image is not built")
no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")

GPU_RULES = [
    "pageable-copy",
    "blocking-copy",
    "tf32-off",
    "cache-emptied",
    "wide-input",
    "cudnn-autotune-off",
    "layout-conversion",
    "cpu-then-device",
    "cudnn-retuning",
    "odd-dimensions",
    "launch-bound",
    "small-batch",
]
SMALL = {
    "train_images": 40, "val_images": 20, "source_size": 64, "image_size": 32, "batch.size": 8, "model.size": "small",
    "epochs": 1, "loader.workers": 1,
}  # fmt: skip


def launch(*arguments, env=None):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LOOPSCOPE_")}
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], env={**clean, **(env or {})}, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("images") / "data"


def losses(data, env=None, **knobs):
    """The losses of a short training run; __ in a knob's name is its dot."""
    settings = {**SMALL, **{name.replace("__", "."): value for name, value in knobs.items()}}
    items = [argument for name, value in settings.items() for argument in ("--set", f"{name}={value}")]
    done = launch("--data", data, "--print-losses", *items, env={"LOOPSCOPE_SAMPLE_RNG": "hash", **(env or {})})
    assert done.returncode == 0, done.stderr
    return [float(one) for one in re.findall(r"^loss (\S+)$", done.stdout, re.M)]


# Without a GPU


@no_gpu
@pytest.mark.parametrize(
    "words", [["--device", "cuda"], ["--set", "device=cuda"], ["--device=cuda", "--preset", "tuned"]]
)
def test_no_gpu_is_said_at_once(tmp_path, words):
    done = launch(*words, "--data", tmp_path / "data")
    assert done.returncode == 2
    assert re.fullmatch(r"train_image: --device cuda: .+: train with --device cpu, or .+\n", done.stderr), done.stderr
    assert not (tmp_path / "data").exists()


@no_gpu
@pytest.mark.parametrize("command", [["run"], ["prove", "--only", "tf32=on", "--allow-writes"]])
def test_no_gpu_is_said_under_loopscope(loopscope, tmp_path, command):
    """The probe seeds torch and asks for CUDA. Were it to ask too early, torch would deny that it was built with CUDA."""
    words = [*command, "--", PROGRAM, "--device", "cuda", "--data", tmp_path / "data"]
    done = loopscope(*words, env={"LOOPSCOPE_SEED": "3", "LOOPSCOPE_TREATMENT": "tf32=on"})
    assert done.code == (2 if command == ["run"] else 4), done.err
    [said] = set(re.findall(r"train_image: --device cuda: (.+): train with", done.out + done.err))
    assert "driver" in said or "GPU" in said, said


ASKS = """
import torch
print(torch.cuda.is_available())
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    optimizer.zero_grad()
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
"""


@no_gpu
def test_without_a_driver_nothing_is_said_of_it(loopscope, tmp_path):
    """Though the program looks for one."""
    (tmp_path / "train.py").write_text(ASKS)
    done, report = loopscope.report("run", "--steps", "0", "--", sys.executable, tmp_path / "train.py")
    assert done.code == 0 and "False" in done.out.split()
    said = done.err + " ".join(report["quality"]["warnings"])
    assert "CUPTI" not in said and "GPU" not in said, said
    steps = report["steps"]
    assert report["gpu"] is None and steps["measured"] >= 15 and steps["measured"] + steps["without_operators"] > 20


def test_another_tool_keeps_its_place(loopscope, tmp_path):
    body = ASKS.replace("print(torch.cuda.is_available())", "import os; print(os.environ['CUDA_INJECTION64_PATH'])")
    (tmp_path / "train.py").write_text(body)
    words = ["run", "--steps", "0", "--", sys.executable, tmp_path / "train.py"]
    done, report = loopscope.report(*words, env={"CUDA_INJECTION64_PATH": "/other/tool.so"})
    assert "/other/tool.so" in done.out.split()
    said = "what a GPU does is not recorded: CUDA_INJECTION64_PATH is set to /other/tool.so already"
    assert said in report["quality"]["warnings"]


@pytest.mark.parametrize("rule", GPU_RULES)
def test_flaws_of_gpus_ask_for_one(rule):
    done = launch("--preset", f"only:{rule}")
    assert done.returncode == 2
    assert done.stderr == f"train_image: the preset only:{rule} plants a GPU flaw: add --device cuda\n"


def test_no_such_device():
    done = launch("--device", "tpu")
    assert done.returncode == 2 and '"tpu" is not a value of device: it takes cpu|cuda' in done.stderr


def test_knobs_of_gpus_are_listed():
    lines = {line.split()[0] for line in launch("--list-knobs").stdout.splitlines()[1:] if line}
    assert lines >= {
        "device", "cuda_graphs", "data_parallel", "loader.pin_memory", "copy.non_blocking", "copy.uint8", "copy.on_device", "cache.empty",
        "cudnn.benchmark", "tf32", "deterministic", "channels_last", "image_size.varies", "hidden.width",
    }  # fmt: skip


def test_treatments_of_gpus_do_not_apply_on_a_cpu(loopscope, data):
    items = [argument for name, value in SMALL.items() for argument in ("--set", f"{name}={value}")]
    report = loopscope.report(
        "prove", "--only", "loader.pin_memory=on,cuda_graphs=on", "--blocks", "1", "--budget", "60s", "--min-window", "0.1s",
        "--warmup", "2", "--", PROGRAM, "--data", data, *items, "--set", "epochs=1000",
    )[1]  # fmt: skip
    trials = {trial["treatment"]: trial for trial in report["trials"]}
    assert len(report["trials"]) == 2 and {trial["verdict"] for trial in report["trials"]} == {"not-applicable"}
    assert "training runs on the CPU" in trials["loader.pin_memory"]["reason"]
    assert "cuda_graphs=on needs an NVIDIA GPU" in trials["cuda_graphs"]["reason"]


def test_recorded_steps_need_a_gpu():
    done = launch("--set", "cuda_graphs=on")
    assert done.returncode == 2
    assert done.stderr == "train_image: cuda_graphs=on needs an NVIDIA GPU: add --device cuda, or set cuda_graphs=off\n"


@pytest.mark.parametrize(
    "other, needs",
    [
        ("debug=on", "debug=off"),
        ("checkpoint=on", "checkpoint=off"),
        ("image_size.varies=on", "image_size.varies=off"),
        ("aug.noise=on", "copy.on_device=on"),
    ],
)
def test_what_cannot_be_recorded_is_refused(other, needs):
    """Before a GPU is looked for."""
    done = launch("--device", "cuda", "--set", "cuda_graphs=on", "--set", other)
    assert done.returncode == 2
    assert done.stderr.startswith(f"train_image: cuda_graphs=on needs {needs}: ") and done.stderr.count("\n") == 1


def test_ranks_record_no_steps():
    done = launch("--device", "cuda", "--ranks", "2", "--set", "cuda_graphs=on")
    assert done.returncode == 2 and "cuda_graphs=on needs one rank: " in done.stderr


@pytest.mark.parametrize(
    "arguments, needs",
    [
        ([], "NVIDIA GPUs: add --device cuda"),
        (["--device", "cuda", "--ranks", "2"], "one rank: each rank has a GPU of its own"),
        (["--device", "cuda", "--set", "cuda_graphs=on"], "cuda_graphs=off: replicas are made anew"),
    ],
)
def test_replicas_need_gpus_and_one_rank(arguments, needs):
    """Before a GPU is looked for."""
    done = launch(*arguments, "--set", "data_parallel=on")
    assert done.returncode == 2 and f"train_image: data_parallel=on needs {needs}" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "name, entry", [("cuda_graphs", "train_make_device_graph"), ("data_parallel", "train_forward_on_all")]
)
def test_modules_of_gpus_bind_to_torch(name, entry):
    """Everything that they call is there; they do not bring their own CUDA."""
    module = BUILD / "workloads" / f"libtrain_{name}.so"
    if not module.exists():
        pytest.skip("built without CUDA's headers")
    load = "import ctypes, sys, torch; print(getattr(ctypes.CDLL(sys.argv[1], mode=2), sys.argv[2]) is not None)"
    done = subprocess.run([sys.executable, "-c", load, module, entry], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "True", done.stderr
    shown = subprocess.run(["nm", "-D", "--defined-only", module], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in shown.splitlines() if " T " in line] == [entry]


# What they do on any device


def graphed(*words):
    done = subprocess.run(
        [BUILD / "tests" / "check_graphed_loss", *map(str, words)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("set_to_none", [0, 1])
@pytest.mark.parametrize("accumulate", [1, 3])
def test_recorded_passes_train_as_others_do(set_to_none, accumulate):
    """With a stand-in for the graphs, which leaves results where a real one does."""
    plain, _ = graphed(0, set_to_none, accumulate, 6)
    losses, counts = graphed(1, set_to_none, accumulate, 6)
    assert len(plain.split()) == 10 * accumulate and losses == plain
    recorded, launched, _ = map(int, counts.split())
    # Three batches teach the shapes, those of one step have others; forward and backward are one graph each.
    assert (recorded, launched) == (2, 2 * (10 * accumulate - 3 - accumulate))


def test_a_step_that_cannot_be_recorded_is_said():
    *_, said = graphed(1, 1, 1, 99, "failing")
    assert said == "cuda_graphs=on: a step cannot be recorded: operation not permitted: set cuda_graphs=off"


def test_replicas_give_the_gradients_of_the_whole():
    """On the CPU; the network keeps the running statistics that its replicas meet."""
    checked = BUILD / "tests" / "check_replicas"
    statistics, gradients = subprocess.run(
        [checked], capture_output=True, text=True, check=True, timeout=120
    ).stdout.splitlines()
    assert statistics == "statistics true"
    assert float(gradients.removeprefix("gradients ")) < 1e-5


def test_autocast_is_for_the_device_that_holds_the_model():
    """Without a GPU: its switches are the thread's, whatever the machine has."""
    checked = BUILD / "tests" / "check_amp"
    lines = subprocess.run([checked], capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    assert lines == [
        "nowhere then nowhere 0",
        "the model is neither on the CPU nor on a CUDA device",
        "cuda:bf16 then nowhere 1",
        "cpu:bf16 then nowhere 2",
        "bf16",
        "cuda:other then cuda:other 2",  # the program's own stays as it is
    ]


def test_the_scaler_scales_unscales_and_backs_off():
    checked = BUILD / "tests" / "check_grad_scaler"
    lines = subprocess.run([checked], capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines == [
        "196608 true 3 65536",
        "32768 true 0.5 131072",  # two good steps: doubled
        "inf false 0 65536",  # overflow: halved, the step is left out
        "196608 true 3 65536",
    ]


@pytest.fixture(scope="module")
def plain(data):
    return losses(data)


def test_fp16_trains(data, plain):
    half = losses(data, amp="fp16")
    assert plain != half and half[0] == pytest.approx(plain[0], rel=0.02)
    assert all(loss == loss for loss in half)


def test_cached_images_are_the_same_images(data, plain):
    assert losses(data, loader__cache="on") == plain


def test_an_epoch_may_go_through_the_images_more_than_once(data, plain):
    assert len(losses(data, epoch__repeats=3)) == 3 * len(plain)


def test_a_batch_may_be_larger_than_the_images_where_they_repeat(data):
    assert len(losses(data, epoch__repeats=4, batch__size=80)) == 2


@pytest.mark.parametrize("knob", ["aug.noise=on", "image_size.varies=on", "hidden.width=65"])
def test_a_flaw_of_gpus_trains_on_a_cpu(data, plain, knob):
    name, value = knob.split("=")
    other = losses(data, **{name.replace(".", "__"): value})
    assert other != plain and all(loss == loss for loss in other)
