"""Whatever exists at an output's place: only a regular file, or nothing, is ever replaced."""

import json
import os
import pathlib
import random
import socket
import stat
import subprocess
import threading

import pytest

from conftest import BUILD

FORMATS = ("json", "html", "markdown", "sarif", "junit", "csv", "perfetto")
REPORT = {"schema": "loopscope.report/1", "run": {"command": ["./train"]}, "findings": [], "rules": []}


def fifo(path, _):
    os.mkfifo(path)


def read_fifo(path, _):
    os.mkfifo(path)
    threading.Thread(target=lambda: path.read_bytes(), daemon=True).start()


def bound_socket(path, stack):
    one = socket.socket(socket.AF_UNIX)
    stack.append(one)
    here = os.getcwd()
    os.chdir(path.parent)  # names of sockets are short
    one.bind(path.name)
    os.chdir(here)


def device(minor):
    return lambda path, _: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))


def linked(kind):
    def make(path, stack):
        target = path.with_name("target of " + path.name)
        KINDS[kind](target, stack)
        path.symlink_to(target)

    return make


KINDS = {
    "absent": lambda path, _: None,
    "file": lambda path, _: path.write_text("old"),
    "folder": lambda path, _: path.mkdir(),
    "fifo": fifo,
    "read fifo": read_fifo,
    "socket": bound_socket,
    "null": device(3),
    "full": device(7),
    "block": lambda path, _: os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(7, 250)),
    "dangling link": lambda path, _: path.symlink_to(path.with_name("made")),
    "link to nowhere": lambda path, _: path.symlink_to("no/such/folder"),
    "link to itself": lambda path, _: path.symlink_to(path.name),
    "link to stdout": lambda path, _: path.symlink_to("/dev/stdout"),
    "link to a descriptor": lambda path, _: path.symlink_to("/proc/self/fd/2"),
    "in no folder": lambda path, _: None,
    "read-only file": lambda path, _: (path.write_text("old"), path.chmod(0o400)),
    "file with two names": lambda path, _: (path.write_text("old"), os.link(path, path.with_name("other"))),
    "two names, in a shared folder": lambda path, _: (
        path.parent.chmod(0o1777),
        path.write_text("old"),
        os.link(path, path.with_name("other")),
    ),
}
KINDS |= {f"link to {kind}": linked(kind) for kind in ("file", "folder", "fifo", "socket", "null", "full")}
REFUSED = {
    "folder",
    "fifo",
    "socket",
    "full",
    "block",
    "link to nowhere",
    "link to itself",
    "in no folder",
    "read-only file",
}
REFUSED |= {f"link to {kind}" for kind in ("folder", "fifo", "socket", "full")}
NEEDS_ROOT = ("null", "full", "block")


def shown(path):
    """What exists there, and what a link leads to; for files only their existence."""
    seen = []
    for one in (path, path.with_name("target of " + path.name)):
        state = os.lstat(one) if os.path.lexists(one) else None
        link = os.readlink(one) if state and stat.S_ISLNK(state.st_mode) else None
        regular = state is None or stat.S_ISREG(state.st_mode)
        seen.append("file or nothing" if regular else (stat.S_IFMT(state.st_mode), state.st_rdev, state.st_ino, link))
    return seen


def kinds():
    return [kind for kind in KINDS if os.geteuid() == 0 or not any(word in kind for word in NEEDS_ROOT)]


def attempt(folder, number, kind, format_name):
    report = folder / "report.json"
    if not report.exists():
        report.write_text(json.dumps(REPORT))
    home = folder / str(number)
    home.mkdir()
    place, stack = home / "place", []
    KINDS[kind](place, stack)
    asked = home / "missing" / "place" if kind == "in no folder" else place
    before = shown(place)
    mode = stat.S_IMODE(place.stat().st_mode) if kind in ("file", "link to file", "file with two names") else 0o600
    done = subprocess.run(
        [BUILD / "loopscope", "report", "--quiet", f"--{format_name}", asked, report],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    what = kind, format_name, done.stderr
    assert shown(place) == before, what
    assert done.returncode == (2 if kind in REFUSED else 0), what
    if done.returncode == 2:
        assert done.stderr.startswith("loopscope: ") and len(done.stderr.splitlines()) == 2, what
    if kind in ("absent", "file", "link to file", "dangling link", "file with two names"):
        assert place.read_text() != "old" and stat.S_IMODE(place.stat().st_mode) == mode, what
    if kind == "file with two names":
        assert (home / "other").read_text() == place.read_text(), what
    if kind == "two names, in a shared folder":  # the second name's maker may not own the file
        assert (home / "other").read_text() == "old" != place.read_text(), what
    if kind == "read-only file":
        assert place.read_text() == "old", what
    names = [one.name for one in home.iterdir()]
    assert not [name for name in names if ".part" in name], what
    for one in stack:
        one.close()


@pytest.mark.parametrize("kind", kinds())
def test_each_place(tmp_path, loopscope, kind):
    for number, format_name in enumerate(("json", "html")):
        attempt(tmp_path, number, kind, format_name)


@pytest.mark.long
def test_two_thousand_outputs(tmp_path, loopscope):
    draw = random.Random(1)
    for number in range(2000):
        attempt(tmp_path, number, draw.choice(kinds()), draw.choice(FORMATS))


@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind in REFUSED and "full" not in kind])
def test_what_cannot_be_written_is_refused_before_the_training(tmp_path, loopscope, script, kind):
    program = script("touch started; exit 7\n")
    place = tmp_path / "here" / "place"
    place.parent.mkdir()
    stack = []
    KINDS[kind](place, stack)
    done = loopscope("run", "--json", place.parent / "no/x" if kind == "in no folder" else place, "--", program)
    assert done.code == 2 and not (tmp_path / "started").exists(), done.err


