"""Text that the training thread writes: print and the logging package."""

import builtins
import logging
import types

from .probe import text


def install(probe):
    if probe.around_output:
        _watch_print(probe)
        if isinstance(logging.Logger.handle, types.FunctionType):
            logging.Logger.handle = probe.around_output(logging.Logger.handle, b"logging")


def _watch_print(probe):
    """A builtin stays a builtin: as a class attribute it does not become a method, but a function would."""
    own = builtins.print
    if isinstance(own, types.FunctionType):
        builtins.print = probe.around_output(own, b"print")
    elif type(own) is types.BuiltinFunctionType:
        described = f"print{own.__text_signature__}\n--\n\n{own.__doc__}"
        builtins.print = probe.around_print(own, text(described), builtins)
