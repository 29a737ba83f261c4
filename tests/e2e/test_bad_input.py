"""Each kind of bad input gives one clear message (what, where, what to do) and the right exit code."""

import os
import re
import shutil
import struct
import subprocess

import pytest

pytestmark = pytest.mark.usefixtures("one_thread")


def test_unknown_command_lists_what_there_is(loopscope):
    done = loopscope("prov", "--", "x")
    assert done.code == 2
    assert "unknown command `prov`" in done.err and "did you mean `prove`?" in done.err and "doctor" in done.err


def test_unknown_treatment_is_said_before_anything_starts(loopscope, script):
    program = script("touch started\n")
    done = loopscope("prove", "--only", "loader.wokers=2", "--", program)
    assert done.code == 2
    assert "loader.wokers" in done.message()
    assert not (loopscope.folder / "started").exists()
    assert not (loopscope.folder / "loopscope-out").exists()


@pytest.mark.parametrize("command, code", [("run", 127), ("prove", 4)])
def test_command_that_does_not_exist(loopscope, command, code):
    done = loopscope(command, "--", "./no-such-program", "--flag")
    assert done.code == code
    assert "./no-such-program: no such command" in done.message() and "check the spelling" in done.message()


def test_first_command_of_ab_does_not_exist(loopscope):
    done = loopscope("ab", "./no-such-program", "--", "true")
    assert done.code == 4
    assert "no such command" in done.err


@pytest.mark.parametrize("command, code", [("run", 126), ("prove", 4)])
def test_command_that_cannot_be_executed(loopscope, command, code):
    (loopscope.folder / "plain").write_text("text")
    done = loopscope(command, "--", "./plain")
    assert done.code == code
    assert "Permission denied" in done.message() and "chmod +x" in done.message()


@pytest.mark.parametrize("command, code", [("run", 3), ("prove", 4)])
def test_dies_at_start(loopscope, script, command, code):
    done = loopscope(command, "--", script("echo no data set here >&2; exit 3\n"))
    assert done.code == code
    assert "ended with status 3 before its first step" in done.message()
    assert "no data set here" in done.err and "without Loopscope" in done.message()


@pytest.mark.parametrize("command, code", [("run", 139), ("prove", 4)])
def test_killed_by_a_signal_at_start(loopscope, script, command, code):
    done = loopscope(command, "--", script("kill -SEGV $$\n"))
    assert done.code == code
    assert "signal 11 (Segmentation fault) before its first step" in done.message()


@pytest.mark.parametrize("command, code", [("run", 128 + 24), ("prove", 4)])
def test_dies_in_mid_run(loopscope, tiny_train, script, command, code):
    # The system ends it with SIGXCPU after three seconds of computing, long after its first steps.
    program = script("ulimit -S -t 3\nexec " + " ".join(tiny_train) + " --epochs 1000000\n")
    done = loopscope(command, "-o", "out", "--steps", "10000000", "--", program)
    assert done.code == code, done.err
    assert re.search(
        r"signal 24 \(CPU time limit exceeded\) after [1-9][0-9]{0,2}(,[0-9]{3})* steps", done.message()
    ), done.err
    assert "is kept" in done.message()
    captures = list((loopscope.folder / "out").rglob("*.cap"))
    assert len(captures) == 1 and captures[0].stat().st_size > 0


@pytest.mark.parametrize("command, code", [("run", 0), ("prove", 3)])
def test_never_reaches_a_step(loopscope, tiny_train, command, code):
    done = loopscope(command, "--", *tiny_train, "--epochs", "0")
    assert done.code == code
    assert "without a training step" in done.message() and "StepEnd" in done.message()


@pytest.mark.parametrize("command, code", [("run", 0), ("prove", 3)])
@pytest.mark.parametrize(
    "kind, says",
    [("dynamic", "not linked with libtorch_cpu.so"), ("script", "script for /bin/sh"), ("static", "linked statically")],
)
def test_no_libtorch_program(loopscope, script, command, code, kind, says):
    program = {"dynamic": "/bin/true", "script": script("true\n"), "static": static_program(loopscope.folder)}[kind]
    if not program:
        pytest.skip("no compiler for a static program")
    done = loopscope(command, "--", program)
    assert done.code == code
    assert "no LibTorch program was seen" in done.message() and says in done.message()


def static_program(folder):
    compiler = shutil.which("cc") or shutil.which("g++")
    source = folder / "static.c"
    source.write_text("int main(void) { return 0; }\n")
    if not compiler or subprocess.run([compiler, "-static", "-o", folder / "static", source]).returncode != 0:
        return None
    return str(folder / "static")


