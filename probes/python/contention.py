"""Whether another thread of the program runs Python while the training thread wants to: only one of them holds the
interpreter's lock."""

import collections
import ctypes
import os
import sys
import threading

from . import frames
from .faults import is_programs
from .probe import now_ns, text

_NAP_US = 50  # long enough for a thread that waits for the lock to take it
_HELD_NS = 1_000_000  # a thread that took it gives it up after sys.getswitchinterval(), 5 ms
_MOST_THREADS = 64


class Contention:
    """Checks from time to time: releases the lock, and sees who takes it and for how long."""

    def __init__(self, probe):
        self._probe = probe
        self._looks = 0
        self._refused = False
        self._nap = ctypes.CDLL(None).usleep  # releases the lock; time.sleep may have been replaced
        self._threads = {}  # by native id

    def look(self):
        """On the training thread, between two steps."""
        if self._refused or _is_patched():
            return
        try:
            self._look()
        except Exception as error:  # a hook of the program forbids it
            if is_programs(error):
                raise
            self._refused = True

    def _look(self):
        """Without other Python threads, the lock is not released."""
        others = [one for one in threading.enumerate() if one.ident != threading.get_ident() and one.native_id]
        if not others or len(others) > _MOST_THREADS:
            return
        own_before, before = _times_ns(threading.get_native_id()), {one: _times_ns(one.native_id) for one in others}
        begin_ns = now_ns()
        self._nap(_NAP_US)
        end_ns = now_ns()
        self._looks += 1
        after = {one: _times_ns(one.native_id) for one in others}
        for one in others:
            self._of(one).saw(end_ns, after[one][0])
        worked = {one: after[one][0] - before[one][0] for one in others}
        holder = max(worked, key=worked.get)
        # A holder that waits for a processor keeps the lock; this thread's own such wait is not one for the lock.
        kept_ns = worked[holder] + after[holder][1] - before[holder][1]
        waited_ns = end_ns - begin_ns - (_times_ns(threading.get_native_id())[1] - own_before[1])
        if worked[holder] > 0 and waited_ns >= _HELD_NS and kept_ns >= waited_ns / 2:
            running = sys._current_frames().get(holder.ident)  # an audit hook of the program would see it
            self._of(holder).places[frames.place_of(running)] += 1

    def _of(self, thread):
        return self._threads.setdefault(thread.native_id, _Thread(thread.name))

    def write(self):
        """Facts about the thread that held the lock most often."""
        thread = max(self._threads.values(), key=lambda one: one.held, default=None)
        if thread is None or not thread.held:
            return
        facts = {
            "looks": self._looks,
            "held": thread.held,
            "thread": thread.name,
            "where": thread.places.most_common(1)[0][0],
            "thread_ns": thread.last[1] - thread.first[1],
            "over_ns": thread.last[0] - thread.first[0],
        }
        for key, value in facts.items():
            self._probe.fact(text("contention." + key), text(value))


class _Thread:
    """A thread's first and last observed time and processor time, ns; its lines while it had the lock."""

    def __init__(self, name):
        self.name = name
        self.first = self.last = None
        self.places = collections.Counter()

    @property
    def held(self):
        """In how many checks it took the lock."""
        return sum(self.places.values())

    def saw(self, time_ns, worked_ns):
        self.last = time_ns, worked_ns
        self.first = self.first or self.last


def _is_patched():
    """Whether gevent or eventlet have replaced threads: calling these would switch between their tasks."""
    return getattr(threading.get_ident, "__module__", "").partition(".")[0] in ("gevent", "eventlet")


def _times_ns(native_id):
    """A thread's time on a processor so far, and ready to run without one; zeros if /proc is unreadable."""
    try:
        descriptor = os.open(f"/proc/self/task/{native_id}/schedstat", os.O_RDONLY)
    except OSError:
        return 0, 0
    try:
        worked, waited, _ = os.read(descriptor, 64).split()
        return int(worked), int(waited)
    except (OSError, ValueError):
        return 0, 0
    finally:
        os.close(descriptor)
