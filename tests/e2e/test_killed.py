"""What a killed training left behind is readable: every closed step, the torn end named, exit 0."""

import json
import os
import pathlib
import signal
import subprocess
import time

from capture_records import Capture

BUILD = pathlib.Path(os.environ["LOOPSCOPE_BUILD"])


def training_process(tree_root):
    """The pid of the train_image below `tree_root`, once there is one."""
    for _ in range(600):
        for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                pid, rest = status.read_text().split(" ", 1)
            except OSError:
                continue
            name, _, after = rest.rpartition(")")
            if "train_image" in name and int(after.split()[1]) == tree_root:
                return int(pid)
        time.sleep(0.05)
    raise AssertionError("the training never started")


def wait_for_steps(pid, steps):
    """Waits until the process's capture contains them: the time to make the pictures depends on the machine."""
    for _ in range(1200):
        maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
        captures = {line.split(maxsplit=5)[5] for line in maps.splitlines() if line.endswith(".cap")}
        if any(len(Capture(path).of("step")) >= steps for path in captures):
            return
        time.sleep(0.1)
    raise AssertionError("the training never came so far")


def test_sigkill_in_mid_run(tmp_path):
    out = tmp_path / "out"
    run = subprocess.Popen(
        [
            BUILD / "loopscope",
            "run",
            "-o",
            out,
            "--steps",
            "0",
            "--",
            BUILD / "workloads/train_image",
            "--preset",
            "tuned",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    pid = training_process(run.pid)
    wait_for_steps(pid, 30)
    os.kill(pid, signal.SIGKILL)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 128 + signal.SIGKILL, errors

    report_file = tmp_path / "report.json"
    report = subprocess.run([BUILD / "loopscope", "report", out, "--json", report_file], capture_output=True, text=True)
    assert report.returncode == 0, report.stderr
    facts = json.loads(report_file.read_text())
    assert facts["quality"]["clean_end"] is False
    assert any("end" in warning for warning in facts["quality"]["warnings"])
    closed = [len(Capture(path).of("step")) for path in out.rglob("*.cap")]
    assert sum(closed) >= 30
    assert facts["whole"]["counts"]["steps"] == sum(closed)
    assert "did not end" in report.stdout or "torn" in report.stdout
