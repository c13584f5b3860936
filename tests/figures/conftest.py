"""The tables of the lectures, and exact numbers read from a worked calculation."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from weigh.model import BayesModel

Worked = Callable[[BayesModel, dict[str, Any]], dict[str, dict[str, Fraction]]]
Table = dict[str, list[Any]]


@pytest.fixture
def spam_table() -> Table:
    """Five mails: what they contain, how familiar the sender is, whether they are spam."""
    return {
        "CS373": [0, 0, 0, 0, 1],
        "investment": [1, 0, 1, 1, 0],
        "familiarity": ["low", "high", "high", "medium", "low"],
        "spam": ["spam", "not-spam", "spam", "not-spam", "not-spam"],
    }


@pytest.fixture
def new_mail() -> dict[str, Any]:
    """The mail to classify."""
    return {"CS373": 1, "investment": 1, "familiarity": "high"}


@pytest.fixture
def computer_table() -> Table:
    """Fourteen people: age, income, student, credit rating, and whether they buy a computer."""
    rows = """
        <=30 high no fair no        | <=30 high no excellent no      | 31..40 high no fair yes
        >40 medium no fair yes      | >40 low yes fair yes           | >40 low yes excellent no
        31..40 low yes excellent yes| <=30 medium no fair no         | <=30 low yes fair yes
        >40 medium yes fair yes     | <=30 medium yes excellent yes  | 31..40 medium no excellent yes
        31..40 high yes fair yes    | >40 medium no excellent no
    """
    cells = [row.split() for row in rows.replace("\n", "|").split("|") if row.strip()]
    names = ["age", "income", "student", "credit_rating", "buys_computer"]
    return {name: [row[i] for row in cells] for i, name in enumerate(names)}


@pytest.fixture
def worked() -> Worked:
    """Return the numbers of a worked calculation by line and class."""

    def read(model: BayesModel, row: dict[str, Any]) -> dict[str, dict[str, Fraction]]:
        head, *lines = model.explain(row)[0].worked().splitlines()
        labels = head.split()
        numbers = {}
        for line in lines:
            title, *cells = re.split(r"\s{2,}", line.strip())
            if len(cells) == len(labels) and all(re.search(r"\d", cell) for cell in cells):
                numbers[title] = {label: _number(cell) for label, cell in zip(labels, cells, strict=True)}
        return numbers

    return read


def _number(cell: str) -> Fraction:
    """Parse the last fraction of a cell such as '(1 + 1) / (3 + 2) = 2/5', else its first number."""
    ratios = re.findall(r"(?<!\S)([\d.]+)/([\d.]+)", cell)
    above, below = ratios[-1] if ratios else (re.findall(r"[\d.]+(?:e-\d+)?", cell)[0], "1")
    return Fraction(above) / Fraction(below)
