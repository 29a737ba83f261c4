#!/usr/bin/env python3
"""Runs programs whose true cause is known under `loopscope run`, and counts how often the first sentence is right."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("LOOPSCOPE_BUILD", ROOT / "build"))
NATIVE = ROOT / "build-truth"
PAGE = ROOT / "docs" / "evidence" / "truth.md"
MIN_RIGHT_PCT = 90
TIMEOUT_S = 400
QUIET = ("no_step", "unknown", "nothing", "healthy", "calls", "spread")  # kinds of headline that name no cause
RIGHT, MISSED, WRONG, SKIPPED = "right", "missed", "wrong", "skipped"


@dataclasses.dataclass
class Truth:
    """What truth.toml says of a program; README.md says what each entry means."""

    link: str
    problem: str
    cause: str
    lines: list = dataclasses.field(default_factory=list)
    near: list = dataclasses.field(default_factory=list)
    rules: list = dataclasses.field(default_factory=list)
    words: list = dataclasses.field(default_factory=list)
    never: list = dataclasses.field(default_factory=list)
    share: float = 0
    healthy: bool = False
    gain: str = ""
    measured: bool = False
    unless_flags: list = dataclasses.field(default_factory=list)
    args: list = dataclasses.field(default_factory=list)
    env: dict = dataclasses.field(default_factory=dict)
    launch: list = dataclasses.field(default_factory=list)
    options: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Program:
    folder: pathlib.Path
    truth: Truth

    @property
    def name(self):
        return self.folder.name

    @property
    def native(self):
        return (self.folder / "main.cpp").exists()

    @property
    def source(self):
        return self.folder / ("main.cpp" if self.native else "script.py")

    def command(self):
        start = [NATIVE / self.name] if self.native else [sys.executable, *self.truth.launch, self.source.name]
        return [*start, *self.truth.args]


@dataclasses.dataclass
class Result:
    program: Program
    verdict: str
    why: str
    sentence: str
    share_pct: float = 0  # that the headline is about


def load(folder):
    """The program of a folder; the lines that its truth names are there, and none is empty."""
    truth = Truth(**tomllib.loads((folder / "truth.toml").read_text()))
    program = Program(folder, truth)
    text = program.source.read_text().splitlines()
    for line in [*truth.lines, *truth.near]:
        assert text[line - 1].strip(), f"{program.name}: line {line} is empty"
    return program


def programs(names=()):
    known = {path.parent.name: path.parent for path in sorted(HERE.glob("programs/*/truth.toml"))}
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"no such program: {', '.join(sorted(unknown))}; --list shows them")
    return [load(known[name]) for name in names or known]


def build_native():
    """Builds the programs in C++; what is in the way, or nothing."""
    if not shutil.which("cmake") or not shutil.which("ninja"):
        return "cmake or ninja is missing"
    configure = ["cmake", "-G", "Ninja", "-S", HERE, "-B", NATIVE, "-DCMAKE_BUILD_TYPE=Release"]
    for command in ([*configure, f"-DLOOPSCOPE_PYTHON={sys.executable}"], ["cmake", "--build", NATIVE, "-j", "1"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return f"{done.stdout[-500:]}{done.stderr[-500:]}"
    return ""


def report_of(program):
    """The report of one run in a folder of its own; None and the last lines where there is none."""
    with tempfile.TemporaryDirectory(prefix="truth-") as name:
        folder = pathlib.Path(name)
        if not program.native:
            shutil.copy(program.source, folder)
        tool = [BUILD / "loopscope", "run", "--quiet", "--no-color", "--json", "report.json", "-o", "out"]
        command = [*tool, *program.truth.options, "--", *program.command()]
        environment = {**os.environ, **program.truth.env}
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            return None, f"it did not end within {TIMEOUT_S} s"
        file = folder / "report.json"
        if not file.exists():
            return None, " ".join((done.stdout + done.stderr)[-300:].split())
        return json.loads(file.read_text()), ""


def blamed(report):
    """Rules of the findings above information."""
    return [finding["rule"] for finding in report["findings"] if finding["severity"] != "info"]


def judge_healthy(report):
    found = blamed(report)
    kind = report["headline"]["kind"]
    if found:
        return WRONG, f"blames a healthy program: {', '.join(found)}"
    if kind in ("healthy", "calls", "nothing"):
        return RIGHT, ""
    return (MISSED if kind in QUIET else WRONG), f"the headline is of the kind {kind}"


def says(truth, text):
    return any(re.search(words, text, re.IGNORECASE) for words in truth.words)


def names_cause(truth, headline):
    """A finding names the cause by its rule; other headlines by their place, which is looked at on its own."""
    if headline["kind"] != "finding":
        return True
    return headline["rule"] in truth.rules if truth.rules else says(truth, headline["text"])


def judge_place(program, headline):
    truth, where = program.truth, headline["where"]
    if not truth.lines:
        return RIGHT, ""
    if where is None or where["line"] == 0:
        return MISSED, "no line"
    if pathlib.PurePath(where["path"]).name != program.source.name:
        return WRONG, f"another file: {where['path']}"
    if where["line"] in truth.lines:
        return RIGHT, ""
    return (MISSED if where["line"] in truth.near else WRONG), f"line {where['line']} of {truth.lines}"


def judge(program, report):
    """What the first sentence is worth, and why where it is not right."""
    truth, headline = program.truth, report["headline"]
    if truth.healthy:
        return judge_healthy(report)
    false = sorted(set(blamed(report)) & set(truth.never))
    if false:
        return WRONG, f"also blames {', '.join(false)}"
    if headline["kind"] in QUIET and not (headline["kind"] == "calls" and "small-batch" in truth.rules):
        return MISSED, f"the headline is of the kind {headline['kind']}"
    if not names_cause(truth, headline):
        return WRONG, f"another cause: {headline['rule']}"
    verdict, why = judge_place(program, headline)
    if verdict == RIGHT and (headline["share_pct"] or 0) < truth.share:
        return MISSED, f"it is about {headline['share_pct']:.0f} %, and the cause takes {truth.share} % or more"
    if verdict == RIGHT and truth.words and not says(truth, headline["text"]):
        return MISSED, f"none of {truth.words} in the sentence"
    return verdict, why


def processor_flags():
    found = re.search(r"^flags\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return set(found[1].split()) if found else set()


def run(program, native_trouble):
    if program.native and native_trouble:
        return Result(program, SKIPPED, native_trouble, "")
    if others := processor_flags() & set(program.truth.unless_flags):
        return Result(program, SKIPPED, f"not the truth on this processor: {', '.join(sorted(others))}", "")
    report, trouble = report_of(program)
    if report is None:
        return Result(program, MISSED, f"no report: {trouble}", "")
    verdict, why = judge(program, report)
    return Result(program, verdict, why, report["headline"]["text"], report["headline"]["share_pct"] or 0)


def count(results, verdict):
    return sum(result.verdict == verdict for result in results)


def score(results):
    """ "48 of 53 right (91 %), 3 missed, 2 wrong"."""
    judged = len(results) - count(results, SKIPPED)
    pct = 100 * count(results, RIGHT) / judged if judged else 0.0
    parts = [f"{count(results, RIGHT)} of {judged} right ({pct:.0f} %)"]
    parts += [f"{count(results, verdict)} {verdict}" for verdict in (MISSED, WRONG, SKIPPED) if count(results, verdict)]
    return ", ".join(parts), pct


def against_gains(results):
    """Per program that is right, the share of the time that the fix took away by hand, over the share that the headline
    is about; smallest first."""
    ratios = []
    for one in results:
        by_hand = re.match(r"([\d.]+)x", one.program.truth.gain)
        if one.verdict == RIGHT and by_hand and one.share_pct > 0:
            ratios.append(((1 - 1 / float(by_hand[1])) / (one.share_pct / 100), one.program.name))
    return sorted(ratios)


def gains_text(ratios):
    """ "costs against gains by hand: 0.92 in the middle, 0.51 to 1.60; most apart: a 0.51, b 1.60"."""
    if not ratios:
        return ""
    apart = sorted(ratios, key=lambda one: -abs(one[0] - 1))[:3]
    named = ", ".join(f"{name} {ratio:.2f}" for ratio, name in apart)
    middle = ratios[len(ratios) // 2][0]
    return f"gains by hand over costs: {middle:.2f} in the middle, {ratios[0][0]:.2f} to {ratios[-1][0]:.2f}; most apart: {named}"


def page(results):
    """The table for docs/evidence."""
    head = f"""# Is the first sentence true?

