"""The probes alone, without the launcher: the capture of a small LibTorch program, and that the program itself is not
affected."""

import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

from conftest import BUILD, preloaded

PROGRAM = BUILD / "tests" / "tiny_train"
PRELOAD = BUILD / "probes" / "libloopscope_preload.so"
NVTX = BUILD / "probes" / "libloopscope_nvtx.so"

pytestmark = pytest.mark.skipif(not PROGRAM.exists() or not PRELOAD.exists(), reason="built without torch")

# probes/wire.h
FILE_HEADER = struct.Struct("<8sHHIIIQQIIIIQQ")
CHUNK_HEADER = struct.Struct("<IHHIIIIQ")
STRING, OP, DETAIL, RANGE, MARK, STACK, MODULE, APPLIED, FACT = range(1, 10)
STEP = 16
(
    STEP_END,
    MEASURE_BEGIN,
    MEASURE_END,
    EPOCH_END,
    RESIDENT,
    PEAK,
    LOSS,
    METRIC,
    SAMPLE_HASH,
    PROBE_OFF,
    PROBE_ON,
    CLEAN_END,
    DETAIL_BEGIN,
    DETAIL_END,
    THREAD_NAME,
    EPOCH_START,
) = range(1, 17)
GRAD_MODE, ANOMALY, AUTOCAST, GRAPH = 1 << 0, 1 << 2, 1 << 3, 1 << 4
NOT_APPLICABLE = 1
LAUNCHERS = [
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
]  # torchrun and mpirun are started inside srun


class Capture:
    """All records of one file, times in ns, strings resolved."""

    def __init__(self, path):
        data = path.read_bytes()
        header = FILE_HEADER.unpack_from(data)
        assert header[0] == b"LOOPSCAP"
        self.clean_end, self.dropped = header[11], header[12]
        self.pids, self.strings, records = set(), {0: ""}, []
        for number in range(header[8]):
            at = header[3] + number * header[4]
            magic, _, _, pid, tid, used, _, _ = CHUNK_HEADER.unpack_from(data, at)
            if magic != 0x4B48434C:
                continue
            self.pids.add(pid)
            at += CHUNK_HEADER.size
            end = at + used
            while at < end:
                kind, sub, words = struct.unpack_from("<BBH", data, at)
                records.append((kind, sub, data[at : at + words * 8]))
                at += words * 8
        for kind, _, body in records:
            if kind == STRING:
                number, length = struct.unpack_from("<II", body, 4)
                self.strings[number] = body[12 : 12 + length].decode()
        self.records = records

    def of(self, kind, layout):
        for found, sub, body in self.records:
            if found == kind:
                yield sub, struct.unpack_from(layout, body, 4)

    def marks(self, wanted):
        """(name, time, value), by time."""
        found = [
            (self.strings[name], time, value) for sub, (name, time, value) in self.of(MARK, "<IQQ") if sub == wanted
        ]
        if wanted == STEP_END:
            found = [(self.strings[clock], end, samples) for _, (clock, end, samples) in self.of(STEP, "<IQQ")]
        return sorted(found, key=lambda mark: mark[1])

    def doubles(self, wanted):
        return [struct.unpack("<d", struct.pack("<Q", value))[0] for _, _, value in self.marks(wanted)]

    def applied(self):
        return {
            self.strings[key]: (self.strings[old], self.strings[now], flags)
            for _, (key, _, old, now, flags) in self.of(APPLIED, "<IIIII")
        }

    def facts(self):
        return {self.strings[key]: self.strings[value] for _, (key, value) in self.of(FACT, "<II")}

    def ops(self):
        """(name, flags)."""
        return [(self.strings[name], flags) for _, (name, _, _, _, _, _, flags) in self.of(OP, "<IQIIIHH")]

    def ranges(self, wanted):
        return [
            (self.strings[name], value) for sub, (name, _, _, value, _) in self.of(RANGE, "<IQQQI") if sub == wanted
        ]


