"""What the steps of a run share: the unpacked kit's programs, a folder that comes back, and a clock."""

import contextlib
import dataclasses
import gzip
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

MOST_ARCHIVE_BYTES = 15_000_000
# Of one program: what takes longer hangs.
LIMIT_S = 120


class StepFailed(Exception):
    """One step's fault; the others go on."""


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    seconds: int  # that it takes at most, by estimate: without that much time left it is not begun
    action: object  # called with the kit; returns what is kept of the step
    needed: bool = False  # without it the others show nothing
    beside: bool = False  # states facts that hold beside other programs on the device


def torch_libraries():
    """Of this Python's torch: a program built beside another one finds them here."""
    import torch

    folder = pathlib.Path(torch.__file__).parent
    return [folder / "lib", *sorted(folder.parent.glob("nvidia/*/lib"))]


class Kit:
    def __init__(self, root, out):
        self.root, self.out = pathlib.Path(root), pathlib.Path(out)
        self.loopscope = self.root / "bin/loopscope"
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="loopscope-gpu-kit-"))
        self.lock = threading.Lock()

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def python(self, name, *arguments):
        return [sys.executable, str(self.root / "programs" / name), *map(str, arguments)]

    def workload(self, name, *arguments):
        return [str(self.root / "bin/workloads" / name), *map(str, arguments)]

    def environment(self, command, **more):
        """Python finds its own torch; a program that was built elsewhere is shown it."""
        found = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", **more}
        if any(word.startswith(str(self.root / "bin/workloads")) for word in map(str, command)):
            found["LD_LIBRARY_PATH"] = ":".join([*map(str, torch_libraries()), os.environ.get("LD_LIBRARY_PATH", "")])
        return found

    def folder(self, name):
        path = self.work / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def run(self, command, name, limit=LIMIT_S, **environment):
        """The command to its end; what it printed goes into the log too."""
        command = [str(word) for word in command]
        begun = time.monotonic()
        try:
            done = subprocess.run(
                command,
                cwd=self.folder(name),
                env=self.environment(command, **environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit,
            )
        except subprocess.TimeoutExpired as error:
            self.log(name, command, "timed out", error.stdout, error.stderr)
            raise StepFailed(f"not done after {limit} s: {' '.join(command)[-200:]}") from error
        self.log(
            name, command, f"exit {done.returncode} after {time.monotonic() - begun:.1f} s", done.stdout, done.stderr
        )
        return done

    def log(self, name, command, how, *streams):
        texts = [s.decode(errors="replace") if isinstance(s, bytes) else s or "" for s in streams]
        with self.lock, open(self.out / "log.txt", "a") as log:
            print(f"== {name}: {' '.join(command)}\n-- {how}", *(text[-4000:] for text in texts), sep="\n", file=log)

    def keep(self, archive, name, content):
        """`content`, bytes, in an archive that comes back, if there is room."""
        path = self.out / archive
        packed = gzip.compress(content, 6)
        with self.lock:
            if path.exists() and path.stat().st_size + len(packed) > MOST_ARCHIVE_BYTES:
                return False
            with tarfile.open(path, "a") as tar:
                head = tarfile.TarInfo(name + ".gz")
                head.size = len(packed)
                tar.addfile(head, io.BytesIO(packed))
        return True

    def keep_capture(self, name):
        """Whether there was room: its name in captures.tar is that of the run."""
        captured = io.BytesIO()
        with tarfile.open(fileobj=captured, mode="w") as tar:
            tar.add(self.folder(name) / "out", arcname=name)
        return self.keep("captures.tar", name + ".tar", captured.getvalue())

    def report(self, name, words, program=(), limit=LIMIT_S, **environment):
        """A command of Loopscope's with its report, kept; the report as JSON gives it."""
        target = self.folder(name) / "report.json"
        launched = ["--", *program] if program else []
        quiet = [] if words[0] in ("prove", "sweep") else ["--quiet"]  # the log shows how far those came
        command = [self.loopscope, *words, *quiet, "--json", target, *launched]
        done = self.run(command, name, limit, **environment)
        if not target.exists():
            raise StepFailed(f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")
        text = target.read_bytes()
        self.keep("reports.tar", name + ".json", text)
        return json.loads(text)

    def record(self, name, program, steps=100, **environment):
        """`run` of a program, short (`steps` 0: to its end); what is kept of its report."""
        bounds = ["--warmup", "20", "--steps", steps, "--time", "8s"]
        report = self.report(name, ["run", *bounds, "-o", self.folder(name) / "out"], program, **environment)
        return summary(report)

    def until(self, name, program, number, seconds):
        """`run --steps 0`, and `number` sent to the program some seconds after its launch; what the report tells then."""
        out = self.folder(name) / "out"
        command = [str(self.loopscope), "run", "-o", str(out), "--steps", "0", "--", *program]
        launched = subprocess.Popen(
            command,
            env=self.environment(command),
            cwd=self.folder(name),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        time.sleep(seconds)
        trainer = process_of(launched.pid, program[-2])
        os.kill(trainer, number)
        try:
            printed, _ = launched.communicate(timeout=60)
        except subprocess.TimeoutExpired as error:
            os.killpg(launched.pid, signal.SIGKILL)
            raise StepFailed(f"still there a minute after {signal.Signals(number).name}") from error
        self.log(name, command, f"exit {launched.returncode}", printed)
        return {"exit": launched.returncode} | summary(self.report(name + "-report", ["report", out]))


def parent_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def descends(pid, ancestor):
    with contextlib.suppress(OSError):
        while pid > 1:
            pid = parent_of(pid)
            if pid == ancestor:
                return True
    return False


def process_of(ancestor, word):
    """The process below `ancestor` that was started with this word and is not Loopscope itself."""
    for _ in range(100):
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or not descends(int(entry.name), ancestor):
                continue
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if word in words and "loopscope" not in (entry / "comm").read_text():
                    return int(entry.name)
        time.sleep(0.1)
    raise StepFailed(f"no process of {word}")


def summary(report):
    """What tells whether a report is right; the whole of it is kept beside."""
    return {
        "gpu": report["gpu"],
        "gpus": report["run"]["host"]["gpus"],
        "steps": report["steps"],
        "findings": [
            {key: one[key] for key in ("rule", "title", "severity", "cost_ms_per_step", "cost_pct") if key in one}
            | {"lines": sorted({e["where"]["line"] for e in one["evidence"] if e["where"]})}
            for one in report["findings"]
        ],
        "verdicts": {row["id"]: row["verdict"] for row in report["rules"]},
        "quality": report["quality"],
    }
