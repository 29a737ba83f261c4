"""Writes the table of real gates in docs/gate.md from the results of tests/e2e/test_gate_trials.py.

    LOOPSCOPE_GATE_RESULTS=results.json python -m pytest -s tests/e2e/test_gate_trials.py
    python docs/refresh_gate_trials.py results.json
"""

import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent / "gate.md"
BEGIN, END = "<!-- real gates -->\n", "<!-- end of real gates -->\n"


def table(rows):
    lines = ["| trial | gates | fail | pass | inconclusive | pairs per gate | time per gate |", "|---|---:|---:|---:|---:|---:|---:|"]
    for row in rows:
        lines.append(f"| {row['trial']} | {row['gates']} | {row['fail']} | {row['pass']} | {row['inconclusive']} | "
                     f"{row['pairs_per_gate']} | {row['seconds_per_gate']} s |")
    return "\n".join(lines) + "\n"


def main():
    rows = json.loads(pathlib.Path(sys.argv[1]).read_text())
    page = PAGE.read_text()
    changed, count = re.subn(f"{BEGIN}.*?{END}", lambda _: BEGIN + table(rows) + END, page, flags=re.S)
    if count != 1:
        sys.exit(f"{PAGE}: the marks of the table are missing")
    PAGE.write_text(changed)


if __name__ == "__main__":
    main()
