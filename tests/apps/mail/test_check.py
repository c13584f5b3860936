"""Tests of `check_store`, and of every operation on stores of which a part was overwritten."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.apps.mail.sample_mails import ham, spam
from weigh.apps.mail.check import check_store
from weigh.apps.mail.store import MailStore
from weigh.errors import FileError, ModelFileError

OPERATIONS: dict[str, Callable[[MailStore], Any]] = {
    "judge": lambda store: [verdict.to_dict() for verdict in store.judge([ham(1), spam(1), spam(3)])],
    "brief": lambda store: store.brief(spam(2), 5),
    "explain": lambda store: store.explain(spam(1)).to_dict(),
    "status": lambda store: (store.status().hams, store.status().spams, store.status().features),
    "unlearn": lambda store: store.unlearn([ham(1)]),
    "learn": lambda store: (store.learn([ham(50)], "ham"), store.judge([spam(1)])),
    "move": lambda store: (store.learn([ham(1)], "spam"), store.judge([spam(1)])),
    "fold": lambda store: (store.fold(), store.judge([spam(1)])),
}


def new_store(folder: Path, learner: str, words: bool = False) -> MailStore:
    """Create a store with a ledger and records after it."""
    store = MailStore.open(folder, create=True, learner=learner, words=words)
    store.learn([ham(number) for number in range(40)], "ham")
    store.learn([spam(number) for number in range(40)], "spam")
    store.fold()
    store.learn([ham(number) for number in range(40, 44)], "ham")
    store.learn([spam(number) for number in range(40, 44)], "spam")
    return store


def overwrite(path: Path, rng: random.Random, n_bytes: int) -> None:
    content = bytearray(path.read_bytes())
    at = rng.randrange(max(len(content) - n_bytes, 0) + 1)
    content[at : at + n_bytes] = rng.randbytes(min(n_bytes, len(content)))
    path.write_bytes(content)


@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
def test_overwritten_bytes_of_any_file_are_reported_or_change_no_answer(tmp_path: Path, learner: str) -> None:
    folder = tmp_path / "store"
    new_store(folder, learner, words=True)
    expected = {}
    for name, operate in OPERATIONS.items():
        expected[name] = operate(MailStore.open(shutil.copytree(folder, tmp_path / name)))
    rng = random.Random(5)
    reports = []
    for path in sorted(folder.iterdir()):
        for n_bytes in (1000, 16, 1):
            damaged = Path(shutil.copytree(folder, tmp_path / f"{path.name}-{n_bytes}"))
            if not path.stat().st_size:
                continue
            overwrite(damaged / path.name, rng, n_bytes)
            for name, operate in OPERATIONS.items():
                copy = shutil.copytree(damaged, tmp_path / "copy", dirs_exist_ok=True)
                try:
                    answer = operate(MailStore.open(copy))
                except FileError as error:
                    reports.append(str(error))
                else:
                    assert answer == expected[name], (path.name, n_bytes, name)
                shutil.rmtree(copy)
            if path.name not in ("journal.lock", "journal.queue"):
                assert not check_store(damaged).is_intact, (path.name, n_bytes)
    assert len(reports) > 30
    assert all("Restore" in report or "Use a later version" in report for report in reports)


@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
def test_an_intact_store_is_reported_as_such(tmp_path: Path, learner: str) -> None:
    new_store(tmp_path / "store", learner, words=True)
    check = check_store(tmp_path / "store")
    assert check.is_intact
    archive = ["archive.0"] if learner == "logistic" else []
    names = ["settings.json", "journal", "ledger", *archive, "words.0", "agreement"]
    assert [each.name for each in check.checks] == names
    assert check.checks[1].contents == "labels of 44 hams and 44 spams"


def lose_message(store: MailStore) -> None:
    """Write a ledger with valid checksums that lacks a message."""
    store.fold()
    ledger = MailStore.open(store.folder).filter().ledger
    ledger.unlearn(store.settings.features.hashed_features([ham(1)]), b"\0")
    path = Path(store.folder, "ledger")
    path.write_bytes(ledger.image(type(ledger).open(str(path)).note))


def test_a_ledger_that_lost_a_message_does_not_agree_with_the_journal(tmp_path: Path) -> None:
    lose_message(new_store(tmp_path / "store", "naive-bayes"))
    check = check_store(tmp_path / "store")
    assert not check.is_intact
    assert [each.name for each in check.checks if each.problem] == ["agreement"]
    assert check.checks[-1].problem.endswith(
        "the ledger has learned 43 hams and 44 spams, but the journal has labels of 44 hams and 44 spams."
    )


@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
def test_a_removed_ledger_is_reported(tmp_path: Path, learner: str) -> None:
    store = MailStore.open(tmp_path / "store", create=True, learner=learner)
    store.learn([ham(1)], "ham")
    assert check_store(store.folder).checks[2].contents == "not written yet"
    assert check_store(store.folder).is_intact
    store.fold()
    ledger = tmp_path / "store" / "ledger"
    ledger.unlink()
    check = check_store(store.folder)
    problems = {each.name: each.problem for each in check.checks if each.problem}
    assert (check.is_intact, problems) == (False, {"ledger": f"{ledger} is missing."})
    Path(store.folder, "journal").write_bytes(b"")
    names = [each.name for each in check_store(store.folder).checks if each.problem]
    assert names == ["journal"]


def test_there_must_be_a_store_to_check(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="there is no mail store"):
        check_store(tmp_path)
