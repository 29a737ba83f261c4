#!/usr/bin/env python3
"""Packs what run.py needs into a folder that runs where nothing can be installed: the programs without their debug
information (the training programs keep theirs: lines are wanted), and the libraries that they bring along.

Of the other machine it asks for glibc and libstdc++ as old as this one's or newer, and for a Python with torch.

Usage: pack.py BUILD FOLDER
Exit:  0 done, 1 something is missing in the build, or the folder is larger than 40 MB, 2 wrong usage
"""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MOST_BYTES = 40_000_000
# Of every system, or of the Python whose torch is used there.
OF_THE_MACHINE = re.compile(
    r"(libc|libm|libdl|libpthread|librt|libutil|libresolv|libgcc_s|libstdc\+\+|libgomp|ld-linux[\w-]*)\.so|lib(torch|c10|cu|nv|nccl|shm)"
)


def fail(why):
    print(f"pack.py: {why}", file=sys.stderr)
    sys.exit(1)


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def needed(program):
    """The libraries that a program brings along: name to file."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", program), re.M))
    return {name: path for name, path in found.items() if not OF_THE_MACHINE.match(name)}


def add_program(build, folder, name, strip):
    target = folder / "bin" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(build / name, target)
    for library, path in needed(build / name).items():
        copy = folder / "lib" / library
        if copy.exists():
            continue
        copy.parent.mkdir(exist_ok=True)
        shutil.copy2(path, copy)
        run("patchelf", "--set-rpath", "$ORIGIN", copy)
    up = "/".join([".."] * name.count("/") + ["..", "lib"])
    # An RPATH, unlike a RUNPATH, holds for the libraries' own libraries too.
    run("patchelf", "--force-rpath", "--set-rpath", f"$ORIGIN/{up}", target)
    if strip:
        run("strip", "-g", target)


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    workloads = ["workloads/train_image", "workloads/train_text"]
    for one in ("loopscope", "probes/libloopscope_preload.so", "probes/libloopscope_torch.so", *workloads):
        if not (build / one).exists():
            fail(f"there is no {build / one}: build it first (`make build`)")
    if not (build / "probes/libloopscope_cupti.so").exists():
        fail("the build has no GPU probe: torch's wheel came without CUPTI's headers")
    shutil.rmtree(folder, ignore_errors=True)
    add_program(build, folder, "loopscope", strip=True)
    for one in workloads:
        add_program(build, folder, one, strip=False)
    shutil.copytree(
        build / "probes",
        folder / "bin/probes",
        ignore=shutil.ignore_patterns("sources", "CMakeFiles", "*.a", "*.cmake"),
    )
    for module in (build / "workloads").glob("*.so"):
        shutil.copy2(module, folder / "bin/workloads")
    for library in (folder / "bin").glob("*/*.so"):
        run("strip", "-g", library)
    for one in ("run.py", "kit.py", "steps.py", "experiments.py"):
        shutil.copy2(HERE / one, folder / one)
    for source, target in ((HERE / "programs", "programs"), (ROOT / "workloads/python", "programs/examples")):
        (folder / target).mkdir()
        for script in source.glob("*.py"):  # and not what a run left there
            shutil.copy2(script, folder / target / script.name)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MOST_BYTES:
        fail(f"the kit is {size / 1e6:.0f} MB, more than {MOST_BYTES / 1e6:.0f} MB")
    print(f"{folder}: {size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
