"""Axe finds nothing on the page, in light and dark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.serve.page.conftest import Visit, open_customer

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing")
pytestmark = pytest.mark.slow
Visits = Callable[..., Visit]
CUSTOMER_FILE = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"area,rooms\n50,2\n"}


def find_violations(page: Any) -> list[str]:
    # The page's policy keeps scripts of others out, so that axe is evaluated by the browser's debugger.
    found = axe.Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html'][:120]}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit: Visits, scheme: str) -> None:
    each = visit(color_scheme=scheme)
    page = open_customer(each)
    page.locator(".flips li").first.wait_for()
    page.get_by_role("button", name="Compare with this").click()
    page.get_by_label("months", exact=True).fill("20")
    page.locator(".was:visible").first.wait_for()
    page.get_by_role("button", name="This is wrong").click()
    page.locator("summary").first.click()
    page.wait_for_function("() => document.querySelector('.worked pre').textContent")
    # Boxes whose content overflows can be scrolled with the keyboard from the next frame on.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert find_violations(page) == []
    page.get_by_role("link", name="About the model").click()
    assert find_violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_texts_files_and_the_list(visit: Visits, scheme: str) -> None:
    each = visit(color_scheme=scheme)
    assert find_violations(each.open()) == []
    page = each.open("tickets")
    page.get_by_label("body", exact=True).fill("Please reset my password, the invoice was paid")
    page.locator("mark:not([data-legend])").first.wait_for()
    assert find_violations(page) == []
    page = each.open("rent", "#file")
    page.get_by_label("Choose a CSV file").set_input_files(CUSTOMER_FILE)
    page.locator(".preview").wait_for()
    assert find_violations(page) == []
