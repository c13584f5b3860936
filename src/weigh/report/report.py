"""The report and the rendering of its facts as a self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from weigh import errors, text
from weigh.advice import Step
from weigh.atomic_files import atomic_write, error_reason
from weigh.report.facts import ReportFacts, format_share, keep_percent_together
from weigh.report.figures import Figure, draw_figures
from weigh.report.summary import Tile
from weigh.result import Result, Section, Table, to_json
from weigh.text import truncate

PACKAGE = "weigh.report"
OPTION_PATTERN = re.compile(r"--[a-z][a-z-]*")
REQUIRED_PACKAGES = {"altair": "Altair", "vl_convert": "vl-convert", "jinja2": "Jinja2"}


def no_progress(_: str) -> None:
    """Ignore a status line."""


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """The result of `report_on`: `facts` are typed data, `html` is a self-contained page."""

    facts: ReportFacts
    say: Callable[[str], None] = field(default=no_progress)

    @cached_property
    def html(self) -> str:
        """The page; the same facts give the same bytes."""
        check_report_packages()
        return render_page(self.facts, draw_figures(self.facts, self.say))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file atomically."""
        data = self.html.encode("utf-8", "replace")
        try:
            with atomic_write(path, creates_folders=True) as file:
                file.write(data)
        except OSError as cause:
            message = f"{os.fspath(path)} cannot be written: {error_reason(cause)}. Check its folder."
            raise errors.FileError(message) from cause

    def to_dict(self) -> dict[str, Any]:
        """Return the facts for JSON."""
        return self.facts.to_dict()

    @property
    def headline(self) -> str:
        """The title of the report."""
        return self.facts.title

    def sections(self) -> list[Section]:
        """Return the summary of the report."""
        summary = self.facts.summary
        lines = [line for tile in summary.tiles for line in _tile_lines(tile)]
        return [
            Section("summary", [summary.what]),
            Section("measures", [Table(lines, left=3, indent="  ", has_header=False)]),
            Section("next", [f"- {step}" for step in summary.next], "Next:"),
        ]

    def _repr_html_(self) -> str:
        return render_notebook_frame(self.facts.title, self.html)

    def __repr__(self) -> str:
        return f"<Report: {truncate(self.facts.title, 50)}>"


def _tile_lines(tile: Tile) -> Iterator[list[str]]:
    yield [tile.name, tile.value, tile.note]
    if tile.guess:
        yield ["", "", tile.guess]


def render_page(facts: ReportFacts, figures: dict[str, Figure]) -> str:
    """Render the page."""
    style, script = _read_template("report.css"), _read_template("report.js")
    page: str = (
        _jinja_environment()
        .get_template("report.html")
        .render(
            facts=facts,
            figures=figures,
            style=style,
            script=script,
            policy=_content_security_policy(style, script),
            thresholds=to_json(facts.thresholds),
        )
    )
    return page


def render_notebook_frame(title: str, html: str) -> str:
    """Render a page inside an iframe, for notebooks."""
    frame: str = _jinja_environment().get_template("notebook.html").render(title=title, html=html)
    return frame


def _jinja_environment() -> Any:
    check_report_packages()
    jinja2 = import_module("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read_template),
        autoescape=True,
        finalize=_escape_control_characters,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": _format_percent,
        "amount": text.format_count,
        "counted": text.format_quantity,
        "short": _format_short,
        "level": _format_level,
        "tied": keep_percent_together,
        "advice": _advice_html,
    }
    return environment


def _escape_control_characters(value: Any) -> Any:
    """Escape the control characters of text; markup, which is a subclass of str, is already escaped."""
    return text.escape_lines(value) if type(value) is str else value


def _advice_html(sentence: str) -> Any:
    """Return a sentence as HTML in which lines do not break inside command-line options."""
    safe = import_module("markupsafe")
    escaped = str(safe.escape(text.escape_lines(keep_percent_together(sentence))))
    return safe.Markup(OPTION_PATTERN.sub(r'<span class="short">\g<0></span>', escaped))


def _format_percent(share: float | None) -> str:
    return "–" if share is None or share != share else keep_percent_together(format_share(share))


def _format_level(level: float) -> str:
    return keep_percent_together(f"{100 * level:g} %")


def _format_short(number: float | None) -> str:
    if number is None or number != number:
        return "–"
    return "∞" if number == math.inf else text.format_float(number).replace("-", "−")


def _read_template(name: str) -> str:
    return files(PACKAGE).joinpath("templates", name).read_text("utf-8")


def _content_security_policy(style: str, script: str) -> str:
    """Return a policy that allows this script and this style, and no request at all."""
    return (
        f"default-src 'none'; script-src {_csp_hash(script)}; style-src {_csp_hash(style)}; "
        f"base-uri 'none'; form-action 'none'"
    )


def _csp_hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def check_report_packages() -> None:
    """Raise before any work is done if a package that renders the page is missing."""
    missing = [name for module, name in REQUIRED_PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise errors.Unsupported(
            f"The report needs {', '.join(REQUIRED_PACKAGES.values())}, but {' and '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not installed. In a checkout of weigh: pip install "
            "'.[report]'.",
            hint=(Step("facts alone", "The facts alone (to_dict())"), " need no other package."),
        )
