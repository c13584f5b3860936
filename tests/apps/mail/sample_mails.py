"""Sample messages, and helpers that compare stores with ledgers in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable

from weigh._core import MailLedger
from weigh.apps.mail.store import MailStore


def ham(number: int) -> bytes:
    words = " ".join(f"extra{i}" for i in range(number % 7))
    return f"From: pal{number % 3}@example.org\nSubject: lunch {number}\n\nsee you at noon {words}\n".encode()


def spam(number: int) -> bytes:
    words = " ".join(f"offer{i}" for i in range(number % 5))
    return f"From: shop{number % 5}@example.com\nSubject: sale {number}\n\ncheap pills now {words}\n".encode()


def image(store: MailStore) -> bytes:
    """Return the image of a store's ledger."""
    return store.filter().ledger.image(b"")


def expected_image(store: MailStore, labelled: Iterable[tuple[bytes, str]]) -> bytes:
    """Return the image of a ledger that has learned these messages in this order."""
    ledger = MailLedger(store.settings.learner)
    for content, label in labelled:
        ledger.learn(store.settings.features.hashed_features([content]), bytes([label == "spam"]))
    return ledger.image(b"")


def counts(store: MailStore) -> tuple[int, int]:
    status = store.status()
    return status.hams, status.spams


def files(store: MailStore) -> set[str]:
    return set(os.listdir(store.folder))
