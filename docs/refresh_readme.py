#!/usr/bin/env python3
"""Puts the output of `make demo` between the demo marks of docs/reports.md, and its headline between those of README.md.

build/loopscope report --no-color build/demo.json > demo.txt && docs/refresh_readme.py demo.txt
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
README, WHOLE = ROOT / "README.md", ROOT / "docs/reports.md"
BLOCK = re.compile(r"(<!-- demo:begin[^\n]*-->\n).*?(<!-- demo:end -->)", re.DOTALL)
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def report_in(output):
    """The whole report; an error when there is none."""
    lines = [line.rstrip() for line in COLOR.sub("", output).splitlines()]
    starts = [index for index, line in enumerate(lines) if line.startswith("Loopscope  ")]
    if not starts or not any(line.startswith("Measured ") for line in lines[starts[-1] :]):
        raise ValueError("holds no report with measured speedups")
    return "\n".join(lines[starts[-1] :]).strip()


def headline(report):
    """What stands before the first section: the program, what was gained, the diagnosis."""
    return "\n\n".join(report.split("\n\n")[:2])


def refreshed(page, block):
    """`page` with `block` between its demo marks."""
    if not BLOCK.search(page):
        raise ValueError("has no demo marks")
    return BLOCK.sub(lambda found: f"{found[1]}```\n{block}\n```\n{found[2]}", page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path, help="saved output of the demo")
    options = parser.parse_args()
    try:
        report = report_in(options.output.read_text())
        WHOLE.write_text(refreshed(WHOLE.read_text(), report))
        README.write_text(refreshed(README.read_text(), headline(report)))
    except (OSError, ValueError) as error:
        print(f"refresh_readme: {options.output}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
