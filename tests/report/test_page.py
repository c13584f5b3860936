"""The page is self-contained, accessible, and safe against injected names."""

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
from tests.hostile import find_control_characters
from weigh import errors
from weigh.report.svg import ALLOWED_ATTRIBUTES, ALLOWED_ELEMENTS

MAX_BYTES = 1_500_000
VOID = {"meta", "input", "img", "br", "hr", "link"}


class Elements(html.parser.HTMLParser):
    """Every element of a page with its attributes, and the text inside scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, Any]]] = []
        self.scripts: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)

    def of(self, *tags: str) -> list[dict[str, Any]]:
        return [attrs for tag, attrs in self.elements if tag in tags]


@pytest.fixture(scope="module", params=["spam", "attacked"])
def page(request: pytest.FixtureRequest) -> str:
    report: weigh.Report = request.getfixturevalue(request.param)
    return report.html


def test_the_page_is_small_and_refers_to_no_other_resource(page: str) -> None:
    assert len(page.encode()) < MAX_BYTES
    addresses = set(re.findall(r"https?://[^\"'\s<>)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    elements = Elements(page)
    assert not elements.of("link", "img", "iframe", "object", "embed", "base", "form")
    assert all("src" not in attrs for _, attrs in elements.elements)
    assert all(not name.startswith("on") for _, attrs in elements.elements for name in attrs)
    assert all(attrs["href"].startswith("#") for _, attrs in elements.elements if "href" in attrs)


def test_the_content_security_policy_allows_only_this_script_and_style(page: str) -> None:
    elements = Elements(page)
    policy = next(attrs["content"] for attrs in elements.of("meta") if attrs.get("http-equiv"))
    script = elements.scripts[-1]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    for content, rule in ((script, "script-src"), (style.group(1), "style-src")):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert not any("style" in attrs for _, attrs in elements.elements)


def test_hostile_names_stay_text(attacked: weigh.Report) -> None:
    elements = Elements(attacked.html)
    kinds = [attrs.get("type") for attrs in elements.of("script")]
    assert kinds == ["application/json", None]
    assert not elements.of("img", "b")
    assert "{{ 7 * 7 }}{% raw %}" in attacked.html
    assert "&lt;script&gt;document.title=" in attacked.html
    assert not find_control_characters(attacked.html)


def test_charts_contain_only_allowed_elements_and_attributes(page: str) -> None:
    has_svg = False
    shapes = {name.lower() for name in ALLOWED_ELEMENTS}
    allowed = {name.lower() for name in ALLOWED_ATTRIBUTES} | {"xmlns", "role", "aria-label", "data-told"}
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        has_svg = True
        for tag, attrs in Elements(svg).elements:
            assert tag in shapes
            assert attrs.keys() <= allowed
    assert has_svg


PROGRAM = """
import hashlib, json, weigh
from tests.report import tables
spam = weigh.NaiveBayes().fit(tables.mails(60), "kind")
facts = json.dumps(weigh.report_on(spam, tables.mails(30, 7), train=tables.mails(60)).to_dict())
rent = weigh.LinearRegression().fit(tables.homes(30), "rent")
page = weigh.report_on(rent, tables.homes(20, 1)).html
made = hashlib.sha256((facts + page).encode()).hexdigest()
"""


def test_the_same_rows_give_the_same_page_in_every_process() -> None:
    # The order of sets of strings depends on the hash seed.
    here: dict[str, Any] = {}
    exec(PROGRAM, here)
    settings = {"PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", f"{PROGRAM}\nprint(made)"],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == here["made"]


def test_headings_come_in_order(page: str) -> None:
    levels = [int(tag[1]) for tag, _ in Elements(page).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_elements_have_accessible_names(page: str) -> None:
    elements = Elements(page)
    ids = Counter(attrs["id"] for _, attrs in elements.elements if "id" in attrs)
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


def test_scrollable_boxes_have_unique_names(page: str) -> None:
    names = [attrs["aria-label"] for attrs in Elements(page).of("div") if attrs.get("class") == "box"]
    assert len(names) > 10
    assert len(names) == len(set(names))


def test_the_summary_is_part_of_the_main_content(page: str) -> None:
    assert page.index("<main") < page.index('class="summary"') < page.index("</main>")


def test_a_slider_step_is_announced_once(page: str) -> None:
    elements = Elements(page)
    assert [attrs.get("aria-live") for attrs in elements.of("output")] == ["off"]
    live = [attrs["id"] for _, attrs in elements.elements if attrs.get("aria-live") == "polite"]
    assert live == ["threshold-told", "filter-told"]


def test_a_page_is_saved_atomically(spam: weigh.Report, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    spam.save(path)
    assert path.read_text("utf-8") == spam.html
    with pytest.raises(errors.FileError, match=r"cannot be written: .*Check its folder\."):
        spam.save(path / "report.html")


def test_a_notebook_shows_the_page_in_a_frame(attacked: weigh.Report) -> None:
    elements = Elements(attacked._repr_html_())
    assert [tag for tag, _ in elements.elements] == ["iframe"]
    assert elements.of("iframe")[0]["srcdoc"] == attacked.html
    assert "allow-same-origin" not in elements.of("iframe")[0]["sandbox"]


@pytest.mark.parametrize(("module", "name"), [("jinja2", "Jinja2"), ("altair", "Altair")])
def test_missing_packages_are_named(
    spam: weigh.Report, monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    message = rf", but {name} is not installed\. In a checkout of weigh: pip install '\.\[report\]'"
    with pytest.raises(errors.Unsupported, match=message):
        weigh.Report(spam.facts).html  # noqa: B018
