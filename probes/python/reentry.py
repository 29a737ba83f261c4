"""Restores LD_PRELOAD if a launcher or a shell script has reset it: the preloaded library is then missing here."""

import os
import re
import sys

# The same list as in probes/preload_fit.h: these refuse to start after another library.
_SANITIZER = re.compile(r"(lib(a|t|hwa)san\.so|libclang_rt\.(a|t|hwa|m)san)")


def start_again_with_preload():
    """Restarts the interpreter, with the libraries in front of LD_PRELOAD, before it has done anything. Returns if
    they are already loaded, if this program is not an interpreter that can be started by name, or if it cannot take
    them."""
    wanted, present = os.environ.get("LOOPSCOPE_PRELOAD", ""), os.environ.get("LD_PRELOAD", "")
    arguments = getattr(sys, "orig_argv", [])
    if not wanted or wanted in present or not arguments or not _is_own_executable() or not _fits(present):
        return
    both = (present, wanted) if _SANITIZER.search(present) else (wanted, present)
    os.environ["LD_PRELOAD"] = ":".join(filter(None, both))
    try:
        os.execv(sys.executable, arguments)
    except OSError:
        pass  # the library is opened with torch: only call stacks and LibTorch's own calls are missing


def _fits(present):
    if sys.maxsize < 2**32:
        return False
    try:
        with open("/proc/self/maps") as file:
            mapped = file.read()
    except OSError:
        return True
    linked_with_sanitizer = _SANITIZER.search(mapped) and not _SANITIZER.search(present)
    return "/ld-musl" not in mapped and not linked_with_sanitizer


def _is_own_executable():
    try:
        return bool(sys.executable) and os.path.samefile("/proc/self/exe", sys.executable)
    except OSError:
        return False
