# ctest labels: long
"""`ab` on two ranks that wait for each other: a launch's window and time are those of the rank that leads."""

from test_torchrun import BOUNDS, STEPS, experiment, train  # noqa: F401  (a fixture)


def test_two_commands(experiment):
    report, launches = experiment("ab", "-o", "out", *BOUNDS, " ".join(train(20)), "--", *train(120))
    assert len(launches) == 4  # a pilot of each, and a pair
    # Rank 1 has done its steps long before rank 0, in a fourth of the time.
    assert [one["steps"] for one in launches] == [STEPS] * 4
    times = sorted(one["ms_per_step"] for one in launches)
    assert 20 < times[0] and 120 < times[2], times
    (row,) = report["trials"]
    assert row["n"] == 1 and row["speedup"] < 1, row
