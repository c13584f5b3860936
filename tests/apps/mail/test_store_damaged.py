"""Tests of damaged stores: damage is reported before anything depends on it, and nothing changes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.apps.mail.sample_mails import counts, ham, image, spam
from weigh._core import MailLedger
from weigh.apps.mail.filter import Filter
from weigh.apps.mail.storage import SidecarFile
from weigh.apps.mail.store import MailStore
from weigh.errors import FileError, JournalError, ModelFileError
from weigh.journal.storage import JournalRecord

ORDERED = ("logistic", "perceptron")


def new_store(folder: Path, **options: Any) -> MailStore:
    store = MailStore.open(folder, create=True, **options)
    store.learn([ham(number) for number in range(5)], "ham")
    store.learn([spam(number) for number in range(5)], "spam")
    store.fold()
    return store


def flip_bit(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("learner", ORDERED)
@pytest.mark.parametrize("offset", [0, 16, 18, 21, 40, -1])
def test_no_message_is_unlearned_with_a_damaged_archive(tmp_path: Path, learner: str, offset: int) -> None:
    store = new_store(tmp_path / "store", learner=learner)
    before, archive = image(store), tmp_path / "store" / "archive.0"
    flip_bit(archive, offset)
    journal = Path(store.folder, "journal").read_bytes()
    for opened in (store, MailStore.open(store.folder)):
        with pytest.raises(ModelFileError, match=r"archive.0 is damaged. Restore the whole folder"):
            opened.unlearn([ham(1)])
        with pytest.raises(ModelFileError, match=r"archive.0 is damaged. Restore the whole folder"):
            opened.learn([ham(1)], "spam")
        assert image(opened) == before
    assert Path(store.folder, "journal").read_bytes() == journal
    flip_bit(archive, offset)
    store.unlearn([ham(1)])
    assert counts(MailStore.open(store.folder)) == (4, 5)


@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
@pytest.mark.parametrize("offset", [0, 8, 9, 12, -1])
def test_damaged_words_are_reported_and_judging_still_works(
    tmp_path: Path, learner: str, offset: int
) -> None:
    store = new_store(tmp_path / "store", learner=learner, words=True)
    before, words = image(store), tmp_path / "store" / "words.0"
    verdicts = store.judge([ham(1), spam(1)])
    offset %= words.stat().st_size
    flip_bit(words, offset)
    fresh = MailStore.open(store.folder)
    for call in (fresh.strongest, lambda: fresh.unlearn([ham(1)]), lambda: fresh.learn([ham(1)], "spam")):
        with pytest.raises(ModelFileError, match=r"words.0 is damaged. Restore the whole folder"):
            call()
    assert image(fresh) == image(MailStore.open(store.folder)) == before
    assert fresh.judge([ham(1), spam(1)]) == verdicts
    fresh.learn([ham(6)], "ham")
    fresh.fold()
    with pytest.raises(ModelFileError, match=r"words.0 is damaged. Restore the whole folder"):
        fresh.strongest()
    flip_bit(words, offset)
    assert {each.name for each in fresh.strongest(999).ham} >= {"noon", "extra5"}


@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
@pytest.mark.parametrize("lost", ["journal", "ledger"])
def test_nothing_is_learned_into_an_unreadable_store(tmp_path: Path, learner: str, lost: str) -> None:
    store = new_store(tmp_path / "store", learner=learner)
    path = tmp_path / "store" / lost
    content = path.read_bytes()
    path.unlink()
    message = "Restore the whole folder from a copy"
    for call in (
        lambda: store.learn([ham(9)], "ham"),
        lambda: store.unlearn([ham(1)]),
        lambda: MailStore.open(store.folder).learn([ham(9)], "ham"),
        lambda: MailStore.open(store.folder).status(),
    ):
        with pytest.raises(FileError, match=message):
            call()
    path.write_bytes(content)
    assert counts(MailStore.open(store.folder)) == (5, 5)


def test_a_store_without_its_journal_does_not_start_empty(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "store", create=True)
    store.learn([ham(1)], "ham")
    (tmp_path / "store" / "journal").unlink()
    for create in (False, True):
        with pytest.raises(ModelFileError, match="journal is missing"):
            MailStore.open(store.folder, create=create)


@pytest.mark.parametrize(
    ("mark", "payload"),
    [
        (1, b""),
        (1, bytes(8)),
        (1, bytes([9]) + bytes(8)),
        (7, bytes(9)),
        (1, bytes(1) + struct.pack("<II", 1, 0)),
        (1, bytes(1) + struct.pack("<II", 2**32 - 1, 2**32 - 1) + bytes(8)),
    ],
)
@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
def test_a_journal_with_foreign_records_is_rejected(
    tmp_path: Path, learner: str, mark: int, payload: bytes
) -> None:
    store = new_store(tmp_path / "store", learner=learner)
    with store._journal.transaction() as transaction:
        transaction.append([JournalRecord(bytes(16), mark, payload)])
    for call in (
        lambda: MailStore.open(store.folder).judge([ham(1)]),
        lambda: MailStore.open(store.folder).fold(),
        lambda: MailStore.open(store.folder).unlearn([ham(1)]),
    ):
        with pytest.raises(ModelFileError, match="the journal cannot be used: a record is"):
            call()


@pytest.mark.parametrize("body", [b"x", bytes(20), bytes(17) + b"\1\0\0\0", bytes(21) + b"x"])
def test_a_malformed_group_of_records_is_rejected(tmp_path: Path, body: bytes) -> None:
    store = new_store(tmp_path / "store")
    with store._journal.transaction() as turn:
        turn._parts.append(body)
    with pytest.raises(JournalError, match=r"journal is damaged: a record is cut short. Restore the whole"):
        MailStore.open(store.folder).judge([ham(1)])


def test_a_long_sidecar_file_is_checked_block_by_block(tmp_path: Path) -> None:
    content = bytes(range(256)) * 9_000
    path = tmp_path / "archive"
    sidecar = SidecarFile().append(str(path), [content])
    sidecar.check(str(path))
    assert sidecar.read(str(path)) == content
    for offset in (0, 1 << 20, -1):
        flip_bit(tmp_path / "archive.0", offset)
        for use in (sidecar.check, sidecar.read):
            with pytest.raises(ModelFileError, match=r"archive\.0 is damaged"):
                use(str(path))
        flip_bit(tmp_path / "archive.0", offset)
    sidecar.check(str(path))


@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
def test_a_filter_of_a_damaged_store_names_the_file_and_changes_nothing(tmp_path: Path, learner: str) -> None:
    store = MailStore.open(tmp_path / "store", create=True, learner=learner)
    known = [ham(number) for number in range(200)]
    store.learn(known, "ham")
    store.learn([spam(number) for number in range(200)], "spam")
    store.fold()
    ledger = Path(store.folder, "ledger")
    expected = MailStore.open(store.folder).judge(known)
    flip_bit(ledger, 9000)
    opened = MailStore.open(store.folder).filter()

    calls: list[Callable[[], object]] = [
        lambda: opened.judge(known),
        lambda: [opened.explain(content) for content in known],
        lambda: [opened.brief(content, 3) for content in known],
        lambda: opened.learn([ham(number) for number in range(500, 700)], "ham"),
    ]
    if learner not in ORDERED:
        calls.append(lambda: opened.unlearn(known, "ham"))
    for call in calls:
        with pytest.raises(ModelFileError, match=r"ledger cannot be used: its bytes 8192 to .* or rebuild"):
            call()
    assert (opened.ledger.hams, opened.ledger.spams) == (200, 200)
    flip_bit(ledger, 9000)
    assert opened.judge(known) == expected
    opened.learn([ham(500)], "ham")
    assert opened.ledger.hams == 201


def test_a_filter_without_a_store_reports_a_damaged_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    written = Filter()
    written.learn([ham(1), spam(1)], ["ham", "spam"])
    path.write_bytes(written.ledger.image(b""))
    flip_bit(path, 5000)
    with pytest.raises(
        ModelFileError, match=r"^The ledger cannot be used: its bytes 4096 to \d+ are damaged"
    ):
        Filter(ledger=MailLedger.open(str(path))).learn([ham(2)], "ham")
