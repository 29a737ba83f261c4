"""Which exceptions are the program's own, though they are raised while the shim runs: what a signal's handler raises, and
what another thread sets in this one."""

import functools
import os
import signal


def is_programs(error):
    """Whether an exception that the shim caught must go on to the program."""
    if not isinstance(error, Exception):  # KeyboardInterrupt, SystemExit
        return True
    handlers = {_code_of(signal.getsignal(one)) for one in signal.valid_signals()} - {None}
    trace, innermost = error.__traceback__, None
    while trace is not None:
        innermost = trace.tb_frame.f_code
        if innermost in handlers:
            return True
        trace = trace.tb_next
    # Set by another thread: raised on a line of the shim's, of a kind that its own mistakes never are. What an object of
    # the program's raises when the shim asks it something is raised further inside.
    foreign = isinstance(error, TimeoutError) or type(error).__module__ not in _OF_LIBRARIES
    return foreign and innermost is not None and innermost.co_filename.startswith(_FOLDER)


_FOLDER = os.path.dirname(__file__) + os.sep
_OF_LIBRARIES = ("builtins", "torch", "numpy", "_ctypes", "ctypes", "inspect", "struct", "zlib")


def _code_of(handler):
    handler = getattr(handler, "func", handler)  # functools.partial
    handler = getattr(handler, "__func__", handler)
    if hasattr(handler, "__code__"):
        return handler.__code__
    call = vars(type(handler)).get("__call__")  # of an object
    return getattr(call, "__code__", None)


def shielded(function, instead=None):
    """`function`, whose own faults give `instead`: the program never sees them."""

    @functools.wraps(function)
    def call(*positional):
        try:
            return function(*positional)
        except Exception as error:
            if is_programs(error):
                raise
            return instead

    return call
