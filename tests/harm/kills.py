#!/usr/bin/env python3
"""Ends Loopscope by a signal at random instants of run, prove, gate and bisect, and looks at what it leaves: processes,
mounts, /dev/shm, TMPDIR, and the user's repository (work tree, index, stash, HEAD, refs, worktrees).

  tests/harm/kills.py [--count 200] [--seed 1]     exit 1 if anything is left, or was changed
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from run import BUILD, children_of

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
OPTIONS = ["--quiet", "--budget", "20s", "--min-window", "50ms", "--warmup", "5", "--time", "2s"]
ENDS_WITHIN_S = 20
GOES_ON_S = 120  # what `run` started goes on to its own end, a few seconds later on a quiet machine
PROGRAM = "#!/bin/sh\necho {number} > /dev/null\nexec {train} --samples 64 --batch 4 --epochs {epochs} --shallow\n"


class World:
    """A repository with uncommitted work, and a place for what is temporary."""

    def __init__(self, folder):
        self.folder, self.tree, self.temporary = folder, folder / "tree", folder / "tmp"
        self.tree.mkdir(parents=True)
        self.temporary.mkdir()
        self.git("init", "-q", "-b", "main")
        for number in range(3):
            text = PROGRAM.format(number=number, train=BUILD / "tests" / "tiny_train", epochs=60)
            (self.tree / "train.sh").write_text(text)
            (self.tree / "train.sh").chmod(0o755)
            (self.tree / "notes").write_text(f"{number}\n")
            self.git("add", "-A")
            self.git("commit", "-q", "-m", f"number {number}")
        (self.tree / "notes").write_text("stashed\n")
        self.git("stash", "-q")
        (self.tree / "notes").write_text("not committed\n")

    def environment(self, mark=""):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "LOOPSCOPE_"))}
        who = {f"GIT_{one}_{what}": "a" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return {**kept, **who, "GIT_CONFIG_GLOBAL": "/dev/null", "TMPDIR": str(self.temporary), "HARM_MARK": mark}

    def git(self, *words):
        done = subprocess.run(["git", *words], cwd=self.tree, env=self.environment(), capture_output=True, text=True)
        return done.stdout

    def state(self):
        asked = (["status", "--porcelain=v2"], ["diff"], ["stash", "list"], ["for-each-ref"], ["rev-parse", "HEAD"])
        files = {one.name: one.read_bytes() for one in self.tree.iterdir() if one.is_file()}
        return [self.git(*words) for words in asked], self.git("worktree", "list", "--porcelain"), files

    def command(self, which):
        program = [str(BUILD / "loopscope"), which]
        out = ["-o", str(self.folder / "out")]
        if which == "run":
            return [*program, "--quiet", "--steps", "0", *out, "--", "./train.sh"]
        if which == "bisect":
            return [*program, *OPTIONS, *out, "HEAD~2", "HEAD", "--", "./train.sh"]
        against = ["--against", "./train.sh"] if which == "gate" else []
        return [*program, *OPTIONS, *out, *against, "--", "./train.sh"]


def mounts():
    return len(pathlib.Path("/proc/self/mounts").read_text().splitlines())


def shared_memory():
    return set(os.listdir("/dev/shm"))


def attempt(world, which, number, delay_s, mark):
    """What was left or changed, as lines."""
    before = world.state(), mounts(), shared_memory()
    started = subprocess.Popen(
        world.command(which),
        cwd=world.tree,
        env=world.environment(mark),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(delay_s)
    started.send_signal(number)
    try:
        started.wait(ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        started.kill()
        return ["did not end"]
    until = time.monotonic() + (GOES_ON_S if which == "run" else ENDS_WITHIN_S)
    while children_of(mark) and time.monotonic() < until:
        time.sleep(0.05)
    found = [f"still there: {one}" for one in children_of(mark)]
    if number == signal.SIGKILL:  # what it leaves is ended by the next call
        shutil.rmtree(world.folder / "out", ignore_errors=True)
        subprocess.run(
            world.command("bisect" if which == "bisect" else "run"),
            cwd=world.tree,
            env=world.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
    shutil.rmtree(world.folder / "out", ignore_errors=True)
    after = world.state(), mounts(), shared_memory()
    for what, one, other in zip(("the repository", "mounts", "/dev/shm"), before, after, strict=True):
        if one != other:
            found.append(f"{what}: {one} became {other}"[:400])
    recordings = [one for one in world.temporary.glob("loopscope-*") if not list(one.rglob("*.cap"))]
    return found + [f"in TMPDIR: {one}" for one in recordings]


def main():
    for ignored in (signal.SIGINT, signal.SIGHUP):  # as they are where this is started in the background
        signal.signal(ignored, signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL)
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    draw, wrong = random.Random(given.seed), 0
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        world = World(pathlib.Path(folder) / "world")
        for number in range(given.count):
            which, which_signal = draw.choice(("run", "prove", "gate", "bisect")), draw.choice(SIGNALS)
            delay_s = draw.uniform(0, 1.5 if which == "run" else 5)
            found = attempt(world, which, which_signal, delay_s, f"kill-{os.getpid()}-{number}")
            wrong += bool(found)
            if found:
                print(f"{which}, {which_signal.name} after {delay_s:.3f} s:", *found, sep="\n    ", flush=True)
    print(f"{given.count} tried, {wrong} left or changed something")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
