"""The keyboard, phones, colour schemes and reduced motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.serve.page.conftest import PHONE, Visit, open_customer

Visits = Callable[..., Visit]


def press_until(page: Any, description: str, key: str = "Tab") -> None:
    """Press a key until the focused element has a name."""
    focused = "() => (document.activeElement.labels?.[0] ?? document.activeElement).textContent"
    for _ in range(40):
        page.keyboard.press(key)
        if page.evaluate(focused).strip() == description:
            return
    raise AssertionError(f"{description!r} was not reached with {key}")


def test_everything_works_with_the_keyboard_alone(visit: Visits) -> None:
    each = visit()
    page = each.open("tickets")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    press_until(page, "body")
    page.keyboard.type("invoice refund")
    each.wait_for_verdict("billing")
    page.locator(".flips li").first.wait_for()
    press_until(page, "This is wrong")
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    press_until(page, "Teach the model")
    page.keyboard.press("Enter")
    page.get_by_text("Learned as access.").first.wait_for()
    assert page.evaluate("document.activeElement.textContent") == "This is wrong"
    press_until(page, "Undo")
    page.keyboard.press("Enter")
    page.get_by_text("Forgotten").first.wait_for()
    press_until(page, "About the model", "Shift+Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "About the model"
    page.locator("nav [aria-current=page]", has_text="About the model").wait_for()


@pytest.mark.parametrize("model", ["tickets", "churn", "rent", "lead", "inbox", "many"])
def test_a_phone_does_not_scroll_sideways(visit: Visits, model: str) -> None:
    page = visit(viewport=PHONE, has_touch=True).open(model)
    if page.get_by_role("button", name="Fill in an example").count():
        page.get_by_role("button", name="Fill in an example").click()
    for area in page.locator("textarea").all():
        area.fill("password " * 30)
    page.locator(".verdict:not(.waiting)").wait_for()
    page.locator("summary").first.click()
    for view in ("Try it", "A whole file", "About the model"):
        page.get_by_role("link", name=view).click()
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_the_verdict_stays_in_sight_on_a_phone(visit: Visits) -> None:
    each = visit(viewport=PHONE)
    page = open_customer(each)
    page.locator(".flips li").first.wait_for()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    dock = page.locator(".dock")
    dock.wait_for(state="visible")
    assert dock.inner_text().startswith("leaves ")
    page.locator(".verdict").scroll_into_view_if_needed()
    dock.wait_for(state="hidden")


def test_the_switch_changes_the_colours_and_is_remembered(visit: Visits) -> None:
    page = visit(color_scheme="light").open("tickets")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Use dark colours").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    page.locator("h1").wait_for()
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Use light colours").click()
    assert page.evaluate(ground) == light
    assert page.evaluate("Object.values(localStorage)") == []


def test_nothing_moves_for_those_who_ask_for_less_motion(visit: Visits) -> None:
    for motion, moves in (("reduce", False), ("no-preference", True)):
        each = visit(reduced_motion=motion)
        page = open_customer(each)
        page.evaluate(
            """() => {
              window.moved = 0;
              const { animate } = Element.prototype;
              Element.prototype.animate = function (...all) {
                window.moved += 1;
                return animate.apply(this, all);
              };
            }"""
        )
        page.get_by_label("months", exact=True).fill("9")
        page.get_by_text("months = 9").wait_for()
        assert bool(page.evaluate("window.moved")) is moves
