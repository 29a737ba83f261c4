"""Several of loop.py's loops in one process, for what takes long to start: loops.py FLAW STEPS [FLAW STEPS…].

Prints each loop's flaw and its seconds per step.
"""

import contextlib
import io
import pathlib
import runpy
import sys

LOOP = pathlib.Path(__file__).with_name("loop.py")
words = sys.argv[1:]
for flaw, steps in zip(words[::2], words[1::2]):
    for count in ("20", steps):  # the first ones load kernels
        sys.argv = [str(LOOP), flaw, count]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(LOOP), run_name="__main__")
    print(flaw, float(printed.getvalue()))
