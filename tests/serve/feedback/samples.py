"""A small model of texts, categories and numbers, and rows that it can learn."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import weigh
from weigh.model.count_model import CountModel
from weigh.serve.feedback import Change, FeedbackStore, Outcome

Row = dict[str, Any]

COLUMNS = {"text": "text", "colour": "category", "size": "number"}
DIGEST = "5f1a"
WORDS = [f"w{i}" for i in range(200)]


def make_row(number: int) -> Row:
    """Return the row with a number; different numbers give different rows."""
    rng = random.Random(number)
    return {
        "text": " ".join([f"row{number}", *rng.choices(WORDS, k=5)]),
        "colour": rng.choice(["red", "blue", None]),
        "size": rng.choice([rng.random(), rng.randrange(100), None]),
        "label": rng.choice(["ham", "spam"]),
    }


BASE_ROWS = [make_row(-number) for number in range(1, 41)]


def train(rows: list[Row]) -> CountModel:
    """Train the model on the base rows and further rows at once."""
    model: CountModel = weigh.NaiveBayes(columns=COLUMNS).fit(BASE_ROWS + rows, "label").model_
    return model


BASE = train([])


def open_store(folder: Path, *, rebase: bool = False) -> FeedbackStore:
    """Open the store of the base model in a folder."""
    return FeedbackStore.open(folder, BASE, DIGEST, rebase=rebase)


def learn(store: FeedbackStore, change_id: str, *rows: Row, who: str | None = None) -> Outcome:
    """Apply one change that learns rows."""
    [outcome] = store.apply([Change(change_id, "learn", list(rows), who)])
    return outcome


def forget(store: FeedbackStore, change_id: str, *rows: Row, who: str | None = None) -> Outcome:
    """Apply one change that forgets rows."""
    [outcome] = store.apply([Change(change_id, "forget", list(rows), who)])
    return outcome
