#!/usr/bin/env python3
"""Runs `loopscope run` on each script of this folder and writes docs/frameworks.md: what it says of a training whose
steps, optimizer, loader and slow line are known. Not part of CI: it installs packages and takes minutes.

    tests/frameworks/run.py --install DIR   makes an environment in DIR, with the torch of .venv, and installs all
    tests/frameworks/run.py --python DIR/bin/python [NAME …]

Each script prints what is true of it ("truth steps=60 optimizer=AdamW loader=yes evaluations=2") and marks the line
that it spends time in with "# slow"."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = (
    "accelerate lightning transformers pytorch-ignite skorch keras torchdata webdataset datasets monai torch_geometric"
    " schedulefree pytorch_optimizer torchao timm opacus pyro-ppl gpytorch sentence-transformers litdata bitsandbytes"
    " thinc botorch stable-baselines3 torchrl"
).split()
COLUMNS = ("framework", "steps", "loader", "optimizer", "evaluations", "slow line")


def install(folder):
    venv = ROOT / ".venv/bin/python"
    subprocess.run([venv, "-m", "venv", folder], check=True)
    torch = subprocess.run(
        [venv, "-c", "import torch; print(torch.__version__)"], check=True, capture_output=True, text=True
    )
    pinned = "torch==" + torch.stdout.strip().split("+")[0]
    subprocess.run([f"{folder}/bin/pip", "install", "-q", pinned, *PACKAGES], check=True)


def truth_of(output):
    line = next(line for line in output.splitlines() if line.startswith("truth "))
    return dict(pair.split("=") for pair in line.split()[1:])


def slow_line(script):
    return next(number for number, line in enumerate(script.read_text().splitlines(), 1) if "# slow" in line)


def mark(right, text):
    return text if right else f"**{text}**"


def row_of(script, python):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        command = [ROOT / "build/loopscope", "run", "-o", f"{folder}/out", "--steps", "0", "--json", report, "--quiet"]
        done = subprocess.run([*command, "--", python, script], capture_output=True, text=True, cwd=folder, timeout=600)
        title = script.read_text().split('"""')[1].rstrip(".")
        if not report.exists() or "truth " not in done.stdout:
            print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
            return [title, f"**ended with {done.returncode}**", "", "", "", ""]
        return [title, *cells(json.loads(report.read_text()), truth_of(done.stdout), slow_line(script))]


def cells(report, truth, slow):
    whole, clock = report.get("whole") or {}, report["steps"].get("clock") or {}
    steps, ends_with = whole.get("counts", {}).get("steps", 0), clock.get("ends_with") or "?"
    loader = (report.get("breakdown") or {}).get("loader_wait") is not None
    optimizer = ends_with.removeprefix("optimizer:").split("#")[0]
    evaluations = whole.get("counts", {}).get("evaluations", 0)
    lines = [line for line in report["lines"] + report["worker_lines"] if line["where"]]
    outside = [line for line in report["whole_lines"] if line["where"] and line["where"]["line"] == slow]
    first = report["headline"]["where"]
    places = [(line["where"]["line"], line["share_pct"] or 0) for line in lines]
    share = max((share for line, share in places if line == slow), default=0)
    of = "the step"
    if share == 0 and outside:  # in an evaluation
        share, of = outside[0]["share_pct"] or 0, "each " + outside[0]["phase"].replace("_", " ")
    named = first is not None and first["line"] == slow
    expected = truth["optimizer"].split("|")
    return [
        mark(abs(steps - int(truth["steps"])) <= 1, f"{steps} of {truth['steps']}, by {clock.get('found_by') or '?'}"),
        mark(loader == (truth["loader"] == "yes"), "seen" if loader else "none"),
        mark(optimizer in expected or "none" in expected, optimizer),
        mark(evaluations == int(truth["evaluations"]), f"{evaluations} of {truth['evaluations']}"),
        mark(named or share > 0, f"{share:.0f} % of {of}" + (", named first" if named else "")),
    ]


def table(rows):
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", metavar="DIR")
    parser.add_argument("--python", default=ROOT / ".venv/bin/python")
    parser.add_argument("--write", type=pathlib.Path, help="the document, whose table is replaced")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.install:
        install(options.install)
        options.python = f"{options.install}/bin/python"
    scripts = sorted(path for path in HERE.glob("*.py") if path.name != "run.py")
    rows = []
    for script in scripts:
        if not options.names or script.stem in options.names:
            rows.append(row_of(script, options.python))
            print("| " + " | ".join(rows[-1]) + " |", flush=True)
    if options.write:
        head = options.write.read_text().split("| framework")[0]
        options.write.write_text(head + table(rows))


if __name__ == "__main__":
    main()
