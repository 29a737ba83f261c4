#!/usr/bin/env python3
"""Where the time of a build and of its tests goes: by source, by header, by test.

  cmake/times.py [--rows 20] [BUILD…]    default: build and every build-* there is

Sources: the last time of each output in ninja's log, in seconds of wall time (compare within one build only). Headers:
what clang's -ftime-trace wrote beside the objects (the preset `timed`), with all that a header includes in turn. Tests:
the results that `make test` leaves in build/test-results."""

import argparse
import collections
import json
import pathlib
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent


def table(title, rows, limit, unit="s"):
    rows = sorted(rows, key=lambda row: -row[1])
    print(f"\n{title}: {sum(row[1] for row in rows):.0f} {unit} in {len(rows)}")
    for name, value, *more in rows[:limit]:
        print(f"  {value:9.1f} {unit}  {name}", *(f"({text})" for text in more))


def outputs(build):
    """Seconds by output; of one that was made again, the last."""
    lines = (build / ".ninja_log").read_text().splitlines()[1:]
    made = {}
    for line in lines:
        begin_ms, end_ms, _, output, _ = line.split("\t")
        made[output] = (int(end_ms) - int(begin_ms)) / 1e3
    return made


def of_sources(build, limit):
    made = outputs(build)
    objects = {one: took for one, took in made.items() if one.endswith((".o", ".gch", ".pch"))}
    rooms = collections.Counter()
    for one, took in objects.items():
        rooms[one.split("/CMakeFiles/")[0] + "/" + one.split("CMakeFiles/")[-1].split(".dir")[0]] += took
    table(f"{build.name}: libraries and programs", list(rooms.items()), limit)
    table(f"{build.name}: sources", list(objects.items()), limit)
    table(f"{build.name}: all else", [pair for pair in made.items() if pair[0] not in objects], limit // 4)


def of_headers(build, limit):
    total, times = collections.Counter(), collections.Counter()
    traces = [one for one in build.rglob("*.json") if "CMakeFiles" in one.parts]
    for trace in traces:
        for event in json.loads(trace.read_text()).get("traceEvents", ()):
            if event.get("name") == "Source":
                header = event["args"]["detail"]
                total[header] += event["dur"] / 1e6
                times[header] += 1
    if total:
        rows = [(header, took, f"{times[header]} times") for header, took in total.items()]
        table(f"{build.name}: headers, each with what it includes", rows, limit)


def of_tests(results, limit):
    cases = ElementTree.parse(results).getroot().iter("testcase")
    table(f"tests of {results.stem}", [(one.get("name"), float(one.get("time", 0))) for one in cases], limit)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=20)
    options.add_argument("builds", nargs="*", type=pathlib.Path)
    given = options.parse_args()
    for build in given.builds or sorted(one.parent for one in ROOT.glob("build*/.ninja_log")):
        if not (build / ".ninja_log").exists():
            raise SystemExit(f"times: {build} holds no build of ninja's")
        of_sources(build, given.rows)
        of_headers(build, given.rows)
    for results in sorted((ROOT / "build" / "test-results").glob("*.xml")):
        of_tests(results, given.rows)


if __name__ == "__main__":
    main()
