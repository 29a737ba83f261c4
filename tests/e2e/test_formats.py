"""Reports in each format, read by readers that are not ours: schemas, an XML parser, a Markdown renderer."""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

import jsonschema
import pytest
import xmlschema
from markdown_it import MarkdownIt

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOOPSCOPE_BUILD", ROOT / "build"))
DATA = ROOT / "tests" / "data"
SCHEMAS = pathlib.Path(sys.prefix) / "share/schemas"  # cmake/fetch_schemas.sh


def write_samples(folder, format):
    subprocess.run(
        [BUILD / "tests" / "reports_tests", f"--gtest_filter=Formats/EveryFormat.WritesSamples/{format}"],
        env={**os.environ, "REPORT_SAMPLES_DIR": str(folder)},
        check=True,
        stdout=subprocess.DEVNULL,
    )


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")

    def of(format):
        if not (folder / format).exists():
            write_samples(folder, format)
        reports = {path.name: path.read_text() for path in sorted((folder / format).iterdir())}
        assert "sample" in reports and len(reports) > 10
        return reports

    return of


def sarif_validator():
    """Validates against the schema as published."""
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text())
    jsonschema.Draft4Validator.check_schema(schema)
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)


def test_sarif_holds_to_its_schema(samples):
    validator = sarif_validator()
    for name, text in samples("sarif").items():
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(json.loads(text))]
        assert errors == [], name


def test_sarif_is_understood_by_another_program(samples):
    sarif = pytest.importorskip("sarif_pydantic").Sarif
    for name, text in samples("sarif").items():
        results = sarif.model_validate_json(text).runs[0].results
        written = json.loads(text)["runs"][0]["results"]
        assert [one.rule_id for one in results] == [one["ruleId"] for one in written], name
    with pytest.raises(ValueError, match="level"):
        sarif.model_validate_json(samples("sarif")["sample"].replace('"level": "error"', '"level": "severe"'))


@pytest.mark.parametrize("path", [["version"], ["runs"], ["runs", 0, "tool"], ["runs", 0, "results", 0, "message"]])
def test_the_sarif_schema_tells_right_from_wrong(samples, path):
    log = json.loads(samples("sarif")["sample"])
    part = log
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    assert not sarif_validator().is_valid(log)


def test_sarif_refers_to_what_it_holds(samples):
    for name, text in samples("sarif").items():
        run = json.loads(text)["runs"][0]
        rules = run["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules), name
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"], name
            for location in result.get("locations", []):
                artifact = location["physicalLocation"]["artifactLocation"]
                assert re.fullmatch(r"[\w.~%/-]*|file:///[\w.~%/-]*", artifact["uri"]), name
                base = run.get("originalUriBaseIds", {})
                assert "uriBaseId" not in artifact or not base or artifact["uriBaseId"] in base, name


def test_junit_holds_to_its_schema(samples):
    schema = xmlschema.XMLSchema(str(DATA / "junit.xsd"))
    for name, text in samples("junit").items():
        errors = [f"{error.path}: {error.reason}" for error in schema.iter_errors(tree.fromstring(text.encode()))]
        assert errors == [], name
    spoilt = samples("junit")["sample"].replace('classname="', 'class="', 1)
    assert not schema.is_valid(tree.fromstring(spoilt.encode()))


def test_junit_is_what_jenkins_takes(samples):
    schema = xmlschema.XMLSchema(str(SCHEMAS / "jenkins-junit.xsd"))
    for name, text in samples("junit").items():
        errors = [f"{error.path}: {error.reason}" for error in schema.iter_errors(tree.fromstring(text.encode()))]
        assert errors == [], name
    spoils = {"<testcase classname": "<testcase class", "<failure type": "<failure kind", ' time="0"': ' time="x"'}
    for right, wrong in spoils.items():
        assert right in samples("junit")["sample"]
        spoilt = samples("junit")["sample"].replace(right, wrong, 1)
        assert not schema.is_valid(tree.fromstring(spoilt.encode())), wrong


def test_junit_counts_its_cases(samples):
    for name, text in samples("junit").items():
        root = tree.fromstring(text.encode())
        assert int(root.get("tests")) == len(root.findall(".//testcase")), name
        assert int(root.get("failures")) == len(root.findall(".//failure")), name
        assert int(root.get("errors")) == len(root.findall(".//error")), name


def without_code(text):
    return re.sub(r"^```diff\n.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def rendered(text):
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


def test_markdown_renders_whole_tables(samples):
    for name, text in samples("markdown").items():
        html = rendered(text)
        assert len(text.encode()) <= 65000, name
        assert html.count("<table>") == len(re.findall(r"^\|[-:|]+\|$", text, re.MULTILINE)), name
        for table in re.findall(r"<table>.*?</table>", html, re.DOTALL):
            head, *rows = re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
            assert rows, name
            for row in rows:
                assert row.count("<td") == head.count("<th"), (name, row)
        assert html.count("<details>") == html.count("</details>"), name
        assert not re.search(r"<p>\s*\|", html), name


def test_markdown_lets_nothing_from_outside_act(samples):
    """No link, no picture, no HTML that is not the format's own, no mention of a person."""
    own = "p|h[1-6]|table|thead|tbody|tr|t[hd]|ul|li|pre|code|strong|details|summary|em"
    plain = samples("markdown")
    for name, text in samples("markdown").items():
        html = rendered(text)
        for tag in re.findall(r"<(\w+)", html):
            assert re.fullmatch(own, tag), (name, tag)
        assert "<em>" not in html, name
        assert re.search(r"@\w", without_code(text)) is None, name
        assert re.search(r"(https?|ftp)://|www\.", without_code(text)) is None, name
        kind = re.match(r"(?:hostile_)?(target|sweep|gate|comparison)?", name)[1] or "sample"
        assert len(re.findall(r"^#", text, re.MULTILINE)) <= len(re.findall(r"^#", plain[kind], re.MULTILINE)), name


def test_csv_has_the_same_columns_in_every_row(samples):
    for name, text in samples("csv").items():
        header, *rows = csv.reader(io.StringIO(text))
        assert len(header) == len(set(header))
        assert bool(rows) == (name != "empty")
        for row in rows:
            assert len(row) == len(header), name
            assert not [cell for cell in row if cell[:1] in tuple("=@") or re.match(r"[+-]\D", cell)], name
