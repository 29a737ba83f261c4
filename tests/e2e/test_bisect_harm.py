"""`bisect` leaves the user's work tree, index, refs and worktrees as they are, whatever git's variables, a build or a
signal do. The programs do not train: the tests look at what happens around them."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

from conftest import BUILD

PROGRAM = "#!/bin/sh\nsleep 0.2\n"


class Repository:
    def __init__(self, folder):
        self.folder = folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
        }
        for who in ("AUTHOR", "COMMITTER"):
            self.environment |= {f"GIT_{who}_NAME": "Ann", f"GIT_{who}_EMAIL": "ann@example.org"}
        folder.mkdir()
        self.git("init", "-q", "-b", "main")
        for number in range(3):
            (folder / "train.sh").write_text(PROGRAM)
            (folder / "train.sh").chmod(0o755)
            for name in ("staged", "changed", "number"):
                (folder / name).write_text(f"{number}\n")
            self.git("add", "-A")
            self.git("commit", "-q", "-m", f"number {number}")
        self.ids = self.git("rev-list", "--reverse", "HEAD").split()
        (folder / "changed").write_text("stashed\n")
        self.git("stash", "-q")
        (folder / "staged").write_text("staged, not committed\n")
        self.git("add", "staged")
        (folder / "changed").write_text("not even staged\n")

    def git(self, *words, environment=None):
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=environment or self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def state(self):
        asked = (
            ["rev-parse", "--symbolic-full-name", "HEAD"],
            ["for-each-ref"],
            ["status", "--porcelain=v2", "--untracked-files=no"],
            ["diff", "--cached"],
            ["diff"],
            ["stash", "list"],
            ["worktree", "list", "--porcelain"],
        )
        return [self.git(*words) for words in asked]

    def command(self, *words, out="out"):
        program = BUILD / "loopscope"
        options = ["--quiet", "--budget", "60s", "-o", str(self.folder.parent / out)]
        return [str(program), "bisect", *options, *words, self.ids[0], self.ids[-1], "--", "./train.sh"]

    def bisect(self, *words, env=None, cwd=None, out="out"):
        return subprocess.run(
            self.command(*words, out=out),
            cwd=cwd or self.folder,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )


@pytest.fixture
def repository(tmp_path, loopscope):
    return Repository(tmp_path / "repository")


def runs(pid):
    """Not a zombie that waits for its new parent."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_variables_of_git_change_nothing(repository):
    """As an alias, a hook and a commit with named files set them."""
    before = repository.state()
    own = {"GIT_DIR": ".git", "GIT_WORK_TREE": ".", "GIT_INDEX_FILE": ".git/index", "GIT_PREFIX": ""}
    for env in ({}, {"GIT_DIR": ".git"}, {"GIT_INDEX_FILE": str(repository.folder / ".git/index")}, own):
        done = repository.bisect(env=env, out="out" + str(len(env)) + "".join(env)[-5:])
        assert "no LibTorch program" in done.stderr or done.returncode in (3, 4), (env, done.stderr)
        assert repository.state() == before, env


def test_a_linked_worktree_is_the_one_that_is_meant(repository, tmp_path):
    linked = tmp_path / "linked"
    repository.git("worktree", "add", "-q", "--detach", str(linked))
    (linked / "changed").write_text("of the linked one\n")
    before = repository.state()
    git_dir = subprocess.run(
        ["git", "rev-parse", "--absolute-git-dir"],
        cwd=linked,
        capture_output=True,
        text=True,
        env=repository.environment,
    ).stdout.strip()
    repository.bisect(env={"GIT_DIR": git_dir}, cwd=linked)
    assert repository.state() == before
    assert (linked / "changed").read_text() == "of the linked one\n"


def test_another_repository_is_refused(repository, tmp_path):
    other = Repository(tmp_path / "other")
    before, of_other = repository.state(), other.state()
    for env in (
        {"GIT_DIR": str(other.folder / ".git")},
        {"GIT_DIR": str(other.folder / ".git"), "GIT_WORK_TREE": str(other.folder)},
        {"GIT_WORK_TREE": str(other.folder)},
    ):
        done = repository.bisect(env=env)
        assert done.returncode == 2 and "GIT_DIR" in done.stderr, (env, done.stderr)
    repository.git("config", "core.worktree", str(other.folder))
    done = repository.bisect(out="out2")
    assert done.returncode == 2 and "work tree" in done.stderr, done.stderr
    repository.git("config", "--unset", "core.worktree")
    assert repository.state() == before and other.state() == of_other


def test_a_build_that_deletes_what_git_knows_it_by(repository):
    """Then git would find the user's own repository around the output folder."""
    before = repository.state()
    done = repository.bisect("--build", "rm -rf .git", out="repository/loopscope-out")
    assert done.returncode != 0, done.stdout
    assert repository.state() == before
    assert (repository.folder / "changed").read_text() == "not even staged\n"


def test_worktrees_of_others_stay_registered(repository, tmp_path):
    repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "away"))
    (tmp_path / "away").rename(tmp_path / "elsewhere")
    before = repository.state()
    assert str(tmp_path / "away") in before[-1]
    repository.bisect()
    assert repository.state() == before


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_killed_one_left_is_taken_away_by_the_next(repository, tmp_path, number):
    before = repository.state()
    slow = tmp_path / "pids"
    started = subprocess.Popen(
        repository.command("--build", f"echo $$ >> {slow}; sleep 2"),
        cwd=repository.folder,
        env=repository.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    until = time.monotonic() + 60
    while not slow.exists() and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(started.pid, number)
    started.communicate(timeout=60)
    if number == signal.SIGTERM:
        assert repository.state() == before
    done = repository.bisect("--resume")
    assert "another bisect" not in done.stderr, done.stderr
    assert repository.state() == before
    for pid in pathlib.Path(slow).read_text().split():
        assert not runs(pid)
