"""Pages of docs/ that keep the last result of a long test between two marks."""

import re


def kept(page, mark):
    """The text between `<!-- mark -->` and `<!-- end of mark -->` of the file `page`."""
    found = re.search(f"<!-- {mark} -->\n(.*?)<!-- end of {mark} -->\n", page.read_text(), flags=re.S)
    assert found, f"{page}: the marks of {mark} are missing"
    return found[1]


def refill(page, mark, lines):
    """Puts `lines` between the marks."""
    begin = f"<!-- {mark} -->\n"
    page.write_text(page.read_text().replace(begin + kept(page, mark), begin + "".join(f"{line}\n" for line in lines)))


def refill_row(page, mark, head, row):
    """Puts `row`, cells of a table with the columns `head`, between the marks: instead of one with the same first cell."""
    others = [line for line in kept(page, mark).splitlines()[2:] if not line.startswith(f"| {row[0]} |")]
    lines = ["| " + " | ".join(map(str, cells)) + " |" for cells in (head, row)]
    refill(page, mark, [lines[0], "|---|" + "---:|" * (len(head) - 1), *others, lines[1]])
