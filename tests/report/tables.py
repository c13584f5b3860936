"""Tables for reports: ordinary ones, and one whose names try to inject markup."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import weigh

ATTACK = "<script>document.title='owned'</script>"
NAMES = [
    ATTACK,
    "</script><img src=x onerror=document.title='owned'>",
    "{{ 7 * 7 }}{% raw %}",
    "a.b[0]['c']",
    "quote\"'`&amp;",
    "\u202eright to left\u202c \u05e2\u05d1\u05e8\u05d9\u05ea",
    "nul\0name",
    "long " + "x" * 400,
    "giraffe \U0001f992",
]
VALUES = ["<b>bold</b>", "ok'\"", "{{ x }}", "nul\0", "\U0001f992"]
CLASSES = [ATTACK, "</title></script>spam"]
LABEL = "la<b>el\x1b[31m"


def mails(n: int = 300, seed: int = 0) -> dict[str, list[Any]]:
    """Mails with a category, a flag and a number, which mostly separate spam from ham."""
    rng = np.random.default_rng(seed)
    spam = rng.random(n) < 0.4
    sender = np.where(rng.random(n) < np.where(spam, 0.7, 0.2), "unknown", "friend")
    return {
        "sender": sender.tolist(),
        "offer": (rng.random(n) < np.where(spam, 0.8, 0.3)).tolist(),
        "length": np.round(rng.normal(np.where(spam, 2, 6), 1.5), 1).tolist(),
        "kind": np.where(spam, "spam", "ham").tolist(),
    }


def homes(n: int = 120, seed: int = 0) -> dict[str, list[Any]]:
    """Homes whose rent follows area and rooms, with noise."""
    rng = np.random.default_rng(seed)
    area, rooms = rng.uniform(30, 150, n), rng.integers(1, 6, n).astype(float)
    rent = 100 + 8 * area + 40 * rooms + rng.normal(0, 60, n)
    return {"area": area.tolist(), "rooms": rooms.tolist(), "rent": rent.tolist()}


def hostile(n: int = 200) -> dict[str, list[Any]]:
    """A table whose columns, values, classes and label contain hostile markup."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, n)
    columns = {
        name: [VALUES[int(v)] for v in rng.integers(0, 3, n) + (rng.random(n) < 0.5) * codes]
        for name in NAMES
    }
    return {**columns, LABEL: [CLASSES[code] for code in codes.tolist()]}


def requests(n: int = 150, seed: int = 0) -> dict[str, list[Any]]:
    """Short support requests whose words mostly identify the responsible team."""
    rng = np.random.default_rng(seed)
    words = [
        "login",
        "password",
        "account",
        "invoice",
        "money",
        "price",
        "refund",
        "parcel",
        "return",
        "today",
    ]
    team = rng.integers(0, 3, n)
    pick = [words[3 * t : 3 * t + 3] if rng.random() < 0.8 else words for t in team.tolist()]
    return {
        "body": [" ".join(rng.choice(each, 6)) for each in pick],
        "team": [("access", "billing", "returns")[t] for t in team.tolist()],
    }


def kinds(n: int = 400, seed: int = 0, classes: int = 26) -> dict[str, list[Any]]:
    """Rows of many classes that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return {
        "shape": [f"shape {v}" for v in ((y + rng.integers(0, 3, n)) % 40).tolist()],
        "size": rng.normal(y, 1.5).tolist(),
        "kind": [f"class {v}" for v in y.tolist()],
    }


@functools.cache
def report_of(kind: str) -> weigh.Report:
    """A small report on one kind of model."""
    few = {name: mails(150)[name] for name in ("sender", "offer", "kind")}
    if kind == "joint":
        return weigh.report_on(weigh.JointBayes().fit(few, "kind"), few)
    if kind == "text":
        return weigh.report_on(weigh.NaiveBayes().fit(requests(), "team"), requests(80, 1))
    if kind == "many":
        return weigh.report_on(weigh.NaiveBayes().fit(kinds(), "kind"), kinds(200, 1))
    if kind == "calibrated":
        model = weigh.calibrate(weigh.NaiveBayes().fit(mails(), "kind"), mails(100, 2), "kind")
        return weigh.report_on(model, mails(100, 1))
    keep = "voted" if kind == "voted" else "averaged"
    return weigh.report_on(weigh.Perceptron(keep=keep).fit(mails(150), "kind"), mails(100, 1))
