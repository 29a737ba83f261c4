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
    """As what it is: a builtin does not become a method where it is a class's attribute, a function does."""
    own = builtins.print
    if isinstance(own, types.FunctionType):
        builtins.print = probe.around_output(own, b"print")
    elif type(own) is types.BuiltinFunctionType:
        described = f"print{own.__text_signature__}\n--\n\n{own.__doc__}"
        builtins.print = probe.around_print(own, text(described), builtins)