@pytest.mark.parametrize("command", ["run", "prove", "ab"])
def test_output_folder_that_cannot_be_written(loopscope, script, command):
    program = script("touch started\n")
    (loopscope.folder / "file").write_text("")
    done = loopscope(command, "-o", "file/out", *([program] if command == "ab" else []), "--", program)
    assert done.code == 2
    assert "output folder cannot be written to" in done.message() and "-o DIR" in done.message()
    assert not (loopscope.folder / "started").exists(), "nothing was started"


def test_output_folder_of_another_run_is_left_alone(loopscope):
    (loopscope.folder / "out").mkdir()
    (loopscope.folder / "out" / "old.cap").write_text("precious")
    done = loopscope("run", "-o", "out", "--", "true")
    assert done.code == 2
    assert "holds another run" in done.message()
    assert (loopscope.folder / "out" / "old.cap").read_text() == "precious"


def test_temporary_folder_that_cannot_be_written(loopscope):
    done = loopscope("run", "--", "true", env={"TMPDIR": "/no/such/folder"})
    assert done.code == 2
    assert "set TMPDIR" in done.message()


def test_full_disk_under_the_capture(loopscope, tiny_train):
    mount = loopscope.folder / "small"
    mount.mkdir()
    inside = f'mount -t tmpfs -o size=1m none {mount} && {{ "$@"; code=$?; ls {mount}/out; exit $code; }}'
    prefix = ["unshare", "-m", "sh", "-c", inside, "sh"]
    if os.geteuid() != 0 or subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    long_run = ["--steps", "200", "--", *tiny_train, "--epochs", "30"]
    done = loopscope("run", "-o", mount / "out", *long_run, prefix=prefix)
    assert done.code == 0, done.err
    assert "sum " in done.out or "steps" in done.out, "training itself went on to its end"
    assert ".cap" in done.out, "what was written before is kept"


def test_no_file_may_have_a_length(loopscope, script):
    done = loopscope(
        "run", "-o", "out", "--", script("touch started\n"), prefix=["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]
    )
    assert done.code == 2
    assert "run.json: cannot be written: File too large" in done.message()
    assert not (loopscope.folder / "started").exists(), "nothing was started"


def test_a_limit_on_files_is_the_programs_as_before(loopscope, script):
    program = script("python3 -c 'print(__import__(\"signal\").getsignal(25))'\n")
    plain = subprocess.run([program], capture_output=True, text=True).stdout
    assert plain in loopscope("run", "--", program).out


def test_capture_of_a_newer_major_version(loopscope):
    header = b"LOOPSCAP" + struct.pack("<HHII", 99, 0, 4096, 65536)
    (loopscope.folder / "new.cap").write_bytes(header.ljust(4096, b"\0"))
    done = loopscope("report", "new.cap")
    assert done.code == 2
    assert "new.cap" in done.message() and "99" in done.message()


@pytest.mark.parametrize("content", [b"", b"not a capture", b"LOOPSCAP"])
def test_input_that_is_no_capture(loopscope, content):
    (loopscope.folder / "x.cap").write_bytes(content)
    done = loopscope("report", "x.cap")
    assert done.code == 2
    assert "x.cap" in done.message()


def test_input_that_is_not_there(loopscope):
    done = loopscope("report", "nowhere")
    assert done.code == 2
    assert "nowhere: no such file or folder" in done.message()


def test_prepare_that_fails(loopscope):
    done = loopscope("prove", "--prepare", "echo no licence; exit 1", "--", "true")
    assert done.code == 4
    assert "--prepare" in done.message() and "no licence" in done.message()


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_a_report_that_cannot_be_written_is_said_before_anything_starts(loopscope, script, option):
    (loopscope.folder / "folder").mkdir()
    for place, says in [("no/such/report", "there is no folder"), ("folder", "is a folder")]:
        done = loopscope("run", option, place, "--", script("touch started\n"))
        assert done.code == 2 and says in done.message() and f"{option} {place}" in done.message()
        assert not (loopscope.folder / "started").exists()


@pytest.mark.parametrize(
    "words, says",
    [
        (["run", "--json"], "--json needs a value"),
        (["rules", "a", "b"], "too many words"),
        (["prove", "train.py"], "unexpected `train.py`"),
        (["report"], "a trace of torch.profiler"),
    ],
)
def test_a_command_line_that_is_not_understood(loopscope, words, says):
    done = loopscope(*words)
    assert done.code == 2 and says in done.message()
