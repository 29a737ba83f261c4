#!/usr/bin/env python3
"""Takes the pictures of docs/ from what a real run wrote, with headless Chromium.

build/loopscope report --html report.html loopscope-out/<time of a prove> && docs/refresh_pictures.py report.html
build/loopscope gate --markdown gate.md … ; docs/refresh_pictures.py gate.md
"""

import argparse
import base64
import pathlib
import sys
import tempfile

from markdown_it import MarkdownIt
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

PICTURES = pathlib.Path(__file__).resolve().parent / "pictures"
WIDTH = 1100
# Name: what it shows, from the top of the first to the bottom of the last, and in which colours.
SHOTS = {
    "headline": ("#summary", "#fixes .chart", "light"),
    "finding": (".finding", ".finding", "light"),
    "step": ("#step", "#step", "light"),
    "timeline": ("#time", "#time .lanes", "dark"),
}
# As a code host shows it below a pull request.
COMMENT = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 16px; width: 900px; font: 14px/1.5 sans-serif; color: #1f2328; }}
article {{ border: 1px solid #d1d9e0; border-radius: 6px; padding: 16px; }}
h1, h2 {{ border-bottom: 1px solid #d1d9e0; padding-bottom: .3em; }}
table {{ border-collapse: collapse; }} th, td {{ border: 1px solid #d1d9e0; padding: 6px 13px; }}
code, pre {{ background: #f0f1f2; border-radius: 6px; font-size: 12px; }} code {{ padding: .2em .4em; }}
pre {{ padding: 16px; }} pre code {{ padding: 0; }} summary {{ cursor: pointer; }}
</style><article>{}</article>"""

# Fonts without emoji have these.
EMOJI = {"❌": ("✘", "#d1242f"), "✅": ("✔", "#1a7f37")}


def comment_of(markdown):
    """Tables, raw HTML and pictures for emoji are what code hosts add to plain Markdown."""
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    for emoji, (sign, colour) in EMOJI.items():
        page = page.replace(emoji, f'<span style="color: {colour}">{sign}</span>')
    return COMMENT.format(page)


def open_browser():
    options = Options()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={WIDTH},1200"]:
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def take(browser, first, last):
    """PNG of the page from the element `first` to the element `last`; an error when one is not there."""
    box = browser.execute_script(
        """const [first, last] = [...arguments].map((one) => document.querySelector(one));
        if (!first || !last) return null;
        const from = first.getBoundingClientRect(), to = last.getBoundingClientRect();
        return {x: 0, y: from.top + scrollY - 8, width: document.documentElement.clientWidth,
                height: to.bottom - from.top + 16, scale: 1};""",
        first,
        last,
    )
    if not box:
        raise ValueError(f"the page has no {first} or {last}: pass that of a `prove` whose capture is there")
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": box})
    return base64.b64decode(shot["data"])


def take_page(browser, page):
    browser.get(page.as_uri())
    if not browser.find_elements("id", "summary"):
        raise ValueError("is no page that Loopscope wrote")
    for name, (first, last, theme) in SHOTS.items():
        browser.execute_script("setTheme(arguments[0])", theme)
        (PICTURES / f"{name}.png").write_bytes(take(browser, first, last))


def take_comment(browser, markdown):
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as page:
        page.write(comment_of(markdown.read_text(encoding="utf-8")))
        page.flush()
        browser.get(pathlib.Path(page.name).as_uri())
        (PICTURES / "comment.png").write_bytes(take(browser, "article", "article"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path, help="HTML report of a `prove`, or Markdown of a `gate`")
    page = parser.parse_args().page.resolve()
    PICTURES.mkdir(exist_ok=True)
    browser = open_browser()
    try:
        (take_comment if page.suffix == ".md" else take_page)(browser, page)
    except ValueError as error:
        print(f"refresh_pictures: {page}: {error}", file=sys.stderr)
        return 2
    finally:
        browser.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
