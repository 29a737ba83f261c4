"""`gate --record` and `history`, and `aa-check`."""

import json
import re
import sqlite3

from test_gate import ENDLESS, SHORT


def add_runs(folder, levels, command="./train", machine="AMD EPYC, 2 cores, torch 2.11.0", slowdowns=None):
    """Runs whose step times go through `levels`, with a ripple of 1 %; `slowdowns` against their base by number."""
    file = sqlite3.connect(folder / "history.sqlite")
    number = 0
    for count, ms in levels:
        for _ in range(count):
            number += 1
            ripple = 1 + 0.01 * ((7 * number) % 5 - 2) / 2
            file.execute(
                "INSERT INTO runs (time, command, machine, verdict, ms_per_step, slowdown, upper95, pairs, "
                "failed_counters) VALUES (?, ?, ?, 'pass', ?, ?, 0.02, 12, 0)",
                (
                    f"2026-{number // 28 + 1:02}-{number % 28 + 1:02}T09:00:00Z",
                    command,
                    machine,
                    ms * ripple,
                    (slowdowns or {}).get(number, 0.001),
                ),
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
    assert "the machine, or a change without a gate: +0.1 % against its base" in " ".join(shown.out.split())
    before = shown.out[: shown.out.index("changed here")]
    assert before.split("35 runs")[1].count("pass") == 20
    assert "No change of level" in shown.out, "the other machine is a series of its own"
    assert max(map(len, shown.out.splitlines())) <= 80


def report(folder, name, started, ms, machine="AMD EPYC", findings=(), program="train.py"):
    """A report's JSON, as another machine's loopscope may have written it."""
    rows = [
        {"id": "0", "rule": rule, "title": f"{rule} costs", "severity": "high", "cost_ms_per_step": cost,
         "cost_is": "exact", "cost_pct": 100 * cost / ms, "per_epoch": False, "evidence": [], "advice": "do"}
        for rule, cost in findings
    ]  # fmt: skip
    (folder / name).write_text(
        json.dumps(
            {
                "schema": "loopscope.report/1",
                "run": {
                    "command": ["python", program],
                    "started": started,
                    "source": "capture",
                    "host": {"cpu": machine, "cores": 8, "gpus": [], "features": []},
                    "versions": {"torch": "2.11.0"},
                    "ranks": 1,
                    "rank": 0,
                },
                "steps": {"mean_ms": ms},
                "findings": rows,
            }
        )  # fmt: skip
    )


def test_a_change_that_the_gates_pairs_saw_is_the_programs(loopscope):
    report(loopscope.folder, "one.json", "2026-01-01T09:00:00Z", 10)
    assert loopscope("history", "series", "one.json").code == 0
    add_runs(loopscope.folder / "series", [(20, 100), (15, 108)], slowdowns={21: 0.079})
    shown = loopscope("history", "series", "--html", "page.html")
    assert shown.code == 0 and "the program: +7.9 % against its base, measured beside it" in shown.out, shown.err
    assert "the program: +7.9 %" in (loopscope.folder / "page.html").read_text()


def test_reports_of_many_machines_are_a_catalogue_that_can_be_searched(loopscope):
    names = []
    for day in range(1, 13):
        names.append(f"day{day:02}.json")
        slow = day > 6
        report(loopscope.folder, names[-1], f"2026-03-{day:02}T10:00:00Z", 30 if slow else 20,
               findings=[("input-starvation", 10), ("host-sync", 2)] if slow else [("host-sync", 2)])  # fmt: skip
    report(loopscope.folder, "other.json", "2026-03-20T10:00:00Z", 7, machine="Intel Xeon", program="<b>eval</b>.py")
    (loopscope.folder / "cut.json").write_text('{"schema": "loopscope.report/1", "run"')
    added = loopscope("history", "perf", *reversed(names), "other.json", "cut.json", "--html", "perf.html")
    assert added.code == 2 and "13 runs added" in added.err
    assert "cut.json is left out" in added.err
    changes = re.findall(r"changed here: (.*)", added.out)
    assert changes == ["20.0 ms -> 30.0 ms (+50.0 %)"], "in the order of time, whatever the order of adding"
    assert "input-starvation 10.0 ms (33 %), host-sync 2.00 ms" in " ".join(added.out.split())
    page = (loopscope.folder / "perf.html").read_text()
    assert page.count('class="scale"') == 6 and ">0</text>" in page
    assert page.count("<svg") == 2 and "<b>" not in page and page.count("<circle") == 13
    again = loopscope("history", "perf", names[0])
    assert again.code == 0 and "0 runs added, 1 known already" in again.err
    found = loopscope("history", "perf", "--rule", "input-starvation")
    assert " ".join(found.out.split()).count("input-starvation 10.0 ms") == 6 and "host-sync" not in found.out
    other = loopscope("history", "perf", "--machine", "xeon")
    assert "nothing found" in other.out and "train.py" not in other.out
    assert "No run is like that" in loopscope("history", "perf", "--program", "nothing.py").out
    unknown = loopscope("history", "perf", "--rule", "no-rule")
    assert unknown.code == 2 and "unknown rule" in unknown.message()


def test_a_history_of_before_takes_reports_too(loopscope):
    file = sqlite3.connect(loopscope.folder / "history.sqlite")
    file.execute(
        "CREATE TABLE runs (id INTEGER PRIMARY KEY, time TEXT NOT NULL, command TEXT NOT NULL, machine TEXT NOT NULL, "
        "verdict TEXT NOT NULL, ms_per_step REAL, slowdown REAL, upper95 REAL, pairs INTEGER NOT NULL, "
        "failed_counters INTEGER NOT NULL)"
    )
    file.execute("PRAGMA user_version = 1")
    file.commit()
    file.close()
    add_runs(loopscope.folder, [(3, 100)])
    assert loopscope("history", ".").out.count("pass") == 3
    report(loopscope.folder, "one.json", "2026-03-01T10:00:00Z", 20)
    both = loopscope("history", ".", "one.json")
    assert both.code == 0 and both.out.count("pass") == 3 and "nothing found" in both.out, both.err


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
    assert len(found) == 4 and found[0] <= 10, "of 100 that are simulated; the smallest slowdown is within the noise"
    assert all(larger >= smaller - 3 for smaller, larger in zip(found, found[1:]))
    assert re.search(r"`gate --max-slowdown 5%` finds a slowdown of [\d.]+ % in 4 of 5 gates", text)


def test_aa_check_with_too_little_time(loopscope, tiny_train):
    done = loopscope("aa-check", "--budget", "0s", "--", *tiny_train, *ENDLESS)
    assert done.code == 3 and "at least 4 are needed to estimate noise" in done.message()
