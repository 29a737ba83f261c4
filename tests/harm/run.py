#!/usr/bin/env python3
"""Runs each script alone and under `loopscope run --steps 0`, and compares all that a user could see: exit status, both
streams' bytes, the trained numbers' bits, pickles, attributes, what is alive, files and processes left behind.

  tests/harm/run.py                    all of them; exit 1 if a difference is not in KNOWN
  tests/harm/run.py NAME…              these
  tests/harm/run.py --write FILE       the page with the result, too (docs/evidence/reliability.md)
  tests/harm/run.py --results FILE     keeps results there, and runs only scripts that have none: to go on
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import page

from scripts import compiled, loaders, process, shared, signals, surroundings, training

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("LOOPSCOPE_BUILD", HERE.parents[1] / "build"))
THEMES = {
    "loaders": loaders,
    "training": training,
    "compiled": compiled,
    "process": process,
    "surroundings": surroundings,
    "signals": signals,
}
SCRIPTS = {name: body for theme in THEMES.values() for name, body in theme.SCRIPTS.items()}
SECONDS = 240  # a script takes a few

# What stays different, by script: why.
KNOWN = {
    "loader_counts_lengths": "the length of a data set and of a sampler is asked for more often",
    "traced_calls": "a program that follows its own calls (`sys.setprofile`) sees those of the shim",
}

_OWN_LINES = re.compile(r"(loopscope: .*|  .*|)\n?")  # messages and what they explain


@dataclasses.dataclass
class Seen:
    """What one launch came to."""

    status: int
    out: str
    err: str
    files: list
    processes: list


def text_of(name):
    body = SCRIPTS[name].strip("\n")
    if body.startswith("NO_PRELUDE\n"):
        return body.removeprefix("NO_PRELUDE\n") + "\n"
    return f"{shared.TRAIN}\n{body}\nimport observe\nobserve.show(dict(globals()))\n"


def children_of(mark):
    """Processes that inherited the mark and are still there."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and f"HARM_MARK={mark}".encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            pass
    return found


def launch(name, folder, before):
    """Runs the script in `folder`, made anew: paths are the same in both launches."""
    shutil.rmtree(folder, ignore_errors=True)
    places = {one: folder / one for one in ("work", "home", "tmp")}
    for one in places.values():
        one.mkdir(parents=True)
    (places["work"] / "train.py").write_text(text_of(name))
    shutil.copy(HERE / "observe.py", places["work"] / "observe.py")
    mark = f"{name}-{os.getpid()}-{time.monotonic_ns()}"
    kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    shared_memory = set(os.listdir("/dev/shm"))
    done = subprocess.run(
        [*before, sys.executable, "train.py"],
        cwd=places["work"],
        env={
            **kept,
            "HOME": str(places["home"]),
            "TMPDIR": str(places["tmp"]),
            "HARM_MARK": mark,
            "KINETO_LOG_LEVEL": "5",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
    )
    deadline = time.monotonic() + 3
    while children_of(mark) and time.monotonic() < deadline:
        time.sleep(0.1)
    files = [str(one.relative_to(folder)) for one in sorted(folder.rglob("*")) if "__pycache__" not in str(one)]
    files += [
        one for one in set(os.listdir("/dev/shm")) - shared_memory if one.startswith(("torch_", "psm_", "loopscope"))
    ]
    streams = (stream.decode(errors="backslashreplace") for stream in (done.stdout, done.stderr))
    return Seen(done.returncode, *streams, files, children_of(mark))


def _settled(text):
    """Without what differs between any two launches: addresses, the time and the process in torch's own log lines."""
    text = re.sub(r"0x[0-9a-f]{6,}", "0x", text)
    return re.sub(r"(?m)^([EWI]\d{4} )[\d:.]+ +\d+ ", r"\1", text)


def differences(alone, under):
    """Lines that say what differs. Loopscope's report follows the program's output."""
    found = []
    alone, under = (dataclasses.replace(one, out=_settled(one.out), err=_settled(one.err)) for one in (alone, under))
    if alone.status % 256 != under.status % 256 and under.status != 128 - alone.status:
        found.append(f"exit status {alone.status}, under run {under.status}")
    rest = under.out.removeprefix(alone.out)
    if not under.out.startswith(alone.out) or not rest.lstrip("\n").startswith("Loopscope "):
        found += ["standard output", *_diff(alone.out, under.out.split("\nLoopscope ")[0])]
    rest = under.err.removeprefix(alone.err)
    if not under.err.startswith(alone.err) or not all(map(_OWN_LINES.fullmatch, rest.splitlines(keepends=True))):
        found += ["standard error", *_diff(alone.err, under.err)]
    for what in ("files", "processes"):
        before, after = getattr(alone, what), getattr(under, what)
        if sorted(map(_without_random, before)) != sorted(map(_without_random, after)):
            found.append(f"{what} {before}, under run {after}")
    return found


def _without_random(path):
    return re.sub(r"(kept|tmp|torch_|pymp-|listener-)\w+", r"\1", path)


def _diff(before, after):
    return [line[:200] for line in difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)][
        2:14
    ]


def compare(name, folder):
    under = [BUILD / "loopscope", "run", "--steps", "0", "--quiet", "-o", folder / "out", "--"]
    mine = folder / "run"
    try:
        return name, differences(launch(name, mine, []), launch(name, mine, under))
    except subprocess.TimeoutExpired as error:
        return name, [f"did not end within {SECONDS} s: {error.cmd[0]}"]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--write", type=pathlib.Path)
    options.add_argument("--results", type=pathlib.Path)
    given = options.parse_args()
    kept = json.loads(given.results.read_text()) if given.results and given.results.exists() else {}
    results = {name: kept[name] for name in SCRIPTS if name in kept}
    names = [name for name in given.names or SCRIPTS if name not in results]
    with (
        tempfile.TemporaryDirectory(prefix="harm-") as folder,
        concurrent.futures.ThreadPoolExecutor(given.jobs) as pool,
    ):
        folders = [pathlib.Path(folder) / name for name in names]
        for name, found in pool.map(compare, names, folders):
            results[name] = found
            print(f"{name}: {'the same' if not found else 'differs'}", *found, sep="\n    ", flush=True)
            if given.results:
                given.results.write_text(json.dumps(results, indent=1))
    unknown = [name for name, found in results.items() if found and name not in KNOWN]
    print(
        f"{len(results)} scripts, {len(results) - sum(map(bool, results.values()))} the same, {len(unknown)} not known to differ"
    )
    if given.write:
        page.keep(given.write, "scripts", page.scripts(THEMES, results, KNOWN))
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
