"""Where the program's own profiler records a GPU, the probe of the GPU makes room before that begins."""

import subprocess
import sys

from conftest import ROOT

PROGRAM = """
import types
import torch
from probes.python.facts import Facts

class Probe:
    left, around = [], None
    def fact(self, *_): pass
    def leave_cupti_to(self, client): self.left.append(client)

probe = Probe()
facts = Facts(probe)
facts.start()
facts.install(torch, types.SimpleNamespace(mode="trace", ranks=1))
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
    pass
print("of the processor:", probe.left)
profiler = torch.autograd.profiler.profile(use_kineto=True)
print("made:", probe.left)
profiler.kineto_activities.add(torch.profiler.ProfilerActivity.CUDA)
with profiler:
    pass
print("of the GPU:", probe.left)
"""


def test_it_makes_room_for_a_profiler_of_the_gpu_only():
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines() == [
        "of the processor: []",
        "made: []",
        "of the GPU: [b'torch.profiler']",
    ], done.stderr
