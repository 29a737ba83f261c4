#!/usr/bin/env python3
"""Runs one part of what only an NVIDIA GPU can show, from an unpacked kit, and writes what it showed at once.

Needs Python 3.10 or newer with a torch that sees the GPU; nothing is installed or fetched. A fault in one step stops no
other. DIR gets part<N>.json, log.txt, reports.tar, captures.tar and cupti.bin.

Usage: run.py --part N --out DIR [--limit SECONDS] [--only WORD]
Exit:  0 done, 1 a step failed (the others are kept), 2 wrong usage, 3 no GPU here: all steps are listed as not run
"""

import argparse
import concurrent.futures
import contextlib
import json
import pathlib
import platform
import subprocess
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from kit import Kit  # noqa: E402
from steps import PARTS  # noqa: E402

BESIDE_AT_ONCE = 4


def machine():
    """What ran it; raises LookupError where there is no GPU."""
    try:
        import torch
    except ImportError as error:
        raise LookupError(f"{sys.executable} has no torch ({error})") from error
    if not torch.cuda.is_available():
        raise LookupError(f"torch {torch.__version__} sees none")
    seen = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"],
        capture_output=True,
        text=True,
    )
    return {
        "gpu": torch.cuda.get_device_name(0),
        "gpus": torch.cuda.device_count(),
        "nvidia_smi": seen.stdout.strip(),
        "versions": f"torch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}",
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}, glibc {platform.libc_ver()[1]}",
    }


class Part:
    def __init__(self, number, kit, limit):
        self.kit, self.limit, self.begun = kit, limit, time.monotonic()
        self.path = kit.out / f"part{number}.json"
        self.told = {"part": number, "machine": None, "steps": {}}

    def save(self):
        with self.kit.lock:
            self.path.write_text(json.dumps(self.told, indent=1, ensure_ascii=False, default=str) + "\n")

    def note(self, step, **what):
        self.told["steps"][step.name] = what
        self.save()
        print(
            f"{step.name}: {what.get('error') or what.get('skipped') or 'done'} ({what.get('seconds', 0):.0f} s)",
            flush=True,
        )

    def do(self, step):
        """Whether the step was done."""
        left = self.limit - (time.monotonic() - self.begun)
        if step.seconds > left:
            self.note(step, skipped=f"{left:.0f} s are left, and it may take {step.seconds} s")
            return False
        begun = time.monotonic()
        try:
            result = step.action(self.kit)
        except Exception as error:  # whatever it is, the other steps go on
            self.kit.log(step.name, [], "failed", traceback.format_exc())
            self.note(step, error=f"{type(error).__name__}: {error}"[-1000:], seconds=time.monotonic() - begun)
            return False
        self.note(step, result=result, seconds=time.monotonic() - begun, beside=step.beside)
        return True

    def run(self, steps):
        alone = [step for step in steps if not step.beside]
        for at, step in enumerate(alone):
            if not self.do(step) and step.needed:
                for other in [*alone[at + 1 :], *(one for one in steps if one.beside)]:
                    self.note(other, skipped=f"it needs “{step.name}”")
                return
        with concurrent.futures.ThreadPoolExecutor(BESIDE_AT_ONCE) as pool:
            list(pool.map(self.do, [step for step in steps if step.beside]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--part", type=int, required=True, choices=PARTS, metavar="N", help=f"of {', '.join(map(str, PARTS))}"
    )
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument(
        "--limit", type=float, default=520, metavar="SECONDS", help="no step is begun that may not end by then"
    )
    parser.add_argument("--only", default="", metavar="WORD", help="only steps whose name holds it")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    steps = [step for step in PARTS[chosen.part] if chosen.only in step.name]
    with contextlib.closing(Kit(pathlib.Path(__file__).resolve().parent, chosen.out.resolve())) as kit:
        part = Part(chosen.part, kit, chosen.limit)
        try:
            part.told["machine"] = machine()
        except LookupError as why:
            for step in steps:
                part.told["steps"][step.name] = {"skipped": f"no GPU: {why}"}
            part.save()
            print(f"run.py: needs an NVIDIA GPU that this Python's torch sees: {why}", file=sys.stderr)
            return 3
        part.run(steps)
    return 1 if any("error" in one for one in part.told["steps"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
