"""Threads that share a mail store or a filter lose no messages."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from weigh.apps.mail.filter import Filter
from weigh.apps.mail.store import MailStore

N_THREADS = 6


def message(thread: int, number: int) -> bytes:
    return f"Subject: offer {thread}\n\nword{number} from{thread}".encode()


def in_threads(work: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(N_THREADS) as pool:
        list(pool.map(work, range(N_THREADS)))


def test_a_store_counts_every_message_that_threads_learn_and_unlearn(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "mail", create=True)

    def work(thread: int) -> None:
        for number in range(8):
            store.learn([message(thread, number)], ("ham", "spam")[number % 2])
            assert len(store.judge([message(thread, number)])) == 1
        store.unlearn([message(thread, 0)])

    in_threads(work)
    status = store.status()
    assert (status.hams, status.spams) == (3 * N_THREADS, 4 * N_THREADS)


def test_a_filter_counts_every_message_that_threads_learn_and_unlearn() -> None:
    mail = Filter()

    def work(thread: int) -> None:
        for number in range(20):
            mail.learn([message(thread, number)], ["ham"])
            mail.judge([message(thread, number)])
        mail.unlearn([message(thread, 0)], ["ham"])

    in_threads(work)
    assert mail.ledger.hams == 19 * N_THREADS
