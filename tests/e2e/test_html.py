"""The HTML report in headless Chromium: opens from a file, draws what the data says, loads nothing else."""

# ctest labels: browser slow

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest

webdriver = pytest.importorskip("selenium.webdriver")
from axe_selenium_python import Axe  # noqa: E402
from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.common.print_page_options import PrintOptions  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOOPSCOPE_BUILD", ROOT / "build"))
DRIVER = shutil.which("chromedriver")
# Screenshots to look at: kept in the build folder.
PICTURES = pathlib.Path(os.environ.get("LOOPSCOPE_PICTURES", BUILD / "pictures"))

pytestmark = pytest.mark.skipif(DRIVER is None, reason="chromium-driver is not installed")


@pytest.fixture(scope="module")
def browser():
    options = Options()
    for argument in [
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--window-size=1280,1000",
    ]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Pages of reports made by hand: complete, empty, and hostile in every text."""
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run(
        [BUILD / "tests" / "reports_tests", "--gtest_filter=Formats/EveryFormat.WritesSamples/html"],
        env={**os.environ, "REPORT_SAMPLES_DIR": str(folder)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    pages = {}
    for path in (folder / "html").iterdir():
        pages[path.name] = path.rename(path.with_suffix(".html"))
    return pages


@pytest.fixture(scope="module")
def traced(tmp_path_factory, one_thread):
    """The page of a real run, with its timeline."""
    program = BUILD / "tests" / "tiny_train"
    if not program.exists():
        pytest.skip("tiny_train is not built")
    folder = tmp_path_factory.mktemp("traced")
    page = folder / "report.html"
    command = [program, "--samples", "64", "--batch", "4"]
    subprocess.run(
        [BUILD / "loopscope", "run", "--quiet", "--time", "5s", "--html", page, "--", *command],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert page.stat().st_size < 1_500_000
    return page


def open_page(browser, page, dark=False, width=1280):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]},
    )
    browser.set_window_size(width, 1000)
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(page.as_uri())
    return browser.execute_script("return JSON.parse(document.getElementById('data').textContent)")


def console(browser):
    return [entry["message"] for entry in browser.get_log("browser")]


def requests(browser):
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    sockets = [one["params"]["url"] for one in messages if one["method"] == "Network.webSocketCreated"]
    return sent + sockets


def inked(browser, canvas):
    """How many pixels of a canvas are drawn on."""
    return browser.execute_script(
        """const canvas = document.getElementById(arguments[0]);
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let count = 0;
        for (let at = 3; at < pixels.length; at += 4) count += pixels[at] > 0;
        return count;""",
        canvas,
    )


def chart(browser, canvas):
    return browser.execute_script(
        """const drawn = Chart.getChart(arguments[0]);
        return drawn.data.datasets.map((set) => ({label: set.label, data: set.data}));""",
        canvas,
    )


def keep_picture(browser, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    height = browser.execute_script("return document.documentElement.scrollHeight")
    size = browser.get_window_size()
    browser.set_window_size(size["width"], min(height + 200, 8000))
    browser.save_screenshot(str(PICTURES / f"{name}.png"))
    browser.set_window_size(size["width"], size["height"])


@dataclasses.dataclass
class Visit:
    """What one page showed, on a wide window and then on a telephone's."""

    page: pathlib.Path
    said: list
    asked: list
    title: str
    scripts: int
    foreign: int  # elements that load or run something
    hidden: bool  # characters that a reader does not see
    fits: bool
    tallest: int  # table row, in pixels


@pytest.fixture(scope="module")
def visits(browser, samples, traced):
    count = "return [...document.querySelectorAll(arguments[0])].length"
    seen = {}
    for name, page in {**samples, "traced": traced}.items():
        open_page(browser, page)
        shown = dict(
            said=console(browser),
            asked=requests(browser),
            title=browser.find_element(By.TAG_NAME, "h1").text,
            scripts=browser.execute_script(count, "script"),
            foreign=browser.execute_script(count, "img, iframe, object, embed, link, base, form"),
            hidden=browser.execute_script(
                "return /[\\u0000-\\u0008\\u001b\\u200b\\u202e]/.test(document.body.textContent)"
            ),
        )
        size = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        fits, tallest = browser.execute_async_script(
            """const done = arguments[0], rows = () => [...document.querySelectorAll("tr")].map((row) => row.clientHeight);
            requestAnimationFrame(() => requestAnimationFrame(() => done(
              [innerWidth === 400 && document.documentElement.scrollWidth <= 400, Math.max(0, ...rows())])));"""
        )
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        seen[name] = Visit(page, fits=fits, tallest=tallest, **shown)
    return seen


def test_opens_without_a_word_or_a_request(visits):
    for name, visit in visits.items():
        assert visit.said == [], name
        assert [url for url in visit.asked if url != visit.page.as_uri()] == [], name
        assert visit.title, name


