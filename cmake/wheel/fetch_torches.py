#!/usr/bin/env python3
"""Fetches what the LibTorch probe is built against, for each torch of torches.txt: its headers, libtorch_cpu and libc10.

Usage: fetch_torches.py FOLDER
FOLDER/2.8.0/torch/… is what the wheel of torch 2.8.0 holds of them; one that is there is not fetched again. No wheel is
installed, and none is kept.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

TORCHES = pathlib.Path(__file__).resolve().parent / "torches.txt"
WANTED = ("torch/include/", "torch/share/cmake/Torch/TorchConfig.cmake", "torch/version.py")
LIBRARIES = ("torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "torch/lib/libc10_cuda.so")


def versions():
    lines = (line.partition("#")[0].strip() for line in TORCHES.read_text().splitlines())
    return [line for line in lines if line]


def fetch(version, folder):
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        download = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-cache-dir"]
        subprocess.run([*download, "--no-deps", "-d", scratch, f"torch=={version}"], check=True)
        [wheel] = pathlib.Path(scratch).glob("*.whl")
        parts = pathlib.Path(scratch) / "parts"
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith(WANTED) or name in LIBRARIES:
                    archive.extract(name, parts)
        (parts / "torch").rename(folder / version / "torch")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    for version in versions():
        made = folder / version
        if (made / "torch").exists():
            continue
        print(f"torch {version}: headers and libraries go into {made}", flush=True)
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        fetch(version, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
