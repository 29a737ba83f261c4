# ctest labels: long measured
# ctest timeout: 7200
"""The whole matrix: each flaw planted alone, in C++ and in Python, in one process and in two ranks, with several seeds where
time decides; each treatment tried. Keeps the results in docs/evidence/matrix.json and writes matrix.md."""

import sys

import pytest

from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tests"))
from tricks import matrix, matrix_page  # noqa: E402

pytestmark = pytest.mark.skipif(not (BUILD / "workloads" / matrix.IMAGE).exists(), reason="the workloads are not built")
SEEDS = (1, 2, 3)
MOST_MISSES = 0.05  # of the rules that time decides


def by_name(plant):
    return plant.name


def planted(plants):
    units = pytest.mark.skip(reason="this CPU has no fast 16-bit units")
    return [plant if matrix.can_be_planted(plant) else pytest.param(plant, marks=units) for plant in plants]


@pytest.mark.parametrize("plant", planted(matrix.PLANTS), ids=by_name)
def test_a_flaw_is_found_at_its_line(tmp_path, plant):
    timing = plant.rule in matrix.TIMING
    runs = [matrix.walk(tmp_path, plant, seed) for seed in (SEEDS if timing else SEEDS[:1])]
    matrix_page.keep(plant, runs=runs)
    assert timing or all(one["found"] and one["right_line"] for one in runs), runs


@pytest.mark.parametrize("plant", matrix.CLEAN, ids=by_name)
def test_nothing_is_found_where_nothing_is_planted(tmp_path, plant):
    runs = [matrix.walk(tmp_path, plant, seed) for seed in SEEDS]
    matrix_page.keep(plant, runs=runs)
    assert not {rule for one in runs for rule in one["unexpected"]} - matrix.TIMING, runs


def test_precision_and_recall():
    figures = matrix_page.load()
    assert matrix_page.precision_and_recall(figures, timing=False) == (1.0, 1.0), matrix_page.misses(figures)
    assert min(matrix_page.precision_and_recall(figures, timing=True)) >= 1 - MOST_MISSES, matrix_page.misses(figures)


@pytest.mark.parametrize("plant", planted([one for one in matrix.PLANTS if one.treatment]), ids=by_name)
def test_its_treatment_is_applied(tmp_path, plant):
    row = matrix.try_treatment(tmp_path, plant)
    matrix_page.keep(
        plant, trial={"changed": row["applied"]["changed"], "verdict": row["verdict"], "reason": row["reason"]}
    )
    assert row["applied"]["changed"] > 0, row
    assert row["verdict"] not in ("failed", "different-training", "not-applicable"), row