def test_hostile_texts_stay_texts(browser, samples, visits):
    for name in samples:
        visit = visits[name]
        assert visit.scripts == visits["sample"].scripts and visit.foreign == 0, name
        assert visit.page.stat().st_size < 700_000, name
        assert not name.startswith("hostile") or not visit.hidden, name
    open_page(browser, samples["hostile_script"])
    assert "</script><script>alert(1)</script>" in browser.find_element(By.ID, "findings").text


def test_a_telephone_shows_it_all(visits):
    """Nothing sticks out, and no column is so narrow that a row of a table fills the screen."""
    for name, visit in visits.items():
        assert visit.fits, name
        assert visit.tallest < 450 or name.startswith("hostile"), name


def test_charts_show_the_numbers_of_the_report(browser, samples):
    data = open_page(browser, samples["sample"])
    report = data["report"]
    parts = {name.replace("_", " "): ms for name, ms in report["breakdown"].items() if ms}
    assert {part["label"]: part["data"][0] for part in chart(browser, "breakdown")} == parts

    points = {point["name"]: point for point in chart(browser, "speedups")[0]["data"]}
    expected = {
        text["name"]: trial for text, trial in zip(data["words"]["trials"], report["trials"]) if trial["speedup"]
    }
    assert points.pop("together")["x"] == report["combined"]["speedup"]
    assert len(points) == len(expected) == 3
    for name, trial in expected.items():
        assert points[name]["x"] == trial["speedup"] and points[name]["ci95"] == trial["ci95"]

    losses = {line["label"]: [point["y"] for point in line["data"]] for line in chart(browser, "losses")}
    assert losses == {
        "baseline": report["trials"][0]["loss"]["baseline"],
        "treated": report["trials"][0]["loss"]["treated"],
    }
    for canvas in ["breakdown", "speedups", "losses"]:
        assert inked(browser, canvas) > 500, canvas


def test_speedups_lie_where_their_axis_says(browser, samples):
    """The interval and the band of no difference, from the pixels."""
    open_page(browser, samples["sample"])
    colors = browser.execute_script(
        """const drawn = Chart.getChart("speedups"), {x, y} = drawn.scales, scale = devicePixelRatio;
        const pixel = (value, row) => [...drawn.ctx.getImageData(Math.round(x.getPixelForValue(value) * scale),
                                                                 Math.round(y.getPixelForValue(row) * scale), 1, 1).data];
        const [low, high] = drawn.data.datasets[0].data[0].ci95;
        return {inside: pixel((low + high) / 2 + (high - low) / 4, 0), outside: pixel(high + (high - low) / 2, 0),
                band: pixel(1.012, 0), beside: pixel(1.05, 0)};"""
    )
    assert colors["inside"][3] > 100 and colors["outside"][3] == 0
    assert colors["band"][3] > 0 and colors["beside"][3] == 0


def test_every_chart_has_words_and_a_table(browser, samples):
    open_page(browser, samples["sample"])
    for canvas in browser.find_elements(By.TAG_NAME, "canvas"):
        assert len(canvas.get_attribute("aria-label")) > 30
    captions = [caption.get_attribute("textContent") for caption in browser.find_elements(By.TAG_NAME, "caption")]
    for part in ["spends a step on", "fix that was tried", "Losses"]:
        assert any(part in caption for caption in captions), part


def test_findings_are_filtered(browser, samples):
    report = open_page(browser, samples["sample"])["report"]

    def shown():
        return [card for card in browser.find_elements(By.CLASS_NAME, "finding") if card.is_displayed()]

    assert len(shown()) == len(report["findings"]) == 4
    search = browser.find_element(By.ID, "search")
    search.send_keys("LOADER")
    assert [card.find_element(By.TAG_NAME, "h3").text for card in shown()] == [report["findings"][1]["title"]]
    assert browser.find_element(By.ID, "shown").text == "1 of 4 shown"
    search.clear()
    search.send_keys(" ")
    browser.find_element(By.ID, "show-high").click()
    assert len(shown()) == 3 and all("anomaly" not in card.text for card in shown())


def span(browser):
    return browser.execute_script("return [page.lanes.from, page.lanes.to]")


def test_the_timeline_zooms_and_moves(browser, traced):
    data = open_page(browser, traced)
    canvas = browser.find_element(By.ID, "timeline")
    length = data["timeline"]["views"][0]["length"]
    assert span(browser) == [0, length] and inked(browser, "timeline") > 5000
    canvas.send_keys("+")
    start, end = span(browser)
    assert end - start == pytest.approx(0.7 * length) and start > 0
    canvas.send_keys(Keys.ARROW_RIGHT)
    assert span(browser)[0] > start
    canvas.send_keys("0")
    assert span(browser) == [0, length]
    ActionChains(browser).move_to_element(canvas).scroll_from_origin(
        webdriver.common.actions.wheel_input.ScrollOrigin.from_element(canvas), 0, -120
    ).perform()
    start, end = span(browser)
    assert 0 < end - start < length
    canvas.send_keys("-")
    assert span(browser)[1] - span(browser)[0] > end - start
    browser.find_element(By.CSS_SELECTOR, "[aria-label='Show the whole step']").click()
    assert span(browser) == [0, length]


