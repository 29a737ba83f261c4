"""Launches leave the user's files as they were, and each starts from the same ones."""

import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BUILD, QUICK, Loopscope

NOBODY = 65534

# Resumes from the newest checkpoint, counts, overwrites, deletes, and keeps a log, like a careless script.
CARELESS = """
newest=$(ls checkpoints | sort -n | tail -1)
echo "resumed from $newest, count $(cat count)"
cp checkpoints/$newest checkpoints/$((newest + 1))
rm -f checkpoints/0
echo $(($(cat count) + 1)) > count
echo run >> log
mkdir -p "$HOME/tracker" && echo run >> "$HOME/tracker/runs"
echo own > "$LOOPSCOPE_LAUNCH_DIR/own"
"""


def snapshot(folder):
    """Every path below with its kind, permissions, times and content."""
    files = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        files[str(path.relative_to(folder))] = (facts.st_mode, facts.st_uid, facts.st_size, facts.st_mtime_ns, content)
    return files


def project_in(folder):
    """A working folder and a home with files in them, outside of the folder where results go."""
    project = folder / "project"
    (project / "checkpoints").mkdir(parents=True)
    (project / "checkpoints" / "0").write_text("old")
    (project / "checkpoints" / "7").write_text("weights")
    (project / "count").write_text("3\n")
    (folder / "home").mkdir()
    (folder / "home" / "notes").write_text("mine")
    return project


@pytest.fixture
def project(tmp_path):
    return project_in(tmp_path)


def careless(project, program):
    path = project / "train.sh"
    path.write_text("#!/bin/sh\n" + CARELESS + "exec " + " ".join(program) + "\n")
    path.chmod(0o755)
    return "./train.sh"


def outputs(out):
    return sorted((path.parent.name, path.read_text()) for path in out.rglob("output.txt"))


def prove(loopscope, project, program, *options, prefix=()):
    out = loopscope.folder / "out"
    done = loopscope(
        "prove",
        "-o",
        out,
        "--keep",
        *QUICK,
        *options,
        "--",
        program,
        cwd=project,
        prefix=prefix,
        env={"HOME": str(loopscope.folder / "home"), "XDG_CACHE_HOME": ""},
    )
    return done, out


def test_program_without_torch_leaves_the_tree_alone(loopscope, project):
    program = careless(project, ["true"])
    before = snapshot(loopscope.folder)
    done, out = prove(loopscope, project, program)
    assert done.code == 3, done.err
    assert [text for _, text in outputs(out)] == ["resumed from 7, count 3\n"]
    shutil.rmtree(out)
    assert snapshot(loopscope.folder) == before


@pytest.fixture(scope="module")
def many_launches(tmp_path_factory, tiny_train):
    """A `prove` of a program that looks into a cache too: how it ended, what each launch printed, the tree before and after."""
    loopscope = Loopscope(tmp_path_factory.mktemp("many"))
    project = project_in(loopscope.folder)
    cache = '"$HOME/.cache/set"'
    program = careless(project, [*tiny_train, "--epochs", "100000"])
    script = project / "train.sh"
    looks = (
        f'if [ -e {cache} ]; then echo found $(cat {cache}); else mkdir -p "$HOME/.cache"; echo made; fi\n'
        f"echo run >> {cache}\n"
    )
    script.write_text(script.read_text().replace("exec ", looks + "exec "))
    before = snapshot(loopscope.folder)
    done, out = prove(loopscope, project, program, "--only", "threads=1", "--blocks", "4")
    printed = [text for _, text in outputs(out)]
    shutil.rmtree(out)
    return done, printed, before, snapshot(loopscope.folder)


def test_many_launches_leave_the_tree_alone_and_start_alike(many_launches):
    done, printed, before, after = many_launches
    assert done.code == 0, done.err
    assert len(printed) > 8, "diagnosis, pilots, checks and blocks\n" + done.out
    assert {text.splitlines()[0] for text in printed} == {"resumed from 7, count 3"}
    assert after == before


def test_what_the_first_launch_caches_is_there_for_all_others(many_launches):
    done, printed, before, after = many_launches
    assert done.code == 0, done.err
    seen = [line for text in printed for line in text.splitlines() if line.startswith(("made", "found"))]
    assert len(seen) > 8 and seen.count("made") == 1 and seen.count("found run") == len(seen) - 1, seen
    assert after == before


def test_prepare_runs_inside_before_each_launch(loopscope, project):
    program = careless(project, ["true"])
    before = snapshot(loopscope.folder)
    done, out = prove(loopscope, project, program, "--prepare", "rm -r checkpoints/7; echo 9 > count")
    assert done.code == 3, done.err
    assert [text for _, text in outputs(out)] == ["resumed from 0, count 9\n"]
    shutil.rmtree(out)
    assert snapshot(loopscope.folder) == before


def test_ordinary_user(loopscope, project):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can try another user")
    program = careless(project, ["true"])
    for path in [loopscope.folder, *loopscope.folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    for folder in [loopscope.folder, *loopscope.folder.parents]:
        if subprocess.run([*prefix, "test", "-x", folder]).returncode != 0:
            os.chmod(folder, 0o755)
    if subprocess.run([*prefix, "test", "-x", BUILD / "loopscope"]).returncode != 0:
        pytest.skip("the build folder is not open to other users")
    before = snapshot(loopscope.folder)
    done, out = prove(loopscope, project, program, prefix=prefix)
    assert done.code == 3, done.err
    assert [text for _, text in outputs(out)] == ["resumed from 7, count 3\n"], done.err
    shutil.rmtree(out)
    assert snapshot(loopscope.folder) == before


def test_nothing_is_left_in_the_temporary_folder(loopscope, project):
    temporary = loopscope.folder / "temporary"
    temporary.mkdir()
    out = loopscope.folder / "out"
    loopscope("prove", "-o", out, "--", careless(project, ["true"]), cwd=project, env={"TMPDIR": str(temporary)})
    assert not list(temporary.iterdir())


def test_run_is_the_users_real_run(loopscope, project):
    program = careless(project, ["true"])
    done = loopscope(
        "run", "-o", loopscope.folder / "out", "--", program, cwd=project, env={"HOME": str(loopscope.folder / "home")}
    )
    assert "resumed from 7, count 3" in done.out
    assert (project / "count").read_text() == "4\n"
    assert sorted(path.name for path in (project / "checkpoints").iterdir()) == ["7", "8"]
    assert pathlib.Path(loopscope.folder / "home/tracker/runs").read_text() == "run\n"
