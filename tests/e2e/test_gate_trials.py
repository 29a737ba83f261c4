# ctest labels: long
"""Real gates, many times over: an unchanged program never fails, a slower one does. Prints what docs/gate.md reports."""

import re

import pytest

from conftest import BUILD

TRAIN = [str(BUILD / "workloads/train_image"), "--preset", "tuned"]
TINY = [str(BUILD / "tests/tiny_train"), "--samples", "6400", "--batch", "64", "--epochs", "100000000"]
GATES = 20


def gate(loopscope, command, candidate, number, budget="15m"):
    done, report = loopscope.report("gate", "-o", f"out-{number}", "--seed", number + 1, "--budget", budget, "--against",
                                    " ".join(command), "--", *command, *candidate, timeout=2000)
    return done.code, report["gate"]


def step_ms(loopscope):
    """Of the small program, in the very window that is gated."""
    done = loopscope("run", "--quiet", "--steps", "40", "--time", "1s", "--format", "json", "--", *TINY)
    assert done.code == 0, done.err
    return float(re.search(r'"mean_ms": ([0-9.]+)', done.out)[1])


def test_an_unchanged_program_never_fails(loopscope):
    verdicts = [gate(loopscope, TRAIN, [], number)[1]["verdict"] for number in range(GATES)]
    print("A/A on train_image:", {word: verdicts.count(word) for word in sorted(set(verdicts))})
    # 1 in 100 by design: two in twenty never come by chance.
    assert verdicts.count("fail") <= 1, verdicts


def test_a_slowdown_of_five_percent_is_caught(loopscope):
    sleep_us = str(round(50 * step_ms(loopscope)))
    found = [gate(loopscope, TINY, ["--sleep", sleep_us], number)[1] for number in range(GATES)]
    verdicts = [one["verdict"] for one in found]
    print("5 % slower:", {word: verdicts.count(word) for word in sorted(set(verdicts))},
          "slowdowns:", [round(one["slowdown"], 3) for one in found])
    assert verdicts.count("fail") >= 19, verdicts


@pytest.mark.parametrize("flaw, counter", [("sync.defer=off", "host reads"), ("debug=on", "anomaly mode"),
                                           ("loader.from_numpy=off", "op aten::clone")])
def test_counters_catch_a_flaw_every_time(loopscope, flaw, counter):
    for number in range(3):
        code, verdict = gate(loopscope, TRAIN, ["--set", flaw], number, budget="1s")
        row = next(row for row in verdict["counters"] if row["name"] == counter)
        assert row["places"][0]["where"]["path"].endswith(".cpp") and row["places"][0]["where"]["line"] > 0, row
        if counter != "op aten::clone":
            assert code == 1 and row["fails"], row
