"""Shared by the end-to-end tests: the built program, small programs to launch, and a way to call it."""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

import hanging

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOOPSCOPE_BUILD", ROOT / "build"))

# Tests started in the background may ignore these signals; the programs under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes long; `make long` runs it, `make test` does not")


def preloaded(mode, probes=BUILD / "probes"):
    """The libraries that `loopscope` preloads for LOOPSCOPE_MODE `mode`."""
    names = ("preload", "calls") if mode == "trace" else ("preload",)
    return ":".join(str(probes / f"libloopscope_{name}.so") for name in names)


def commands():
    """The commands of the built program, by its own help."""
    shown = subprocess.run([BUILD / "loopscope", "--help"], capture_output=True, text=True, check=True).stdout
    table = shown.split("Commands:\n", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^  (\w[\w-]*)  ", table, re.MULTILINE)


# Allowed verdicts of check launches on "same training?", by the treatment's class.
SAME_TRAINING = {
    "exact": {"bit-identical"},
    "exact-if": {"bit-identical"},
    "resampled": {"bit-identical", "same samples"},
    "numeric": {"bit-identical", "within rounding"},
}
QUICK = ["--budget", "120s", "--min-window", "100ms", "--warmup", "5", "--time", "5s"]


@dataclasses.dataclass
class Done:
    code: int
    out: str
    err: str

    def message(self):
        """The one message on stderr."""
        start = self.err.rfind("loopscope: ")
        assert start >= 0, self.err
        return self.err[start:]


class Loopscope:
    def __init__(self, folder):
        self.folder = folder
        self.program = BUILD / "loopscope"

    def __call__(self, *arguments, cwd=None, env=None, prefix=(), timeout=300):
        started = subprocess.Popen(
            [*prefix, self.program, *map(str, arguments)],
            cwd=cwd or self.folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        try:
            out, err = started.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            seen = hanging.describe(started.pid)
            hanging.end(started.pid)
            out, err = started.communicate()
            pytest.fail(f"{arguments} did not end within {timeout} s\n{seen}\nstdout:\n{out}\nstderr:\n{err}")
        return Done(started.returncode, out, err)

    def report(self, *arguments, **options):
        """Runs it with --json; the exit code and the report."""
        file = self.folder / "report.json"
        command, *rest = arguments
        done = self(command, "--json", file, *rest, **options)
        assert file.exists(), done.err
        return done, json.loads(file.read_text())


@pytest.fixture
def loopscope(tmp_path):
    if not (BUILD / "loopscope").exists():
        pytest.skip("loopscope is not built")
    return Loopscope(tmp_path)


@pytest.fixture(scope="session")
def tiny_train():
    """A small LibTorch program that knows nothing of Loopscope; its batches are small, so that steps are quick."""
    program = BUILD / "tests" / "tiny_train"
    if not program.exists():
        pytest.skip("tiny_train is not built")
    return [str(program), "--samples", "64", "--batch", "4"]


@pytest.fixture(scope="module")
def one_thread():
    """For programs whose number of threads does not matter: several threads wait for each other by spinning, so that a
    step takes many times as long when other tests run beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture
def script(tmp_path):
    """Makes an executable shell script."""

    def make(text, name="program.sh"):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return str(path)

    return make
