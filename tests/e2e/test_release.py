"""The release script: one version in all places, a dated heading, a tag; and when it refuses."""

import re
import shutil
import subprocess

import pytest

from conftest import ROOT

FILES = ("CMakeLists.txt", "CITATION.cff", "CHANGELOG.md", "cmake/release.sh")


def version_in(text):
    return re.search(r"^(?:project\(loopscope VERSION |version: )([\d.]+)", text, re.MULTILINE)[1]


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "cmake").mkdir()
    for file in FILES:
        shutil.copy(ROOT / file, tmp_path / file)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "All of it")
    return tmp_path


def git(folder, *words):
    named = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    return subprocess.run(
        ["git", *named, *words], cwd=folder, check=True, capture_output=True, text=True, timeout=60
    ).stdout


def release(tree, *words):
    who = {f"GIT_{role}_{what}": "test@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return subprocess.run(
        [tree / "cmake/release.sh", "--no-wheel", *words],
        env={"PATH": "/usr/bin:/bin", **who},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_version_is_the_same_everywhere():
    assert version_in((ROOT / "CITATION.cff").read_text()) == version_in((ROOT / "CMakeLists.txt").read_text())


def test_a_release(tree):
    notes = (tree / "CHANGELOG.md").read_text().split("## Unreleased\n")[1].strip()
    done = release(tree, "7.1.0")
    assert done.returncode == 0 and "v7.1.0" in done.stdout, done.stderr
    for file in ("CMakeLists.txt", "CITATION.cff"):
        assert version_in((tree / file).read_text()) == "7.1.0"
    assert re.search(
        r"^## Unreleased\n\n## 7\.1\.0 \(\d{4}-\d\d-\d\d\)\n", (tree / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert git(tree, "status", "--porcelain") == ""
    assert notes.splitlines()[0] in git(tree, "tag", "-n99", "v7.1.0")
    again = release(tree, "7.0.9")
    assert again.returncode == 2 and "older than 7.1.0" in again.stderr


def test_what_is_refused(tree):
    for words, why in ((["7.1"], "1.2.3"), ([], "1.2.3")):
        done = release(tree, *words)
        assert done.returncode == 2 and why in done.stderr
    (tree / "CITATION.cff").write_text("changed")
    done = release(tree, "7.1.0")
    assert done.returncode == 2 and "not committed" in done.stderr
