#!/usr/bin/env python3
"""Tries a wheel with many torches: for each, in a new environment, the wheel is installed beside that torch and `loopscope
run` has to find the planted flaws of image_classifier.py at their lines, without a compiler on the PATH; a torch that
the wheel has no probe for gets one built (`--yes`), with a compiler. `doctor` has to know the probe. The torch's own CUPTI
has to walk buffers made by hand (cupti_layouts_test of a build). Prints a table.

A torch is some 5 GB to fetch and is removed after its turn; none of this runs with the other tests.

Usage: wheel_matrix.py WHEEL [--python PROGRAM]… [--torch VERSION]… [--build BUILD] [--keep FOLDER]
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


def torches_of_the_wheel():
    return re.findall(r"^\d\S*", TORCHES.read_text(), re.MULTILINE)


def has_probe(messages):
    return "probe off" not in messages and "no probe" not in messages


def report_of(loopscope, folder, environment):
    """What loopscope says of the example; and its messages."""
    bounds = ["--warmup", "5", "--steps", "25", "--time", "60s", "--json", folder / "report.json"]
    images = ["--samples", "200", "--data", folder / "images"]
    done = run([*loopscope, *bounds, "--", "python", SCRIPT, *images], env=environment, cwd=folder, timeout=900)
    return json.loads((folder / "report.json").read_text()), done.stderr


def check_findings(report):
    findings = {finding["rule"]: finding for finding in report["findings"]}
    for rule, text in PLANTED.items():
        places = [evidence["where"] for evidence in findings.get(rule, {"evidence": []})["evidence"]]
        lines = {place["line"] for place in places if place and pathlib.Path(place["path"]).name == SCRIPT.name}
        if line_of(text) not in lines:
            raise RuntimeError(f"{rule} is not found at line {line_of(text)}")


def layout_of(venv, build):
    """Which of the layouts that the decoder knows the records of this torch's CUPTI have."""
    [library] = venv.glob("lib/python*/site-packages/nvidia/*/lib/libcupti.so.1[23]")
    test = [build / "tests/cupti_layouts_test", "--gtest_filter=*AsTheLibraryOfATorch*"]
    variables = {"LOOPSCOPE_LIBCUPTI": str(library), "LD_LIBRARY_PATH": str(library.parent)}
    [layout] = re.findall(r"records as those of CUDA (\S+)", run(test, env=variables).stdout)
    return layout


def try_one(wheel, python, torch, build, folder):
    """What was seen, by column; raises when the wheel is at fault."""
    venv = folder / "venv"
    run([python, "-m", "venv", venv])
    pip = [venv / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    run([*pip, "--no-cache-dir", f"torch=={torch}", "numpy", "pillow"])
    cuda = run([venv / "bin/python", "-c", "import torch; print(torch.version.cuda)"]).stdout.strip()
    begin = time.monotonic()
    run([*pip, "--no-index", "--no-deps", wheel])
    hidden = {"PATH": f"{venv / 'bin'}:{without_compilers(folder / 'tools')}", "HOME": str(folder)}
    report, messages = report_of([venv / "bin/loopscope", "run"], folder, hidden)
    probe = "of the wheel"
    if not has_probe(messages):
        if torch.rpartition(".")[0] in {known.rpartition(".")[0] for known in torches_of_the_wheel()}:
            raise RuntimeError("no probe for it")
        probe = "built from its sources"
        begin = time.monotonic()
        seen = {"PATH": f"{venv / 'bin'}:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder)}
        report, messages = report_of([venv / "bin/loopscope", "run", "--yes"], folder, seen)
        if not has_probe(messages):
            raise RuntimeError(messages.strip()[-300:])
    seconds = time.monotonic() - begin
    check_findings(report)
    doctor = run([venv / "bin/loopscope", "doctor", "--", "python", SCRIPT], env=hidden, cwd=folder).stdout
    [known] = re.findall(r"(?m)^(\w+) +probes", doctor)
    [gpu] = re.findall(r"(?m)^\w+ +GPU +(.*)", doctor)
    found = f"{len(PLANTED)} flaws at their lines, {seconds:.0f} s"
    try:
        layout = layout_of(venv, build) if build else "not tried"
    except RuntimeError as error:  # the rest of the row was right
        layout = wrong(error)
    return [cuda, layout, probe, f"{known}; GPU: {gpu}", found]


def wrong(error):
    return "**" + " ".join(str(error).split()) + "**"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--python", action="append", help="an interpreter (python3)")
    parser.add_argument("--torch", action="append", help="a release (all of cmake/wheel/torches.txt)")
    parser.add_argument("--build", type=pathlib.Path, help="a build with its tests, for the walk of CUPTI's buffers")
    parser.add_argument("--keep", type=pathlib.Path, help="where environments go; they stay there")
    options = parser.parse_args()
    torches = options.torch or torches_of_the_wheel()
    failed = 0
    print("| Python | torch | CUDA | its CUPTI's records | LibTorch probe | doctor | found |", flush=True)
    print("|---|---|---|---|---|---|---|", flush=True)
    for python in options.python or ["python3"]:
        version = run([python, "-c", "import platform; print(platform.python_version())"]).stdout.strip()
        for torch in torches:
            folder = pathlib.Path(tempfile.mkdtemp(dir=options.keep))
            try:
                seen = try_one(options.wheel.resolve(), python, torch, options.build, folder)
            except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as error:
                seen = [wrong(error), "", "", "", ""]
            failed += any("**" in cell for cell in seen)
            print(f"| {version} | {torch} | {' | '.join(seen)} |", flush=True)
            if not options.keep:
                shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
