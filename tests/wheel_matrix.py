#!/usr/bin/env python3
"""Tries a wheel with many torches: for each, in a new environment, the wheel is installed beside that torch and `loopscope
run` has to find the planted flaws of image_classifier.py at their lines, without a compiler on the PATH. Prints a table.

A torch is some 5 GB to fetch and is removed after its turn; none of this runs with the other tests.

Usage: wheel_matrix.py WHEEL [--python PROGRAM]… [--torch VERSION]… [--keep FOLDER]
Exit:  0 all were right, 1 some were not, 2 wrong usage
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "workloads/python"
SCRIPT = EXAMPLES / "image_classifier.py"
TORCHES = ROOT / "cmake/wheel/torches.txt"
PLANTED = {"debug-left-on": "loss.backward()", "single-tensor-optimizer": "optimizer.step()"}
COMPILERS = re.compile(r"(.*-)?(c\+\+|g\+\+|gcc|cc|clang|clang\+\+|cpp|ld)(-[\d.]+)?$")


def line_of(text):
    return next(number for number, line in enumerate(SCRIPT.read_text().splitlines(), 1) if text in line)


def without_compilers(folder):
    """A folder with the system's programs but compilers, for the PATH."""
    folder.mkdir()
    for tool in pathlib.Path("/usr/bin").iterdir():
        if not COMPILERS.match(tool.name):
            (folder / tool.name).symlink_to(tool)
    return folder


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
    return done


def try_one(wheel, python, torch, folder):
    """What was seen, in words; raises when the wheel is at fault."""
    venv = folder / "venv"
    run([python, "-m", "venv", venv])
    pip = [venv / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    run([*pip, "--no-cache-dir", f"torch=={torch}", "numpy", "pillow"])
    begin = time.monotonic()
    run([*pip, "--no-index", "--no-deps", wheel])
    report = folder / "report.json"
    bounds = ["--warmup", "5", "--steps", "25", "--time", "60s", "--json", report]
    environment = {"PATH": f"{venv / 'bin'}:{without_compilers(folder / 'tools')}", "HOME": str(folder)}
    command = [venv / "bin/loopscope", "run", *bounds, "--", "python", SCRIPT, "--samples", "200"]
    done = run([*command, "--data", folder / "images"], env=environment, cwd=folder, timeout=600)
    seconds = time.monotonic() - begin
    if "probe off" in done.stderr or "no probe" in done.stderr:
        raise RuntimeError("no probe for it")
    findings = {finding["rule"]: finding for finding in json.loads(report.read_text())["findings"]}
    for rule, text in PLANTED.items():
        places = [evidence["where"] for evidence in findings.get(rule, {"evidence": []})["evidence"]]
        lines = {place["line"] for place in places if place and pathlib.Path(place["path"]).name == SCRIPT.name}
        if line_of(text) not in lines:
            raise RuntimeError(f"{rule} is not found at line {line_of(text)}")
    return f"{len(PLANTED)} planted flaws at their lines, {seconds:.0f} s from installing to the report"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--python", action="append", help="an interpreter (python3)")
    parser.add_argument("--torch", action="append", help="a release (all of cmake/wheel/torches.txt)")
    parser.add_argument("--keep", type=pathlib.Path, help="where environments go; they stay there")
    options = parser.parse_args()
    torches = options.torch or re.findall(r"^\d\S*", TORCHES.read_text(), re.MULTILINE)
    failed = 0
    print("| Python | torch | |\n|---|---|---|", flush=True)
    for python in options.python or ["python3"]:
        version = run([python, "-c", "import platform; print(platform.python_version())"]).stdout.strip()
        for torch in torches:
            folder = pathlib.Path(tempfile.mkdtemp(dir=options.keep))
            try:
                seen = try_one(options.wheel.resolve(), python, torch, folder)
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                failed += 1
                seen = "**" + " ".join(str(error).split()) + "**"
            print(f"| {version} | {torch} | {seen} |", flush=True)
            if not options.keep:
                shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
