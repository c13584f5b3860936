"""The files of the page, its addresses and headers, several models, and mounting in other applications."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.report import tables
from tests.serve.page.conftest import Visit, running
from tests.serve.page.models import served
from weigh.serve import create_app

Visits = Callable[..., Visit]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("", "text/html; charset=utf-8"),
        ("models/tickets", "text/html; charset=utf-8"),
        ("static/main.js", "text/javascript; charset=utf-8"),
        ("static/page.css", "text/css; charset=utf-8"),
        ("static/icon.svg", "image/svg+xml"),
    ],
)
def test_files_carry_the_policy_and_a_tag(address: str, path: str, media_type: str) -> None:
    answer = httpx.get(address + path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == media_type
    policy = POLICY if media_type.startswith("text/html") else "default-src 'none'; frame-ancestors 'none'"
    assert answer.headers["content-security-policy"] == policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-cache"
    again = httpx.get(address + path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["static/../routes.py", "static/%2e%2e%2froutes.py", "static/absent.js"])
def test_other_files_do_not_exist(address: str, path: str) -> None:
    assert httpx.get(address + path).status_code == 404


def test_the_page_names_no_other_host() -> None:
    from weigh.serve.page.assets import shell, static_files

    for name, asset in {**static_files(), "page.html": shell(1)}.items():
        text = asset.content.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, name
        assert "https://" not in text, name


def test_a_mail_is_decoded(address: str) -> None:
    raw = b"From ann Thu Aug 22 12:36:23 2002\nFrom: a@example.org\nSubject: =?utf-8?q?gr=C3=BCn?=\n\nHello\n"
    mail = httpx.post(f"{address}page/mail", content=raw).json()
    assert mail == {
        "from": "a@example.org",
        "to": None,
        "subject": "grün",
        "text": "Hello\n",
        "hosts": [],
        "flags": mail["flags"],
        "size": "up to 1 kB",
    }


def test_several_models_are_listed_and_one_is_shown_at_once(visit: Visits) -> None:
    page = visit().open()
    assert page.locator("h1").inner_text() == "Models"
    assert page.locator(".entry").count() == len(served())
    page.get_by_role("link", name="churn churn among 2 classes from 5 columns").click()
    page.get_by_role("heading", name="churn").wait_for()
    page.get_by_role("link", name="All models").click()
    page.get_by_role("heading", name="Models").wait_for()
    with running(create_app({"rent": served()["rent"]})) as place:
        page = visit(place).open()
        assert page.locator("h1").inner_text() == "rent"
        assert page.get_by_role("link", name="All models").count() == 0


def test_an_unknown_model_is_told(visit: Visits) -> None:
    each = visit()
    page = each.open("absent")
    assert page.get_by_role("alert").inner_text().startswith("There is no model 'absent'; there are ")
    each.problems.clear()


def test_the_page_works_below_a_path_of_another_application(visit: Visits) -> None:
    inner = create_app({"rent": served()["rent"], "tickets": served()["tickets"]})
    app = Starlette(routes=[Mount("/scores", app=inner)])
    with running(app) as place:
        page = visit(f"{place}scores/").open()
        page.get_by_role("link", name="tickets").click()
        page.get_by_label("body", exact=True).fill("password reset")
        page.locator(".verdict:not(.waiting)").wait_for()


def test_the_report_beside_a_model_is_linked(visit: Visits, tmp_path: Path) -> None:
    import weigh

    model = served()["rent"]
    model.save(tmp_path / "rent.weigh")
    weigh.report_on(model, tables.homes(60, 1)).save(tmp_path / "rent.html")
    with running(create_app(tmp_path)) as place:
        each = visit(place)
        page = each.open("rent", "#about")
        assert page.get_by_text(model_digest(tmp_path / "rent.weigh")).is_visible()
        page.get_by_role("link", name="Open the report").click()
        page.locator("#quality").wait_for()
        each.problems.clear()


def model_digest(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()
