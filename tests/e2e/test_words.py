"""What a user reads says things as an English-speaking engineer would: some phrases stand nowhere."""

import re

import pytest

from conftest import BUILD, ROOT

# "There is no X" is English; "this is no X" is not.
PHRASES = re.compile(
    rb"(?<!there )(?<!There )\b(?:is|are) no\b(?! longer| lno longer)|\bto be told\b|\b(?:is|are|was|were) told\b|\bcannot be told\b"
    rb"|\bnothing is called\b|\btook it up\b|\btells? no\b|\b[Bb]ehind `--`"
)
# Compilers may keep "is no longer" in two overlapping pieces: "… is no lno longer …".
# Runs of printable text in the binary, those that a page of its own or a chart library brings along included.
TEXTS = re.compile(rb"(?:[\x20-\x7e\n\t]|[\xc2-\xf4][\x80-\xbf]+){4,}")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def found(text):
    return [text[max(0, one.start() - 60) : one.end() + 40].decode(errors="replace") for one in PHRASES.finditer(text)]


@pytest.mark.parametrize(
    "text, wrong",
    [
        (b"it is no trace", True),
        (b"there is no trace; it is no longer finite", False),
        (b"under 4 nothing is called", True),
        (b"the slowdown that is to be told", True),
    ],
)
def test_the_phrases_are_those_meant(text, wrong):
    assert bool(found(text)) == wrong


@pytest.mark.parametrize("program", ["loopscope", "probes/libloopscope_preload.so", "probes/libloopscope_torch.so"])
def test_no_text_of_the_program_has_them(program):
    texts = [found(one.group()) for one in TEXTS.finditer((BUILD / program).read_bytes())]
    assert len(texts) > 100
    assert [one for some in texts for one in some] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_has_them(document):
    text = document.read_bytes()
    if document == ROOT / "CHANGELOG.md":
        text = text.split(b"\n## ", 2)[1]  # the newest entry; what was released stays as it was
    assert found(text) == []
