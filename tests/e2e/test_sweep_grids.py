"""`sweep` without timing: grids, cells that do not apply, programs that fail."""

import pytest

from test_sweep import SHORT


def test_cells_that_do_not_apply_are_shown(loopscope, tiny_train):
    done, report = loopscope.report(
        "sweep", "loader.workers=0,2", "threads=1", "--blocks", "4", *SHORT, "--", *tiny_train, "--epochs", "100000000"
    )
    assert done.code == 3, done.err
    sweep = report["sweep"]
    assert [cell["verdict"] for cell in sweep["cells"]] == ["not-applicable", "not-applicable", "measured"]
    assert "loader.workers=2: nothing in the program applies it" in sweep["cells"][1]["reason"]
    assert sweep["best"] is None and "no cell of the grid could be measured" in done.out


def test_a_loader_that_cannot_be_taken_alone(loopscope, tiny_train):
    done = loopscope("sweep", "--loader-only", "threads=1,2", *SHORT, "--", *tiny_train, "--epochs", "100000000")
    assert done.code == 3
    assert "cannot be measured alone" in done.message() and "loader.only" in done.message()


def test_a_failing_program(loopscope, script):
    done = loopscope("sweep", "threads=1,2", *SHORT, "--", script("echo went wrong >&2\nexit 7"))
    assert done.code == 4 and "exit 7" in done.message() and "went wrong" in done.message()


@pytest.mark.parametrize(
    "grid, message",
    [
        ([], "no grid named"),
        (["loader.workers"], "KEY=VALUE"),
        (["loader.wokers=1"], "did you mean loader.workers?"),
        (["threads=1,1"], "twice"),
        (["threads="], "no values"),
        (["threads=1", "threads=2"], "named twice"),
    ],
)
def test_bad_grids(loopscope, tiny_train, grid, message):
    done = loopscope("sweep", *grid, "--", *tiny_train)
    assert done.code == 2 and message in done.message()
