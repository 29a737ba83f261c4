# ctest labels: slow
"""What Loopscope promises to leave alone: the user's files, terminal and secrets."""

import json
import os
import pathlib
import pty
import shutil
import stat
import subprocess
import sys
import time

import pytest

from conftest import BUILD, ROOT

HARM = ROOT / "tests" / "harm" / "run.py"
# One for each kind of thing that a probe could change.
QUICK = ["print_in_class", "loader_let_go", "loader_data_set_raises", "compiled_zero_grad"]


@pytest.mark.skipif(not (BUILD / "probes" / "python").exists(), reason="the Python shim is not built")
def test_scripts_see_what_they_see_alone():
    done = subprocess.run(
        [sys.executable, HARM, "--jobs", "2", *QUICK],
        env={**os.environ, "LOOPSCOPE_BUILD": str(BUILD)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(QUICK)} the same" in done.stdout


def without_namespaces(command):
    """As in a container: no user namespaces, and no right to mount."""
    drop = "echo 0 >/proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin"
    return ["unshare", "-r", "sh", "-c", f'{drop} "$@"', "sh", *command]


def test_nothing_is_launched_where_real_files_are_exposed(loopscope, tmp_path, script):
    if not shutil.which("setpriv") or subprocess.run(["unshare", "-r", "true"]).returncode:
        pytest.skip("needs user namespaces and setpriv")
    touched = tmp_path / "touched"
    program = script(f"echo 1 >>{touched}\n")
    prove = ["prove", "--blocks", "1", "--only", "threads=1", "--quiet", "--", program]
    done = loopscope(*prove, prefix=without_namespaces([]))
    assert done.code == 2, done.err
    assert "exposed are:" in done.err and "absolute path" in done.err and "--allow-writes" in done.err
    assert not touched.exists()
    loopscope("prove", "--allow-writes", *prove[1:], prefix=without_namespaces([]))
    assert touched.exists()


@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full", ">&- 2>&-"])
def test_streams_that_cannot_be_written_to(loopscope, tmp_path, stream):
    report = f"{loopscope.program} report {tmp_path}/missing {stream}"
    assert subprocess.run(["sh", "-c", report]).returncode == 2
    run = f"{loopscope.program} run -o {tmp_path}/out -- /bin/true {stream}"
    assert subprocess.run(["sh", "-c", run], stdout=subprocess.DEVNULL).returncode in (0, 2)


def test_messages_hold_no_escapes(loopscope, tmp_path):
    name = tmp_path / "\x1b]0;PWN\x07\x1b[31mreport.json"
    name.write_text(json.dumps({"schema": "loopscope.report/1", "findings": [{"severity": "\x1b[31mx"}]}))
    for path in (name, tmp_path / "\x1b[31mmissing"):
        done = loopscope("report", path)
        assert done.code == 2 and done.err
        assert "\x1b" not in done.err and "\x07" not in done.err


SECRETS = [
    "--password",
    "s3cretA",
    "--api-key=s3cretB",
    "postgres://me:s3cretC@host/db",
    "x?sig=s3cretD",
    "--auth=Bearer s3cretE",
]


def test_secrets_are_written_nowhere(loopscope, tmp_path, script):
    program = script("exit 0\n")
    out, formats = tmp_path / "out", {one: tmp_path / f"report.{one}" for one in ("json", "html", "markdown", "sarif")}
    options = [word for one, path in formats.items() for word in (f"--{one}", path)]
    environment = {"TORCH_HUB_PAT": "s3cretF", "CUDA_PROXY": "http://me:s3cretG@h/", "OMP_PASSPHRASE": "s3cretH"}
    done = loopscope("run", "-o", out, *options, "--", program, *SECRETS, env=environment)
    files = [one for folder in (out, tmp_path) for one in folder.rglob("*") if one.is_file()]
    assert out / "run.json" in files and (out / "run.json").read_text().count("***") >= 5
    for file in files:
        assert "s3cret" not in file.read_text(errors="replace"), file
    assert "s3cret" not in done.out + done.err
    for file in out.rglob("*"):
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file
    assert stat.S_IMODE(out.stat().st_mode) == 0o700


@pytest.mark.parametrize("link", ["ln -sf", "ln -f"])
def test_links_are_replaced_not_followed(loopscope, tmp_path, script, link):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    names = "run.json run.json.part report.json report.json.part"
    program = script(f"for one in {names}; do {link} {precious} $LOOPSCOPE_RUN_DIR/$one; done\n")
    loopscope("run", "-o", tmp_path / "out", "--", program)
    assert precious.read_text() == "mine"


def test_what_is_no_file_is_not_read(loopscope, tmp_path):
    """Without waiting for a writer, and without filling the memory."""
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "trace.cap")
    os.mkfifo(tmp_path / "alone.cap")
    for name, make in {
        "fifo": lambda path: os.mkfifo(path),
        "zero": lambda path: path.symlink_to("/dev/zero"),
        "folder": pathlib.Path.mkdir,
    }.items():
        (tmp_path / name).mkdir()
        make(tmp_path / name / "run.json")
    for name in ("pipe", "alone.cap", "fifo", "zero", "folder"):
        done = loopscope("report", tmp_path / name, timeout=30)
        assert done.code == 2, (name, done.err)
        assert "unexpected" not in done.err, name


