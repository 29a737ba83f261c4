"""The LibTorch probe that fits the program's torch: the one beside the shim, or one built for another version."""

import contextlib
import os
import stat
import sys

from .probe import PROBE_OFF, TORCH_PROBE, text

_NAME, _FAILED = "libloopscope_torch.so", "failed.txt"
_PROBES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def load(torch, probe):
    built = _built_for()
    if not built or _minor(built) == _minor(torch.__version__):
        probe.load_torch(None)
        return
    folder = _cached(torch)
    for one in (_beside(torch), folder):
        path = one and os.path.join(one, _NAME)
        if not path or not os.path.exists(path):
            continue
        # Files beside the shim are as trustworthy as the shim itself.
        if one == folder and not all(map(_is_safe, (path, one, os.path.dirname(one)))):
            reason = f"LibTorch probe off: others can write to {path}: it is not loaded"
            probe.mark(PROBE_OFF, text(reason), TORCH_PROBE)
            sys.stderr.write(f"loopscope: {reason}\n")
            return
        probe.load_torch(text(path))
        return
    _report_to_launcher(torch)
    failed = folder and os.path.join(folder, _FAILED)
    has_failed = failed and os.path.exists(failed)
    versions = ", ".join([built, *_others()])
    reason = (
        f"LibTorch probe off: built for torch {versions}, the program has {torch.__version__}; only steps and loader waits "
        f"are recorded; {'building one for it failed' if has_failed else 'with --yes a probe for it is built'}"
    )
    probe.fact(b"torch.version", text(torch.__version__))
    probe.mark(PROBE_OFF, text(reason), TORCH_PROBE)
    sys.stderr.write(f"loopscope: {reason}{f': {failed}' if has_failed else ''}\n")


def _is_safe(path):
    """Writable only by this user or root: it will run in this process."""
    status = os.lstat(path)
    writers = stat.S_IWOTH | (stat.S_IWGRP if status.st_gid != os.getegid() else 0)
    return status.st_uid in (0, os.geteuid()) and not stat.S_ISLNK(status.st_mode) and not status.st_mode & writers


def _report_to_launcher(torch):
    """Records a torch without a probe: the launcher only knows the command, not what a script starts. Read by
    profiler/launch/probe_build.cpp."""
    with contextlib.suppress(OSError, KeyError):
        path = os.path.join(os.environ["LOOPSCOPE_RUN_DIR"], "torch-without-probe")
        with open(path, "w") as file:
            file.write(f"{os.path.dirname(torch.__file__)}\n{torch.__version__}\n{_abi(torch)}\n")


def _built_for():
    try:
        with open(os.path.join(_PROBES, "torch_version")) as file:
            return file.read().strip()
    except OSError:
        return ""


def _minor(version):
    """The part of a version that decides the layout of the data that the probe reads."""
    return version.split(".")[:2]


def _beside(torch):
    """Where a package has the probe for another torch, named as in profiler/launch/probe_paths.cpp. They are built with
    libstdc++'s new string ABI, like the torch releases they support."""
    return os.path.join(_PROBES, "torch-" + ".".join(_minor(torch.__version__))) if _abi(torch) else ""


def _others():
    names = [name.removeprefix("torch-") for name in os.listdir(_PROBES) if name.startswith("torch-")]
    names = [name for name in names if os.path.exists(os.path.join(_PROBES, f"torch-{name}", _NAME))]
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])


def _cached(torch):
    """As profiler/launch/probe_build.cpp names it."""
    cache = os.environ.get("LOOPSCOPE_PROBE_CACHE", "")
    return cache and os.path.join(cache, f"torch-{torch.__version__}-abi{_abi(torch)}")


def _abi(torch):
    return int(torch._C._GLIBCXX_USE_CXX11_ABI)
