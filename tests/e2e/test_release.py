"""The release script: one version in all places, a dated heading, a tag; and when it refuses."""

import datetime
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT

FILES = (
    "CMakeLists.txt",
    "CITATION.cff",
    "CHANGELOG.md",
    "cmake/release.sh",
    "tests/long_record.py",
    "docs/long_tests.md",
)


def version_in(text):
    return re.search(r"^(?:project\(loopscope VERSION |version: )([\d.]+)", text, re.MULTILINE)[1]


@pytest.fixture
def tree(tmp_path):
    for file in FILES:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    long_tests_ran(tmp_path, datetime.date.today())
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "All of it")
    return tmp_path


def long_tests_ran(tree, date, result="passed"):
    """Writes into the record that all long tests had this result on this day."""
    page = (tree / "docs/long_tests.md").read_text()
    (tree / "docs/long_tests.md").write_text(
        re.sub(r"^(\| `\w+` \|) .*", rf"\1 {date} | abcdef0 | {result} | 1.0 |", page, flags=re.MULTILINE)
    )


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


def test_a_long_test_that_did_not_pass_lately_stops_it(tree):
    today = datetime.date.today()
    for date, result, why in (
        (today - datetime.timedelta(days=15), "passed", "last ran on"),
        (today, "failed", "failed on"),
    ):
        long_tests_ran(tree, date, result)
        git(tree, "commit", "-qam", "Long tests")
        done = release(tree, "7.1.0")
        assert done.returncode == 2 and "make long" in done.stderr and f"truth {why} {date}" in done.stderr, done.stderr
        assert git(tree, "tag") == ""
    page = (tree / "docs/long_tests.md").read_text()
    (tree / "docs/long_tests.md").write_text(
        re.sub(r"^\| `harm`.*", "| `harm` | not recorded |  |  |  |", page, flags=re.MULTILINE)
    )
    git(tree, "commit", "-qam", "Long tests")
    assert "harm has no run on record" in release(tree, "7.1.0").stderr


def test_the_record_names_every_long_test(tmp_path):
    listed = subprocess.run(
        ["ctest", "-N", "-L", "^long$"], cwd=BUILD, check=True, capture_output=True, text=True
    ).stdout
    names = re.findall(r"^ *Test +#\d+: (\w+)$", listed, re.MULTILINE)
    page = (ROOT / "docs/long_tests.md").read_text()
    assert sorted(names) == sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


def test_the_record_takes_up_what_ran(tmp_path):
    page, results = tmp_path / "long_tests.md", tmp_path / "long.xml"
    shutil.copy(ROOT / "docs/long_tests.md", page)
    results.write_text(
        '<testsuite><testcase name="truth" status="run" time="600"/><testcase name="harm" status="fail" time="30"/>'
        '<testcase name="faults" status="notrun" time="0"/></testsuite>'
    )
    before = page.read_text()
    subprocess.run(["python3", ROOT / "tests/long_record.py", "--page", page, "--results", results], check=True)
    after = page.read_text()
    assert re.search(r"^\| `truth` \| \d{4}-\d\d-\d\d \| [\w ]+ \| passed \| 10\.0 \|$", after, re.MULTILINE)
    assert re.search(r"^\| `harm` \| \d{4}-\d\d-\d\d \| [\w ]+ \| failed \| 0\.5 \|$", after, re.MULTILINE)
    kept = [line for line in after.splitlines() if "`truth`" not in line and "`harm`" not in line]
    assert kept == [line for line in before.splitlines() if "`truth`" not in line and "`harm`" not in line]
