#!/usr/bin/env python3
"""Takes up what `gpu_kit/run.py` brought back from a machine with an NVIDIA GPU: its figures into docs/evidence/<gpu>.json,
beside those that are there, the page docs/evidence/<gpu>.md, and small captures into tests/data/gpu/<gpu>/.

Usage: refresh_gpu_evidence.py --from DIR | --render GPU
Exit:  0 done, 2 wrong usage, or nothing in DIR
"""

import argparse
import gzip
import json
import math
import pathlib
import re
import shlex
import statistics
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EVIDENCE, CAPTURES = ROOT / "docs/evidence", ROOT / "tests/data/gpu"
# A capture that is larger is not kept: tests want it small, not cut.
MOST_CAPTURE_BYTES = 400_000
CAPTURED = ("item", "retries", "graph")


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def cell(text):
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|")


def trial_text(row):
    if row.get("speedup") is None:
        return f"{row['verdict']}: {row.get('reason', '')}"
    low, high = row["ci95"] or (None, None)
    interval = f" [{low:.2f}, {high:.2f}]" if low is not None else ""
    return f"{row['speedup']:.2f}x{interval}, n={row['n']}, {row['verdict']}"


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


def seen_text(result):
    """Of a recorded run: how busy the GPU was, why it was idle, what was found."""
    gpu = result["gpu"]
    if gpu is None:
        return "the GPU was not recorded", ""
    causes = sorted(gpu["idle_causes"].items(), key=lambda one: -one[1]) if gpu.get("idle_causes") else []
    share = [f"{name} {100 * us / gpu['idle_us']:.0f} %" for name, us in causes if us > 0.02 * gpu["idle_us"]]
    idle = f"; idle by {', '.join(share)}" if share and gpu["idle_pct"] >= 1 else ""
    found = [one["rule"] for one in result["findings"] if one["severity"] != "info"]
    return f"{gpu['busy_pct']:.1f} % busy{idle}", ", ".join(found) or "nothing above *info*"


def beside_lines(result):
    def per_step(who, key):
        gpu = result[who]["gpu"]
        return f"{gpu[key + '_us'] / gpu['steps']:.0f}"

    rows = [f"| {key} | {per_step('ours', key)} | {per_step('theirs', key)} |" for key in ("compute", "memory", "idle")]
    return ["| µs per step | recorded | torch.profiler's trace |", "|---|---|---|", *rows]


# Student's t at 97.5 %, by degrees of freedom from 1.
T975 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36)
LOOPS = {"tiny": "small kernels", "none": "kernels that keep the GPU busy"}


def over(seconds, plain):
    """How much longer a step takes, in percent, with its 95 % interval: Student's t over the rounds' log ratios."""
    logs = [math.log(a / b) for a, b in zip(seconds, plain)]
    mean, spread = statistics.mean(logs), statistics.stdev(logs)
    half = T975[len(logs) - 2] * spread / math.sqrt(len(logs))
    middle, low, high = (100 * math.expm1(value) for value in (mean, mean - half, mean + half))
    return f"{middle:.3g} % [{low:.3g}, {high:.3g}]"


def cost_lines(result):
    lines = ["| a loop of | µs per step, alone | recorded | under torch.profiler |", "|---|---|---|---|"]
    for flaw, seconds in result["seconds"].items():
        plain = seconds["plain"]
        more = " | ".join(over(seconds[name], plain) for name in ("recorded", "profiler"))
        lines.append(f"| {LOOPS[flaw]} | {1e6 * statistics.median(plain):.0f} | {more} |")
    return [*lines, "", f"{len(plain)} rounds; by how much a step takes longer, with the 95 % interval."]


