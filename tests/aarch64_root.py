#!/usr/bin/env python3
"""Trains under Loopscope on an emulated 64-bit ARM processor: a root of Debian's arm64 packages with Python and torch,
the build of `make aarch64` in it, a script and a C++ program with a flaw that the report has to name.

Needs root, what `make aarch64` needs, the packages qemu-user-static and arch-test, and a kernel with binfmt_misc. The
root is kept in build-aarch64/root: making it takes five minutes, a run another ten. Nothing here is measured.

Usage: aarch64_root.py
Exit:  0 all were right, 1 some were not, 2 it cannot run here
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import wheel_roots

HERE = pathlib.Path(__file__).resolve().parents[1] / "build-aarch64"
ROOT, BUILD, BINFMT = HERE / "root", HERE / "build", pathlib.Path("/proc/sys/fs/binfmt_misc")
EMULATOR = pathlib.Path("/usr/lib/binfmt.d/qemu-aarch64.conf")
INSIDE = "python3 libfmt9 libdw1 libsqlite3-0 libisal2 libzstd1 libjpeg62-turbo libgloo0 libstdc++6 libgomp1".split()
PACKAGES = "numpy typing_extensions sympy mpmath networkx jinja2 MarkupSafe fsspec filelock".split()
TORCH = "/usr/lib/python3/dist-packages/torch/lib"
TRAINING = wheel_roots.TRAINING.replace("range(2000)", "range(100)")  # an emulated step takes half a second


def register():
    """Makes the kernel start programs of that processor in the emulator."""
    if not (BINFMT / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "none", BINFMT], check=False, capture_output=True)
    if (BINFMT / "qemu-aarch64").exists():
        return True
    if not EMULATOR.exists() or not (BINFMT / "register").exists():
        return False
    (BINFMT / "register").write_bytes(EMULATOR.read_bytes())
    return True


def make_root():
    if ROOT.exists():
        return
    new = ROOT.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    made = ["mmdebstrap", "--quiet", "--architectures=arm64", "--variant=apt", f"--include={','.join(INSIDE)}"]
    release = re.search(r"VERSION_CODENAME=(\S+)", pathlib.Path("/etc/os-release").read_text())[1]
    subprocess.run([*made, release, new], check=True)
    target = new / "usr/lib/python3/dist-packages"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", target]
    platforms = ["--only-binary=:all:", "--platform=manylinux_2_28_aarch64", "--platform=manylinux_2_17_aarch64"]
    subprocess.run([*pip, *platforms, *PACKAGES], check=True)
    [torch] = (HERE / "venv/lib").glob("python3.*/site-packages/torch")
    shutil.copytree(torch, target / "torch", symlinks=True)
    new.rename(ROOT)


def put_build():
    """The program, its probes and a C++ training program, as they are."""
    opt = ROOT / "opt/loopscope"
    shutil.rmtree(opt, ignore_errors=True)
    opt.mkdir(parents=True)
    shutil.copy(BUILD / "loopscope", opt)
    shutil.copy(BUILD / "tests/tiny_train", opt)
    shutil.copytree(BUILD / "probes", opt / "probes", ignore=shutil.ignore_patterns("CMakeFiles", "*.a", "*.cmake"))


def run(line):
    """In the root, in a mount namespace of its own, so that nothing stays mounted: exit status, output."""
    script = 'mount --bind "$1" "$1"; for n in proc sys dev; do mount --rbind "/$n" "$1/$n"; done; exec chroot "$1" sh -c "$2"'
    clean = {
        "PATH": "/opt/loopscope:/usr/bin:/bin:/usr/sbin",
        "HOME": "/root",
        "LC_ALL": "C.UTF-8",
        "LD_LIBRARY_PATH": TORCH,
    }
    command = ["unshare", "--mount", "sh", "-c", script, "sh", ROOT, f"cd /tmp && rm -rf out && {line}"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=clean, timeout=1800)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def main():
    if os.geteuid() != 0 or not (BUILD / "loopscope").exists() or not shutil.which("mmdebstrap") or not register():
        print(__doc__, file=sys.stderr)
        return 2
    make_root()
    put_build()
    (ROOT / "tmp/train.py").write_text(TRAINING)
    good = True
    for line, wanted in (
        ("uname -m", "aarch64"),
        ("loopscope doctor", r"LibTorch 2\.10\.0"),
        ("loopscope run -o out -- python3 train.py", wheel_roots.FLAW),
        (
            "loopscope run -o out -- tiny_train --anomaly --adamw --samples 512 --batch 16 --epochs 3",
            r"\(debug-left-on\).*tiny_train\.cpp",
        ),
    ):
        status, said = run(line)
        right = status == 0 and re.search(wanted, said) is not None
        good = good and right
        print(f"{'right' if right else 'WRONG'}: {line}: exit {status}: {said[: 400 if right else 4000]}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
