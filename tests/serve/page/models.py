"""Small models of every kind for the page."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import weigh
from tests.report import tables

TEAMS = {
    "access": ["login", "password", "account", "reset"],
    "billing": ["invoice", "charged", "refund", "payment"],
    "returns": ["parcel", "broken", "exchange", "delivery"],
}
COMMON = ["please", "help", "thanks", "today", "the", "my", "was", "again"]
# Its words hardly speak for one team, so that one correction changes the verdict.
UNDECIDED = "please help me today"

LEAVING = {"plan": "basic", "months": 3, "calls": 5, "pays automatically": "no"}


def tickets(n: int = 90) -> dict[str, list[str]]:
    """Support tickets with the responsible team."""
    rng = np.random.default_rng(3)
    teams = [list(TEAMS)[row % 3] for row in range(n)]
    body = [" ".join([*rng.choice(TEAMS[team], 4), *rng.choice(COMMON, 4)]) for team in teams]
    return {"body": body, "team": teams}


def customers(n: int = 400) -> dict[str, list[Any]]:
    """Customers who stay or leave: a category, numbers, a flag and a date."""
    rng = np.random.default_rng(2)
    months, calls = rng.integers(1, 60, n), rng.poisson(1.5, n)
    pays = rng.random(n) < 0.5
    odds = -1.2 + 0.6 * calls - 0.04 * months - 0.9 * pays
    leaves = rng.random(n) < 1 / (1 + np.exp(-odds))
    return {
        "plan": rng.choice(["basic", "plus", "family"], n).tolist(),
        "months": months.astype(float).tolist(),
        "calls": calls.astype(float).tolist(),
        "pays automatically": ["yes" if each else "no" for each in pays],
        "signed": [f"2023-{1 + row % 12:02d}-{1 + row % 28:02d}" for row in range(n)],
        "churn": ["leaves" if each else "stays" for each in leaves],
    }


def mails() -> dict[str, list[str]]:
    """Tickets with a subject."""
    table = tickets()
    return {
        "subject": [body.split()[0] for body in table["body"]],
        "text": table["body"],
        "team": table["team"],
    }


@functools.cache
def served() -> dict[str, Any]:
    """Models by name."""
    naive_bayes = weigh.NaiveBayes
    return {
        "tickets": naive_bayes(columns={"body": "text"}).fit(tickets(), "team").model_,
        "churn": naive_bayes().fit(customers(), "churn").model_,
        "rent": weigh.LinearRegression().fit(tables.homes(), "rent").model_,
        "lead": weigh.Perceptron().fit(tables.mails(150), "kind").model_,
        "inbox": naive_bayes(columns={"subject": "text", "text": "text"}).fit(mails(), "team").model_,
        "many": naive_bayes().fit(tables.kinds(), "kind").model_,
        f"hostile {tables.ATTACK.replace('/', '')}": naive_bayes().fit(tables.hostile(), tables.LABEL).model_,
        "hostile words": naive_bayes(columns={"<b>body": "text"}).fit(hostile_words(), "<i>team").model_,
    }


def hostile_words() -> dict[str, list[str]]:
    """Texts that are markup."""
    texts = ["<img src=x onerror=document.title='owned'> good", "<script>document.title='owned'</script> bad"]
    return {"<b>body": texts * 10, "<i>team": [tables.ATTACK, "<u>other"] * 10}
