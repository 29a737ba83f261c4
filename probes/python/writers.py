"""Threads and processes beside the training that write files: a checkpoint must not be cut off by a bounded run's end."""

import os
import threading
import time

_LONGEST_S = 10
_QUIET_S = 0.3  # nothing was written for so long
_LOOK_EVERY_S = 0.05


def wait():
    """Until other threads and child processes have written nothing for a moment."""
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
