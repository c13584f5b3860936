"""The form, moving bars, the smallest change of a verdict, and comparisons in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.serve.page.conftest import Visit, open_customer, probability
from tests.serve.page.models import LEAVING, served

Visits = Callable[..., Visit]


def test_the_page_shows_the_prediction_and_evidence_of_the_library(visit: Visits) -> None:
    each = visit()
    page = open_customer(each)
    page.wait_for_timeout(300)
    evidence = served()["churn"].explain([{**LEAVING, "signed": None}])[0]
    assert probability(page) == pytest.approx(100 * evidence.probability, abs=0.06)
    rows = page.locator(".bars tbody tr")
    shown = {row.locator("th").inner_text(): row.locator("td.n").inner_text() for row in rows.all()}
    assert shown == {row.title: format_like_page(row.nats) for row in evidence.table}
    assert page.locator(".bars tfoot td.n").inner_text() == format_like_page(evidence.total)
    assert page.get_by_role("table", name="Evidence for leaves against stays").is_visible()
    page.locator("#live", has_text="Verdict: leaves, probability ").wait_for(state="attached")


def format_like_page(nats: float) -> str:
    sign = "+" if nats > 0 else "−"
    return f"{sign}{abs(nats):.2f}" if abs(nats) >= 0.1 else f"{sign}{float(f'{abs(nats):.2g}'):g}"


def test_a_slider_moves_the_verdict_and_the_bars(visit: Visits) -> None:
    each = visit()
    page = open_customer(each)
    page.get_by_role("button", name="Compare with this").click()
    before = page.locator("tr", has_text="months").locator(".n").inner_text()
    slider = page.get_by_label("months, as a slider")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    page.keyboard.press("End")
    each.wait_for_verdict("stays")
    assert page.locator("tr", has_text="months").locator(".n").inner_text() != before
    assert page.locator(".was:visible").count() > 0
    assert page.locator(".before").inner_text().startswith("Before: leaves, ")
    page.get_by_role("button", name="Back to it").click()
    each.wait_for_verdict("leaves")
    assert page.get_by_label("months", exact=True).input_value() == "3"


def test_applying_the_listed_changes_flips_the_verdict(visit: Visits) -> None:
    each = visit()
    page = open_customer(each)
    page.locator(".flips li").first.wait_for()
    changes = page.locator(".flips li").all_inner_texts()
    assert len(changes) >= 2
    for at in range(len(changes)):
        page.locator(".flips li").nth(at).get_by_role("button", name="Apply").click()
        each.wait_for_verdict("stays")
        page.get_by_role("button", name="Put it back").click()
        each.wait_for_verdict("leaves")
        page.wait_for_function("n => document.querySelectorAll('.flips li').length === n", arg=len(changes))


def test_removing_the_listed_words_flips_the_verdict_of_a_text(visit: Visits) -> None:
    each = visit()
    page = each.open("tickets")
    text = "My login \U0001f992 failed, the invoice is lost; Password reset please"
    page.get_by_label("body", exact=True).fill(text)
    each.wait_for_verdict("access")
    page.locator(".flips").get_by_role("button", name="Apply").click()
    page.wait_for_function("() => document.querySelector('.verdict-word').textContent !== 'access'")
    left = page.get_by_label("body", exact=True).input_value()
    assert "\U0001f992 failed, the invoice is lost;" in left
    assert "login" not in left


def test_old_answers_are_dropped(visit: Visits) -> None:
    each = visit()
    page = each.open("tickets")
    # Answers about passwords are late, and cancelling their requests has no effect.
    page.evaluate(
        """() => {
          const { fetch } = window;
          window.fetch = async (address, { signal, ...options }) => {
            const answer = await fetch(address, options);
            if (options.body?.includes("password")) await new Promise((done) => setTimeout(done, 600));
            return answer;
          };
        }"""
    )
    page.get_by_label("body", exact=True).fill("password reset")
    page.wait_for_timeout(250)
    page.get_by_label("body", exact=True).fill("invoice refund")
    each.wait_for_verdict("billing")
    page.wait_for_timeout(900)
    assert each.word() == "billing"