@pytest.fixture
def probed(tmp_path):
    """Runs the program under the probes: (result, captures)."""

    def run(*switches, mode="trace", warmup=5, steps=10, program=(PROGRAM,), probes=BUILD / "probes", **variables):
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        folder.mkdir(mode=0o700)
        env = dict(
            os.environ,
            OMP_NUM_THREADS="1",
            LD_PRELOAD=preloaded(mode, probes),
            LOOPSCOPE_RUN_DIR=str(folder),
            LOOPSCOPE_MODE=mode,
            LOOPSCOPE_WARMUP=str(warmup),
            LOOPSCOPE_STEPS=str(steps),
        )
        env.update({f"LOOPSCOPE_{key.upper()}": str(value) for key, value in variables.items() if key != "nvtx"})
        if variables.get("nvtx"):
            env["NVTX_INJECTION64_PATH"] = str(NVTX)
        done = subprocess.run([*program, *switches], env=env, capture_output=True, text=True, timeout=120)
        return done, [Capture(path) for path in sorted(folder.glob("*.cap"))]

    return run


def plain(*switches):
    return subprocess.run(
        [PROGRAM, *switches], env=dict(os.environ, OMP_NUM_THREADS="1"), capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize(
    "switches, clock",
    [
        ([], "optimizer:SGD#1"),
        (["--adamw"], "optimizer:AdamW#1"),
        (["--two-optimizers"], "optimizer:SGD#1"),
        (["--accumulate", "2"], "optimizer:SGD#1"),
        (["--no-loader"], "optimizer:SGD#1"),
        (["--no-optimizer-step"], "backward"),
        (["--nvtx"], "nvtx:step"),
    ],
)
@pytest.mark.parametrize("mode", ["trace", "clock"])
def test_the_step_clock(probed, switches, clock, mode):
    done, [capture] = probed(*switches, mode=mode, nvtx="--nvtx" in switches)
    assert done.returncode == 0, done.stderr
    assert {name for name, _, _ in capture.marks(STEP_END)} == {clock}
    [(_, begin, _)] = capture.marks(MEASURE_BEGIN)
    [(_, end, steps)] = capture.marks(MEASURE_END)
    assert steps == 10
    assert sum(begin < time <= end for _, time, _ in capture.marks(STEP_END)) == 10
    assert capture.clean_end == 1 and capture.dropped == 0
    if "--no-loader" not in switches:
        accumulated = 2 if "--accumulate" in switches else 1
        assert {value for _, _, value in capture.marks(STEP_END)} == {32 * accumulated}


def test_training_computes_the_same(probed):
    # Four epochs are under the window's end, so the program runs to its own.
    expected = plain("--epochs", "4", "--losses", "--item")
    for mode in ["trace", "clock", "check"]:
        done, [capture] = probed("--epochs", "4", "--losses", "--item", mode=mode, steps=1000)
        assert done.stdout == expected.stdout and done.returncode == 0
        assert capture.clean_end == 1
        assert capture.marks(MEASURE_END)[0][2] == 35


def test_check_mode_keeps_the_losses_bit_for_bit(probed):
    done, [capture] = probed("--losses", mode="check")
    printed = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("loss")]
    assert capture.doubles(LOSS) == printed and len(printed) == 15
    again, [second] = probed("--losses", mode="check")
    assert capture.marks(SAMPLE_HASH) and [m[2] for m in capture.marks(SAMPLE_HASH)] == [
        m[2] for m in second.marks(SAMPLE_HASH)
    ]


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda names: names[0])
def test_each_rank_draws_from_its_own_seed(probed, monkeypatch, launcher):
    """The program draws before it seeds anything itself. A rank's seed is the base seed plus its rank."""

    def draw(seed, **variables):
        with monkeypatch.context() as environment:
            for name, value in {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", **variables}.items():
                environment.setenv(name, value)
            done, _ = probed("--draw", "--epochs", "1", mode="clock", seed=seed)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[1]

    rank, size = launcher
    first, second = (draw(7, **{rank: number, size: "2"}) for number in "01")
    assert first != second and second == draw(8, **{rank: "0", size: "2"})


def test_exceptions_pass_through(probed):
    done, [capture] = probed("--throw", "--epochs", "2", steps=0)
    assert done.returncode == 0 and "caught 20" in done.stdout
    assert len([r for r in capture.ranges(3)]) == 40  # those that threw are closed too
    assert len(capture.marks(STEP_END)) == 20  # but are not steps


def test_goes_on_until_an_epoch_boundary(probed):
    _, [capture] = probed("--samples", "640", steps=4, until="epoch", time=30)
    [(_, closed, _)] = capture.marks(MEASURE_END)
    boundary = capture.marks(EPOCH_END)[0][1]
    assert closed < boundary < capture.marks(EPOCH_START)[1][1]
    assert sum(time > capture.marks(EPOCH_START)[1][1] for _, time, _ in capture.marks(STEP_END)) == 2
    begins, ends = capture.marks(DETAIL_BEGIN), capture.marks(DETAIL_END)
    assert len(begins) == 2 and begins[1][1] <= boundary
    # The evaluation is recorded, without a gradient; between the window and the boundary no op is.
    assert any(name == "aten::conv2d" and not flags & GRAD_MODE for name, flags in capture.ops())
    assert len(ends) == 2
    _, [impatient] = probed("--samples", "640", steps=4, until="epoch", time=0)
    assert impatient.marks(EPOCH_END) == []


@pytest.mark.parametrize("workers", ["0", "2"])
def test_epochs_with_and_without_workers(probed, workers):
    _, [capture] = probed("--epochs", "3", "--workers", workers, steps=0)
    steps = [time for _, time, _ in capture.marks(STEP_END)]
    assert len(steps) == 30
    ends = [time for _, time, _ in capture.marks(EPOCH_END)]
    starts = [time for _, time, _ in capture.marks(EPOCH_START)]
    assert len(starts) == 3 and len(ends) == 3
    for epoch in range(3):
        assert sum(starts[epoch] < time < ends[epoch] for time in steps) == 10
    assert bool(capture.ranges(10)) == (workers == "2")


def test_state_and_detail_of_ops(probed):
    _, [capture] = probed("--anomaly", "--item", detail=2)
    assert all(flags & ANOMALY for name, flags in capture.ops() if name == "aten::conv2d")
    assert any(flags & GRAPH for name, flags in capture.ops() if name == "aten::conv2d")
    assert not any(flags & AUTOCAST for _, flags in capture.ops())
    texts = {capture.strings[inputs] for _, (inputs, _, _) in capture.of(DETAIL, "<III")}
    # A parameter has the same number in each step, another parameter another one.
    layers = {
        match[0]
        for text in texts
        if (match := re.match(r"f32\[32,3,16,16\];f32\[8,3,3,3\]!#(\d+);f32\[8\]!#(\d+)", text))
    }
    assert len(layers) == 1
    weight, bias = re.findall(r"#(\d+)", layers.pop())
    assert weight != bias
    assert capture.facts()["torch.version"].startswith("2.")
    assert capture.facts()["threads"] == "1"
    assert any("tiny_train" in capture.strings[path] for _, (path,) in capture.of(MODULE, "<I"))


def test_the_probe_for_the_programs_own_libtorch_is_taken(probed, tmp_path):
    """A package has several: in the folder itself, and in folders named for their torch."""
    version = (BUILD / "probes" / "torch_version").read_text().split(".")
    for folder, seen in ((".".join(version[:2]), True), ("1.2", False)):
        probes = tmp_path / "packages" / folder
        (probes / f"torch-{folder}").mkdir(parents=True)
        for name in ("preload", "calls"):
            shutil.copy(BUILD / "probes" / f"libloopscope_{name}.so", probes)
        shutil.copy(BUILD / "probes" / "libloopscope_torch.so", probes / f"torch-{folder}")
        done, [capture] = probed(probes=probes)
        assert done.returncode == 0 and bool(list(capture.ops())) == seen, done.stderr


def test_treatments_report_what_they_changed(probed):
    treatment = "debug=off;amp=bf16;cudnn.benchmark=on;tf32=on;deterministic=off;threads=1;unknown=1"
    _, [capture] = probed("--anomaly", mode="clock", treatment=treatment)
    applied = capture.applied()
    assert applied["debug"] == ("on", "off", 0)
    assert applied["amp"] == ("off", "bf16", 0)
    assert applied["threads"][1:] == ("1", 0)
    for key in ["cudnn.benchmark", "tf32", "deterministic"]:
        assert applied[key][2] == NOT_APPLICABLE and applied[key][1]
    assert "unknown" not in applied
    _, [without] = probed("--no-loader", mode="clock", treatment="amp=bf16;debug=off")
    assert without.applied()["amp"][2] == NOT_APPLICABLE
    assert without.applied()["debug"] == ("off", "already off", NOT_APPLICABLE)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_amp_covers_the_training_forward_only(probed, workers):
    _, [capture] = probed("--workers", workers, treatment="amp=bf16", steps=20)
    forward = [flags for name, flags in capture.ops() if name == "aten::conv2d" and flags & GRAPH]
    assert forward and all(flags & AUTOCAST for flags in forward if flags & 1 << 9)
    assert not any(
        flags & AUTOCAST
        for name, flags in capture.ops()
        if name.startswith("autograd::engine") or not flags & GRAD_MODE and name == "aten::conv2d" and flags & 1 << 9
    )
    _, [treated] = probed("--workers", workers, mode="check", treatment="amp=bf16", steps=20)
    _, [untreated] = probed("--workers", workers, mode="check", steps=20)
    pairs = list(zip(treated.doubles(LOSS), untreated.doubles(LOSS)))
    assert len(pairs) == 25 and any(a != b for a, b in pairs)
    assert all(abs(a - b) < 0.1 for a, b in pairs)


def test_a_forked_child_shares_the_file(probed):
    done, captures = probed("--fork")
    assert done.returncode == 0 and len(captures) == 1
    assert len(captures[0].pids) == 2 and captures[0].clean_end == 1


def test_the_end_leaves_no_child_and_loses_no_output(probed):
    done, [capture] = probed("--child", "--losses")
    assert done.returncode == 0 and capture.clean_end == 1
    assert done.stdout.count("loss") == 15  # a pipe: flushed before the end
    left = [path for path in pathlib.Path("/proc").glob("[0-9]*/environ") if _mentions(path, capture)]
    assert left == []


def test_what_cpp_streams_hold_is_not_lost_at_the_end(probed):
    done, _ = probed("--stream")
    assert done.returncode == 0 and done.stdout.count("loss") == 15


def test_no_program_gets_a_cpp_library_that_it_does_not_load_itself(probed):
    done, _ = probed("/proc/self/maps", program=("cat",))
    assert PRELOAD.name in done.stdout and "libstdc++" not in done.stdout
    assert "libloopscope_calls.so" in done.stdout and _cpp_library_symbols("calls") == [
        "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"
    ]
    assert _cpp_library_symbols("preload") == []


def _cpp_library_symbols(probe):
    """Symbols of the C++ library that it exports to the program."""
    library = BUILD / "probes" / f"libloopscope_{probe}.so"
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in symbols.splitlines()]
    assert names
    return [name for name in names if name.startswith(("_ZNSt", "_ZSt", "_ZNKSt", "_ZTISt"))]


