"""Text that the training thread writes: print and the logging package."""

import builtins
import functools
import logging
import threading

from . import wrapping
from .probe import now_ns, text


def install(probe):
    wrapping.replace(builtins, "print", lambda original: _timed(original, probe, text("print")))
    wrapping.replace(logging.Logger, "handle", lambda original: _timed(original, probe, text("logging")))


def _timed(original, probe, name):
    main = threading.main_thread().ident

    @functools.wraps(original)
    def write(*positional, **named):
        if threading.get_ident() != main:
            return original(*positional, **named)
        begin_ns = now_ns()
        try:
            return original(*positional, **named)
        finally:
            probe.output(name, begin_ns)

    return write
