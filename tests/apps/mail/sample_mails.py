"""Messages for tests, and what a store must have made of them."""

from __future__ import annotations

import os
from collections.abc import Iterable

from weigh._core import MailLedger
from weigh.apps.mail.store import MailStore


def ham(number: int) -> bytes:
    more = " ".join(f"extra{each}" for each in range(number % 7))
    return f"From: pal{number % 3}@example.org\nSubject: lunch {number}\n\nsee you at noon {more}\n".encode()


def spam(number: int) -> bytes:
    more = " ".join(f"offer{each}" for each in range(number % 5))
    return f"From: shop{number % 5}@example.com\nSubject: sale {number}\n\ncheap pills now {more}\n".encode()


def image(store: MailStore) -> bytes:
    """All that a store knows."""
    return store.filter().ledger.image(b"")


def learned(store: MailStore, labelled: Iterable[tuple[bytes, str]]) -> bytes:
    """All that a store would know that has learned these messages in this order, and has no disk."""
    ledger = MailLedger(store.settings.learner)
    for content, label in labelled:
        ledger.learn(store.settings.features.hashed_features([content]), bytes([label == "spam"]))
    return ledger.image(b"")


def counts(store: MailStore) -> tuple[int, int]:
    status = store.status()
    return status.hams, status.spams


def files(store: MailStore) -> set[str]:
    return set(os.listdir(store.folder))