def test_the_timeline_tells_what_lies_under_the_mouse(browser, traced):
    open_page(browser, traced)
    canvas = browser.find_element(By.ID, "timeline")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    x, y, name = browser.execute_script(
        """const {lanes} = page, lane = lanes.lanes[0];
        const bar = lane.rows[0].reduce((a, b) => (b.end - b.start > a.end - a.start ? b : a));
        return [lanes.x((bar.start + bar.end) / 2), lane.top + 6, lanes.nameOf(lane, bar)];"""
    )
    size = canvas.size
    ActionChains(browser).move_to_element_with_offset(
        canvas, int(x - size["width"] / 2), int(y - size["height"] / 2)
    ).perform()
    tip = browser.find_element(By.ID, "tip")
    assert tip.is_displayed() and name in tip.text and "of the step" in tip.text
    ActionChains(browser).move_to_element(browser.find_element(By.ID, "theme")).perform()
    assert not tip.is_displayed()


def test_lines_are_shown_with_their_source(browser, traced):
    """Every line of the report is in the table; the blocks above are the larger ones, as wide as their time."""
    data = open_page(browser, traced)
    rows = browser.find_elements(By.CSS_SELECTOR, "#lines table:first-of-type tbody tr")
    shown = browser.find_element(By.CSS_SELECTOR, "#lines .wide")
    assert len(shown.find_elements(By.CSS_SELECTOR, "tbody tr")) == len(data["report"]["lines"]) > 0 and rows
    assert "tiny_train.cpp" in shown.text
    blocks = browser.find_elements(By.CSS_SELECTOR, "#lines .icicle.outer > .block")
    widths = [block.size["width"] for block in blocks]
    assert blocks and widths == sorted(widths, reverse=True)
    phases = {row["phase"].replace("_", " ") for row in data["report"]["lines"]}
    assert {block.text.split("\n")[0] for block in blocks} <= phases


def test_the_timeline_holds_a_step(browser, traced):
    """The bars of the first lane are the step: they add up to its length."""
    data = open_page(browser, traced)
    for view in data["timeline"]["views"]:
        kinds = [lane["kind"] for lane in view["lanes"]]
        assert kinds[:2] == ["step", "training"]
        lengths = view["lanes"][0]["rows"][0][1::5]
        assert sum(lengths) == pytest.approx(view["length"], rel=0.02)
        assert any("aten::" in name for name in view["names"])
    assert len(data["timeline"]["steps"]["ms"]) >= data["report"]["steps"]["measured"]
    bars = {bar["label"]: bar["data"] for bar in chart(browser, "steps")}
    # Steps whose operators were not recorded count for the mean as well.
    steady = [ms for kind in ("steady", "operators not recorded") for ms in bars.get(kind, []) if ms]
    assert len(steady) == data["report"]["steps"]["in_mean"]
    assert sum(steady) / len(steady) == pytest.approx(data["report"]["steps"]["mean_ms"], rel=0.01)


def background(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_dark_mode_follows_the_system_and_the_button(browser, samples):
    open_page(browser, samples["sample"])
    assert background(browser) == "rgb(255, 255, 255)"
    open_page(browser, samples["sample"], dark=True)
    dark = background(browser)
    assert dark == "rgb(20, 23, 28)"
    button = browser.find_element(By.ID, "theme")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert background(browser) == "rgb(255, 255, 255)" and button.get_attribute("aria-pressed") == "false"
    assert inked(browser, "speedups") > 500


def test_prints_light_and_whole(browser, samples):
    open_page(browser, samples["sample"], dark=True)
    browser.execute_script(
        "window.opened = []; addEventListener('beforeprint', () => opened.push(document.querySelectorAll('details[open]').length, document.documentElement.dataset.theme))"
    )
    pdf = browser.print_page(PrintOptions())
    assert len(pdf) > 10_000
    assert browser.execute_script("return opened") == [2, "light"]
    deadline = time.monotonic() + 10
    while browser.execute_script("return document.documentElement.dataset.theme") != "dark":
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_anyone_can_use_it(browser, samples, traced, dark):
    for page in [samples["sample"], samples["empty"], traced]:
        open_page(browser, page, dark=dark)
        axe = Axe(browser)
        axe.inject()
        found = axe.run()["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []


def test_pictures_are_kept(browser, samples, traced):
    for name, page, dark, width in [
        ("light", samples["sample"], False, 1280),
        ("dark", traced, True, 1280),
        ("narrow", traced, False, 500),
    ]:
        open_page(browser, page, dark=dark, width=width)
        keep_picture(browser, name)
        assert (PICTURES / f"{name}.png").stat().st_size > 20_000
