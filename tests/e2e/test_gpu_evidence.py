"""docs/refresh_gpu_evidence.py: what it says without a GPU, and the page that it writes from figures."""

import importlib.util
import json
import shlex
import shutil
import subprocess
import sys

import pytest
import torch

from conftest import BUILD, ROOT

SCRIPT = ROOT / "docs/refresh_gpu_evidence.py"
spec = importlib.util.spec_from_file_location("refresh_gpu_evidence", SCRIPT)
evidence = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = evidence  # dataclasses look their module up
spec.loader.exec_module(evidence)


def trial(**other):
    return {"treatment": "tf32", "value": "on", "speedup": 1.5, "ci95": [1.4, 1.6], "n": 8, "verdict": "faster", "reason": "",
            **other}  # fmt: skip


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_nothing_is_changed(tmp_path):
    copy = tmp_path / "docs"
    shutil.copytree(ROOT / "docs/evidence", copy / "evidence")
    shutil.copy(SCRIPT, copy)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = subprocess.run(
        [sys.executable, copy / SCRIPT.name, "--build", BUILD, "--part", "1"], capture_output=True, text=True
    )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1 and "needs an NVIDIA GPU" in done.stderr and "torch sees none" in done.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_part_that_there_is_not():
    done = subprocess.run([sys.executable, SCRIPT, "--part", "99"], capture_output=True, text=True)
    assert done.returncode == 2 and "invalid choice: 99" in done.stderr


def test_every_command_is_one_that_loopscope_and_train_image_take(tmp_path):
    """As far as it can be told without a GPU: the grammar, the knobs and the presets, with the device left out."""
    program = BUILD / "workloads/train_image"
    if not program.exists():
        pytest.skip("train_image is not built")
    known = {
        line.split()[0]
        for line in subprocess.run([program, "--list-knobs"], capture_output=True, text=True).stdout.splitlines()
    }
    presets = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
    for one in evidence.EXPERIMENTS:
        words = list(one.words)
        asked = words[1 : words.index("--budget")] if words[0] == "sweep" else [words[words.index("--only") + 1]]
        arguments = list(one.arguments)
        items = [arguments[i + 1] for i, word in enumerate(arguments) if word == "--set"]
        assert {item.split("=")[0] for item in [*asked, *items]} <= known, one.name
        assert arguments[arguments.index("--preset") + 1] in presets, one.name
        done = subprocess.run(
            [BUILD / "loopscope", *one.words, "--", "/no/such/program"], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 4 and "/no/such/program" in done.stderr, (one.name, done.stderr)


def test_parts_fit_into_ten_minutes():
    for part in evidence.PARTS:
        minutes = 0
        for one in evidence.EXPERIMENTS:
            if one.part == part:
                minutes += int(one.words[one.words.index("--budget") + 1].removesuffix("m"))
        assert minutes < 10


def test_the_page_holds_figures_beside_those_of_the_documents():
    figures = {
        "gpu": "NVIDIA Test", "versions": "torch 0",
        "experiments": {
            "tf32=on": {"command": "loopscope prove one", "trials": [trial()]},
            "sync.defer=on": {"command": "loopscope prove two",
                              "trials": [trial(speedup=None, ci95=None, verdict="failed", reason="a | b\nc")]},
            "batch-size": {"command": "loopscope sweep", "sweep": {
                "axes": [{"key": "batch.size", "values": ["64", "512"]}], "metric": "sample-time", "verdict": "512 is quickest.",
                "cells": [
                    {"values": ["64"], "verdict": "measured", "reason": "", "ms": 2.0, "ratio": 4.0, "ci95": [3.5, 4.5]},
                    {"values": ["512"], "verdict": "failed", "reason": "out of memory", "ms": None, "ratio": None, "ci95": None},
                ]}},
        },
        "captures": {"tuned": {"command": "loopscope run", "found": [], "gpu": None, "bytes": 10, "kept": True}},
    }  # fmt: skip
    page = evidence.page(json.loads(json.dumps(figures)))
    assert "1.50x [1.40, 1.60], n=8, faster" in page
    assert "failed: a \\| b c" in page
    assert "| 64 | 2 | 4.00 [3.50, 4.50] |" in page and "| 512 | failed: out of memory |  |" in page
    assert "batch 64→512: 4× (S2)" in page and "30.15" in page and "not yet run" in page
    assert all(command in page for command in ("loopscope prove one", "loopscope sweep", "loopscope run"))


def test_names_of_gpus_become_names_of_files():
    assert evidence.slug("NVIDIA H200") == "nvidia-h200"
    assert evidence.slug("NVIDIA RTX 6000 Ada (48 GB)") == "nvidia-rtx-6000-ada-48-gb"


def test_commands_are_shown_as_they_are_typed():
    for one in evidence.EXPERIMENTS:
        command = one.command()
        assert shlex.split(shlex.join(command)) == command and "--device" in command
