# ctest labels: long
"""The wheel: its contents and requirements, and that it finds a planted flaw without a compiler."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

from conftest import BUILD, ROOT
from test_python_scripts import needs

PYTHON = os.environ.get("LOOPSCOPE_WHEEL_PYTHON", sys.executable)
MOST_BYTES = 30_000_000
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (4, 2, 0)}  # of Ubuntu 22.04, RHEL 9
OF_THE_SYSTEM = re.compile(r"(libc|libm|libz|libgcc_s|libstdc\+\+|ld-linux-x86-64)\.so\.\d$")
OF_TORCH = re.compile(r"lib(torch_cpu|c10|c10_cuda)\.so$")
COMPILERS = re.compile(r"(.*-)?(c\+\+|g\+\+|gcc|cc|clang|clang\+\+|c89|c99|cpp|ld)(-[\d.]+)?$")
EXAMPLE = ROOT / "workloads/python/image_classifier.py"
OTHER_TORCHES = sorted(probe.parent.name for probe in (BUILD / "other_probes").glob("torch-*/libloopscope_torch.so"))


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The one that LOOPSCOPE_WHEEL names, or one made from the current build."""
    if given := os.environ.get("LOOPSCOPE_WHEEL"):
        return pathlib.Path(given)
    asked = subprocess.run([PYTHON, "-c", "import scikit_build_core, auditwheel"], capture_output=True)
    if asked.returncode != 0:
        pytest.skip("requirements-wheel.txt is not installed")
    folder = tmp_path_factory.mktemp("dist")
    run(
        ROOT / "cmake/wheel/make_wheel.sh",
        "--quick",
        BUILD,
        folder,
        env={**os.environ, "LOOPSCOPE_WHEEL_PYTHON": PYTHON},
    )
    [made] = folder.glob("loopscope-*.whl")
    return made


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def files(folder):
    return {path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A virtual environment that has torch by reference, the wheel, and no compiler on its PATH."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", folder)
    [packages] = folder.glob("lib/python*/site-packages")
    torch = pathlib.Path(importlib.util.find_spec("torch").origin).parent.parent
    (packages / "torch_of_another_environment.pth").write_text(f"{torch}\n")
    tools = folder / "tools"
    tools.mkdir()
    for tool in pathlib.Path("/usr/bin").iterdir():
        if not COMPILERS.match(tool.name):
            (tools / tool.name).symlink_to(tool)
    before = files(folder)
    run(folder / "bin/python", "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel)
    return folder, before


@pytest.fixture
def start(environment, tmp_path):
    folder, _ = environment

    def start(*command, cwd=tmp_path, **variables):
        own = {"PATH": f"{folder / 'bin'}:{folder / 'tools'}", "HOME": str(tmp_path), **variables}
        return subprocess.run(
            [folder / "bin/loopscope", *command], cwd=cwd, env=own, capture_output=True, text=True, timeout=300
        )

    return start


def programs(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.open("rb").read(4) == b"\x7fELF":
            yield path


def test_the_size_and_the_systems_that_the_wheel_is_for(wheel):
    assert wheel.stat().st_size < MOST_BYTES
    assert wheel.name.endswith("-py3-none-manylinux_2_34_x86_64.whl")


def test_what_the_wheel_brings(unpacked):
    probes = unpacked / "loopscope/lib/loopscope"
    for name in ("preload", "calls", "torch", "nvtx", "cupti", "nccl"):
        assert (probes / f"libloopscope_{name}.so").exists() == (BUILD / f"probes/libloopscope_{name}.so").exists()
    assert (probes / "libloopscope_preload.so").exists() and (probes / "libloopscope_torch.so").exists()
    assert sorted(probe.parent.name for probe in probes.glob("torch-*/libloopscope_torch.so")) == OTHER_TORCHES
    assert (probes / "python/site/sitecustomize.py").exists()
    assert (probes / "sources/probes/torch/attach.cpp").exists()
    top = {path.name for path in unpacked.iterdir()}
    assert {name.split("-")[0] for name in top} == {"loopscope", "loopscope.libs"}, "all in folders of its own"
    shared = next(unpacked.glob("*.data")) / "data/share"
    assert {path.parent.name for path in shared.rglob("*") if path.is_file()} == {
        "man1",
        "completions",
        "site-functions",
        "vendor_completions.d",
    }
    notices = {path.stem for path in (unpacked / "loopscope/share/doc/loopscope/third-party").iterdir()}
    brought = {re.match(r"lib[a-z]+\d?", path.name)[0] for path in (unpacked / "loopscope.libs").iterdir()}
    assert {"libdw1", "libfmt-dev"} <= notices and len(notices) >= len(brought)


def test_no_newer_symbol_is_asked_for_than_older_systems_have(unpacked):
    seen = set()
    for program in programs(unpacked):
        needed = run("readelf", "-V", "--wide", program).partition("Version needs section")[2]
        for library, version in re.findall(r"Name: ([A-Z]+)_([\d.]+)", needed):
            if library in NEWEST:  # else of a library that comes along
                seen.add(library)
                assert tuple(map(int, version.split("."))) <= NEWEST[library], f"{program.name}: {library}_{version}"
    assert {"GLIBC", "GLIBCXX"} <= seen


def test_what_is_not_of_every_system_comes_along(unpacked):
    brought = {path.name for path in programs(unpacked)}
    for program in programs(unpacked):
        for name in re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", program)):
            of_torch = OF_TORCH.match(name) and program.name.startswith("libloopscope_torch")
            assert OF_THE_SYSTEM.match(name) or name in brought or of_torch, f"{program.name} needs {name}"


@needs("PIL", "numpy")
def test_the_first_finding_without_a_compiler(start, tmp_path):
    report = tmp_path / "report.md"
    bounds = ["--warmup", "5", "--steps", "25", "--time", "60s", "--markdown", report]
    done = start("run", *bounds, "--", "python", EXAMPLE, "--samples", "200", "--data", tmp_path / "images")
    assert done.returncode == 0, done.stderr
    assert "no probe" not in done.stderr and "probe off" not in done.stderr
    lines = EXAMPLE.read_text().splitlines()
    planted = next(number for number, line in enumerate(lines, 1) if "optimizer.step()" in line)
    assert "single-tensor-optimizer" in report.read_text(), done.stdout
    assert f"{EXAMPLE.name}:{planted}" in done.stdout


TRAINING = """
import torch

model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters())
for _ in range(40):
    optimizer.zero_grad()
    model(torch.ones(2, 8)).sum().backward()
    optimizer.step()
"""


def test_the_program_may_be_of_another_environment(start, tmp_path):
    (tmp_path / "train.py").write_text(TRAINING)
    report = tmp_path / "report.json"
    done = start("run", "--warmup", "5", "--steps", "20", "--json", report, "--", sys.executable, "train.py")
    assert done.returncode == 0, done.stderr
    written = json.loads(report.read_text())
    assert written["steps"]["measured"] >= 20 and "SGD" in written["steps"]["clock"]["ends_with"]
    assert written["quality"]["events"] > 20 * 10


def test_what_is_installed_says_what_it_is(start, environment):
    version = re.search(r"project\(loopscope VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert start("--version").stdout == f"loopscope {version}\n"
    module = run(environment[0] / "bin/python", "-m", "loopscope", "--version")
    assert module == f"loopscope {version}\n"
    shown = re.sub(r"\s+", " ", start("doctor", COLUMNS="300").stdout)
    for torch in OTHER_TORCHES:
        assert torch.removeprefix("torch-") in shown, shown
    assert start("rules", "no-such-rule").returncode == 2


def test_a_program_that_is_gone_is_said_with_the_way_out(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    (tmp_path / "loopscope/bin/loopscope").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "loopscope", "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and "install the wheel again" in done.stderr and "Traceback" not in done.stderr


def test_uninstalling_leaves_no_file_behind(environment):
    folder, before = environment
    assert (folder / "share/man/man1/loopscope.1").exists()
    run(folder / "bin/python", "-m", "pip", "uninstall", "-q", "-y", "loopscope")
    assert files(folder) == before
