#!/usr/bin/env python3
"""Puts what `loopscope` really prints into the pages of docs/, between marks such as

    <!-- output of: loopscope run --help -->
    <!-- end -->

`output of` is the same on every machine, and a test holds the pages to it. `sample of` shows one machine and one run:
it is taken anew with --samples only. "(first 9 lines)" behind a command cuts it.

    docs/refresh_outputs.py [--samples]
"""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(
    r"<!-- (output|sample) of: loopscope ([^\n]*?)(?: \(first (\d+) lines\))? -->\n(.*?)<!-- end -->", re.DOTALL
)


def pages():
    return sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def output(build, arguments, lines):
    command = [build / "loopscope", *shlex.split(arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise ValueError(f"loopscope {arguments}: exit {done.returncode}\n{done.stderr}")
    # Paths of this repository from its root on; of a run only the report, not what the program printed before.
    printed = [line.rstrip() for line in done.stdout.replace(f"{ROOT}/", "").splitlines()]
    reports = [index for index, line in enumerate(printed) if line.startswith("Loopscope  ")]
    printed = printed[reports[0] if reports else 0 :]
    if lines and len(printed) > lines:
        printed = [*printed[:lines], "…"]
    return "\n".join(printed).strip("\n")


def refreshed(text, build, samples=False):
    """`text` with each block filled anew; of the samples only when wanted."""

    def fill(found):
        kind, arguments, lines, _ = found.groups()
        head = found[0][: found[0].index("\n") + 1]
        if kind == "sample" and not samples:
            return found[0]
        return f"{head}```\n{output(build, arguments, int(lines or 0))}\n```\n<!-- end -->"

    return BLOCK.sub(fill, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder (build)")
    parser.add_argument("--samples", action="store_true", help="also take the samples, which run a program")
    options = parser.parse_args()
    try:
        for page in pages():
            text = page.read_text()
            page.write_text(refreshed(text, options.build.resolve(), options.samples))
    except (OSError, ValueError) as error:
        print(f"refresh_outputs: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