def test_a_timed_launch_takes_no_detour(probed):
    """No function that every operator calls goes through a probe."""
    done, _ = probed("/proc/self/maps", program=("cat",), mode="clock")
    assert PRELOAD.name in done.stdout and "libloopscope_calls.so" not in done.stdout
    symbols = subprocess.run(["nm", "-D", "--defined-only", PRELOAD], capture_output=True, text=True, check=True).stdout
    assert "_ZN5torch" in symbols and "_ZN2at" not in symbols and "_ZN3c10" not in symbols


def _mentions(environ, capture):
    try:
        status = (environ.parent / "status").read_text()
    except OSError:
        return False
    return any(f"PPid:\t{pid}\n" in status for pid in capture.pids)


def test_through_a_shell_that_execs(probed):
    done, captures = probed("-c", f"true; exec {PROGRAM}", mode="clock", program=("bash",))
    assert done.returncode == 0 and len(captures) == 1 and captures[0].clean_end == 1


def test_training_goes_on_where_recording_cannot(probed, tmp_path):
    expected = plain("--epochs", "2", "--losses")
    done, captures = probed("--epochs", "2", "--losses", steps=0, run_dir=tmp_path / "missing")
    assert done.returncode == 0 and done.stdout == expected.stdout and captures == []
    assert done.stderr.count("loopscope: ") == 1 and "cannot record" in done.stderr
    done, [capture] = probed("--epochs", "2", "--losses", steps=0, capture_limit=300_000)
    assert done.returncode == 0 and done.stdout == expected.stdout
    assert done.stderr.count("loopscope: ") == 1 and "size limit" in done.stderr
    assert capture.dropped > 0 and capture.marks(PROBE_OFF) and capture.ops()
