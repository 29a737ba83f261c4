"""Reports of captures that were recorded on real GPUs (tests/data/gpu)."""

import json
import tarfile

import pytest

from conftest import ROOT

CAPTURES = ROOT / "tests" / "data" / "gpu" / "nvidia-h100-80gb-hbm3"


@pytest.fixture
def report_of(loopscope, tmp_path):
    def report(name):
        with tarfile.open(CAPTURES / f"{name}.tar.gz") as packed:
            packed.extractall(tmp_path)
        done, report = loopscope.report("report", tmp_path / name)
        assert done.code == 0, done.err
        assert report["quality"]["dropped"] == report["quality"]["torn_bytes"] == 0
        assert report["gpu"]["devices"] == 1
        assert sum(report["gpu"]["idle_causes"].values()) == pytest.approx(report["gpu"]["idle_us"], rel=0.01)
        return report

    return report


def found(report):
    """Rules by findings, those that are only for information left out; the first comes first."""
    return [finding["rule"] for finding in report["findings"] if finding["severity"] != "info"]


def test_a_wait_for_the_loss_in_every_step(report_of):
    report = report_of("item")
    assert 80 < report["gpu"]["busy_pct"] < 95
    (sync,) = (finding for finding in report["findings"] if finding["rule"] == "host-sync")
    places = json.dumps(sync)
    assert "loop.py" in places and '"line": 83' in places, sync  # total += loss.item()


def test_a_loop_that_is_one_cuda_graph_keeps_the_gpu_busy(report_of):
    report = report_of("graph")
    assert report["gpu"]["busy_pct"] > 99
    assert "host-code" not in found(report)
    opening = "Nothing that costs this loop time was found: the GPU has work for"
    assert report["headline"]["text"].startswith(opening), report["headline"]


def test_an_allocator_that_runs_out_of_memory_in_every_step(report_of):
    assert found(report_of("retries"))[0] == "allocator-retries"
