"""Under `run` a program has what it would have alone: signals, descriptors, standard input, its process group, what it leaves
working. Reruns have none of it."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from conftest import BUILD


def start(folder, program, *options, **named):
    command = [BUILD / "loopscope", "run", "--quiet", "-o", folder / "out", *options, "--", *program]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **named)


def wait_for(path):
    until = time.monotonic() + 60
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert path.exists()


SAVES = (
    "import os, pathlib, signal, time\n"
    + """
stop = []
for one in ({signals}): signal.signal(one, lambda number, frame: stop.append(number))
pathlib.Path("ready").touch()
while len(stop) < {count}: time.sleep(0.01)
with open("checkpoint", "w") as file:
    for _ in range(10):
        file.write("x"); file.flush(); time.sleep(0.1)
raise SystemExit(5)
"""
)


@pytest.mark.parametrize("pair", [("INT", "INT"), ("INT", "TERM"), ("TERM", "TERM"), ("HUP", "INT")])
def test_a_second_signal_does_not_cut_off_a_checkpoint(loopscope, tmp_path, pair):
    numbers = [getattr(signal, "SIG" + one) for one in pair]
    signals = ", ".join(f"signal.{one.name}" for one in {*numbers}) + ","
    (tmp_path / "train.py").write_text(SAVES.format(signals=signals, count=1))
    started = start(tmp_path, [sys.executable, "train.py"], stdin=subprocess.DEVNULL)
    wait_for(tmp_path / "ready")
    started.send_signal(numbers[0])
    wait_for(tmp_path / "checkpoint")
    started.send_signal(numbers[1])
    started.communicate(timeout=60)
    assert started.returncode == 5 and (tmp_path / "checkpoint").read_text() == "x" * 10


COUNTS = """
import os, pathlib, signal, time
if {apart}: os.setpgid(0, 0)
got = []
signal.signal(signal.SIGTERM, lambda number, frame: got.append(number))
pathlib.Path("ready").touch()
until = time.monotonic() + 30
while not got and time.monotonic() < until: time.sleep(0.01)
time.sleep(0.5)  # a second one would come at once
raise SystemExit(len(got))
"""


@pytest.mark.parametrize("sent_to, apart", [("group", False), ("group", True), ("loopscope", False)])
def test_a_signal_arrives_once(loopscope, tmp_path, sent_to, apart):
    (tmp_path / "train.py").write_text(COUNTS.format(apart=apart))
    started = start(tmp_path, [sys.executable, "train.py"], stdin=subprocess.DEVNULL, process_group=0)
    wait_for(tmp_path / "ready")
    (os.killpg if sent_to == "group" else os.kill)(started.pid, signal.SIGTERM)
    started.communicate(timeout=60)
    assert started.returncode == 1


def test_whoever_looks_for_loopscope_finds_one_process(loopscope, tmp_path):
    (tmp_path / "train.py").write_text(COUNTS.format(apart=False))
    started = start(tmp_path, [sys.executable, "train.py"], stdin=subprocess.DEVNULL, process_group=0)
    wait_for(tmp_path / "ready")
    found = subprocess.run(["pgrep", "-f", f"run --quiet -o {tmp_path}/out"], capture_output=True, text=True)
    os.kill(started.pid, signal.SIGTERM)
    started.communicate(timeout=60)
    assert found.stdout.split() == [str(started.pid)]


@pytest.mark.parametrize(
    "name", ["USR1", "USR2", "ALRM", "QUIT", "URG", "WINCH", "IO", "XCPU", "VTALRM", "PROF", "RTMIN"]
)
def test_every_signal_is_passed_on(loopscope, tmp_path, name):
    number = getattr(signal, "SIG" + name)
    (tmp_path / "train.py").write_text(
        SAVES.format(signals=f"signal.SIG{name},", count=1).replace("time.sleep(0.1)", "0")
    )
    started = start(tmp_path, [sys.executable, "train.py"], stdin=subprocess.DEVNULL)
    wait_for(tmp_path / "ready")
    os.kill(started.pid, number)
    started.communicate(timeout=60)
    assert started.returncode == 5


def test_what_a_training_leaves_working_goes_on(loopscope, tmp_path, script):
    program = script("(sleep 0.5; echo copied > copy; echo told >&2) &\nexit 3\n")
    started = start(tmp_path, [program], stdin=subprocess.DEVNULL)
    _, err = started.communicate(timeout=60)
    assert started.returncode == 3
    wait_for(tmp_path / "copy")
    assert "told" in err  # its stream is the one that it would have alone: it is read to its end


def test_it_reads_standard_input_in_the_same_group(loopscope, tmp_path, script):
    program = script("cat > read; ps -o pgid= -p $$ > group; ps -o pgid= -p $PPID >> group\n")
    started = start(tmp_path, [program], stdin=subprocess.PIPE)
    started.communicate("typed", timeout=60)
    assert (tmp_path / "read").read_text() == "typed"
    first, second = (tmp_path / "group").read_text().split()
    assert first == second


def test_it_has_the_descriptors_that_it_would_have(loopscope, tmp_path, script):
    program = script("echo to five >&5\n")
    with open(tmp_path / "five", "w") as five:
        line = [BUILD / "loopscope", "run", "--quiet", "--", program]
        os.dup2(five.fileno(), 55)
        subprocess.run(
            ["bash", "-c", 'exec 5>&55 55>&-; exec "$@"', "bash", *line], cwd=tmp_path, pass_fds=[55], check=True
        )
        os.close(55)
    assert (tmp_path / "five").read_text() == "to five\n"


RERUNS = ["prove", "--budget", "20s", "--launch-timeout", "10s", "--time", "1s"]


@pytest.mark.parametrize(
    "words", [["/dev/fd/63"], ["--data=/proc/self/fd/9"], ["/dev/stdin"]], ids=lambda words: words[0]
)
def test_reruns_refuse_what_the_first_start_alone_could_read(loopscope, tmp_path, script, words):
    program = script("touch started\n")
    done = loopscope(*RERUNS, "--", program, *words)
    assert done.code == 2 and words[0].split("=")[-1] in done.err, done.err
    assert not (tmp_path / "started").exists()


def test_reruns_write_through_no_descriptor(loopscope, tmp_path, script):
    log = tmp_path / "log"
    log.write_text("mine\n")
    program = script("echo theirs >&7; exit 0\n")
    line = f"exec 7>>{log}; exec {BUILD / 'loopscope'} {' '.join(RERUNS)} -- {program}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert log.read_text() == "mine\n", done.stderr


def test_a_program_that_hangs_is_ended_within_the_budget(loopscope, tmp_path):
    begin = time.monotonic()
    done = loopscope(*RERUNS, "--", "/bin/sleep", "1000", timeout=120)
    assert done.code == 4 and "too long" in done.err, done.err
    assert time.monotonic() - begin < 60


def test_a_folder_without_space_is_named(loopscope, tmp_path, script):
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        program = script("head -c 8000000 /dev/zero > checkpoint || exit 1\n")
        done = loopscope(*RERUNS, "--", program, env={"TMPDIR": str(small)})
        assert done.code in (2, 4) and str(small) in done.err and "space" in done.err, done.err
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def test_folders_of_others_are_left_alone(loopscope, tmp_path, script):
    program = script("exit 0\n")
    (tmp_path / "out" / "recording").mkdir(parents=True)
    (tmp_path / "out" / "recording" / "mine").write_text("mine")
    done = loopscope("run", "-o", "out", "--", program)
    assert done.code == 2 and "recording" in done.err, done.err
    assert (tmp_path / "out" / "recording" / "mine").read_text() == "mine"
    done = loopscope("prove", "--resume", "-o", "none", "--", program)
    assert done.code == 2 and not (tmp_path / "none").exists(), done.err


def test_children_that_cannot_take_the_libraries_start_without_them(loopscope, tmp_path, script):
    """A sanitizer's library refuses to start behind another one."""
    (tmp_path / "a.c").write_text('#include <stdio.h>\nint main(void) { puts("sanitized"); return 5; }\n')
    made = subprocess.run(["gcc", "-fsanitize=address", "a.c", "-o", "sanitized"], cwd=tmp_path, capture_output=True)
    if made.returncode != 0:
        pytest.skip("gcc has no address sanitizer here")
    for program in ([script("./sanitized; exit $?\n")], ["env", "./sanitized"], ["./sanitized"]):
        done = loopscope("run", "--", *program)
        assert done.code == 5 and done.out.startswith("sanitized\n"), (program, done.err)
    assert "sanitizer" in done.err
    library = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    program = script('echo "$LD_PRELOAD" > preload; exec /bin/true\n', name="preloads.sh")
    for order in (f"{library}:$LD_PRELOAD", f"$LD_PRELOAD:{library}"):
        text = f'export LD_PRELOAD="{order}"; exec {program}\n'
        done = loopscope("run", "--", script(text, name="outer.sh"))
        assert done.code == 0, done.err
        first = (tmp_path / "preload").read_text().split(":")[0]
        assert "asan" in first


def test_a_python_2_could_read_the_site(loopscope):
    """Children of another Python find it on PYTHONPATH: no syntax that it lacks."""
    text = (pathlib.Path(BUILD) / "probes" / "python" / "site" / "sitecustomize.py").read_text()
    assert 'f"' not in text and "f'" not in text and "nonlocal" not in text