def page(figures):
    machine = figures["machine"]
    done = {name: one["result"] for name, one in figures["steps"].items() if "result" in one}
    proofs = {name: one for name, one in done.items() if "trials" in one}
    lines = [
        f"# {machine['gpu']}",
        "",
        f"What `gpu_kit/run.py` showed on {machine['gpu']} ({machine['versions']}, driver and memory: "
        f"{machine['nvidia_smi']}; Python {machine['python']}). The documents' figures are of their machines and tasks: "
        "a comparison, not a target.",
    ]
    if proofs:
        lines += ["", "## What fixes gain", "", "| trick | measured, with that one flaw planted into `train_image` | the documents' figure |", "|---|---|---|"]  # fmt: skip
        for name, one in proofs.items():
            several = len(one["trials"]) > 1
            texts = [
                (f"{row['treatment']}={row['value']}: " if several else "") + trial_text(row) for row in one["trials"]
            ]
            text = "; ".join(texts) or "no trial"
            lines.append(
                f"| {cell(one['what'])} (`{name.removeprefix('prove ')}`) | {cell(text)} | {cell(one['said'])} |"
            )
    for one in done.values():
        if "sweep" in one:
            lines += ["", f"## {one['what']}", "", *sweep_table(one["sweep"])]
            lines += ["", f"The documents: {one['said']}."] if one["said"] else []
    runs = {name: one for name, one in done.items() if "findings" in one}
    if runs:
        lines += ["", "## What is recorded", "", "| program | the GPU | found |", "|---|---|---|"]
        for name, one in runs.items():
            beside = " (beside three others)" if figures["steps"][name].get("beside") else ""
            lines.append(f"| {name}{beside} | {' | '.join(map(cell, seen_text(one)))} |")
    if "torch.profiler beside" in done:
        lines += ["", "## Beside torch.profiler", "", *beside_lines(done["torch.profiler beside"])]
    if "cost" in done:
        lines += ["", "## What recording costs", "", *cost_lines(done["cost"])]
    failed = {name: one["error"] for name, one in figures["steps"].items() if "error" in one}
    if failed:
        lines += ["", "## What failed", "", *(f"- {name}: {cell(why)}" for name, why in failed.items())]
    commands = [shlex.join(one["command"]) for one in done.values() if "command" in one]
    if commands:
        lines += ["", "## Commands", "", "```", *commands, "```"]
    return "\n".join([*lines, ""])


def merged(figures, part):
    """What was done replaces what was done before; what was not, nothing."""
    steps = dict(figures.get("steps", {}))
    for name, one in part["steps"].items():
        if "skipped" not in one and ("result" in one or "result" not in steps.get(name, {})):
            steps[name] = one
    return {"machine": part["machine"], "steps": steps}


def keep_captures(archive, target):
    """Of the captures in captures.tar, the small ones that tests read."""
    kept = []
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            name = member.name.removesuffix(".tar.gz")
            if name in CAPTURED and member.size <= MOST_CAPTURE_BYTES:
                target.mkdir(parents=True, exist_ok=True)
                content = gzip.decompress(tar.extractfile(member).read())
                (target / f"{name}.tar.gz").write_bytes(gzip.compress(content, 9, mtime=0))
                kept.append(name)
    return kept


def write(kept, figures):
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(figures, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    kept.with_suffix(".md").write_text(page(figures))


def fail(why):
    print(f"refresh_gpu_evidence.py: {why}", file=sys.stderr)
    return 2


def take(folder):
    parts = [json.loads(path.read_text()) for path in sorted(folder.glob("part*.json"))]
    parts = [part for part in parts if part["machine"]]
    if not parts:
        return fail(f"{folder} holds no part<N>.json of a machine with a GPU: run gpu_kit/run.py there first")
    gpu = slug(parts[0]["machine"]["gpu"])
    kept = EVIDENCE / f"{gpu}.json"
    figures = json.loads(kept.read_text()) if kept.exists() else {}
    for part in parts:
        figures = merged(figures, part)
    write(kept, figures)
    print(f"{kept.with_suffix('.md')}: {len(figures['steps'])} steps")
    if (folder / "captures.tar").exists():
        print(f"{CAPTURES / gpu}: {', '.join(keep_captures(folder / 'captures.tar', CAPTURES / gpu)) or 'none'}")
    return 0


def render(name):
    kept = EVIDENCE / f"{slug(name)}.json"
    if not kept.exists():
        return fail(f"there is no {kept}")
    write(kept, json.loads(kept.read_text()))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--from", dest="folder", type=pathlib.Path, metavar="DIR", help="what run.py was given as --out")
    which.add_argument("--render", metavar="GPU", help="only write the page of that GPU anew, from its figures")
    chosen = parser.parse_args()
    return take(chosen.folder) if chosen.folder else render(chosen.render)


if __name__ == "__main__":
    sys.exit(main())
