"""Output of the smaller commands, and the command line's help."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT


def stems(definitions):
    """The files that a seam's list names; an id is its file's name with other separators."""
    return set(re.findall(r"^LOOPSCOPE_[A-Z]+\((\w+),", (ROOT / definitions).read_text(), re.M))


def as_stems(ids):
    return {re.sub(r"[-.]", "_", one) for one in ids}


def first_words(table):
    """First words of the rows above the first empty line; continuations are indented."""
    return {line.split()[0] for line in table.split("\n\n")[0].splitlines() if not line.startswith(" ")}


def test_rules_lists_them_all_and_prints_one(loopscope):
    listed = loopscope("rules")
    assert listed.code == 0
    rows = first_words(listed.out)
    assert as_stems(rows) == stems("analyzers/analyzers.def") | stems("analyzers/ranks/ranks.def")
    for rule in rows:
        text = loopscope("rules", rule)
        assert text.code == 0 and text.out.startswith(f"# {rule}: ") and "## Fix" in text.out
    unknown = loopscope("rules", "host-synk")
    assert unknown.code == 2 and "did you mean `host-sync`?" in unknown.err


def test_treatments_lists_them_all_and_prints_one(loopscope):
    listed = loopscope("treatments")
    rows = first_words(listed.out)
    assert as_stems(rows) == stems("profiler/treatments/treatments.def")
    for treatment in rows:
        text = loopscope("treatments", treatment)
        assert text.code == 0 and text.out.startswith(f"{treatment}: ") and "applied by" in text.out
    unknown = loopscope("treatments", "loader.worker")
    assert unknown.code == 2 and "did you mean `loader.workers`?" in unknown.err


def test_doctor_says_what_works(loopscope, tiny_train):
    done = loopscope("doctor", "--", *tiny_train)
    assert done.code == 0
    rows = dict(re.findall(r"^(?:ok|limited|missing) +([\w-]+(?: \w+)?)  +(.*(?:\n {24}.*)*)$", done.out, re.M))
    assert rows.keys() >= {"processor", "containment", "disk", "probes", "GPU", "program"}
    assert "libtorch_cpu.so" in re.sub(r"\s+", "", rows["program"])
    cores = int(re.search(r"(\d+) cores?\b", rows["processor"]).group(1))
    assert 1 <= cores <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize("version, says", [(12040, "the driver is of CUDA 12, torch is of CUDA 13"), (13000, "ok GPU")])
def test_doctor_knows_an_old_driver(loopscope, tmp_path, version, says):
    """By a stand-in for the driver."""
    if not shutil.which("gcc") or not (BUILD / "probes/torch_version").exists():
        pytest.skip("no C compiler, or no probes")
    (tmp_path / "cuda.c").write_text(f"int cuDriverGetVersion(int* version) {{ *version = {version}; return 0; }}")
    subprocess.run(["gcc", "-shared", "-o", tmp_path / "libcuda.so.1", tmp_path / "cuda.c"], check=True)
    done = loopscope("doctor", env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert says in " ".join(done.out.split())


@pytest.mark.parametrize("program, says", [("/no/such", "no such command"), ("/bin/true", "not linked with libtorch")])
def test_doctor_looks_at_the_program(loopscope, program, says):
    assert says in " ".join(loopscope("doctor", "--", program).out.split())


def test_doctor_looks_at_the_torch_of_a_python_program(loopscope, tmp_path):
    def says(*command):
        return " ".join(loopscope("doctor", "--", *command).out.split())

    assert re.search(r"ok program torch 2\.\S+ of ", says(sys.executable, "train.py"))
    assert "`python -I` ignores PYTHONPATH" in says(sys.executable, "-I", "train.py")
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    closed = "".join  # a long path is broken where the line ends
    assert closed(f"missing program no torch in {python} -> activate".split()) in closed(
        says(python, "train.py").split()
    )
    python.write_text("#!/bin/sh\nprintf 'loopscope asks\\n/site/torch\\n1.2.3\\n1\\n'\n")
    lacking = f"limited program torch 1.2.3 of {python}: no probe fits it -> --yes"
    assert closed(lacking.split()) in closed(says(python, "train.py").split())


@pytest.mark.parametrize(
    "command", ["run", "prove", "ab", "gate", "aa-check", "history", "report", "rules", "treatments", "doctor"]
)
def test_help_has_one_example(loopscope, command):
    done = loopscope(command, "--help")
    assert done.code == 0 and done.err == ""
    assert f"Example:\n  loopscope {command}" in done.out


def test_config_file(loopscope, script):
    (loopscope.folder / "loopscope.toml").write_text('format = "json"\n[run]\noutput = "from-config"\n')
    done = loopscope("run", "--config", "loopscope.toml", "--", script("true\n"))
    assert done.code == 0 and done.out.startswith("{"), done.err
    assert (loopscope.folder / "from-config/report.json").exists()
    (loopscope.folder / "loopscope.toml").write_text("\nblokcs = 3\n")
    wrong = loopscope("prove", "--config", "loopscope.toml", "--", "true")
    assert wrong.code == 2 and "loopscope.toml:2" in wrong.message() and "`blocks`" in wrong.message()


def test_a_reader_that_goes_away_does_not_hurt_the_program(loopscope, script):
    program = script("for i in 1 2 3 4 5 6 7 8 9; do echo line $i; sleep 0.05; done; touch finished\n")
    os.system(f"cd {loopscope.folder} && {loopscope.program} run --quiet -- {program} 2>/dev/null | head -1 >/dev/null")
    assert (loopscope.folder / "finished").exists()
