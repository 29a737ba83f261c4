#!/usr/bin/env python3
"""Forces a fault on runs, many times, and counts what was lost: a step that was done and is not in the capture, a file, a
training that ended otherwise than alone, a folder or a mount left behind.

  tests/harm/faults.py                  all of them; exit 1 if anything was lost
  tests/harm/faults.py NAME…            these
  tests/harm/faults.py --share 0.1      a tenth of the trials of each
  tests/harm/faults.py --write FILE     the page with the result, too (docs/evidence/reliability.md)
"""

import argparse
import concurrent.futures
import functools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import page

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from capture_records import Capture  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LOOPSCOPE_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))
LOOPSCOPE = BUILD / "loopscope"
TRAIN = [str(BUILD / "tests" / "tiny_train"), "--samples", "64", "--batch", "4", "--times"]
SECONDS = 120
KNOWN_FROM = 5  # steps, kSettleAfter
FAULTS = {}  # by name: (what is forced, trials, function)


class Lost(Exception):
    """What a fault took that it should not have."""


def fault(what, times):
    def keep(function):
        FAULTS[function.__name__] = (what, times, function)
        return function

    return keep


class Trial:
    """One run with a folder of its own, which nothing else writes to."""

    def __init__(self, folder, seed):
        self.folder, self.random = folder, random.Random(seed)
        (folder / "tmp").mkdir(parents=True)
        self.environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
        self.log, self.out = folder / "log", folder / "out"

    def start(self, *options, program=(*TRAIN, "--epochs", "1000000"), before=()):
        with open(self.log, "w") as log:
            return subprocess.Popen(
                [*before, LOOPSCOPE, "run", "--quiet", "-o", self.out, *options, "--", *program],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment, start_new_session=True,
            )  # fmt: skip

    def steps_done(self):
        return len(re.findall(r"^step \d+\.\d{9}$", self.log.read_text(errors="replace"), re.MULTILINE))

    def wait_for_steps(self, run, least):
        deadline = time.monotonic() + SECONDS
        while self.steps_done() < least:
            if run.poll() is not None or time.monotonic() > deadline:
                raise Lost(f"the training did not come to step {least}: {self.log.read_text()[-300:]}")
            time.sleep(0.01)
        time.sleep(self.random.uniform(0, 0.05))

    def steps_read(self):
        """By `report` of what is in the output folder."""
        read = self.folder / "report.json"
        done = subprocess.run(
            [LOOPSCOPE, "report", self.out, "--json", read], capture_output=True, text=True, env=self.environment
        )
        if done.returncode != 0:
            raise Lost(f"what was recorded cannot be read: {done.stderr[-300:]}")
        steps = json.loads(read.read_text())["steps"]
        return steps["measured"] + steps["without_operators"] + steps["warmup"] + steps["transient"]

    def all_steps_read(self):
        """But for the one in flight, and the first few: what ends a step is known from five of them
        (probes/preload/step_clock.h), and they are written then. And `report` reads them."""
        captures = [Capture(one) for one in self.out.rglob("*.cap")]
        done, kept = self.steps_done(), max((len(one.of("step")) for one in captures), default=0)
        if (done > KNOWN_FROM and kept + 1 < done) or (self.steps_read() == 0 and done > 40):
            raise Lost(f"{done} steps were done, {kept} are in the capture")

    def nothing_left(self):
        left = [str(one) for one in (self.folder / "tmp").iterdir()]
        left += [one for one in os.listdir("/dev/shm") if one.startswith("loopscope")]
        left += [line for line in pathlib.Path("/proc/mounts").read_text().splitlines() if str(self.folder) in line]
        if left:
            raise Lost(f"left behind: {left}")


def training_of(run):
    """The process that trains, a child of `loopscope run`."""
    children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    if not children:
        raise Lost("the training had ended already")
    return int(children[0])


