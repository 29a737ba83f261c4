#!/usr/bin/env python3
"""Tries a wheel in bare systems: a minimal root of each Debian release is made, with nothing in it but Python, and the
wheel is installed and used there as docs/install.md says. In a root with the Python of .venv the torch from there is
lent to it, and every command of README.md is run as it stands there, on a script with a flaw. Prints a table.

Needs root and debootstrap, and the mirror that this machine's own packages come from (some 100 MB a release); none of
this runs with the other tests. Some ten minutes.

Usage: wheel_roots.py WHEEL [--suite NAME]…    (bookworm and testing)
Exit:  0 all were right, 1 some were not, 2 wrong usage
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SUITES = ["bookworm", "testing"]
SOURCES = pathlib.Path("/etc/apt")
LOOPSCOPE = "/opt/loopscope/bin/loopscope"
CLEAN = {
    "PATH": "/opt/loopscope/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}


def mirror():
    """Where this machine's packages come from."""
    for path in sorted(SOURCES.glob("sources.list*")) + sorted(SOURCES.glob("sources.list.d/*")):
        if path.is_file():
            found = re.search(r"^(?:URIs:|deb(?: \[[^\]]*\])?) *(\S+/debian)/?(?:\s|$)", path.read_text(), re.MULTILINE)
            if found:
                return found[1]
    raise SystemExit("wheel_roots: no mirror of Debian in /etc/apt")


TRAINING = """import torch
from torch import nn

torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2000):
    inputs, labels = torch.randn(64, 64), torch.randint(0, 8, (64,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
"""
FLAW = r"\(debug-left-on\).*train\.py"


class Root:
    def __init__(self, suite, folder):
        self.folder = folder
        made = ["debootstrap", "--variant=minbase", "--include=python3,python3-venv", suite, folder, mirror()]
        done = subprocess.run(made, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"debootstrap: {(done.stdout + done.stderr).strip()[-300:]}")

    def run(self, *command, lent=ROOT / "docs"):
        """With /proc, and a folder lent to it as /mnt, in a mount namespace of its own, so that nothing stays mounted."""
        script = (
            'mount --bind "$1" "$1" && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" '
            '&& mount --bind -o ro "$2" "$1/mnt" && root=$1 && shift 2 && exec chroot "$root" "$@"'
        )
        inside = ["unshare", "--mount", "sh", "-c", script, "sh", self.folder, lent, *command]
        return subprocess.run([str(word) for word in inside], capture_output=True, text=True, env=CLEAN, timeout=1200)

    def output(self, *command, code=0, **options):
        done = self.run(*command, **options)
        if done.returncode != code:
            raise RuntimeError(
                f"{' '.join(command)}: exit {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"
            )
        return done.stdout + done.stderr


def expect(text, *wanted):
    for one in wanted:
        if not re.search(one, text):
            raise RuntimeError(f"'{one}' is not said in: {text.strip()[-300:]}")


def glibc(root):
    return re.search(r"(\d+\.\d+)\s*$", root.output("ldd", "--version").splitlines()[0])[1]


def try_wheel(root, wheel):
    """The checks, and what they found."""
    shutil.copy(wheel, root.folder / "tmp")
    inside = f"/tmp/{wheel.name}"
    # The system's own Python takes no packages: an environment is the way out that docs/install.md names.
    expect(
        root.output("python3", "-m", "pip", "install", inside, code=1),
        "externally-managed|externally managed|No module named pip",
    )
    root.output("python3", "-m", "venv", "/opt/loopscope")
    root.output("/opt/loopscope/bin/pip", "install", "--no-index", inside)
    expect(root.output(LOOPSCOPE, "--version"), r"loopscope \d+\.\d+\.\d+")
    doctor = root.output(LOOPSCOPE, "doctor")
    expect(doctor, r"probes +\S*/opt/loopscope/\S+", r"GPU +no driver")
    # No torch, no compiler: the program runs as it would alone, and what was not seen is said.
    program = root.folder / "tmp/train.py"
    program.write_text("print('trained')\n")
    done = root.run(LOOPSCOPE, "run", "-o", "/tmp/out", "--", "python3", "/tmp/train.py")
    expect(done.stdout, "^trained")
    expect(done.stdout + done.stderr, "(?i)no (training )?step|torch")
    readme = follow_readme(root, wheel)
    root.output("/opt/loopscope/bin/pip", "uninstall", "-y", "loopscope")
    left = [path for path in (root.folder / "opt/loopscope").rglob("*loopscope*") if path.is_file()]
    if left:
        raise RuntimeError(f"left behind: {left[:3]}")
    return [glibc(root), root.output("python3", "--version").split()[1], f"exit {done.returncode}", readme]


def commands_of_readme():
    """Those of its first screen, and those of the table of its uses."""
    text = (ROOT / "README.md").read_text()
    screen = re.findall(r"^    (\S.*?)(?:  +#.*)?$", text, re.MULTILINE)
    uses = [
        cell for row in re.findall(r"^\|.*\|$", text, re.MULTILINE) for cell in re.findall(r"`(loopscope [^`]+)`", row)
    ]
    return screen + [use for use in uses if use not in screen]


def follow_readme(root, wheel):
    """Each command as it stands there, in a new folder with the wheel in dist/ and a train.py."""
    packages = next((ROOT / ".venv/lib").glob("python3.*/site-packages"))
    [own] = (root.folder / "opt/loopscope/lib").glob("python3.*/site-packages")
    if packages.parent.name != own.parent.name:
        return "not of .venv's Python"
    (own / "lent.pth").write_text("/mnt\n")
    project, base = root.folder / "root/project", root.folder / "root/base"
    for folder in (project / "dist", base):
        folder.mkdir(parents=True)
    shutil.copy(wheel, project / "dist")
    for path in (project / "train.py", project / "old.py", project / "new.py", base / "train.py"):
        path.write_text(TRAINING)
    count = 0
    for command in commands_of_readme():
        done = root.run("sh", "-c", f"cd /root/project && {command}", lent=packages)
        said = " ".join(done.stdout.split())
        # Of two programs that are one, a gate may be unable to tell; it never fails.
        if done.returncode not in ((0, 3) if " gate " in command else (0,)):
            raise RuntimeError(f"{command}: exit {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}")
        if re.match("loopscope (run|prove) ", command):
            expect(said, FLAW)
        count += 1
    return f"{count} commands"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--suite", action="append")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("debootstrap") is None or not arguments.wheel.is_file():
        parser.error("needs root, debootstrap, and a wheel that is there")
    print("| Debian | glibc | Python | a program without torch | README | |\n|---|---|---|---|---|---|")
    good = True
    for suite in arguments.suite or SUITES:
        with tempfile.TemporaryDirectory(prefix="loopscope-root-") as folder:
            try:
                cells = [*try_wheel(Root(suite, pathlib.Path(folder) / suite), arguments.wheel), "right"]
            except RuntimeError as error:
                cells, good = ["", "", "", "", f"**{error}**"], False
            print(f"| {suite} | " + " | ".join(cells) + " |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