Problems that people reported in public, each rewritten as a small training program, and some programs with nothing to
mend. What is wrong with each, and in which lines, was found by reading it and by timing it with and without the fix,
outside of Loopscope ([how](../../tests/truth/README.md)). Beside that, the table has the first sentence of the report of
`loopscope run`, as it is printed.

*Right*: the sentence names the cause and its line, and no finding of the report is false. *Missed*: it says nothing
false, but not the cause. *Wrong*: it names another cause, or the report blames what costs nothing.

**{score(results)[0]}.** Times are those of one machine without a GPU, and differ on another.

| program | what is wrong | what the report says first | |
|---|---|---|---|
"""
    rows = [
        f"| [{one.program.name}]({one.program.truth.link}) | {cell(one.program.truth.cause)} | {cell(one.sentence)} | {one.verdict} |"
        for one in results
    ]
    return head + "\n".join(rows) + "\n"


def cell(text):
    """Without what means something in a table, and without places of this machine."""
    for place in (str(ROOT) + "/", str(pathlib.Path.home()) + "/"):
        text = text.replace(place, "")
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def show_list(chosen):
    for program in chosen:
        print(f"{program.name}: {program.truth.cause}")
        text = program.source.read_text().splitlines()
        for line in program.truth.lines:
            print(f"    {line:4} {text[line - 1].strip()}")


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help="names of programs (all)")
    parser.add_argument("--list", action="store_true", help="show the programs and the lines at fault")
    parser.add_argument("--write", action="store_true", help="write docs/evidence/truth.md; of all programs only")
    chosen = parser.parse_args()
    if chosen.write and chosen.programs:
        parser.error("--write is of all programs")
    return chosen


def main():
    chosen = options()
    selected = programs(chosen.programs)
    if chosen.list:
        show_list(selected)
        return 0
    native_trouble = build_native() if any(program.native for program in selected) else ""
    results = []
    for program in selected:
        results.append(run(program, native_trouble))
        one = results[-1]
        print(f"{one.verdict:8} {program.name:24} {one.sentence}{f'  [{one.why}]' if one.why else ''}", flush=True)
    text, right_pct = score(results)
    print(text)
    print(gains_text(against_gains(results)))
    if chosen.write:
        PAGE.write_text(page(results))
    return 0 if right_pct >= MIN_RIGHT_PCT and count(results, WRONG) == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
