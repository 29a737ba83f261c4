#!/usr/bin/env python3
"""When each long test last ran: a table in docs/long_tests.md, which a release must find fresh.

tests/long_record.py                  takes up build/test-results/long.xml, which `make long` leaves
tests/long_record.py --within DAYS    exit 1, with their names, if some did not pass in the last DAYS days"""

import argparse
import datetime
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "long_tests.md"
ROW = re.compile(r"^\| `(\w+)` \| ([\d-]+|not recorded) \| ([\w ]*) \| (\w*) \| ([\d.]*) \|$", re.MULTILINE)
HEAD = "| test | last run | commit | result | minutes |\n|---|---|---|---|---|\n"


def rows(page):
    """(date, commit, result, minutes) by test."""
    return {name: tuple(rest) for name, *rest in ROW.findall(page)}


def with_rows(page, table):
    """`page` with these rows in place of its own."""
    before, after = page.split(HEAD)
    after = ROW.sub("", after).lstrip("\n")
    lines = "".join(f"| `{name}` | {' | '.join(table[name])} |\n" for name in sorted(table))
    return before + HEAD + lines + ("\n" + after if after else "")


def taken_up(table, results, today, commit):
    """`table` with what ctest's JUnit file `results` holds; what was skipped did not run."""
    table = dict(table)
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        if case.get("status") in ("run", "fail"):
            passed = "passed" if case.get("status") == "run" else "failed"
            table[case.get("name")] = (today.isoformat(), commit, passed, f"{float(case.get('time', 0)) / 60:.1f}")
    return table


def stale(table, today, days):
    """What is wrong with each test that did not pass within `days`, as lines."""
    wrong = []
    for name, (date, _, result, _) in sorted(table.items()):
        if date == "not recorded":
            wrong.append(f"{name} has no run on record")
        elif result != "passed":
            wrong.append(f"{name} {result} on {date}")
        elif (today - datetime.date.fromisoformat(date)).days > days:
            wrong.append(f"{name} last ran on {date}")
    return wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--within", type=int, metavar="DAYS")
    options.add_argument("--page", type=pathlib.Path, default=PAGE)
    options.add_argument("--results", type=pathlib.Path, default=ROOT / "build" / "test-results" / "long.xml")
    given = options.parse_args()
    page, today = given.page.read_text(), datetime.datetime.now(datetime.timezone.utc).date()
    if given.within is not None:
        wrong = stale(rows(page), today, given.within)
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return 1 if wrong else 0
    if not given.results.exists():
        print(f"long_record: there is no {given.results}: run `make long` first", file=sys.stderr)
        return 2
    asked = ["git", "describe", "--always", "--dirty= changed", "--exclude=*"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    given.page.write_text(with_rows(page, taken_up(rows(page), given.results, today, commit)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
