"""Loopscope finds what slows a training loop. It is a program: this package only starts it."""

import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "loopscope")
    try:
        os.execv(program, ["loopscope", *sys.argv[1:]])
    except OSError as error:
        sys.exit(
            f"loopscope: {program} cannot be started: {error.strerror}\n"
            "  it runs on 64-bit x86 Linux with glibc 2.34 or newer; install the wheel again, or build from source"
        )


def load_ipython_extension(shell):
    """`%load_ext loopscope`, then `%%loopscope` above a cell."""
    from . import notebook

    notebook.load_ipython_extension(shell)
