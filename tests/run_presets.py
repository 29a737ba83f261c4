#!/usr/bin/env python3
"""Configures, builds and tests the given CMake presets and prints passed/failed/skipped over all of them last."""

import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A test preset that only filters another preset's build.
BUILT_BY = {"long": "release", "gpu": "release"}


def run_preset(preset, junit):
    """Returns whether the preset was built and tested without a failure."""
    built_by = BUILT_BY.get(preset, preset)
    for command in (
        ["cmake", "--preset", built_by],
        ["cmake", "--build", "--preset", built_by],
        ["ctest", "--preset", preset, "--output-junit", str(junit)],
    ):
        print("+", " ".join(command), flush=True)
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            return False
    return True


def count(junit):
    """Passed, failed, skipped of one JUnit file as ctest writes it; ctest's own closing line counts skipped as passed."""
    if not junit.exists():
        return 0, 0, 0
    suite = ElementTree.parse(junit).getroot()
    total, failed = int(suite.get("tests", 0)), int(suite.get("failures", 0))
    skipped = int(suite.get("skipped", 0)) + int(suite.get("disabled", 0))
    for case in suite.iter("testcase"):
        if case.get("status") != "run":
            print(f"{case.get('status')}: {case.get('name')}")
    return total - failed - skipped, failed, skipped


def main(presets):
    totals, all_good = [0, 0, 0], True
    with tempfile.TemporaryDirectory() as folder:
        for preset in presets:
            begun = time.monotonic()
            junit = pathlib.Path(folder) / f"{preset}.xml"
            good = run_preset(preset, junit)
            counts = count(junit)
            all_good = all_good and good and counts[0] > 0
            totals = [a + b for a, b in zip(totals, counts)]
            print(
                f"{preset}: {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped"
                f"{'' if good else ' (did not complete)'} in {time.monotonic() - begun:.0f} s",
                flush=True,
            )
    if not all_good and totals[1] == 0:
        totals[1] = 1  # a preset that did not build or ran nothing is a failure too
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped", flush=True)
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
