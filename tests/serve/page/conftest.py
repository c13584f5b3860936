"""A running service, and browser pages that record what they request and report."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import uvicorn

from tests.serve.page.models import LEAVING, served
from weigh.serve import create_app

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_PATH = next((path for name in BROWSERS if (path := shutil.which(name))), None)


@contextlib.contextmanager
def running(app: Any) -> Iterator[str]:
    """Run an application on a free port and yield its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with all models and feedback."""
    with running(create_app(served(), tmp_path_factory.mktemp("feedback"))) as place:
        yield place


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if BROWSER_PATH is None:
        pytest.skip(f"NO BROWSER: none of {', '.join(BROWSERS)} is installed")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=BROWSER_PATH, args=["--no-sandbox"])
        yield opened
        opened.close()


class Visit:
    """A page that records console messages, errors and requests to other hosts."""

    def __init__(self, browser: Any, address: str, **settings: Any) -> None:
        self.problems: list[str] = []
        self.elsewhere: list[str] = []
        self.address = address
        self.context = browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **settings})
        self.context.set_default_timeout(8_000)
        # Requests that the page's policy blocks do not come this far.
        self.context.route(lambda url: not url.startswith((address, "blob:", "data:")), self._block)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))

    def _block(self, route: Any) -> None:
        self.elsewhere.append(route.request.url)
        route.abort()

    def open(self, model: str = "", view: str = "") -> Any:
        """Open the page of a model, or the list of models."""
        path = f"models/{quote(model, safe='')}" if model else ""
        self.page.goto(f"{self.address}{path}{view}")
        self.page.locator("h1").wait_for()
        return self.page

    def word(self) -> str:
        """Return the verdict."""
        return str(self.page.locator(".verdict-word").inner_text())

    def wait_for_verdict(self, verdict: str) -> None:
        """Wait until the page shows a verdict."""
        self.page.wait_for_function(
            "verdict => document.querySelector('.verdict-word').textContent === verdict", arg=verdict
        )


def probability(page: Any) -> float:
    """Return the probability of the verdict that a page shows, in percent."""
    return float(re.sub(r"[^\d.]", "", page.locator(".verdict-measure").inner_text()))


def open_customer(each: Visit) -> Any:
    """Open the page of a table and fill in a customer who leaves."""
    page = each.open("churn")
    page.get_by_label("plan", exact=True).select_option(LEAVING["plan"])
    for name in ("months", "calls"):
        page.get_by_label(name, exact=True).fill(str(LEAVING[name]))
    # A flag begins as missing, and the first click switches it on.
    flag = page.get_by_label("pays automatically", exact=True)
    flag.check()
    flag.uncheck()
    each.wait_for_verdict("leaves")
    return page


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Visit]]:
    """Open visits that must end without console messages and requests to other hosts."""
    visits: list[Visit] = []

    def start(place: str = address, **settings: Any) -> Visit:
        visits.append(Visit(browser, place, **settings))
        return visits[-1]

    yield start
    for each in visits:
        each.context.close()
        assert each.problems == each.elsewhere == []


@pytest.fixture(scope="package")
def screenshots() -> Path:
    """The folder for screenshots of pages."""
    folder = Path(__file__).resolve().parents[3] / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
