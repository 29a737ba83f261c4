"""`cmake --install`, and a program outside the tree that finds what was installed."""

import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BUILD

PROJECT = pathlib.Path(__file__).parent / "cpp_package"


def run(*command, **variables):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


def test_the_installed_program_finds_its_probes(installed):
    shown = run(installed / "bin/loopscope", "doctor", COLUMNS="300")
    assert str(installed / "lib/loopscope") in shown.replace("\n", "").replace(" ", ""), shown
    assert (installed / "lib/loopscope/libloopscope_torch.so").exists()
    assert (installed / "lib/loopscope/python/site/sitecustomize.py").exists()


def test_a_program_outside_the_tree(installed, tmp_path):
    shutil.copytree(PROJECT, tmp_path / "project")
    run("cmake", "-S", tmp_path / "project", "-B", tmp_path / "build", "-DCMAKE_PREFIX_PATH=" + str(installed))
    run("cmake", "--build", tmp_path / "build")
    program = tmp_path / "build/train"
    assert run(program) == "0.000014\n"
    assert run(program, LOOPSCOPE_TREATMENT="rate=0.5") == "0.000000\n"


def test_a_program_that_asks_for_a_newer_one_is_refused(installed, tmp_path):
    shutil.copytree(PROJECT, tmp_path / "project")
    script = tmp_path / "project/CMakeLists.txt"
    script.write_text(script.read_text().replace("loopscope 0.1", "loopscope 9.0"))
    done = subprocess.run(
        ["cmake", "-S", tmp_path / "project", "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and "0.1.0" in done.stderr
