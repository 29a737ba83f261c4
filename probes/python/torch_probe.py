"""The LibTorch probe that fits the program's torch: the one beside the shim, or one built for another version."""

import os
import sys

from .probe import PROBE_OFF, text

_PROBES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def load(torch, probe):
    built = _built_for()
    if not built or _minor(built) == _minor(torch.__version__):
        probe.load_torch(None)
        return
    path = _cached(torch)
    if path and os.path.exists(path):
        probe.load_torch(text(path))
        return
    reason = (
        f"LibTorch probe off: built for torch {built}, the program has {torch.__version__}; only steps and loader waits "
        "are recorded; with --yes a probe for it is built"
    )
    probe.mark(PROBE_OFF, text(reason), 0)
    sys.stderr.write(f"loopscope: {reason}\n")


def _built_for():
    try:
        with open(os.path.join(_PROBES, "torch_version")) as file:
            return file.read().strip()
    except OSError:
        return ""


def _minor(version):
    """What lays out the data that the probe looks at."""
    return version.split(".")[:2]


def _cached(torch):
    """As profiler/commands/probe_build.cpp names it."""
    cache = os.environ.get("LOOPSCOPE_PROBE_CACHE", "")
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    return cache and os.path.join(cache, f"torch-{torch.__version__}-abi{abi}", "libloopscope_torch.so")
