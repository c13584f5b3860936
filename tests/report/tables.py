"""Tables that reports are made of in these tests: ordinary ones, and one whose names attack the page."""

from __future__ import annotations

from typing import Any

import numpy as np

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
LABEL = "la<b>el"


def mails(n: int = 300, seed: int = 0) -> dict[str, list[Any]]:
    """Mails with a category, a flag and a number, which tell spam from ham most of the time."""
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
    """A table in which columns, values, classes and the label try to leave their place."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, n)
    columns = {
        name: [VALUES[int(v)] for v in rng.integers(0, 3, n) + (rng.random(n) < 0.5) * codes]
        for name in NAMES
    }
    return {**columns, LABEL: [CLASSES[code] for code in codes.tolist()]}