def test_an_output_that_fails_later_is_not_the_trainings(tmp_path, loopscope, script):
    """Its folder goes while the program runs."""
    (tmp_path / "here").mkdir()
    program = script("rm -rf here; exit 7\n")
    done = loopscope("run", "--json", "here/report.json", "--", program)
    assert done.code == 7 and "report.json" in done.err, done.err


def test_descriptors_are_written_where_they_stand(tmp_path, loopscope):
    """Not from the file's beginning, and never by another file in its place."""
    report = tmp_path / "report.json"
    report.write_text(json.dumps(REPORT))
    log = tmp_path / "log"
    log.write_text("before\n")
    program = str(BUILD / "loopscope")
    line = f'exec 5>>log; echo more >&5; "{program}" report --format csv --json /dev/fd/5 report.json > /dev/null; echo after >&5'
    subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True, timeout=60)
    text = log.read_text()
    assert text.startswith("before\nmore\n{") and text.endswith("}\nafter\n")
    done = subprocess.run(
        [program, "report", "--json", "/dev/stdout", "report.json"], cwd=tmp_path, stdout=open(log, "a"), timeout=60
    )
    assert done.returncode == 0 and log.read_text().startswith(text)


@pytest.mark.parametrize(
    "words",
    [
        ["--json", ""],
        ["--html", ""],
        ["-o", ""],
        ["--json", "a", "--html", "a"],
        ["--json", "a", "--html", "./a"],
        ["--json", "train.sh"],
        ["--json", "x" * 300],
    ],
)
def test_words_that_name_no_place_of_their_own(tmp_path, loopscope, script, words):
    program = script("touch started\n", name="train.sh")
    done = loopscope("run", *words, "--", program)
    assert done.code == 2 and not (tmp_path / "started").exists(), done.err
    assert pathlib.Path(program).read_text().startswith("#!/bin/sh")


def test_a_history_that_is_no_file(tmp_path, loopscope):
    folder = tmp_path / "history"
    folder.mkdir()
    os.mkfifo(folder / "history.sqlite")
    done = loopscope("history", folder, timeout=30)
    assert done.code == 2 and "not a file" in done.err


@pytest.mark.parametrize("own", ["the.cap", "run.json", "rank0.json"])
def test_a_report_does_not_replace_what_it_is_made_of(loopscope, tmp_path, own):
    folder = tmp_path / "recording"
    folder.mkdir()
    (folder / own).write_text(json.dumps(REPORT))
    for given in (folder, folder / own):
        done = loopscope("report", given, "--json", folder / own)
        assert done.code == 2 and "is a file that the report is made of" in done.err, done.err
        assert json.loads((folder / own).read_text()) == REPORT
    other_name = tmp_path / "page.json"
    os.link(folder / own, other_name)
    assert loopscope("report", folder / own, "--json", other_name).code == 2
    assert json.loads(other_name.read_text()) == REPORT


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser writes others' files")
def test_a_file_stays_its_owners(loopscope, tmp_path):
    report, page = tmp_path / "r.json", tmp_path / "page.html"
    report.write_text(json.dumps(REPORT))
    page.write_text("old")
    page.chmod(0o640)
    os.chown(page, 65534, 65534)
    done = loopscope("report", report, "--html", page)
    seen = page.stat()
    assert done.code == 0 and page.read_text() != "old", done.err
    assert (seen.st_uid, seen.st_gid, stat.S_IMODE(seen.st_mode)) == (65534, 65534, 0o640)
