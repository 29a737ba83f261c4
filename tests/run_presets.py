#!/usr/bin/env python3
"""Configures, builds and tests the given CMake presets and prints passed/failed/skipped over all of them last.

tests/run_presets.py [--and PRESET…] PRESET…    --and: presets that were run before count too
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "test-results"  # <preset>.xml, in JUnit's format, of the last run of each
# A test preset that only filters another preset's build; a build preset that only builds more of another's folder.
BUILT_BY = {"slow": "release", "long": "release", "gpu": "release"}
CONFIGURED_BY = {"asan-all": "asan"}
# What a build and its tests write where nothing was built before; torch's wheel and the virtual environment come on top.
NEEDED_GB = {"release": 6, "asan": 4, "asan-all": 4, "tsan": 3}


def run_preset(preset, junit):
    """Returns whether the preset was built and tested without a failure."""
    built_by = BUILT_BY.get(preset, preset)
    for command in (
        ["cmake", "--preset", CONFIGURED_BY.get(built_by, built_by)],
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


def lacking_space(preset):
    """Why a build from nothing cannot end, or None."""
    built_by = BUILT_BY.get(preset, preset)
    folder = ROOT / ("build" if built_by == "release" else f"build-{CONFIGURED_BY.get(built_by, built_by)}")
    needed_gb, free_gb = NEEDED_GB.get(preset, 0), shutil.disk_usage(ROOT).free / 1e9
    if folder.exists() or free_gb >= needed_gb:
        return None
    return f"{preset} needs {needed_gb} GB in {ROOT}, and {free_gb:.1f} GB are free: make room, then run this again"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("presets", nargs="+", metavar="PRESET")
    options.add_argument("--and", dest="earlier", action="append", default=[], metavar="PRESET")
    given = options.parse_args()
    totals, all_good = [0, 0, 0], True
    for preset in given.earlier:
        counts = count(RESULTS / f"{preset}.xml")
        totals = [a + b for a, b in zip(totals, counts)]
        print(f"{preset}: {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped, run before", flush=True)
    for preset in given.presets:
        if lacks := lacking_space(preset):
            print(f"run_presets: {lacks}", file=sys.stderr)
            return 2
        begun = time.monotonic()
        RESULTS.mkdir(parents=True, exist_ok=True)
        junit = RESULTS / f"{preset}.xml"
        junit.unlink(missing_ok=True)
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
    sys.exit(main())
