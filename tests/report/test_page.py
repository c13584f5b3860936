"""The page: complete in itself, accessible, and safe from the names it shows."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import weigh
from weigh import errors
from weigh.report.svg import ALLOWED_ATTRIBUTES, ALLOWED_ELEMENTS

MOST_BYTES = 1_500_000
VOID = {"meta", "input", "img", "br", "hr", "link"}


class Elements(html.parser.HTMLParser):
    """Every element of a page with its attributes, and the text inside scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, Any]]] = []
        self.scripts: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)

    def of(self, *tags: str) -> list[dict[str, Any]]:
        return [attrs for tag, attrs in self.found if tag in tags]


@pytest.fixture(scope="module", params=["spam", "attacked"])
def page(request: pytest.FixtureRequest) -> str:
    report: weigh.Report = request.getfixturevalue(request.param)
    return report.html


def test_the_page_is_small_and_names_nothing_elsewhere(page: str) -> None:
    assert len(page.encode()) < MOST_BYTES
    addresses = set(re.findall(r"https?://[^\"'\s<>)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    elements = Elements(page)
    assert not elements.of("link", "img", "iframe", "object", "embed", "base", "form")
    assert all("src" not in attrs for _, attrs in elements.found)
    assert all(not name.startswith("on") for _, attrs in elements.found for name in attrs)
    assert all(attrs["href"].startswith("#") for _, attrs in elements.found if "href" in attrs)


def test_the_policy_allows_this_script_and_this_style_only(page: str) -> None:
    elements = Elements(page)
    policy = next(attrs["content"] for attrs in elements.of("meta") if attrs.get("http-equiv"))
    script = elements.scripts[-1]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    for inside, rule in ((script, "script-src"), (style.group(1), "style-src")):
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert not any("style" in attrs for _, attrs in elements.found)


def test_names_stay_text(attacked: weigh.Report) -> None:
    elements = Elements(attacked.html)
    kinds = [attrs.get("type") for attrs in elements.of("script")]
    assert kinds == ["application/json", None]
    assert not elements.of("img", "b")
    assert "{{ 7 * 7 }}{% raw %}" in attacked.html
    assert "&lt;script&gt;document.title=" in attacked.html
    assert "\0" not in attacked.html


def test_pictures_hold_only_what_is_listed(page: str) -> None:
    inside = False
    shapes = {name.lower() for name in ALLOWED_ELEMENTS}
    known = {name.lower() for name in ALLOWED_ATTRIBUTES} | {"xmlns", "role", "aria-label", "data-told"}
    for drawn in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        inside = True
        for tag, attrs in Elements(drawn).found:
            assert tag in shapes
            assert attrs.keys() <= known
    assert inside


MADE = """
import hashlib, json, weigh
from tests.report import tables
spam = weigh.NaiveBayes().fit(tables.mails(60), "kind")
facts = json.dumps(weigh.report_on(spam, tables.mails(30, 7), train=tables.mails(60)).to_dict())
rent = weigh.LinearRegression().fit(tables.homes(30), "rent")
page = weigh.report_on(rent, tables.homes(20, 1)).html
made = hashlib.sha256((facts + page).encode()).hexdigest()
"""


def test_the_same_rows_give_the_same_page_in_every_process() -> None:
    # Sets of texts come in another order under another seed of hashing.
    here: dict[str, Any] = {}
    exec(MADE, here)
    settings = {"PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run(
        [sys.executable, "-c", f"{MADE}\nprint(made)"],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == here["made"]


def test_headings_come_in_order(page: str) -> None:
    levels = [int(tag[1]) for tag, _ in Elements(page).found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_everything_has_a_name(page: str) -> None:
    elements = Elements(page)
    ids = Counter(attrs["id"] for _, attrs in elements.found if "id" in attrs)
    assert all(times == 1 for times in ids.values())
    assert all(attrs.get("role") == "img" and attrs.get("aria-label") for attrs in elements.of("svg"))
    labelled = {attrs["for"] for attrs in elements.of("label")}
    assert {attrs["id"] for attrs in elements.of("input")} <= labelled
    named = [attrs["aria-labelledby"] for attrs in elements.of("section")]
    assert set(named) <= ids.keys()
    assert all(attrs["href"][1:] in ids for attrs in elements.of("a"))
    assert len(elements.of("table")) == len(elements.of("caption"))
    assert all("scope" in attrs for attrs in elements.of("th"))
    assert elements.of("html")[0]["lang"] == "en"
    assert len(elements.of("main")) == len(elements.of("nav")) == len(elements.of("header")) == 1


def test_boxes_have_names_of_their_own(page: str) -> None:
    names = [attrs["aria-label"] for attrs in Elements(page).of("div") if attrs.get("class") == "box"]
    assert len(names) > 10
    assert len(names) == len(set(names))


def test_the_summary_is_part_of_the_main_content(page: str) -> None:
    assert page.index("<main") < page.index('class="summary"') < page.index("</main>")


def test_a_step_of_the_slider_is_announced_once(page: str) -> None:
    elements = Elements(page)
    assert [attrs.get("aria-live") for attrs in elements.of("output")] == ["off"]
    live = [attrs["id"] for _, attrs in elements.found if attrs.get("aria-live") == "polite"]
    assert live == ["threshold-told", "filter-told"]


def test_a_page_is_saved_whole_or_not_at_all(spam: weigh.Report, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    spam.save(path)
    assert path.read_text("utf-8") == spam.html
    with pytest.raises(errors.FileError, match=r"cannot be written: .*Check its folder\."):
        spam.save(tmp_path / "none" / "report.html")


def test_a_notebook_shows_the_page_in_a_frame(attacked: weigh.Report) -> None:
    elements = Elements(attacked._repr_html_())
    assert [tag for tag, _ in elements.found] == ["iframe"]
    assert elements.of("iframe")[0]["srcdoc"] == attacked.html
    assert "allow-same-origin" not in elements.of("iframe")[0]["sandbox"]


@pytest.mark.parametrize(("module", "name"), [("jinja2", "Jinja2"), ("altair", "Altair")])
def test_what_a_page_lacks_is_said_by_its_name(
    spam: weigh.Report, monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    told = rf"; here {name} is not installed\. In the folder of weigh: pip install '\.\[report\]'"
    with pytest.raises(errors.Unsupported, match=told):
        weigh.Report(spam.facts).html  # noqa: B018
