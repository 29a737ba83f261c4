"""A launcher or a shell script may reset LD_PRELOAD: then the preloaded library is missing in this process."""

import os
import sys


def start_again_with_preload():
    """Starts the interpreter again, with the libraries in front of LD_PRELOAD, before it has done anything. Returns
    where they are loaded already, or where this program is not an interpreter that can be started by name."""
    wanted, present = os.environ.get("LOOPSCOPE_PRELOAD", ""), os.environ.get("LD_PRELOAD", "")
    arguments = getattr(sys, "orig_argv", [])
    if not wanted or wanted in present or not arguments or not _is_own_executable():
        return
    os.environ["LD_PRELOAD"] = f"{wanted}:{present}" if present else wanted
    try:
        os.execv(sys.executable, arguments)
    except OSError:
        pass  # the library is opened with torch: only call stacks and LibTorch's own calls are missed


def _is_own_executable():
    try:
        return bool(sys.executable) and os.path.samefile("/proc/self/exe", sys.executable)
    except OSError:
        return False
