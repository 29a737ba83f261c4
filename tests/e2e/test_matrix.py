# ctest labels: measured slow
"""Each flaw planted alone in a C++ program is found at its line, and nothing else is (by `make long`); without it there is
nothing to find. The whole matrix, with both programs, Python, several ranks, treatments and repeats, is test_matrix_long.py."""

import sys

import pytest

from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tests"))
from tricks import matrix, matrix_page  # noqa: E402
from tricks.table import TRICKS  # noqa: E402

pytestmark = pytest.mark.skipif(not (BUILD / "workloads" / matrix.IMAGE).exists(), reason="the workloads are not built")


ONE_PER_RULE = {plant.rule: plant for plant in reversed(matrix.NATIVE)}.values()


@pytest.mark.long
@pytest.mark.parametrize("plant", ONE_PER_RULE, ids=lambda plant: plant.name)
def test_a_flaw_is_found_alone(tmp_path, plant):
    if not matrix.can_be_planted(plant):
        pytest.skip("this CPU has no fast 16-bit units")
    run = matrix.walk(tmp_path, plant)
    assert run["found"] and run["right_line"] and not run["unexpected"], run


@pytest.mark.parametrize("program", [matrix.IMAGE, matrix.TEXT])
def test_nothing_is_found_where_nothing_is_planted(tmp_path, program):
    plant = matrix.clean(program)
    report = matrix.diagnose(tmp_path, plant)
    assert matrix.unexpected(report, plant) == set()
    undecided = {row["id"]: row["reason"] for row in report["rules"] if row["verdict"] == "cannot-tell"}
    assert not undecided or program == matrix.TEXT, "the tuned run holds enough for every rule"


def test_every_row_that_a_cpu_can_show_is_planted():
    """By its rule, in both languages."""
    rows = {trick.rule for trick in TRICKS if trick.rule and not trick.needs}
    for plants in ([*matrix.NATIVE, *matrix.NATIVE_RANKS], [*matrix.PYTHON, *matrix.PYTHON_RANKS]):
        assert rows - {plant.rule for plant in plants} <= matrix.ONLY_CASES


def test_the_page_is_made_of_what_was_seen():
    figures = matrix_page.load()
    assert set(figures) <= {plant.name for plant in [*matrix.PLANTS, *matrix.CLEAN]}
    assert matrix_page.PAGE.read_text() == matrix_page.page(figures), "made by test_matrix_long.py"
    assert matrix_page.precision_and_recall(figures, timing=False) == (1.0, 1.0)
    assert min(matrix_page.precision_and_recall(figures, timing=True)) >= 0.95
