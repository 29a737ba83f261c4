# ctest labels: gpu
"""Every flaw of GPUs that train_image can be given is found on a real one, with its line, and the tuned program is clean."""

import os
import pathlib
import re
import subprocess

import pytest

from conftest import BUILD

torch = pytest.importorskip("torch")
PROGRAM = BUILD / "workloads" / "train_image"
pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that torch can use"),
    pytest.mark.skipif(not PROGRAM.exists(), reason="train_image is not built"),
]
BOUNDS = ["--warmup", "20", "--steps", "60", "--time", "90s"]
# What fires beside the planted rule, and why.
BESIDE = {
    "tf32-off": {"fp32-compute"},  # TF32 acts on float32 products alone, so autocast is off too
    "launch-bound": {"gpu-starvation", "small-batch"},  # the same idle time, seen as a whole
    "small-batch": {"gpu-starvation", "launch-bound"},
    "cudnn-retuning": {"gpu-starvation", "launch-bound"},  # tuning holds up the host
    "cache-emptied": {"gpu-starvation"},  # so does asking for memory
    "host-sync": {"gpu-starvation"},
    "cpu-then-device": {
        "pageable-copy",
        "gpu-starvation",
        "input-starvation",
    },  # the noise itself comes from pageable memory
    "pageable-copy": {"gpu-starvation"},
    "blocking-copy": {"gpu-starvation"},
    "odd-dimensions": set(),
    "wide-input": set(),
    "layout-conversion": set(),
    "cudnn-autotune-off": set(),
    "deterministic-mode": set(),
}
WITH_A_LINE = {"pageable-copy", "blocking-copy", "cpu-then-device", "host-sync", "wide-input"}


def libraries():
    """The library path of this Python's torch: the program may have been built against another one."""
    torch_folder = pathlib.Path(torch.__file__).parent
    folders = [torch_folder / "lib", *sorted(torch_folder.parent.glob("nvidia/*/lib"))]
    old = os.environ.get("LD_LIBRARY_PATH")
    return ":".join([*map(str, folders), *([old] if old else [])])


@pytest.fixture
def diagnose(loopscope):
    def one(preset, *items, ranks=1):
        several = ["--ranks", str(ranks)] if ranks > 1 else []
        sets = [word for item in items for word in ("--set", item)]
        done, report = loopscope.report(
            "run", *BOUNDS, "--", PROGRAM, "--device", "cuda", "--preset", preset, *several, *sets,
            env={"LD_LIBRARY_PATH": libraries()},
        )  # fmt: skip
        assert done.code == 0, done.err
        assert ranks > 1 or report["gpu"] is not None, report["quality"]["warnings"]
        assert report["quality"]["dropped"] == 0
        return report

    return one


def above_info(report):
    return {one["rule"] for one in report["findings"] if one["severity"] != "info"}


def test_tuned_is_clean(diagnose):
    report = diagnose("tuned")
    assert above_info(report) == set(), [one["title"] for one in report["findings"]]
    assert report["gpu"]["busy_pct"] > 80, report["gpu"]


@pytest.mark.parametrize("rule", BESIDE)
def test_a_planted_flaw_is_found(diagnose, rule):
    report = diagnose(f"only:{rule}")
    found = {one["rule"]: one for one in report["findings"]}
    assert rule in found, [one["title"] for one in report["findings"]] + [report["gpu"]["idle_causes"]]
    assert above_info(report) <= {rule} | BESIDE[rule]
    if rule in WITH_A_LINE:
        where = [evidence["where"] for evidence in found[rule]["evidence"] if evidence["where"]]
        assert where and where[0]["line"] and "workloads/" in where[0]["path"], found[rule]


def test_a_starved_gpu_names_its_loader(diagnose):
    report = diagnose("only:input-starvation")
    assert {"input-starvation", "gpu-starvation"} & above_info(report)
    assert max(report["gpu"]["idle_causes"], key=report["gpu"]["idle_causes"].get) == "loader"


@pytest.mark.parametrize("preset", ["tuned", "naive", "only:host-sync", "only:launch-bound"])
def test_the_causes_sum_to_the_idle_time(diagnose, preset):
    gpu = diagnose(preset)["gpu"]
    assert sum(gpu["idle_causes"].values()) == pytest.approx(gpu["idle_us"], rel=0.01)
    assert gpu["busy_pct"] + gpu["idle_pct"] == pytest.approx(100, abs=0.1)


def test_ranks_that_share_a_gpu_exchange_through_the_host(diagnose):
    report = diagnose("tuned", "batch.size=64", "ddp.backend=gloo", ranks=2)
    assert "slow-backend" in {one["rule"] for one in report["findings"]}


GRAPHS = ["loader.workers=1", "batch.size=16", "model.size=small", "epochs=1", "epoch.repeats=4", "seed=3"]


@pytest.mark.parametrize("amp", ["off", "bf16", "fp16"])
def test_recorded_passes_train_as_others_do(amp):
    def losses(graphs):
        sets = [word for item in [*GRAPHS, f"amp={amp}", f"cuda_graphs={graphs}"] for word in ("--set", item)]
        done = subprocess.run(
            [PROGRAM, "--device", "cuda", "--preset", "tuned", "--print-losses", *sets],
            env={**os.environ, "LD_LIBRARY_PATH": libraries(), "LOOPSCOPE_SAMPLE_RNG": "hash"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return [float(one) for one in re.findall(r"^loss (\S+)$", done.stdout, re.M)]

    plain, recorded = losses("off"), losses("on")
    assert len(plain) == len(recorded) > 100
    assert recorded[:20] == pytest.approx(plain[:20], rel=0.05)
    assert sum(recorded[-20:]) < 0.9 * sum(recorded[:20])


def test_recorded_passes_help_where_launches_are_the_limit(diagnose):
    plain = diagnose("only:launch-bound")
    recorded = diagnose("only:launch-bound", "cuda_graphs=on")
    assert recorded["steps"]["mean_ms"] < 0.8 * plain["steps"]["mean_ms"]
    assert recorded["gpu"]["busy_pct"] > plain["gpu"]["busy_pct"]
    assert any("CUDA graphs were recorded as a whole" in line for line in recorded["quality"]["warnings"])
    assert {row["id"]: row["verdict"] for row in recorded["rules"]}["layout-conversion"] == "cannot-tell"


@pytest.mark.parametrize("amp", ["bf16", "fp16"])
def test_sixteen_bits_train(diagnose, amp):
    assert diagnose("tuned", f"amp={amp}")["steps"]["measured"] >= 50
