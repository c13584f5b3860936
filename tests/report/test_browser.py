"""The report in a browser: offline, in light and dark, on a phone, in print, with pointer and keyboard.

Screenshots are saved in build/screenshots for inspection.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weigh
from tests.report import tables
from weigh.report.facts import keep_percent_together

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_PATH = next((path for name in BROWSERS if (path := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(
    BROWSER_PATH is None, reason=f"NO BROWSER: none of {', '.join(BROWSERS)} is installed"
)
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


class MonitoredPage:
    """A page without network access that records its requests and console messages.

    `reached` are requests that would have left the browser; those blocked by the page's policy are only in
    `problems`.
    """

    def __init__(self, browser: Any, path: Path, **settings: Any) -> None:
        self.problems: list[str] = []
        self.reached: list[str] = []
        context = browser.new_context(**{"viewport": DESKTOP, **settings})
        context.route(lambda address: not address.startswith("file:"), self._block)
        self.page = context.new_page()
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", self._record_request)
        self.page.goto(path.as_uri())

    def _block(self, route: Any) -> None:
        self.reached.append(route.request.url)
        route.abort()

    def _record_request(self, request: Any) -> None:
        if not request.is_navigation_request():
            self.problems.append(f"requested {request.url}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=BROWSER_PATH, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def path(spam: weigh.Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    spam.save(path)
    return path


@pytest.fixture(scope="module")
def attacked_path(attacked: weigh.Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "attacked.html"
    attacked.save(path)
    return path


@pytest.fixture(scope="module")
def numbers_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "homes.html"
    model = weigh.LinearRegression().fit(tables.homes(), "rent")
    weigh.report_on(model, tables.homes(60, 1), train=tables.homes()).save(path)
    return path


def test_it_opens_offline_without_console_messages(
    browser: Any, path: Path, numbers_path: Path, screenshots: Path
) -> None:
    for each, name in ((path, "classifier"), (numbers_path, "regression")):
        monitored = MonitoredPage(browser, each)
        monitored.page.screenshot(path=screenshots / f"{name}-light.png", full_page=True)
        assert monitored.problems == monitored.reached == []


@pytest.mark.parametrize("kind", ["many", "text", "perceptron", "calibrated"])
def test_every_kind_of_model_opens_without_console_messages(
    browser: Any, kind: str, tmp_path: Path, screenshots: Path
) -> None:
    path = tmp_path / "report.html"
    tables.report_of(kind).save(path)
    monitored = MonitoredPage(browser, path)
    assert monitored.problems == monitored.reached == []
    assert monitored.page.evaluate("document.documentElement.scrollWidth") == DESKTOP["width"]
    monitored.page.screenshot(path=screenshots / f"kind-{kind}.png", full_page=True)


def test_only_scrollable_boxes_are_keyboard_stops(browser: Any, path: Path) -> None:
    scrolling = "[...document.querySelectorAll('.box')].map((box) => box.scrollWidth > box.clientWidth)"
    stops = "[...document.querySelectorAll('.box')].map((box) => box.tabIndex === 0)"
    for viewport, has_stops in ((DESKTOP, False), (PHONE, True)):
        page = MonitoredPage(browser, path, viewport=viewport).page
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        page.wait_for_function(f"JSON.stringify({scrolling}) === JSON.stringify({stops})")
        assert any(page.evaluate(stops)) is has_stops
    static = MonitoredPage(browser, path, java_script_enabled=False).page
    assert static.locator(".box:not([tabindex])").count() == 0


def test_hovering_a_mark_shows_its_tooltip(browser: Any, path: Path) -> None:
    page = MonitoredPage(browser, path).page
    tip = page.locator("#tip")
    assert tip.is_hidden()
    bar = page.locator(".wide svg [data-told]:visible").first
    bar.scroll_into_view_if_needed()
    bar.hover()
    assert tip.is_visible()
    assert tip.inner_text() == bar.get_attribute("data-told")
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_the_threshold_moves_with_the_keyboard(browser: Any, path: Path, spam: weigh.Report) -> None:
    page = MonitoredPage(browser, path).page
    assert spam.facts.thresholds is not None
    slider = page.get_by_label("Predict spam from a probability of")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    row = spam.facts.thresholds.rows[60]
    assert row.precision is not None
    assert page.locator("#threshold-value").inner_text() == "0.60"
    assert page.locator("#threshold-told").inner_text() == keep_percent_together(row.told)
    assert page.locator("#threshold-found").inner_text() == f"{row.found:g}"
    assert page.locator("#threshold-missed").inner_text() == f"{row.missed:g}"
    assert page.locator("#threshold-told").get_attribute("aria-live") == "polite"


def test_the_filter_keeps_matching_rows(browser: Any, path: Path, spam: weigh.Report) -> None:
    page = MonitoredPage(browser, path).page
    assert spam.facts.mistakes is not None
    row = spam.facts.mistakes.rows[2]
    page.get_by_label("Filter the rows below").fill(f"row {row.row:,}:")
    assert page.locator(".card:visible").count() == 1
    assert page.locator("#filter-told").inner_text() == f"1 of {len(spam.facts.mistakes.rows)} rows"
    page.get_by_label("Filter the rows below").fill("")
    assert page.locator(".card:visible").count() == len(spam.facts.mistakes.rows)


def test_a_script_in_a_name_stays_text(browser: Any, attacked_path: Path, screenshots: Path) -> None:
    monitored = MonitoredPage(browser, attacked_path)
    page = monitored.page
    assert page.title() == f"</title>{tables.ATTACK}"
    assert page.locator("h1").inner_text() == f"</title>{tables.ATTACK}"
    assert page.locator("script").count() == 2
    assert page.evaluate("JSON.parse(document.getElementById('threshold-facts').textContent).label") in (
        tables.CLASSES
    )
    bars = page.locator(".wide svg [data-told]:visible")
    bars.first.hover()
    assert page.locator("#tip *").count() == 0
    page.screenshot(path=screenshots / "hostile-names.png", full_page=True)
    assert monitored.problems == []


def test_the_policy_blocks_injected_markup(browser: Any, path: Path, tmp_path: Path) -> None:
    # Even if a name were written as markup, it could neither run nor make a request.
    injected = "<script>document.title='owned'</script><img src='http://elsewhere.invalid/x.png'>"
    broken = tmp_path / "broken.html"
    broken.write_text(path.read_text("utf-8").replace("<main", f"{injected}<main", 1), "utf-8")
    monitored = MonitoredPage(browser, broken)
    assert monitored.page.title() != "owned"
    assert monitored.reached == []
    assert sum("Content Security Policy" in problem for problem in monitored.problems) == 2


@pytest.mark.parametrize("name", ["path", "attacked_path", "numbers_path"])
def test_a_phone_does_not_scroll_sideways(
    browser: Any, name: str, request: pytest.FixtureRequest, screenshots: Path
) -> None:
    page = MonitoredPage(browser, request.getfixturevalue(name), viewport=PHONE).page
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.locator(".narrow svg:visible").count() > 0
    assert page.locator(".wide svg:visible").count() == 0
    page.screenshot(path=screenshots / f"phone-{name.removesuffix('_path')}.png", full_page=True)


def luminance(colour: list[float]) -> float:
    parts = [c / 255 for c in colour[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


CONTRAST = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const found = rgb(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  // The background of a text inside a chart is the cell at its centre.
  const below = (node) => {
    if (node.tagName !== "text") return null;
    const word = node.getBoundingClientRect();
    const [x, y] = [word.left + word.width / 2, word.top + word.height / 2];
    const cells = [...node.closest("svg").querySelectorAll("path[data-told]")].filter((cell) => {
      const box = cell.getBoundingClientRect();
      const style = getComputedStyle(cell);
      return style.fill.startsWith("rgb") && style.fillOpacity > 0 && box.left < x && x < box.right
        && box.top < y && y < box.bottom;
    });
    return cells.length ? rgb(getComputedStyle(cells[0]).fill) : null;
  };
  const words = "p, th, td, dd, dt, a, h1, h2, h3, summary, figcaption, caption, li, text";
  return [...document.querySelectorAll(words)]
    .filter((node) => node.textContent.trim() && node.getClientRects().length)
    .map((node) => [
      node.textContent.slice(0, 40),
      rgb(getComputedStyle(node)[node.tagName === "text" ? "fill" : "color"]),
      below(node) || ground(node.closest("svg") || node),
    ]);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(browser: Any, path: Path, scheme: str, screenshots: Path) -> None:
    page = MonitoredPage(browser, path, color_scheme=scheme).page
    seen = page.evaluate(CONTRAST)
    assert len(seen) > 100
    for words, ink, ground in seen:
        light, dark = sorted((luminance(ink), luminance(ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (words, ink, ground)
    assert (luminance(page.evaluate(CONTRAST)[0][2]) < 0.1) == (scheme == "dark")
    page.screenshot(path=screenshots / f"scheme-{scheme}.png", full_page=True)


def test_print_keeps_details_collapsed_and_hides_controls(
    browser: Any, path: Path, screenshots: Path
) -> None:
    page = MonitoredPage(browser, path).page
    page.emulate_media(media="print")
    assert page.locator("input:visible, nav:visible").count() == 0
    assert page.locator("details:not([open]):not(.card):visible").count() == 0
    assert page.locator(".card:visible").count() == page.locator(".card").count()
    sign = "getComputedStyle(document.querySelector('.card > summary'), '::after').content"
    assert page.evaluate(sign) == "none"
    page.pdf(path=screenshots / "print.pdf", format="A4")
    page.screenshot(path=screenshots / "print.png", full_page=True)


def test_captions_of_wide_tables_fit_a_phone(browser: Any, path: Path) -> None:
    page = MonitoredPage(browser, path, viewport=PHONE).page
    wide = "[...document.querySelectorAll('.box')].filter((box) => box.scrollWidth > box.clientWidth)"
    assert page.evaluate(f"{wide}.length") > 0
    assert page.evaluate(f"{wide}.every((box) => getComputedStyle(box).backgroundImage !== 'none')")
    right = page.evaluate(
        "[...document.querySelectorAll('caption')].map((c) => c.getBoundingClientRect().right)"
    )
    assert max(right) <= PHONE["width"]


def test_the_page_is_readable_without_scripts(browser: Any, path: Path) -> None:
    page = MonitoredPage(browser, path, java_script_enabled=False).page
    assert page.locator("input:visible").count() == 0
    assert page.locator("figure svg:visible").count() > 0
    page.get_by_text("Thresholds as a table").click()
    assert page.get_by_role("group", name="Thresholds").is_visible()


def test_the_first_keyboard_stop_skips_to_the_report(browser: Any, path: Path) -> None:
    page = MonitoredPage(browser, path).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
