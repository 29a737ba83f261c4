# ctest labels: slow
# ctest timeout: 2400
"""CONTRIBUTING.md's walk-throughs, followed to the letter in a copy of the tree: each names five files at most, its code
blocks are formatted and compile, the tests of lists and texts pass, and what was added works."""

import ctypes
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

from conftest import BUILD, ROOT

WALKS = ("Add a rule", "Add a treatment that acts in Python", "Add an output format")
# "`path` …:", an empty line, and a fenced block: a new file, or what is added to one that is there.
BLOCK = re.compile(r"^`([\w./]+)`[^\n]*:\n\n(`{3,})\w*\n(.*?)^\2$", re.MULTILINE | re.DOTALL)
FOLDERS = ("analyzers", "cmake", "docs", "probes", "profiler", "reports", "tests", "workloads")
# The unit test programs with the tests that check lists and texts.
UNIT_TESTS = [
    ("experiments_tests", "architecture"),
    ("experiments_tests", "treatments"),
    ("analysis_tests", "analyzers"),
    ("reports_tests", "report_formats"),
]
TARGETS = ("loopscope", "case_runner", *sorted({program for program, _ in UNIT_TESTS}))
PROBES = ("loopscope_preload", "loopscope_calls", "loopscope_shim")
TRACE = ROOT / "tests/data/kineto/cpu_plain.json.gz"


@functools.cache
def walk_through(title):
    text = (ROOT / "CONTRIBUTING.md").read_text()
    after = (*WALKS, "Style")[WALKS.index(title) + 1]  # a block may hold headings of its own
    section = text[text.index(f"\n## {title}\n") : text.index(f"\n## {after}\n")]
    return [(path, block) for path, _, block in BLOCK.findall(section)]


def add(file, block):
    """A row goes to the first table, anything else to the end, or into a file of its own."""
    if not file.exists():
        file.write_text(block)
    elif block.startswith("|"):
        file.write_text(
            re.sub(r"\A(.*?\n\|[^\n]*\n)(?!\|)", lambda head: head[1] + block, file.read_text(), flags=re.S)
        )
    else:
        space = "\n\n" if file.suffix == ".py" else ""
        file.write_text(file.read_text() + space + block)


def run(*command, cwd, **environment):
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2000,
    )
    errors = "\n".join([line for line in done.stdout.splitlines() if "error:" in line][:20])
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{errors}\n…\n{done.stdout[-6000:]}"
    return done.stdout


CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000


def lay_over(folder):
    """Whether this process, and what it starts, now sees ROOT through an overlay in `folder`: what is written stays there,
    and what was built is there already. Needs mount namespaces, and a build inside ROOT."""
    libc = ctypes.CDLL(None, use_errno=True)
    if ROOT not in BUILD.parents or libc.unshare(CLONE_NEWNS) != 0:
        return False
    if libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        return False
    for name in ("upper", "work"):
        (folder / name).mkdir()
    layers = f"lowerdir={ROOT},upperdir={folder}/upper,workdir={folder}/work"
    mounted = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, ROOT], capture_output=True)
    os.chdir(ROOT)
    return mounted.returncode == 0


def copied(folder):
    for file in [*ROOT.glob("*.*"), *ROOT.glob(".*"), ROOT / "LICENSE", ROOT / "Makefile"]:
        if file.is_file():
            shutil.copy2(file, folder)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def tree():
    """A copy of the tree with all three walk-throughs followed: a layer over it, else one of the sources. The latter lies no
    deeper than a checkout usually does, since ccache may know paths relative to the build folder only."""
    with tempfile.TemporaryDirectory(prefix="loopscope-contributing-", ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)
        over = lay_over(folder)
        copy = ROOT if over else copied(folder)
        for title in WALKS:
            for path, block in walk_through(title):
                add(copy / path, block)
        yield copy
        if over:
            os.chdir("/")
            subprocess.run(["umount", "--lazy", ROOT], check=True)


