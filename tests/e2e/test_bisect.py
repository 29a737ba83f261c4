# ctest labels: measured
"""`bisect` on small histories: commits that slow a program down are found, and nothing is left behind."""

import json
import os
import signal
import subprocess
import time

import pytest

from conftest import BUILD

SHORT = ["--budget", "20m", "--min-window", "50ms", "--warmup", "10", "--time", "2s", "--max-slowdown", "30%"]


@pytest.fixture
def history(tmp_path, tiny_train):
    """A repository with one commit for each entry: what the program's command line gets, or a whole script."""
    folder = tmp_path / "repository"
    folder.mkdir()
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    for who in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{who}_NAME": "Ann", f"GIT_{who}_EMAIL": "ann@example.org"}

    def git(*words):
        done = subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    command = " ".join([*tiny_train, "--epochs", "100000000", "--shallow"])

    def make(*entries):
        ids = []
        for number, entry in enumerate(entries):
            text = entry if entry.startswith("#!") else f"#!/bin/sh\nexec {command} {entry}\n"
            (folder / "train.sh").write_text(text)
            (folder / "train.sh").chmod(0o755)
            (folder / "number.txt").write_text(f"{number}\n")
            git("add", "-A")
            git("commit", "-q", "-m", f"number {number}")
            ids.append(git("rev-parse", "HEAD"))
        return folder, ids, git

    return make


def bisect(loopscope, folder, *words):
    file = folder.parent / "bisect.json"
    done = loopscope("bisect", *SHORT, "-o", folder.parent / "out", "--json", file, *words, cwd=folder, timeout=1200)
    return done, json.loads(file.read_text()) if file.exists() else None


def test_commits_that_cannot_be_judged(loopscope, history):
    """The third does not build, the fourth is slow: it may be either of them."""
    steady = "--sleep 3000"
    folder, ids, _ = history(steady, steady, "#!/bin/sh\nexit 9\n", steady + " --anomaly")
    words = ["--build", "grep -q exec train.sh", ids[0], ids[3], "--", "./train.sh"]
    done, told = bisect(loopscope, folder, *words)
    assert done.code == 0, done.err
    (slow,) = told["slow"]
    assert slow["commit"] == ids[3] and slow["maybe"] == [ids[2]] and "anomaly mode" in slow["reason"]
    assert (
        "it does not build: --build ended with status 1" in done.err
        and f"could not be judged: {ids[2][:10]}" in " ".join(done.out.split())
    )
    assert {one["verdict"] for one in told["gates"] if one["commit"] == ids[2]} == {"unknown"}


def test_a_commit_that_fails_is_no_verdict(loopscope, history):
    folder, ids, git = history("", "#!/bin/sh\nexit 9\n")
    done, told = bisect(loopscope, folder, ids[0], ids[1], "--", "./train.sh")
    assert done.code == 4 and "unknown" in done.message() and told is None
    assert len(git("worktree", "list").splitlines()) == 1


def test_wrong_wishes(loopscope, history, tmp_path):
    folder, ids, git = history("", "")
    for words, message in [
        ([ids[0]], "1 commit instead of two"),
        (["nowhere", "HEAD"], "nowhere: no such commit"),
        (["HEAD", ids[0]], "the good commit is not before the bad one"),
        (["HEAD", ids[1]], "both are the same commit"),
    ]:
        done = loopscope("bisect", *words, "--", "./train.sh", cwd=folder)
        assert done.code == 2 and message in done.message(), done.err
    outside = tmp_path / "outside"
    outside.mkdir()
    done = loopscope("bisect", "HEAD~1", "HEAD", "--", "./train.sh", cwd=outside)
    assert done.code == 2 and "no Git repository" in done.message()
    done = loopscope("bisect", "HEAD~1", "HEAD", cwd=folder)
    assert done.code == 2 and "--" in done.message()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_worktree(history, tmp_path, number):
    folder, ids, git = history("", "", "")
    command = [BUILD / "loopscope", "bisect", *SHORT, "-o", tmp_path / "out", ids[0], ids[2], "--", "./train.sh"]
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(git("worktree", "list").splitlines()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    running.send_signal(number)
    _, printed = running.communicate(timeout=60)
    assert running.returncode == 3 and "--resume" in printed, printed
    assert len(git("worktree", "list").splitlines()) == 1
