"""`compare`: two runs beside each other, and reports written to files in every format."""

import json

import pytest

from conftest import Loopscope


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny_train, one_thread):
    """A run, the same with larger batches: only read by the tests."""
    loopscope = Loopscope(tmp_path_factory.mktemp("runs"))
    for name, batch in [("small", "4"), ("large", "16")]:
        command = [tiny_train[0], "--samples", "256", "--batch", batch]
        done = loopscope("run", "--quiet", "--steps", "15", "--warmup", "3", "--time", "1s", "-o", name, "--", *command)
        assert done.code == 0, done.err
    return loopscope


def test_another_batch_size_is_said(runs):
    done, report = runs.report("compare", "small", "large")
    assert done.code == 0
    assert any("batch size: 4 against 16" in one for one in report["compare"]["obstacles"])
    assert "Not comparable as they are" in done.out
    assert any(one.startswith("command: ") for one in report["compare"]["differences"])
    step = report["compare"]["step"]
    assert step["after_ms"] == report["steps"]["mean_ms"] and step["before_ms"] > 0
    for op in report["compare"]["ops"]:
        assert op["name"] and op["before_count"] + op["after_count"] > 0
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_a_run_beside_itself_has_no_change(runs):
    done, report = runs.report("compare", "small", "small")
    compare = report["compare"]
    assert compare["ops"] == compare["obstacles"] == compare["differences"] == []
    assert compare["new_findings"] == compare["gone_findings"] == []
    assert "None changed" in done.out


def test_reports_without_captures_compare_all_but_ops(runs):
    for name in ["small", "large"]:
        runs("report", name, "--json", f"{name}.json")
    _, report = runs.report("compare", "small.json", "large.json")
    assert "not between reports" in report["compare"]["why_no_ops"] and report["compare"]["ops"] == []
    assert report["compare"]["step"]["before_ms"] > 0


def test_every_format_goes_to_its_file(runs):
    formats = ["json", "html", "markdown", "sarif", "junit", "csv"]
    files = {name: runs.folder / f"report.{name}" for name in formats}
    done = runs("report", "small", *[word for name, file in files.items() for word in (f"--{name}", file)])
    assert done.code == 0 and "A training step" in done.out
    assert json.loads(files["sarif"].read_text())["version"] == "2.1.0"
    assert files["html"].read_text().startswith("<!DOCTYPE html>") and "aten::" in files["html"].read_text()
    for name, file in files.items():
        printed = runs("report", "small", "--format", name)
        assert printed.code == 0 and printed.out == file.read_text(), name


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["compare", "small"], "takes two inputs"),
        (["compare", "small", "large", "small"], "takes two inputs"),
        (["compare", "small", "nowhere"], "no such file or folder"),
        (["report", "small", "large", "--html", "page.html"], "--html takes one report"),
        (["report", "small", "--sarif", "no/such/folder/file"], "there is no folder"),
    ],
)
def test_what_cannot_be_done_is_said(runs, arguments, message):
    done = runs(*arguments)
    assert done.code == 2 and message in done.message()