LOOP = """
import os, sys, threading, time
import torch
torch.set_num_threads(1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def train(steps, pause=0.0):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        time.sleep(pause)
"""
BOUNDED = ["--warmup", "2", "--steps", "5", "--time", "1s"]


@pytest.fixture
def training(tmp_path):
    def make(body):
        path = tmp_path / "train.py"
        path.write_text(LOOP + body)
        return [sys.executable, path]

    return make


def test_a_bounded_run_lets_a_checkpoint_be_written(loopscope, tmp_path, training):
    command = training("""
from multiprocessing import shared_memory
shared = shared_memory.SharedMemory(create=True, size=4096)
print(shared.name, flush=True)
def save():
    with open("checkpoint", "wb") as file:
        for _ in range(30):
            file.write(bytes(1 << 20))
            time.sleep(0.05)
threading.Thread(target=save).start()
train(10**6)
""")
    done = loopscope("run", *BOUNDED, "--", *command)
    assert done.code == 0, done.err
    assert (tmp_path / "checkpoint").stat().st_size == 30 << 20
    assert not (pathlib.Path("/dev/shm") / done.out.split()[0]).exists()


def test_a_bounded_run_of_a_program_in_cpp_lets_a_checkpoint_be_written(loopscope, tmp_path, tiny_train):
    done = loopscope("run", *BOUNDED, "--", *tiny_train, "--epochs", "1000000", "--save")
    assert done.code == 0, done.err
    assert (tmp_path / "checkpoint").stat().st_size == 30 << 20


def test_a_bounded_run_ends_where_flushing_does_not(loopscope, training):
    command = training("""
class Stuck:
    def __getattr__(self, name): return getattr(sys.__stdout__, name)
    def flush(self): time.sleep(10**6)
sys.stdout = Stuck()
train(10**6)
""")
    assert loopscope("run", *BOUNDED, "--", *command, timeout=120).code == 0


def test_a_limit_of_address_space_is_left_to_the_program(loopscope, tmp_path, training):
    command = training("""
train(20)
buffer = torch.ones(200 << 18)  # 200 MiB
print([line for line in open("/proc/self/status") if line.startswith("VmPeak")][0].split()[1])
""")
    peak = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    limited = ["sh", "-c", f'ulimit -v {peak + (500 << 10)}; exec "$@"', "sh"]
    done = loopscope("run", "--steps", "0", "--", *command, prefix=limited)
    assert done.code == 0, done.err


def test_training_survives_the_death_of_loopscope(loopscope, tmp_path, training):
    command = training("""
print("begun", flush=True)
for number in range(30):
    train(1, 0.1)
    print(number, flush=True)
open("finished", "w").close()
""")
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with open(tmp_path / "log", "w") as log:
        started = subprocess.Popen(
            [loopscope.program, "run", "--steps", "0", "-o", tmp_path / "out", "--", *command],
            cwd=tmp_path,
            env=environment,
            stdout=log,
            stderr=log,
        )
        wait_for(lambda: "begun" in (tmp_path / "log").read_text())
        started.kill()
        started.wait()
    wait_for((tmp_path / "finished").exists)
    report = loopscope("report", tmp_path / "out")
    assert report.code == 0 and "did not end" in report.out, report.err
    again = loopscope("run", "-o", tmp_path / "out", "--", "/bin/true", env={"TMPDIR": str(tmp_path)})
    assert again.code == 2 and "that was killed recorded" in again.err and "loopscope report" in again.err
    assert list((tmp_path / "out" / "recording").glob("*.cap"))
    loopscope("run", "-o", tmp_path / "next", "--", "/bin/true", env={"TMPDIR": str(tmp_path)})
    assert not list(tmp_path.glob("loopscope-*"))


def wait_for(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_terminal_that_goes_away_ends_the_program(loopscope, tmp_path, script):
    pid_file = tmp_path / "pid"
    program = script(f"echo $$ >{pid_file}\nexec sleep 300\n")
    child, terminal = pty.fork()
    if child == 0:
        log = os.open(tmp_path / "log", os.O_CREAT | os.O_WRONLY)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.execv(loopscope.program, ["loopscope", "run", "-o", str(tmp_path / "out"), "--", program])
    wait_for(lambda: pid_file.exists() and pid_file.read_text().strip())
    os.close(terminal)
    wait_for(lambda: os.waitpid(child, os.WNOHANG)[0] == child)
    assert not pathlib.Path("/proc", pid_file.read_text().strip()).exists()