@pytest.fixture(scope="module")
def build(tree):
    """Targets to build: in a copy of the sources everything that does not link torch."""
    if tree == ROOT:
        run("cmake", "--build", BUILD, "-j", "2", "--target", *TARGETS, "loopscope_shim", cwd=tree)
        return BUILD
    off = [f"-DLOOPSCOPE_{part}=OFF" for part in ("TORCH", "BENCH", "PARQUET")]
    reuse = {"CCACHE_BASEDIR": "/", "CCACHE_NOHASHDIR": "1"}
    run("cmake", "--preset", "release", f"-DLOOPSCOPE_PYTHON={sys.executable}", *off, cwd=tree, **reuse)
    run("cmake", "--build", "build", "-j", "2", "--target", *TARGETS, *PROBES, cwd=tree, **reuse)
    return tree / "build"


# Before any is followed.
NEW = {title: [path for path, _ in walk_through(title) if not (ROOT / path).exists()] for title in WALKS}


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_through_names_five_files_at_most(title):
    paths = [path for path, _ in walk_through(title)]
    assert 3 <= len(paths) <= 5 and len(set(paths)) == len(paths), paths
    assert NEW[title], "none of them is new"


def test_the_blocks_are_formatted(tree):
    paths = [tree / path for title in WALKS for path, _ in walk_through(title)]
    if not shutil.which("clang-format-16") or not shutil.which("ruff", path=pathlib.Path(sys.executable).parent):
        pytest.skip("the formatters are not installed")
    run("clang-format-16", "--dry-run", "--Werror", *[one for one in paths if one.suffix == ".cpp"], cwd=tree)
    ruff = pathlib.Path(sys.executable).parent / "ruff"
    python = [one for one in paths if one.suffix == ".py"]
    run(ruff, "format", "--no-cache", "--diff", *python, cwd=tree)
    run(ruff, "check", "--no-cache", *python, cwd=tree)


def test_the_changelog_names_the_rule(tree):
    run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "changelog",
        "tests/e2e/test_documents.py", cwd=tree)  # fmt: skip


@pytest.mark.parametrize("program, file", UNIT_TESTS, ids=lambda word: word)
def test_nothing_is_missing(build, program, file):
    run(build / "tests" / program, file, cwd=build)


def test_the_rule_has_its_text_and_its_cases(build):
    assert "takes much of the step" in run(build / "loopscope", "rules", "slow-optimizer", cwd=build)
    run(build / "tests/case_runner", "../tests/cases/slow_optimizer.case", cwd=build)
    run("cmake", "--build", ".", "--target", "rules_document", cwd=build)
    assert "(#slow-optimizer): the optimizer takes much of the step" in (build.parent / "docs/rules.md").read_text()


def test_the_treatment_is_listed(build):
    text = run(build / "loopscope", "treatments", "loader.in_order", cwd=build)
    assert text.startswith("loader.in_order: ") and re.search(r"applied by +python$", text, re.MULTILINE)


def test_the_treatment_acts_in_a_program(tree, build):
    [test] = [block for path, block in walk_through(WALKS[1]) if path == "tests/e2e/test_python_treatments.py"]
    done = run(sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider",
               "tests/e2e/test_python_treatments.py", "-k", re.search(r"def (\w+)", test)[1],
               cwd=tree, LOOPSCOPE_BUILD=str(build))  # fmt: skip
    assert "1 passed" in done, done


def test_the_format_writes_a_trace(tree, build):
    printed = run(build / "loopscope", "report", "--format", "quickfix", TRACE, cwd=build)
    assert re.search(r"^loopscope: \d+ findings$", printed, re.MULTILINE)
    [test] = [block for path, block in walk_through(WALKS[2]) if path == "tests/e2e/test_formats.py"]
    done = run(sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider",
               "tests/e2e/test_formats.py", "-k", re.search(r"def (\w+)", test)[1],
               cwd=tree, LOOPSCOPE_BUILD=str(build))  # fmt: skip
    assert "1 passed" in done, done


def test_the_pages_take_the_new_option(tree, build):
    run(sys.executable, "docs/refresh_outputs.py", "--build", build, cwd=tree)
    assert "--quickfix FILE" in (tree / "docs/commands/report.md").read_text()
    assert "| `--quickfix FILE` |" in (tree / "docs/reports.md").read_text()
