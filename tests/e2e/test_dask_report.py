"""integrations/dask_report.py: the ranks of one run, summarised by a Dask cluster's workers, give the report of their traces."""

import json
import os
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT
from test_ranks import export

pytest.importorskip("distributed")
SCRIPT = ROOT / "integrations" / "dask_report.py"


@pytest.fixture
def dask_report(tmp_path):
    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, SCRIPT, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "LOOPSCOPE": str(BUILD / "loopscope"), **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def report(cwd, *arguments):
    command = [BUILD / "loopscope", "report", "--format", "json", *arguments]
    return json.loads(subprocess.run(command, cwd=cwd, check=True, capture_output=True).stdout)


def of_folder(folder, cwd):
    return report(cwd, folder)


def reduce(cwd, folder):
    return report(cwd, "--reduce", folder)


def test_the_report_is_that_of_the_folder(dask_report, tmp_path):
    (tmp_path / "traces").mkdir()
    for rank, own_ms in enumerate([12, 12.2, 18, 11.9]):
        export(tmp_path / "traces" / f"rank{rank}.sqlite", own_ms)
    done = dask_report("traces/*.sqlite", "--json", "report.json")
    assert done.returncode == 0, done.stderr
    assert "for rank 2" in done.stdout and "4 of 4 ranks summarised" in done.stderr
    assert json.loads((tmp_path / "report.json").read_text()) == of_folder("traces", tmp_path)


def test_what_cannot_be_read_is_named(dask_report, tmp_path):
    for rank in range(2):
        export(tmp_path / f"rank{rank}.sqlite", 12)
    (tmp_path / "rank2.sqlite").write_bytes(b"SQLite format 3\0torn")
    done = dask_report("rank*.sqlite", "--json", "report.json")
    assert done.returncode == 2
    assert "loopscope: rank2.sqlite is left out: " in done.stderr and "damaged SQLite database" in done.stderr
    assert len(json.loads((tmp_path / "report.json").read_text())["per_rank"]) == 2
    assert dask_report("none*.json").stderr.strip() == "loopscope: none*.json: no such files"
    assert "loopscope: no input" in dask_report("--json", "x").stderr


KILLED = """
import os, pathlib, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import dask_report
import distributed

def kill_midway(pid, folder):
    while len(list(folder.iterdir())) < 5:
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)

def killed_when_done(pid):
    def as_completed(futures):
        distributed.wait(futures)
        os.kill(pid, signal.SIGKILL)
        while all(future.status == "finished" for future in futures):
            time.sleep(0.005)
        return futures
    return as_completed

if __name__ == "__main__":
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    client = distributed.Client(cluster)
    pid = list(client.run(os.getpid).values())[0]
    folder = pathlib.Path("summaries")
    folder.mkdir()
    if sys.argv[2] == "midway":
        threading.Thread(target=kill_midway, args=(pid, folder), daemon=True).start()
    else:
        distributed.as_completed = killed_when_done(pid)
    urls = dask_report.expand("traces/rank*.sqlite")
    print(len(urls), dask_report.gather(client, urls, folder))
"""


@pytest.mark.parametrize("when", ["midway", "with all results"])
def test_a_worker_that_is_killed_costs_nothing(tmp_path, when):
    """Two workers, one of which is killed: the scheduler gives its work to the other, also what it had done."""
    (tmp_path / "traces").mkdir()
    for rank in range(40):
        export(tmp_path / "traces" / f"rank{rank:02d}.sqlite", 18 if rank == 7 else 12)
    (tmp_path / "killed.py").write_text(KILLED)
    done = subprocess.run(
        [sys.executable, "killed.py", SCRIPT.parent, when],
        cwd=tmp_path,
        env={**os.environ, "LOOPSCOPE": str(BUILD / "loopscope")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.strip() == "40 []", done.stderr
    reduced = reduce(tmp_path, "summaries")
    assert reduced == of_folder("traces", tmp_path)
    assert next(one for one in reduced["findings"] if one["rule"] == "straggler")["title"].find("rank 7") >= 0


def test_a_slurm_array_is_the_same_two_commands(tmp_path):
    """sbatch and srun stand-ins: one run of the script for each task, with what Slurm sets."""
    (tmp_path / "traces").mkdir()
    for rank in range(3):
        export(tmp_path / "traces" / f"rank{rank}.sqlite", 12 + rank)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "loopscope").symlink_to(BUILD / "loopscope")
    for name, variable in (("sbatch", "SLURM_ARRAY_TASK_ID"), ("srun", "SLURM_PROCID")):
        stand_in = bin_folder / name
        stand_in.write_text(
            f'#!/bin/sh\nshift\nfor task in 0 1 2; do {variable}=$task sh "$@" || exit 1; done\n', encoding="utf-8"
        )
        stand_in.chmod(0o755)
    script = ROOT / "integrations" / "slurm_summaries.sh"
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    for launcher, option in (("sbatch", "--array=0-2"), ("srun", "--ntasks=3")):
        done = subprocess.run(
            [launcher, option, script, "traces/rank%d.sqlite", launcher],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert reduce(tmp_path, launcher) == of_folder("traces", tmp_path)
