# ctest labels: slow
"""The kit for machines with a GPU on which nothing can be installed: what it holds, what it does where there is no GPU,
and the page that is made of what it brings back."""

import gzip
import importlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile

import pytest
import torch

from conftest import BUILD, ROOT

sys.path[:0] = [str(ROOT / "tests/gpu_kit"), str(ROOT / "docs")]
kit_module, steps, experiments, evidence = map(
    importlib.import_module, ("kit", "steps", "experiments", "refresh_gpu_evidence")
)
PACK = ROOT / "tests/gpu_kit/pack.py"
NEEDED = ("workloads/train_image", "workloads/train_text", "probes/libloopscope_cupti.so")
pytestmark = pytest.mark.skipif(not all((BUILD / one).exists() for one in NEEDED), reason="not all of it is built")
EVERY_STEP = [step for part in steps.PARTS.values() for step in part]


@pytest.fixture(scope="session")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed") / "gpu_kit"
    done = subprocess.run([sys.executable, PACK, BUILD, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def kit(packed, tmp_path):
    made = kit_module.Kit(packed, tmp_path)
    yield made
    made.close()


def test_a_kit_brings_its_libraries_along(packed):
    """All but those of every system, which are looked for where the system has them."""
    seen = subprocess.run(["ldd", packed / "bin/loopscope"], capture_output=True, text=True, env={}).stdout
    elsewhere = [line.split()[0] for line in seen.splitlines() if "=> /" in line and str(packed) not in line]
    assert elsewhere and all(name.startswith(("libc.", "libm.", "libgcc_s", "libstdc++")) for name in elsewhere), seen
    assert "not found" not in seen
    version = subprocess.run([packed / "bin/loopscope", "--version"], capture_output=True, text=True, env={})
    assert version.returncode == 0, version.stderr


def test_a_kit_from_nothing(tmp_path):
    done = subprocess.run([sys.executable, PACK, tmp_path, tmp_path / "kit"], capture_output=True, text=True)
    assert done.returncode == 1 and "build it first" in done.stderr
    assert subprocess.run([sys.executable, PACK], capture_output=True).returncode == 2


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("part", [min(steps.PARTS), max(steps.PARTS)])
def test_without_a_gpu_all_steps_are_accounted_for(packed, tmp_path, part):
    command = [sys.executable, packed / "run.py", "--part", str(part), "--out", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 3 and "needs an NVIDIA GPU" in done.stderr and "sees none" in done.stderr
    told = json.loads((tmp_path / f"out/part{part}.json").read_text())
    assert list(told["steps"]) == [step.name for step in steps.PARTS[part]]
    assert all(one["skipped"].startswith("no GPU") for one in told["steps"].values())


def test_a_part_that_there_is_not(packed, tmp_path):
    command = [sys.executable, packed / "run.py", "--part", "99", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "invalid choice: 99" in done.stderr


def test_parts_take_less_than_nine_minutes():
    for part, listed in steps.PARTS.items():
        alone = sum(step.seconds for step in listed if not step.beside)
        beside = sorted((step.seconds for step in listed if step.beside), reverse=True)
        assert alone + sum(beside[:: run_module().BESIDE_AT_ONCE]) < 540, part
    assert len({step.name for step in EVERY_STEP}) == len(EVERY_STEP)


def run_module():
    return importlib.import_module("run")


def test_a_fault_stops_no_other_step(tmp_path):
    def fault(_):
        raise ValueError("broken")

    kit = kit_module.Kit(tmp_path, tmp_path)
    listed = [kit_module.Step("a", 1, fault), kit_module.Step("b", 1, lambda _: {"seen": 1}),
              kit_module.Step("late", 1000, fault), kit_module.Step("c", 1, fault, needed=True),
              kit_module.Step("d", 1, fault), kit_module.Step("e", 1, fault, beside=True)]  # fmt: skip
    part = run_module().Part(7, kit, limit=60)
    part.run(listed)
    told = json.loads((tmp_path / "part7.json").read_text())["steps"]
    assert told["a"]["error"] == "ValueError: broken" and told["b"]["result"] == {"seen": 1}
    assert "60 s are left" in told["late"]["skipped"] and "error" in told["c"]
    assert told["d"]["skipped"] == told["e"]["skipped"] == "it needs “c”"
    assert "Traceback" in (tmp_path / "log.txt").read_text()
    kit.close()


CPU_LOOP = """
import torch
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(400):
    optimizer.zero_grad()
    model(torch.randn(8, 8)).sum().backward()
    optimizer.step()
"""


def test_what_is_kept_of_a_run(kit, tmp_path):
    (tmp_path / "loop.py").write_text(CPU_LOOP)
    told = kit.record("some", [sys.executable, str(tmp_path / "loop.py")])
    assert told["gpu"] is None and told["steps"]["measured"] >= 50 and told["verdicts"]["host-sync"]
    assert kit.keep_capture("some")
    with tarfile.open(tmp_path / "captures.tar") as tar:
        assert tar.getnames() == ["some.tar.gz"]
    assert "loop.py" in (tmp_path / "log.txt").read_text()


def test_a_program_is_ended_by_a_signal(kit, tmp_path):
    (tmp_path / "loop.py").write_text(CPU_LOOP.replace("400", "10**9"))
    told = kit.until("some", [sys.executable, str(tmp_path / "loop.py"), "none"], signal.SIGKILL, 12)
    assert told["steps"]["measured"] > 20 and told["exit"] != 0


def test_every_command_is_one_that_loopscope_and_train_image_take(kit, tmp_path, request):
    """As far as it can be told without a GPU: the grammar, the knobs and the presets, with the device left out."""
    program = BUILD / "workloads/train_image"
    listed = subprocess.run([program, "--list-knobs"], capture_output=True, text=True, check=True).stdout
    known = {line.split()[0] for line in listed.splitlines()}
    presets = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    seen = []

    class Recorder(kit_module.Kit):
        def report(self, name, words, program=(), limit=0, **environment):
            seen.append((words, program))
            raise kit_module.StepFailed("recorded")

    recorder = Recorder(kit.root, tmp_path)
    request.addfinalizer(recorder.close)
    for step in EVERY_STEP:
        if step.name.startswith(("prove", "sweep", "train_image")):
            with pytest.raises(kit_module.StepFailed):
                step.action(recorder)
    assert len(seen) > 30
    for words, program in seen:
        arguments = list(program[1:])
        items = [arguments[at + 1] for at, word in enumerate(arguments) if word == "--set"]
        if program[0] != recorder.workload("train_image")[0]:
            assert program[1].endswith("image_classifier.py")
            continue
        if words[0] == "prove":
            items.append(words[words.index("--only") + 1])
        grid = [word for word in words if isinstance(word, str) and words[0] == "sweep" and "=" in word]
        assert {one.split("=")[0] for item in items for one in item.split(",")} <= known, items
        assert {axis.split("=")[0] for axis in grid} <= known, grid
        assert arguments[arguments.index("--preset") + 1] in presets, arguments
    for command in ("prove", "sweep"):
        words = next(words for words, _ in seen if words[0] == command)
        command = [BUILD / "loopscope", *words, "--", "/no/such/program"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 4 and "/no/such/program" in done.stderr, (words, done.stderr)


# The page


def trial(**other):
    return {"treatment": "tf32", "value": "on", "speedup": 1.5, "ci95": [1.4, 1.6], "n": 8, "verdict": "faster", "reason": "",
            **other}  # fmt: skip


MACHINE = {"gpu": "NVIDIA Test", "versions": "torch 0", "nvidia_smi": "580, 80 GB", "python": "3.12"}
PART = {
    "part": 3, "machine": MACHINE,
    "steps": {
        "prove tf32=on": {"seconds": 1, "result": {"what": "TF32", "said": "2×", "trials": [trial()],
                                                   "command": ["loopscope", "prove", "a b"]}},
        "prove sync.defer=on": {"seconds": 1, "result": {
            "what": "deferred", "said": "", "command": ["loopscope", "prove", "two"],
            "trials": [trial(speedup=None, ci95=None, verdict="failed", reason="a | b\nc")]}},
        "sweep batch size": {"seconds": 1, "result": {
            "what": "Batch", "said": "30.15", "command": ["loopscope", "sweep"], "sweep": {
                "axes": [{"key": "batch.size", "values": ["64", "512"]}], "metric": "sample-time", "verdict": "512 is quickest.",
                "cells": [
                    {"values": ["64"], "verdict": "measured", "reason": "", "ms": 2.0, "ratio": 4.0, "ci95": [3.5, 4.5]},
                    {"values": ["512"], "verdict": "failed", "reason": "out of memory", "ms": None, "ratio": None, "ci95": None},
                ]}}},
        "flaws item": {"seconds": 1, "result": {
            "gpu": {"busy_pct": 80.0, "idle_pct": 20.0, "idle_us": 100.0, "idle_causes": {"sync": 90.0, "launch": 10.0, "copy": 0.5}},
            "findings": [{"rule": "host-sync", "severity": "high"}, {"rule": "other", "severity": "info"}]}},
        "cost": {"seconds": 1, "result": {"seconds": {"tiny": {
            "plain": [1e-3, 2e-3, 1e-3], "recorded": [1.2e-3, 2.2e-3, 1.1e-3], "profiler": [2e-3, 4e-3, 2e-3]}}}},
        "killed": {"seconds": 1, "error": "StepFailed: still there"},
        "late": {"skipped": "no time"},
    },
}  # fmt: skip


@pytest.fixture
def taken(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "EVIDENCE", tmp_path / "evidence")
    monkeypatch.setattr(evidence, "CAPTURES", tmp_path / "captures")

    def take(part, capture=None):
        folder = tmp_path / "out"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "part3.json").write_text(json.dumps(part))
        if capture:
            with tarfile.open(folder / "captures.tar", "w") as tar:
                for name in ("item", "unknown"):
                    head = tarfile.TarInfo(name + ".tar.gz")
                    head.size = len(capture)
                    tar.addfile(head, io.BytesIO(capture))
        return evidence.take(folder)

    return take


def test_the_page_holds_figures_beside_those_of_the_documents(taken, tmp_path):
    assert taken(PART) == 0
    page = (tmp_path / "evidence/nvidia-test.md").read_text()
    assert "1.50x [1.40, 1.60], n=8, faster" in page and "failed: a \\| b c" in page
    assert "| 64 | 2 | 4.00 [3.50, 4.50] |" in page and "| 512 | failed: out of memory |  |" in page and "30.15" in page
    assert "| flaws item | 80.0 % busy; idle by sync 90 %, launch 10 % | host-sync |" in page
    assert "| small kernels | 1000 | 13.2 % [-0.0402, 28.3] | 100 % [100, 100] |" in page and "3 rounds" in page
    assert "- killed: StepFailed: still there" in page and "late" not in page
    assert "loopscope prove 'a b'" in page


def test_what_was_done_before_stays(taken, tmp_path):
    assert taken(PART) == 0
    assert taken({**PART, "steps": {"flaws item": {"error": "no"}, "prove tf32=on": {"seconds": 1, "result": {
        "what": "TF32", "said": "", "trials": [trial(speedup=1.7)], "command": []}}}}) == 0  # fmt: skip
    page = (tmp_path / "evidence/nvidia-test.md").read_text()
    assert "1.70x" in page and "1.50x" not in page and "| flaws item | 80.0 % busy" in page
    assert evidence.render("NVIDIA Test") == 0 and (tmp_path / "evidence/nvidia-test.md").read_text() == page


def test_small_captures_become_tests_data(taken, tmp_path):
    assert taken(PART, gzip.compress(b"content")) == 0
    kept = list((tmp_path / "captures/nvidia-test").iterdir())
    assert [one.name for one in kept] == ["item.tar.gz"] and gzip.decompress(kept[0].read_bytes()) == b"content"


def test_nothing_to_take(taken, tmp_path, capsys):
    assert taken({**PART, "machine": None}) == 2
    assert "run gpu_kit/run.py there first" in capsys.readouterr().err
    assert evidence.render("NVIDIA Other") == 2


def test_names_of_gpus_become_names_of_files():
    assert evidence.slug("NVIDIA H200") == "nvidia-h200"
    assert evidence.slug("NVIDIA RTX 6000 Ada (48 GB)") == "nvidia-rtx-6000-ada-48-gb"


def test_python_finds_the_kit_on_any_path(packed, tmp_path):
    """Whatever the current folder is, and without the kit's own folder on the path."""
    done = subprocess.run(
        [sys.executable, "-I", packed / "run.py", "--help"], capture_output=True, text=True, cwd="/", env={**os.environ}
    )
    assert done.returncode == 0 and "--part" in done.stdout