def ended(run, allowed):
    try:
        status = run.wait(SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        raise Lost("it did not end") from None
    if status not in allowed:
        raise Lost(f"it ended with status {status}")


def stopped(trial, find, sent):
    """A run is as if the training alone had got the signal, which goes to the process that `find(run)` names."""
    run = trial.start("--steps", "0")
    trial.wait_for_steps(run, trial.random.randint(1, 400))
    os.kill(find(run), sent)
    ended(run, {128 + sent})
    trial.all_steps_read()
    trial.nothing_left()


@fault("the training is killed (`SIGKILL`)", 500)
def training_killed(trial):
    stopped(trial, training_of, signal.SIGKILL)


@fault("the training is ended (`SIGTERM`)", 50)
def training_ended(trial):
    stopped(trial, training_of, signal.SIGTERM)


@fault("Ctrl-C", 50)
def interrupted(trial):
    stopped(trial, lambda run: run.pid, signal.SIGINT)


@fault("Loopscope is killed (`SIGKILL`); the training goes on", 50)
def loopscope_killed(trial):
    program = [*TRAIN, "--epochs", "30"]
    run = trial.start("--steps", "0", program=program)
    trial.wait_for_steps(run, trial.random.randint(1, 200))
    training = training_of(run)
    run.kill()
    run.wait()
    deadline = time.monotonic() + SECONDS
    while pathlib.Path(f"/proc/{training}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    if trial.steps_done() != 30 * 16:
        raise Lost(f"the training ended after {trial.steps_done()} of 480 steps")
    trial.all_steps_read()
    # The next start clears what a killed one left.
    subprocess.run(
        [LOOPSCOPE, "run", "-o", trial.folder / "next", "--", "true"], capture_output=True, env=trial.environment
    )
    trial.nothing_left()


def limited(trial, words, program=(*TRAIN, "--epochs", "30")):
    """A run below a limit ends as the program alone does below it."""
    before = ["sh", "-c", f'{words}; exec "$@"', "sh"]
    alone = subprocess.run([*before, *program], capture_output=True)
    ended(trial.start("--steps", "0", program=program, before=before), {alone.returncode % 256, 128 - alone.returncode})
    if trial.steps_done() != alone.stdout.count(b"\nstep ") + alone.stdout.startswith(b"step "):
        raise Lost("the training did other steps than alone")


@fault("few open files (`ulimit -n 32`)", 10)
def few_descriptors(trial):
    limited(trial, "ulimit -n 32")


@fault("no core files, little stack (`ulimit -c 0 -s 1024`)", 10)
def little_stack(trial):
    limited(trial, "ulimit -c 0; ulimit -s 1024")


@fault("small files only (`ulimit -f`, 1 MiB to 8 MiB)", 20)
def small_files(trial):
    limited(trial, f"ulimit -f {trial.random.randint(2048, 16384)}")


@fault("a full disk under the recording (1 MiB to 8 MiB)", 20)
def full_disk(trial):
    trial.out = trial.folder / "small" / "out"
    trial.out.parent.mkdir()
    mount = f"mount -t tmpfs -o size={trial.random.randint(1024, 8192)}k none {trial.out.parent}"
    keep = f"mkdir {trial.folder}/kept; cp -r {trial.out} {trial.folder}/kept/"
    before = ["unshare", "-m", "sh", "-c", f'{mount} && {{ "$@"; code=$?; {keep}; exit $code; }}', "sh"]
    ended(trial.start("--steps", "0", program=[*TRAIN, "--epochs", "200"], before=before), {0})
    if trial.steps_done() != 200 * 16:
        raise Lost(f"the training ended after {trial.steps_done()} of 3200 steps")
    trial.out = trial.folder / "kept" / "out"
    if trial.steps_read() < 1:
        raise Lost("nothing of what was recorded before the disk was full can be read")


def without(trial, words):
    """A run in namespaces of its own in which `words` took something away."""
    before = ["unshare", "-m", "sh", "-c", f'{words} && exec "$@"', "sh"]
    ended(trial.start("--steps", "0", program=[*TRAIN, "--epochs", "30"], before=before), {0})
    if trial.steps_done() != 480:
        raise Lost(f"the training ended after {trial.steps_done()} of 480 steps")
    trial.all_steps_read()


@fault("no `/dev/shm`", 10)
def no_shared_memory(trial):
    without(trial, "mount -t tmpfs -o size=0,mode=000,ro none /dev/shm")


@fault("no `/sys`", 10)
def no_sys(trial):
    without(trial, "mount -t tmpfs none /sys")


@fault("a home that cannot be written to", 10)
def no_home(trial):
    trial.environment.update(HOME="/proc/1", XDG_CACHE_HOME="/proc/1")
    without(trial, "true")


@fault("a capture is cut anywhere, or a byte of it changed", 200)
def capture_damaged(trial):
    source = trial.folder.parent / "sound"
    data = bytearray(next(source.glob("*.cap")).read_bytes())
    at = trial.random.randrange(len(data))
    if trial.random.random() < 0.5:
        del data[at:]
    else:
        data[at] ^= trial.random.randint(1, 255)
    trial.out.mkdir()
    (trial.out / "train.cap").write_bytes(data)
    done = subprocess.run([LOOPSCOPE, "report", trial.out], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode not in (0, 2) or (done.returncode == 2 and not done.stderr.startswith("loopscope: ")):
        raise Lost(f"`report` ended with {done.returncode}: {done.stderr[-200:]}")


def attempt(name, folder, number):
    mine = folder / f"{name}-{number}"
    try:
        FAULTS[name][2](Trial(mine, f"{name} {number}"))
    except (Lost, OSError, subprocess.SubprocessError) as lost:
        return f"{name} {number}: {type(lost).__name__}: {lost}"
    finally:
        shutil.rmtree(mine, ignore_errors=True)
    return None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--share", type=float, default=1)
    options.add_argument("--write", type=pathlib.Path)
    given = options.parse_args()
    results, lost = {}, 0
    with tempfile.TemporaryDirectory(prefix="faults-") as made:
        folder = pathlib.Path(made)
        sound = Trial(folder / "first", 0)
        ended(sound.start("--steps", "30", program=[*TRAIN, "--epochs", "10"]), {0})
        sound.out.rename(folder / "sound")
        for name in given.names or FAULTS:
            what, times, _ = FAULTS[name]
            tried = max(1, round(times * given.share))
            with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
                found = list(filter(None, pool.map(functools.partial(attempt, name, folder), range(tried))))
            print(f"{name}: {tried - len(found)} of {tried} survived", *found[:20], sep="\n    ", flush=True)
            results[name] = {"what": what, "tried": tried, "lost": len(found)}
            lost += len(found)
    if given.write:
        page.keep(given.write, "faults", results)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
