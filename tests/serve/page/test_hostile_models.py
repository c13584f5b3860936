"""Models and texts that attack the page are shown as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.report import tables
from tests.serve.page.conftest import PHONE, Visit
from tests.serve.page.models import served

Visits = Callable[..., Visit]


def hostile_name() -> str:
    return next(name for name in served() if name.startswith("hostile <"))


def check_only_text(page: Any) -> None:
    assert page.title() != "owned"
    assert page.locator("main :is(script, img, iframe, object, u, i)").count() == 0
    assert page.evaluate("[...document.querySelectorAll('main *')].every((e) => !e.hasAttribute('onerror'))")


@pytest.mark.parametrize("settings", [{}, {"viewport": PHONE}])
def test_names_levels_and_labels_are_shown_as_text(visit: Visits, settings: dict[str, Any]) -> None:
    name = hostile_name()
    page = visit(**settings).open(name)
    assert page.locator("h1").inner_text() == name
    page.get_by_role("button", name="Fill in an example").click()
    page.locator(".verdict:not(.waiting)").wait_for()
    page.locator(".flip").wait_for()
    assert page.locator(".verdict-word").inner_text() in tables.CLASSES
    assert page.locator(".field label").first.inner_text() == tables.ATTACK
    assert "<b>bold</b>" in page.locator("select").first.locator("option").all_inner_texts()
    page.get_by_role("button", name="This is wrong").click()
    page.locator("summary").first.click()
    page.get_by_role("link", name="About the model").click()
    assert page.locator(".model-card").get_by_text(tables.ATTACK).count() > 0
    check_only_text(page)
    width = settings.get("viewport", {"width": 1280})["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_invisible_characters_of_names_are_shown_as_escapes(visit: Visits) -> None:
    page = visit().open(hostile_name())
    labels = page.locator(".field label").all_inner_texts()
    assert "nul\\u{0}name" in labels
    assert any(label.startswith("\\u{202e}right to left\\u{202c}") for label in labels)
    assert "la<b>el\\u{1b}[31m" in page.locator(".subtitle").inner_text()


def test_words_and_texts_are_shown_as_text(visit: Visits) -> None:
    page = visit().open("hostile words")
    text = f"{tables.ATTACK} good <img src=x onerror=document.title='owned'>"
    page.get_by_label("<b>body", exact=True).fill(text)
    page.locator("mark:not([data-legend])").first.wait_for()
    assert page.locator(".highlighted").text_content() == text
    check_only_text(page)


def test_the_list_of_models_shows_names_as_text(visit: Visits) -> None:
    page = visit().open()
    assert hostile_name() in page.locator(".entry-name").all_inner_texts()
    check_only_text(page)


def test_the_policy_blocks_injected_markup(visit: Visits) -> None:
    # Even if a name became markup, it could neither run nor load anything.
    each = visit()
    page = each.open("tickets")
    page.evaluate(
        """() => {
          const write = (markup) => document.body.insertAdjacentHTML("beforeend", markup);
          write("<img src='http://elsewhere.invalid/x.png' onerror='document.title=1'>");
          write("<p style='color: red' onclick='document.title=1'>p</p>");
          document.querySelector("p[onclick]").click();
        }"""
    )
    page.wait_for_timeout(200)
    assert page.title() == "tickets – weigh"
    assert each.elsewhere == []
    assert len([line for line in each.problems if "Content Security Policy" in line]) >= 3
    each.problems.clear()


def test_the_scripts_never_write_markup() -> None:
    from weigh.serve.page.assets import static_files

    scripts = [asset.content.decode() for name, asset in static_files().items() if name.endswith(".js")]
    assert len(scripts) > 15
    for script in scripts:
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
            assert word not in script
