"""JSON reports follow reports/schema.json, and the schema refuses anything else."""

import copy
import json
import os
import pathlib
import subprocess

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOOPSCOPE_BUILD", ROOT / "build"))
SCHEMA = json.loads((ROOT / "reports" / "schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    program = BUILD / "tests" / "reports_tests"
    subprocess.run(
        [program, "--gtest_filter=ReportJson.WritesSamples"],
        env={**os.environ, "REPORT_SAMPLES_DIR": str(folder)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return {path.stem: json.loads(path.read_text(), parse_constant=pytest.fail) for path in folder.glob("*.json")}


def objects_of(schema, path="#"):
    """Every object schema with properties, by its place."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield path, schema
        for key, part in schema.items():
            yield from objects_of(part, f"{path}/{key}")
    elif isinstance(schema, list):
        for index, part in enumerate(schema):
            yield from objects_of(part, f"{path}/{index}")


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_field_is_required():
    found = list(objects_of(SCHEMA))
    assert len(found) > 15
    for path, schema in found:
        assert sorted(schema["required"]) == sorted(schema["properties"]), path


@pytest.mark.parametrize("name", ["sample", "comparison", "gate", "sweep", "empty", "not_finite"])
def test_samples_are_valid(samples, name):
    errors = [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(samples[name])]
    assert errors == []


def test_sample_reaches_every_part(samples):
    sample = samples["sample"]
    assert sample["findings"] and sample["trials"] and sample["combined"] and sample["rules"]
    assert sample["trials"][0]["launches"] and sample["trials"][0]["applied"]["places"]
    assert any(evidence["where"] for evidence in sample["findings"][0]["evidence"])


def remove(report, *path):
    for key in path[:-1]:
        report = report[key]
    del report[path[-1]]


def replace(report, value, *path):
    for key in path[:-1]:
        report = report[key]
    report[path[-1]] = value


@pytest.mark.parametrize(
    "spoil",
    [
        lambda report: remove(report, "quality"),
        lambda report: remove(report, "trials", 0, "ci95"),
        lambda report: replace(report, 1, "unheard_of"),
        lambda report: replace(report, "loopscope.report/2", "schema"),
        lambda report: replace(report, "won", "trials", 0, "verdict"),
        lambda report: replace(report, [1.2], "trials", 0, "ci95"),
        lambda report: replace(report, -1, "findings", 0, "cost_ms_per_step"),
        lambda report: replace(report, "dreadful", "findings", 0, "severity"),
        lambda report: replace(report, "12", "steps", "measured"),
        lambda report: replace(report, None, "breakdown"),
    ],
)
def test_schema_refuses(samples, spoil):
    report = copy.deepcopy(samples["sample"])
    spoil(report)
    assert not VALIDATOR.is_valid(report)
