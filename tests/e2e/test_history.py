"""`gate --record` and `history`, and `aa-check`."""

import re
import sqlite3

from test_gate import ENDLESS, SHORT


def add_runs(folder, levels, command="./train", machine="AMD EPYC, 2 cores, torch 2.11.0"):
    """Runs whose step times go through `levels`, with a ripple of 1 %."""
    file = sqlite3.connect(folder / "history.sqlite")
    number = 0
    for count, ms in levels:
        for _ in range(count):
            number += 1
            ripple = 1 + 0.01 * ((7 * number) % 5 - 2) / 2
            file.execute(
                "INSERT INTO runs (time, command, machine, verdict, ms_per_step, slowdown, upper95, pairs, "
                "failed_counters) VALUES (?, ?, ?, 'pass', ?, 0.001, 0.02, 12, 0)",
                (f"2026-01-{number % 28 + 1:02}T09:00:00Z", command, machine, ms * ripple),
            )
    file.commit()
    file.close()


def test_gates_are_recorded_and_a_change_of_level_is_shown_where_it_was(loopscope, tiny_train):
    command = [*tiny_train, *ENDLESS]
    done = loopscope(
        "gate", *SHORT, "--budget", "1s", "--record", "series", "--against", " ".join(command), "--", *command
    )
    assert done.code == 3, done.err
    file = sqlite3.connect(loopscope.folder / "series/history.sqlite")
    ((command, machine, verdict, pairs),) = file.execute("SELECT command, machine, verdict, pairs FROM runs").fetchall()
    assert "tiny_train" in command and "torch 2." in machine and verdict == "inconclusive" and pairs < 5
    file.close()
    add_runs(loopscope.folder / "series", [(20, 100), (15, 108)])
    add_runs(loopscope.folder / "series", [(12, 50)], machine="Another, 8 cores")
    shown = loopscope("history", "series")
    assert shown.code == 0 and "1 runs were not timed" in " ".join(shown.out.split()), shown.err
    (change,) = re.findall(r"changed here: (.*)", shown.out)
    assert change == "100 ms -> 108 ms (+8.0 %)"
    before = shown.out[: shown.out.index("changed here")]
    assert before.split("35 runs")[1].count("pass") == 20
    assert "No change of level" in shown.out, "the other machine is a series of its own"
    assert max(map(len, shown.out.splitlines())) <= 80


def test_no_history(loopscope):
    assert loopscope("history", ".").code == 2
    (loopscope.folder / "history.sqlite").write_text("this is no database, whatever its name says\n" * 50)
    broken = loopscope("history", ".")
    assert broken.code == 2 and "not a database" in broken.message()
    nothing = loopscope("history")
    assert nothing.code == 2 and "--record" in nothing.message()


def test_aa_check_tells_what_can_be_detected(loopscope, tiny_train):
    done = loopscope("aa-check", *SHORT[2:4], "--warmup", "3", "--budget", "20s", "--", *tiny_train, *ENDLESS)
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    pairs = int(re.search(r"(\d+) pairs of the program against itself differ by ([\d.]+) %", text)[1])
    assert pairs >= 4
    found = [int(share) for share in re.findall(r" % (\d+) of 100 gates fail", text)]
    assert len(found) == 4 and found == sorted(found)
    assert re.search(r"`gate --max-slowdown 5%` finds a slowdown of [\d.]+ % in 4 of 5 gates", text)


def test_aa_check_with_too_little_time(loopscope, tiny_train):
    done = loopscope("aa-check", "--budget", "0s", "--", *tiny_train, *ENDLESS)
    assert done.code == 3 and "at least 4 are needed to estimate noise" in done.message()
