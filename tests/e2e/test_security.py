"""The promises of SECURITY.md that no other test holds: no connection, no code from data, no data of tensors."""

import os
import pathlib
import pickle
import re
import struct
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

CONNECTS = {"connect", "socket", "getaddrinfo", "gethostbyname", "sendto", "sendmsg", "bind", "listen", "accept"}


def ours():
    return [BUILD / "loopscope", *sorted((BUILD / "probes").glob("*.so"))]


@pytest.mark.parametrize("file", ours(), ids=lambda file: file.name)
def test_nothing_that_is_built_can_open_a_connection(file):
    wanted = subprocess.run(["nm", "-D", "--undefined-only", file], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].partition("@")[0] for line in wanted.splitlines() if line.strip()}
    assert "__cxa_finalize" in names, "nothing was read from the file"
    assert not names & CONNECTS


def test_the_shim_imports_nothing_that_connects():
    for file in (ROOT / "probes" / "python").rglob("*.py"):
        found = re.findall(
            r"^\s*(?:import|from) (socket|ssl|urllib|http|ftplib|smtplib)\b", file.read_text(), re.MULTILINE
        )
        assert not found, file


class Runs:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_pickle_runs_nothing(loopscope, tmp_path):
    made = tmp_path / "made"
    dump = tmp_path / "dump_0"
    dump.write_bytes(pickle.dumps({"version": "2.10", "entries": [{"profiling_name": Runs(made)}]}, protocol=2))
    done = loopscope("report", dump)
    assert done.code == 2 and done.err, done.out
    assert not made.exists()
    pickle.loads(dump.read_bytes())
    assert made.exists(), "the pickle was one that runs something"


def test_data_of_tensors_are_not_recorded(loopscope, tmp_path):
    (tmp_path / "train.py").write_text("""
import torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
data = torch.full((8, 4), 1234.5678)
for _ in range(40):
    optimizer.zero_grad()
    model(data).sum().backward()
    optimizer.step()
""")
    done = loopscope("run", "-o", "out", "--warmup", "3", "--steps", "20", "--", sys.executable, "train.py")
    assert done.code == 0, done.err
    files = [one for one in pathlib.Path(tmp_path / "out").rglob("*") if one.is_file()]
    assert any(one.suffix == ".cap" for one in files)
    for file in files:
        held = file.read_bytes()
        assert b"1234.5" not in held and struct.pack("<f", 1234.5678) not in held, file
