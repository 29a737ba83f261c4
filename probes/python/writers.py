"""Threads and processes beside the training that write files: a checkpoint must not be cut off by a bounded run's end."""

import contextlib
import gc
import os
import sys
import threading
import time
import weakref

_LONGEST_S = 10
_QUIET_S = 0.3  # nothing was written for so long
_LOOK_EVERY_S = 0.05


def wait():
    """Waits until other threads and child processes have written nothing for a moment."""
    if threading.active_count() < 2 and not _children():
        return
    deadline = time.monotonic() + _LONGEST_S
    written, quiet_since = _written(), time.monotonic()
    while time.monotonic() < min(deadline, quiet_since + _QUIET_S):
        time.sleep(_LOOK_EVERY_S)
        now = _written()
        if now != written:
            written, quiet_since = now, time.monotonic()


def _children():
    found = []
    for task in _listed("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children") as file:
                found += file.read().split()
        except OSError:
            pass
    return found


def _written():
    return [_written_by(process) for process in ["self", *_children()]]


def _written_by(process):
    try:
        with open(f"/proc/{process}/io") as file:
            return next((line for line in file if line.startswith("wchar:")), "")
    except OSError:
        return ""


def _listed(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def remove_temporary_files():
    """Removes what Python would remove at its end: the program's temporary folders and named files."""
    tempfile = sys.modules.get("tempfile")
    if tempfile is None:
        return
    for finalizer, info in list(weakref.finalize._registry.items()):
        if getattr(info.func, "__qualname__", "") == "TemporaryDirectory._cleanup":
            with contextlib.suppress(Exception):
                finalizer()
    closer = getattr(tempfile, "_TemporaryFileCloser", None)
    for one in gc.get_objects() if closer is not None else ():
        if type(one) is closer:
            with contextlib.suppress(Exception):
                one.close()
