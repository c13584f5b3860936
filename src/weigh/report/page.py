"""The page: facts and pictures put into templates, with everything inside it."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from importlib import import_module
from importlib.resources import files
from typing import Any

from weigh import text
from weigh.report.facts import Facts, as_plain
from weigh.report.figures import Figure
from weigh.report.needs import refuse_lacking
from weigh.report.wording import share, tied

HOME = "weigh.report"
OPTION = re.compile(r"--[a-z][a-z-]*")


def page(facts: Facts, drawn: dict[str, Figure]) -> str:
    """Return the whole page."""
    style, script = _file("report.css"), _file("report.js")
    written: str = (
        _environment()
        .get_template("report.html")
        .render(
            facts=facts,
            figures=drawn,
            style=style,
            script=script,
            policy=_policy(style, script),
            thresholds=as_plain(facts.thresholds),
        )
    )
    return written


def framed(title: str, html: str) -> str:
    """Return a page in a frame of its own, for notebooks."""
    written: str = _environment().get_template("notebook.html").render(title=title, html=html)
    return written


def _environment() -> Any:
    refuse_lacking()
    jinja2 = import_module("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": _percent,
        "amount": text.amount,
        "counted": text.counted,
        "short": _short,
        "level": _level,
        "tied": tied,
        "advice": _advice,
    }
    return environment


def _advice(text: str) -> Any:
    """A sentence as markup in which options of commands are never broken."""
    safe = import_module("markupsafe")
    return safe.Markup(OPTION.sub(r'<span class="short">\g<0></span>', str(safe.escape(tied(text)))))


def _percent(part: float | None) -> str:
    return "–" if part is None or part != part else tied(share(part))


def _level(part: float) -> str:
    return tied(f"{100 * part:g} %")


def _short(number: float | None) -> str:
    if number is None or number != number:
        return "–"
    return "∞" if number == math.inf else text.short(number).replace("-", "−")


def _file(name: str) -> str:
    return files(HOME).joinpath("templates", name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """What a browser may do with the page: run this script, use this style, and nothing else."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        f"base-uri 'none'; form-action 'none'"
    )


def _hash(inside: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'"
