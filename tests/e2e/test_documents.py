"""README, CHANGELOG, CONTRIBUTING and docs/ only name things that exist."""

import importlib.util
import pathlib
import re

import pytest

from conftest import commands

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
README = (ROOT / "README.md").read_text()
COMMANDS = commands()
# What the walk-throughs of CONTRIBUTING.md add: a rule, a treatment and a format that are not there.
EXAMPLES = ("slow_optimizer", "loader_in_order", "quickfix")


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def refresh_readme():
    return script("refresh_readme")


def test_every_command_has_its_page():
    assert "run" in COMMANDS
    index = (ROOT / "docs/commands/README.md").read_text()
    for command in COMMANDS:
        page = ROOT / "docs" / "commands" / f"{command}.md"
        assert page.exists(), f"docs/commands/{page.name} is missing"
        assert f"({page.name})" in index, f"docs/commands/README.md has no line for {command}"
        assert f"<!-- output of: loopscope {command} --help -->" in page.read_text(), page


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_outputs_are_those_of_now(loopscope, document):
    """This also ensures that each page lists every option of its command."""
    text = document.read_text()
    assert script("refresh_outputs").refreshed(text, loopscope.program.parent) == text, "run docs/refresh_outputs.py"


def test_samples_hold_no_place_of_the_machine_that_took_them():
    for document in DOCUMENTS:
        for _kind, _, _, output in script("refresh_outputs").BLOCK.findall(document.read_text()):
            assert "```\n" in output and not re.search(r"/(?:root|home|work)/", output), document


def test_first_line_says_what_a_bare_machine_needs():
    assert "apt-get install git make" in README.splitlines()[0]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    prose = re.sub(r"^(`{3,}).*?^\1$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)\)", prose):
        assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_named_in_code_exist(document):
    folders = "probes|profiler|analyzers|reports|workloads|tests|docs|cmake"
    for path in re.findall(rf"`((?:{folders})/[\w./-]*)`", document.read_text()):
        made_up = document.name == "CONTRIBUTING.md" and pathlib.Path(path).stem in EXAMPLES
        assert made_up or (ROOT / path).exists(), f"{document.name} names {path}"


def test_options_exist():
    sources = "".join(
        path.read_text() for folder in ("cli", "commands") for path in (ROOT / "profiler" / folder).glob("*.cpp")
    )
    sources += "".join(path.read_text() for path in (ROOT / "integrations").glob("*.py"))
    formats = (ROOT / "reports" / "formats.def").read_text()
    sources += "".join(f'"--{stem}"' for stem in re.findall(r"^LOOPSCOPE_FORMAT\((\w+),", formats, re.MULTILINE))
    for document in DOCUMENTS:
        for option in re.findall(r"`(--[a-z][a-z-]+)[` =]", document.read_text()):
            if document.name == "CONTRIBUTING.md" and option[2:] in EXAMPLES:
                continue
            if option not in ("--preset", "--device"):  # the reference programs' own
                assert re.search(rf'"[^"]*{option}\b', sources), f"{document.name} names {option}"


def test_changelog_lists_the_rules():
    rows = (ROOT / "analyzers" / "analyzers.def").read_text()
    listed = re.findall(r"^LOOPSCOPE_ANALYZER\((\w+),", rows, re.MULTILINE)
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert listed
    for stem in listed:
        assert f"`{stem.replace('_', '-')}`" in changelog


def demo_block(page):
    return page[page.index("<!-- demo:begin") : page.index("<!-- demo:end -->")]


def test_the_readme_can_be_refreshed():
    refresh = refresh_readme()
    sample = (ROOT / "tests" / "data" / "sample_report.txt").read_text()
    report = refresh.report_in("block 1 of 6\n\x1b[1m" + sample)
    assert report == sample.strip()
    for block in (report, refresh.headline(report)):
        refreshed = refresh.refreshed(README, block)
        assert block in refreshed
        assert refreshed.count("<!-- demo:begin") == refreshed.count("<!-- demo:end -->") == 1
        assert refresh.refreshed(refreshed, block) == refreshed
    assert "\nDiagnosis  " in refresh.headline(report) and "What each fix" not in refresh.headline(report)


def test_the_readme_takes_no_output_without_speedups():
    with pytest.raises(ValueError, match="no report"):
        refresh_readme().report_in("Loopscope  train\n\nDiagnosis  nothing\n")


def test_the_readme_shows_a_demo():
    """The same headline as at the top of the full report in docs/reports.md."""
    block = demo_block(README)
    assert re.search(r"^Measured +\d+\.\d\dx \[", block, re.MULTILINE), "run `make demo` and docs/refresh_readme.py"
    headline = block.split("```")[1].strip()
    assert len(headline.splitlines()) <= 20 and headline in demo_block((ROOT / "docs/reports.md").read_text())


def test_the_readme_is_one_screen():
    assert len(README.splitlines()) <= 64


def test_the_torches_of_the_wheel_are_those_that_documents_name():
    listed = re.findall(r"^(\d+\.\d+)\.", (ROOT / "cmake/wheel/torches.txt").read_text(), re.MULTILINE)
    minors = [tuple(map(int, one.split("."))) for one in listed]
    assert minors == [(2, minor) for minor in range(minors[0][1], minors[-1][1] + 1)], "one of each minor, in order"
    for page in (README, (ROOT / "docs/install.md").read_text()):
        assert f"{listed[0]} to {listed[-1]}" in page


def test_symptoms_are_what_the_program_says():
    """The quoted headings of the page by symptom; numbers in them may differ."""
    folders = ("profiler", "probes", "analyzers", "reports")
    files = [path for folder in folders for kind in ("*.cpp", "*.h", "*.py") for path in (ROOT / folder).rglob(kind)]
    said = re.sub(r'"\s*\n\s*f?"', "", "\n".join(path.read_text() for path in files))
    headings = re.findall(r'^## "(.*)"$', (ROOT / "docs/troubleshooting.md").read_text(), re.MULTILINE)
    assert len(headings) > 5
    for heading in headings:
        for part in re.split(r"\d+", heading):
            assert part.strip() in said, f"nothing says `{heading}`"
