"""The table of tricks: whole, of rules, treatments and presets that exist; docs/speedups.md shows what was measured."""

import re
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT
from pages import kept

sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "docs"))
from tricks.table import TRICKS  # noqa: E402

import refresh_tricks  # noqa: E402


def listed(loopscope, command):
    done = loopscope(command)
    assert done.code == 0, done.err
    return set(re.findall(r"^([a-z][a-z0-9_.-]+)\b", done.out, re.MULTILINE))


def test_every_row_is_there_once():
    assert [trick.number for trick in TRICKS] == list(range(1, 54))
    for trick in TRICKS:
        assert trick.what and trick.seeds, trick.number
        assert trick.rule or trick.treatment or trick.metric in ("sweep", "knob"), trick.number


def test_rules_and_treatments_exist(loopscope):
    rules, treatments = listed(loopscope, "rules"), listed(loopscope, "treatments")
    for trick in TRICKS:
        assert not trick.rule or trick.rule in rules, trick
        assert not trick.treatment or trick.treatment.split("=")[0] in treatments, trick


@pytest.mark.parametrize("program", ["train_image", "train_text"])
def test_presets_and_knobs_exist(program):
    built = BUILD / "workloads" / program
    presets = subprocess.run([built, "--help"], capture_output=True, text=True).stdout
    knobs = subprocess.run([built, "--list-knobs"], capture_output=True, text=True).stdout
    for trick in TRICKS:
        if trick.program != program or trick.needs:
            continue
        assert trick.preset in presets, trick
        for knob in trick.knobs:
            assert re.search(rf"^{re.escape(knob.split('=')[0])}\s", knobs, re.MULTILINE), trick


def test_the_page_is_made_from_the_figures():
    lines = kept(refresh_tricks.PAGE, "tricks").splitlines()
    assert lines == refresh_tricks.section(refresh_tricks.load()), "run docs/refresh_tricks.py --render"


def test_each_figure_is_of_the_command_that_the_row_asks_for():
    figures = refresh_tricks.load()
    assert figures, "no row was measured"
    rows = {str(trick.number): trick for trick in TRICKS}
    for number, figure in figures.items():
        assert figure["command"] == refresh_tricks.typed(refresh_tricks.command_of(rows[number])), number
        assert ("trials" in figure) + ("finding" in figure) + ("sweep" in figure) == 1, number
