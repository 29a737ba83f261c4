"""The Python shim: what Loopscope loads into a Python process. Does nothing until the program imports torch."""

import atexit
import os
import random
import sys

from . import imports


def start():
    """Called by sitecustomize, before the program's own code."""
    from . import reentry, settings

    reentry.start_again_with_preload()
    chosen = settings.read()
    callbacks = {"torch": lambda module: _torch_was_imported(module, chosen), "ipykernel.compiler": _name_cells}
    if chosen.seed is not None:
        random.seed(chosen.seed)
        callbacks["numpy"] = lambda module: module.random.seed(chosen.seed % 2**32)
    imports.after(callbacks)
    atexit.register(_tell_why, os.environ.get("LOOPSCOPE_RUN_DIR", ""), os.getpid())


def _tell_why(folder, pid):
    """Records which exception ended the program, if the launcher has advice for it."""
    kind = getattr(sys, "last_type", None)
    if os.getpid() != pid or kind is None or not issubclass(kind, (ModuleNotFoundError, EOFError)):
        return
    try:
        with open(os.path.join(folder, "died-of"), "w") as file:
            file.write(kind.__name__)
    except OSError:
        pass  # the advice is more general


def _name_cells(compiler):
    from . import notebooks

    notebooks.name_cells(compiler)


def _torch_was_imported(torch, chosen):
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = before or sys.pycache_prefix is not None  # the user's folder
    try:
        _attach(torch, chosen)
    finally:
        sys.dont_write_bytecode = before


def _attach(torch, chosen):
    from . import attach, faults

    try:
        attach.attach(torch, chosen)
    except Exception as error:
        if faults.is_programs(error):
            raise
        if os.environ.get("LOOPSCOPE_SHIM_TRACEBACK"):
            import traceback

            traceback.print_exc()
        sys.stderr.write(
            f"loopscope: the Python shim cannot work with torch {torch.__version__}: {type(error).__name__}: {error}; "
            "training goes on unobserved\n"
        )
