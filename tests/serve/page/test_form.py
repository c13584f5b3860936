"""The form: kinds of fields, missing and new values, pasted mails, and what it shows of each answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.serve.page.conftest import Visit, open_customer
from tests.serve.page.models import served

Visits = Callable[..., Visit]
RAW_MAIL = """\
From: Ann <ann@example.org>
To: help@example.org
Subject: =?utf-8?q?login_gr=C3=BCn?=
Content-Type: text/html

<p>My <b>password</b> was reset</p>
"""


def test_a_pasted_mail_is_decoded_by_the_server(visit: Visits) -> None:
    each = visit()
    page = each.open("inbox")
    page.get_by_label("text", exact=True).fill(RAW_MAIL)
    page.get_by_role("button", name="Read it as mail").click()
    page.get_by_text("The mail was decoded.").wait_for()
    assert page.get_by_label("subject", exact=True).input_value() == "login grün"
    assert page.get_by_label("text", exact=True).input_value() == "My password was reset"
    each.wait_for_verdict("access")
    page.get_by_role("button", name="Back to the raw text").click()
    assert page.get_by_label("text", exact=True).input_value() == RAW_MAIL

    page = each.open("tickets")
    page.get_by_label("body", exact=True).fill(RAW_MAIL)
    page.get_by_role("button", name="Read it as mail").click()
    page.get_by_text("The mail was decoded.").wait_for()
    assert page.get_by_label("body", exact=True).input_value() == "login grün\n\nMy password was reset"
    page.get_by_label("body", exact=True).fill("Note: no mail\n\ntext")
    assert page.get_by_text("This looks like a raw mail.").count() == 0


def test_the_arithmetic_is_that_of_the_library(visit: Visits) -> None:
    each = visit()
    page = each.open("tickets")
    page.get_by_label("body", exact=True).fill("password reset")
    each.wait_for_verdict("access")
    page.get_by_text("The arithmetic").click()
    worked = served()["tickets"].explain([{"body": "password reset"}])[0].worked()
    page.wait_for_function("() => document.querySelector('.worked pre').textContent")
    assert page.locator(".worked pre").text_content() == worked
    page = each.open("rent")
    page.get_by_role("button", name="Fill in an example").click()
    page.get_by_text("The arithmetic").click()
    page.wait_for_function("() => document.querySelector('.worked pre').textContent")
    assert "bias" in page.locator(".worked pre").inner_text()


def test_a_regression_shows_its_parts_and_how_sure_it_is(visit: Visits) -> None:
    each = visit()
    page = each.open("rent")
    page.get_by_label("area", exact=True).fill("50")
    page.get_by_label("rooms", exact=True).fill("2")
    predicted = served()["rent"].predict([{"area": 50, "rooms": 2}])[0]
    each.wait_for_verdict(f"{predicted:,.3f}".rstrip("0"))
    assert "with a probability of about 95\u202f%" in page.locator(".notes").inner_text()
    assert page.locator(".flip").is_hidden()


def test_warnings_of_the_library_are_shown(visit: Visits) -> None:
    page = visit().open("rent")
    page.get_by_label("area", exact=True).fill("100")
    page.locator(".notes").get_by_text("1 number is missing in the rows to predict").wait_for()


def test_a_value_that_was_never_seen_can_be_written(visit: Visits) -> None:
    each = visit()
    page = open_customer(each)
    page.get_by_label("plan", exact=True).select_option("other")
    page.get_by_label("Another value of plan").fill("platinum")
    page.get_by_text("platinum (never seen)").wait_for()
    page.get_by_label("months", exact=True).fill("900")
    assert "is-unusual" in page.locator(".field", has_text="months").get_attribute("class")
    page.get_by_text("Unlike the training rows").first.wait_for()


def test_emptied_fields_are_missing(visit: Visits) -> None:
    each = visit()
    page = open_customer(each)
    sent: list[Any] = []
    page.on("request", lambda request: sent.append(request.post_data) if request.post_data else None)
    page.get_by_role("button", name="Empty pays automatically").click()
    page.wait_for_timeout(300)
    assert json.loads(sent[-1])["rows"][0]["pays automatically"] is None
    page.get_by_role("button", name="Empty all").click()
    page.get_by_text("Fill in a value to see the prediction.").wait_for()
    assert page.locator(".evidence").is_hidden()


def test_an_answer_that_fails_is_told(visit: Visits) -> None:
    each = visit()
    page = each.open("tickets")
    page.route("**/explain", lambda route: route.abort())
    page.get_by_label("body", exact=True).fill("password")
    page.get_by_text("The server does not answer.").wait_for()
    each.problems.clear()


@pytest.mark.slow
def test_a_drawn_page_is_saved_for_inspection(visit: Visits, screenshots: Path) -> None:
    for scheme in ("light", "dark"):
        for name, viewport in (("desktop", (1280, 900)), ("phone", (390, 844))):
            size = {"width": viewport[0], "height": viewport[1]}
            each = visit(color_scheme=scheme, viewport=size)
            page = open_customer(each)
            page.locator(".flips li").first.wait_for()
            page.screenshot(path=screenshots / f"serve-{name}-{scheme}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") == viewport[0]
