#!/usr/bin/env python3
"""Runs the experiments that need an NVIDIA GPU, keeps their figures in docs/evidence/<gpu>.json with the commands they came
from, writes docs/evidence/<gpu>.md, and puts small captures into tests/data/gpu/.

It needs what `make build` makes, in build/ or --build (it may have been built on another machine), and a Python whose torch
sees the GPU: the one that runs it. Nothing is fetched. Each part takes less than ten minutes, so that they can be run one by one
where machines are lent for short times.

Usage: refresh_gpu_evidence.py [--build DIR] [--part N ...] [--list] [--render GPU]
Exit:  0 done, 1 an experiment failed (the others are kept), 2 wrong usage, 3 no GPU here: nothing was changed
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EVIDENCE, CAPTURES = ROOT / "docs/evidence", ROOT / "tests/data/gpu"
MOST_CAPTURE_BYTES = 1_000_000
LIMIT_S = 600  # of one command


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    part: int
    what: str
    words: tuple  # of loopscope, before "--"
    arguments: tuple  # of train_image
    said: str = ""  # by the documents, on their machines and tasks

    def command(self):
        program = ["build/workloads/train_image", "--device", "cuda", *self.arguments]
        return ["loopscope", *self.words, "--", *program]


def sweep(name, part, what, grid, arguments, said, minutes):
    words = ("sweep", *grid, "--budget", f"{minutes}m", "--min-window", "1s")
    return Experiment(name, part, what, words, tuple(arguments), said)


def prove(part, treatment, rule, what, said="", minutes=4, more=()):
    words = ("prove", "--only", treatment, "--blocks", "8", "--budget", f"{minutes}m", "--min-window", "1s")
    return Experiment(treatment, part, what, words, ("--preset", f"only:{rule}", *more), said)


# Small pictures and a small network: the loader is what limits, as with MNIST.
SMALL = ("--preset", "tuned", "--set", "model.size=small", "--set", "batch.size=64", "--set", "image_size=32")
S0 = (
    "four epochs of MNIST, batch 64, seconds: pinned 0→30.15, 5→7.53, 10→6.49, 15→6.48, 20→6.97, 25→8.73, 45→10.47; "
    "unpinned 0→25.26, 5→6.70, 10→4.47, 15→4.78, 20→3.85, 45→4.40"
)
EXPERIMENTS = (
    sweep(
        "workers-pin-memory",
        1,
        "Workers × pinned memory",
        ("loader.workers=0,1,2,5,10,15", "loader.pin_memory=on,off"),
        SMALL,
        S0,
        9,
    ),
    sweep(
        "batch-size",
        2,
        "Batch 64 to 512",
        ("batch.size=64,128,256,512",),
        ("--preset", "tuned", "--set", "model.size=large"),
        "batch 64→512: 4× (S2)",
        8,
    ),
    prove(3, "amp=bf16", "fp32-compute", "16-bit network, bfloat16", "AMP ≥ 2× (S4)"),
    prove(3, "amp=fp16", "fp32-compute", "16-bit network, float16 with scaled gradients", "AMP ≥ 2× (S4)"),
    prove(4, "cudnn.benchmark=on", "cudnn-autotune-off", "cuDNN times its algorithms"),
    prove(4, "tf32=on", "tf32-off", "TF32 matrix products"),
    prove(5, "channels_last=on", "layout-conversion", "channels_last"),
    prove(5, "optimizer.impl=fused", "single-tensor-optimizer", "fused optimizer", "about 5 % (S2)"),
    prove(6, "grad.set_to_none=on", "grads-zeroed", "gradients dropped, not zeroed"),
    prove(6, "sync.defer=on", "host-sync", "the loss is not read at each step"),
    prove(
        7,
        "loader.pin_memory=on",
        "pageable-copy",
        "pinned memory",
        "workers and pinning 2× (S2); 1.22× of which pinning is about 2 % (S4)",
    ),
    prove(7, "copy.non_blocking=on", "blocking-copy", "copies that do not block"),
    prove(8, "copy.uint8=on", "wide-input", "bytes are copied and widened on the GPU"),
    prove(8, "copy.on_device=on", "cpu-then-device", "random numbers drawn on the GPU"),
    prove(9, "cache.empty=off", "cache-emptied", "no empty_cache in the loop"),
    prove(9, "cudnn.benchmark=off", "cudnn-retuning", "no autotuning where shapes vary"),
    prove(10, "deterministic=off", "deterministic-mode", "algorithms that need not be deterministic"),
    prove(10, "loader.workers=8", "input-starvation", "loader workers", "one worker ≥ 1.2× (S4)"),
    prove(11, "cuda_graphs=on", "launch-bound", "passes launched as CUDA graphs"),
)
# Runs whose captures tests read again.
CAPTURED = ("tuned", "only:host-sync", "only:pageable-copy", "only:launch-bound")
CAPTURE_PART = 12
PARTS = sorted({one.part for one in EXPERIMENTS} | {CAPTURE_PART})


class NoGpu(Exception):
    pass


def gpu_name():
    try:
        import torch
    except ImportError as error:
        raise NoGpu(f"{sys.executable} has no torch ({error})") from error
    if not torch.cuda.is_available():
        raise NoGpu("torch sees none")
    return torch.cuda.get_device_name(0)


def versions():
    import torch

    return f"torch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def environment():
    """The program finds this Python's torch, wherever it was built."""
    import torch

    folder = pathlib.Path(torch.__file__).parent
    folders = [
        folder / "lib",
        *sorted(folder.parent.glob("nvidia/*/lib")),
        *filter(None, [os.environ.get("LD_LIBRARY_PATH")]),
    ]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, folders))}


