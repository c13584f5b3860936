"""Paste, verdict, explanation, what-if, correction and undo in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.report import tables
from tests.serve.page.conftest import Visit, probability, running
from tests.serve.page.models import UNDECIDED, served
from weigh.serve import Access, TokenFile, create_app

Visits = Callable[..., Visit]
READER, TEACHER = "reader-0123456789abcdef", "teacher-0123456789abcdef"


def correct(page: Any, label: str) -> None:
    page.get_by_role("button", name="This is wrong").click()
    page.get_by_role("radio", name=label).check()
    page.get_by_role("button", name="Teach the model").click()
    page.get_by_text(f"Learned as {label}.").first.wait_for()


def test_a_corrected_verdict_changes_and_undo_restores_it(visit: Visits, screenshots: Path) -> None:
    each = visit()
    page = each.open("tickets")
    page.get_by_label("body", exact=True).fill(UNDECIDED)
    page.locator(".verdict:not(.waiting)").wait_for()
    model = served()["tickets"]
    evidence = model.explain([{"body": UNDECIDED}])[0]
    before, right = evidence.verdict, evidence.runner_up
    after = model.learn([{"body": UNDECIDED, "team": right}]).explain([{"body": UNDECIDED}])[0]
    assert after.verdict == right
    assert (each.word(), probability(page)) == (before, pytest.approx(100 * evidence.probability, abs=0.06))
    assert page.locator(".bars tbody tr").count() == len(evidence.table)
    assert page.locator("mark:not([data-legend])").count() == len(evidence.table) - 1

    page.get_by_label("body", exact=True).fill("parcel broken delivery exchange")
    each.wait_for_verdict("returns")
    page.get_by_label("body", exact=True).fill(UNDECIDED)
    each.wait_for_verdict(before)

    correct(page, right)
    each.wait_for_verdict(right)
    assert probability(page) == pytest.approx(100 * after.probability, abs=0.06)
    page.screenshot(path=screenshots / "serve-corrected.png", full_page=True)
    page.get_by_role("button", name="Undo").click()
    page.get_by_text(f"Forgotten: it no longer counts as {right}.").first.wait_for()
    each.wait_for_verdict(before)
    assert probability(page) == pytest.approx(100 * evidence.probability, abs=0.06)
    assert page.get_by_role("button", name="Undo").is_hidden()


def test_the_numbers_of_rows_follow_a_correction(visit: Visits) -> None:
    page = visit().open("tickets")
    page.get_by_label("body", exact=True).fill("password reset")
    page.locator(".verdict:not(.waiting)").wait_for()
    correct(page, "billing")
    page.get_by_role("link", name="About the model").click()
    page.get_by_role("row", name=re.compile("billing 31")).wait_for()
    page.get_by_role("link", name="Try it").click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Forgotten").first.wait_for()


def test_a_lost_answer_is_asked_for_again_under_the_same_id(visit: Visits) -> None:
    each = visit()
    page = each.open("tickets")
    bodies: list[str] = []

    def lose_first(route: Any) -> None:
        bodies.append(route.request.post_data)
        route.abort() if len(bodies) == 1 else route.continue_()

    page.route("**/learn", lose_first)
    page.get_by_label("body", exact=True).fill("password reset")
    page.locator(".verdict:not(.waiting)").wait_for()
    correct(page, "billing")
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Forgotten").first.wait_for()
    assert len(bodies) == 2
    assert bodies[0] == bodies[1]
    assert re.search(r'"id":"[0-9a-f]{32}"', bodies[0])
    assert each.problems == ["Failed to load resource: net::ERR_FAILED"]
    each.problems.clear()


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("lead", "its file has the weights and not the state of their training"),
        ("rent", None),
    ],
)
def test_a_model_that_cannot_learn_says_why(visit: Visits, model: str, reason: str | None) -> None:
    page = visit().open(model)
    page.get_by_role("button", name="Fill in an example").click()
    page.locator(".verdict:not(.waiting)").wait_for()
    assert page.get_by_role("button", name="This is wrong").count() == 0
    assert page.locator(".correction").count() == (0 if reason is None else 1)
    if reason is not None:
        assert reason in page.locator(".correction").inner_text()


def test_without_a_feedback_folder_the_page_says_so(visit: Visits) -> None:
    with running(create_app(served()["tickets"])) as place:
        page = visit(place).open()
        page.get_by_label("body", exact=True).fill("password reset")
        page.locator(".verdict:not(.waiting)").wait_for()
        assert page.locator(".correction").inner_text() == (
            "This server was started without a folder for feedback, so it does not learn."
        )


def test_a_token_is_asked_for_and_its_scope_decides_about_corrections(visit: Visits, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ann read {READER}\nbob read,learn {TEACHER}\n")
    tokens.chmod(0o600)
    app = create_app(served()["tickets"], tmp_path / "feedback", access=Access(TokenFile(tokens)))
    refused = "Failed to load resource: the server responded with a status of 401 (Unauthorized)"
    with running(app) as place:
        each = visit(place)
        page = each.open()
        page.get_by_label("Token").fill("unknown-0123456789abcdef")
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("The token was refused. This token is unknown.").wait_for()
        page.get_by_label("Token").fill(READER)
        page.get_by_role("button", name="Continue").click()
        page.get_by_label("body", exact=True).fill("password reset")
        page.locator(".verdict:not(.waiting)").wait_for()
        assert page.locator(".correction").inner_text() == (
            "This token may read, but not correct the model: it does not have the scope learn."
        )
        assert page.evaluate("Object.values(localStorage)") == []
        assert page.evaluate("Object.values(sessionStorage)") == [READER]
        page.get_by_role("button", name="Forget the token").click()
        page.get_by_label("Token").fill(TEACHER)
        page.get_by_role("button", name="Continue").click()
        page.get_by_label("body", exact=True).fill("password reset")
        page.get_by_role("button", name="This is wrong").wait_for()
        assert each.problems == [refused] * 3
        each.problems.clear()


def test_many_classes_are_chosen_from_a_menu(visit: Visits) -> None:
    page = visit().open("many")
    page.get_by_role("button", name="Fill in an example").click()
    page.get_by_role("button", name="This is wrong").click()
    options = page.get_by_label("Right class").locator("option")
    assert options.count() == len(set(tables.kinds()["kind"])) - 1
    page.get_by_role("button", name="Cancel").click()
    assert page.evaluate("document.activeElement.textContent") == "This is wrong"


def test_a_question_about_another_row_is_withdrawn(visit: Visits) -> None:
    each = visit()
    page = each.open("tickets")
    page.get_by_label("body", exact=True).fill("password reset")
    each.wait_for_verdict("access")
    page.get_by_role("button", name="This is wrong").click()
    page.get_by_label("body", exact=True).fill("invoice refund")
    each.wait_for_verdict("billing")
    page.get_by_role("button", name="This is wrong").wait_for()
    assert page.get_by_role("button", name="Teach the model").count() == 0
