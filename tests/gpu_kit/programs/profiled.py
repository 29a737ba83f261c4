"""Another program under torch.profiler: profiled.py TRACE PROGRAM ARGUMENT… (no TRACE, "": none is written)."""

import runpy
import sys

from torch.profiler import ProfilerActivity, profile

trace, sys.argv = sys.argv[1], sys.argv[2:]
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    runpy.run_path(sys.argv[0], run_name="__main__")
if trace:
    profiler.export_chrome_trace(trace)