def launch(build, command, folder, *options):
    """Runs the command as it is written, but for the build's folder; its report."""
    split = command.index("--")
    program = [
        str(build / word.removeprefix("build/")) if word.startswith("build/") else word for word in command[split:]
    ]
    report = folder / "report.json"
    done = subprocess.run(
        [build / "loopscope", *command[1:split], "--quiet", "-o", folder / "out", "--json", report, *options, *program],
        capture_output=True, text=True, timeout=LIMIT_S, cwd=folder, env=environment(),
    )  # fmt: skip
    if not report.exists():
        raise RuntimeError(f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return json.loads(report.read_text())


TRIAL = ("treatment", "value", "context", "speedup", "ci95", "n", "p_holm", "verdict", "reason", "metric", "peak_bytes")


def measure(build, experiment):
    with tempfile.TemporaryDirectory(prefix="loopscope-evidence-") as folder:
        report = launch(build, experiment.command(), pathlib.Path(folder))
    figure = {"command": shlex.join(experiment.command())}
    if experiment.words[0] == "sweep":
        return figure | {"sweep": report["sweep"]}
    return figure | {"trials": [{key: row[key] for key in TRIAL if key in row} for row in report["trials"]]}


def capture(build, preset, target):
    """One short run, packed. A capture that does not fit is not kept: tests want it small, not cut."""
    command = [
        "loopscope",
        "run",
        "--warmup",
        "5",
        "--steps",
        "20",
        "--time",
        "60s",
        "--",
        "build/workloads/train_image",
        "--device",
        "cuda",
        "--preset",
        preset,
    ]
    with tempfile.TemporaryDirectory(prefix="loopscope-evidence-") as folder:
        report = launch(build, command, pathlib.Path(folder))
        name = preset.replace("only:", "").replace("-", "_")
        packed = pathlib.Path(folder) / f"{name}.tar.gz"
        with tarfile.open(packed, "w:gz") as archive:
            archive.add(pathlib.Path(folder) / "out", arcname=name)
        kept = packed.stat().st_size < MOST_CAPTURE_BYTES
        if kept:
            target.mkdir(parents=True, exist_ok=True)
            (target / packed.name).write_bytes(packed.read_bytes())
        size = packed.stat().st_size
    found = sorted(one["rule"] for one in report["findings"])
    return {"command": shlex.join(command), "found": found, "gpu": report["gpu"], "bytes": size, "kept": kept}


# The page


def trial_text(row):
    if row.get("speedup") is None:
        return f"{row['verdict']}: {row.get('reason', '')}"
    low, high = row["ci95"] or (None, None)
    interval = f" [{low:.2f}, {high:.2f}]" if low is not None else ""
    return f"{row['speedup']:.2f}x{interval}, n={row['n']}, {row['verdict']}"


def cell(text):
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|")


def sweep_table(sweep):
    keys = [axis["key"] for axis in sweep["axes"]]
    per = "ms per sample" if sweep["metric"] == "sample-time" else "ms per step"
    lines = [f"| {' | '.join(keys)} | {per} | over the quickest |", "|" + "---|" * (len(keys) + 2)]
    for one in sweep["cells"]:
        values = one["values"] or ["as it is"] + [""] * (len(keys) - 1)
        time = f"{one['ms']:.4g}" if one["ms"] else f"{one['verdict']}: {one['reason']}"
        low, high = one["ci95"] or (None, None)
        ratio = f"{one['ratio']:.2f}" + (f" [{low:.2f}, {high:.2f}]" if low else "") if one["ratio"] else ""
        lines.append(f"| {' | '.join(map(cell, values))} | {cell(time)} | {ratio} |")
    return [*lines, "", sweep["verdict"]]


def page(figures):
    proofs = [one for one in EXPERIMENTS if one.words[0] == "prove"]
    lines = [
        f"# {figures['gpu']}",
        "",
        f"Measured by `docs/refresh_gpu_evidence.py` on {figures['gpu']} ({figures['versions']}) with `train_image --device cuda`.",
        "The documents' figures are of their machines and tasks: a comparison, not a target.",
        "",
        "| trick | measured here, with that one flaw planted | the documents' figure |",
        "|---|---|---|",
    ]
    for one in proofs:
        figure = figures["experiments"].get(one.name)
        text = "; ".join(trial_text(row) for row in figure["trials"]) if figure else "not yet run"
        lines.append(f"| {one.what} (`{one.name}`) | {cell(text)} | {cell(one.said)} |")
    for one in EXPERIMENTS:
        if one.words[0] != "sweep":
            continue
        figure = figures["experiments"].get(one.name)
        lines += ["", f"## {one.what}", "", *(sweep_table(figure["sweep"]) if figure else ["Not yet run."])]
        if one.said:
            lines += ["", f"The documents: {one.said}."]
    lines += ["", "## Captures", ""]
    for preset, one in sorted(figures["captures"].items()):
        kept = "in `tests/data/gpu/`" if one["kept"] else f"{one['bytes'] / 1e6:.1f} MB, too large to keep"
        found = ", ".join(one["found"]) or "no finding"
        busy = f"{one['gpu']['busy_pct']:.0f} % busy" if one["gpu"] else "the GPU was not recorded"
        lines.append(f"- `{preset}`: {found}; {busy}; {kept}")
    commands = [one["command"] for group in ("experiments", "captures") for one in figures[group].values()]
    return "\n".join([*lines, "", "## Commands", "", "```", *commands, "```", ""])


def run_parts(build, parts, figures, save):
    failed = 0
    target = CAPTURES / slug(figures["gpu"])
    work = [(one.name, "experiments", lambda one=one: measure(build, one)) for one in EXPERIMENTS if one.part in parts]
    if CAPTURE_PART in parts:
        work += [(preset, "captures", lambda preset=preset: capture(build, preset, target)) for preset in CAPTURED]
    for name, group, action in work:
        try:
            figures[group][name] = action()
            print(f"{name}: done", flush=True)
        except (RuntimeError, KeyError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"{name}: {error}", file=sys.stderr, flush=True)
        save()
    return failed


def list_parts():
    for part in PARTS:
        names = [one.name for one in EXPERIMENTS if one.part == part] or [f"captures of {', '.join(CAPTURED)}"]
        print(f"part {part}: {', '.join(names)}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument(
        "--part", type=int, action="append", choices=PARTS, metavar="N", help=f"{PARTS[0]} to {PARTS[-1]}"
    )
    parser.add_argument("--list", action="store_true", help="what each part holds")
    parser.add_argument("--render", metavar="GPU", help="only write the page of that GPU anew, from its figures")
    return parser.parse_args()


def render(name):
    kept = EVIDENCE / f"{slug(name)}.json"
    if not kept.exists():
        print(f"refresh_gpu_evidence.py: there is no {kept}", file=sys.stderr)
        return 2
    kept.with_suffix(".md").write_text(page(json.loads(kept.read_text())))
    return 0


def main():
    chosen = parse()
    if chosen.list:
        return list_parts()
    if chosen.render:
        return render(chosen.render)
    build = chosen.build.resolve()
    try:
        name = gpu_name()
        for program in ("loopscope", "workloads/train_image", "probes/libloopscope_cupti.so"):
            if not (build / program).exists():
                raise NoGpu(f"there is no {build / program}: `make build`, or name its folder with --build")
    except NoGpu as why:
        print(
            f"refresh_gpu_evidence.py: needs an NVIDIA GPU that this Python's torch sees, and the built programs: {why}",
            file=sys.stderr,
        )
        return 3
    kept = EVIDENCE / f"{slug(name)}.json"
    figures = json.loads(kept.read_text()) if kept.exists() else {"experiments": {}, "captures": {}}
    figures |= {"gpu": name, "versions": versions()}

    def save():
        kept.write_text(json.dumps(figures, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        kept.with_suffix(".md").write_text(page(figures))

    return 1 if run_parts(build, chosen.part or PARTS, figures, save) else 0


if __name__ == "__main__":
    sys.exit(main())
