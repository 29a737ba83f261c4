#!/usr/bin/env python3
"""Puts the output of `make demo` between the demo marks of README.md.

build/loopscope report --no-color build/demo.json > demo.txt && docs/refresh_readme.py demo.txt
"""

import argparse
import pathlib
import re
import sys

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"(<!-- demo:begin[^\n]*-->\n).*?(<!-- demo:end -->)", re.DOTALL)
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def refreshed(readme, output):
    """README's text with `output` as its demo block; an error when that is no whole report."""
    lines = [line.rstrip() for line in COLOR.sub("", output).splitlines()]
    starts = [index for index, line in enumerate(lines) if line.startswith("Loopscope  ")]
    if not starts or not any(line.startswith("Measured ") for line in lines[starts[-1] :]):
        raise ValueError("holds no report with measured speedups")
    report = "\n".join(lines[starts[-1] :]).strip()
    if not BLOCK.search(readme):
        raise ValueError(f"{README} has no demo marks")
    return BLOCK.sub(lambda found: f"{found[1]}```\n{report}\n```\n{found[2]}", readme)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path, help="saved output of the demo")
    options = parser.parse_args()
    try:
        README.write_text(refreshed(README.read_text(), options.output.read_text()))
    except (OSError, ValueError) as error:
        print(f"refresh_readme: {options.output}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
