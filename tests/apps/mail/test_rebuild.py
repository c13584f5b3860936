"""Tests of `rebuild_store`: what the files still contain is kept, and the rest is learned from mail."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.apps.mail.sample_mails import counts, ham, image, spam
from tests.apps.mail.test_check import lose_message, new_store
from weigh.apps.mail import rebuild
from weigh.apps.mail.check import check_store
from weigh.apps.mail.rebuild import rebuild_store
from weigh.apps.mail.store import MailStore
from weigh.errors import DamagedJournal, ModelFileError
from weigh.journal.storage import flush_to_disk


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def learn_everything(store: MailStore) -> None:
    store.learn([ham(number) for number in range(44)], "ham")
    store.learn([spam(number) for number in range(44)], "spam")


def test_an_intact_store_is_not_changed(tmp_path: Path) -> None:
    new_store(tmp_path / "store", "naive-bayes")
    before = {path.name: path.read_bytes() for path in (tmp_path / "store").iterdir()}
    result = rebuild_store(tmp_path / "store", learn_everything)
    assert " ".join(str(result).split()) == f"{tmp_path / 'store'} is intact. Nothing was changed."
    assert {path.name: path.read_bytes() for path in (tmp_path / "store").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_counts_are_learned_again_from_mail(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = new_store(folder, "naive-bayes", words=True)
    expected, words, salt = image(store), store.strongest(5).to_dict(), store.settings.features.salt
    damaged = folder / "ledger"
    flip(damaged, 5000)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(
        ModelFileError, match=r"88 learned messages is damaged.* Nothing was changed\. Give this mail"
    ):
        rebuild_store(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    result = rebuild_store(folder, learn_everything)
    assert (result.hams, result.spams, result.missing) == (44, 44, 0)
    rebuilt = MailStore.open(folder)
    assert (image(rebuilt), rebuilt.settings.features.salt) == (expected, salt)
    assert rebuilt.strongest(5).to_dict() == words
    assert check_store(folder).is_intact
    kept = {path.name: path.read_bytes() for path in Path(result.damaged).iterdir()}
    assert (result.damaged, kept) == (f"{folder}.damaged-1", before)
    assert rebuilt.learn([ham(1)], "ham").known == 1


def test_messages_that_were_not_found_again_are_counted(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store", "naive-bayes")
    flip(Path(store.folder, "ledger"), 5000)
    result = rebuild_store(store.folder, lambda new: new.learn([ham(1), spam(1), ham(99)], "ham"))
    # The journal still has the eight messages that were learned last.
    assert (result.hams, result.spams, result.missing) == (7, 4, 78)
    assert "78 learned messages could not be found again." in " ".join(str(result).split())
    assert check_store(store.folder).is_intact


def test_a_ledger_that_lost_a_message_is_not_kept(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store", "naive-bayes")
    expected = image(store)
    lose_message(store)
    with pytest.raises(ModelFileError, match=r"learned messages is damaged.* Nothing was changed\."):
        rebuild_store(store.folder)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    result = rebuild_store(store.folder, learn_everything)
    assert (result.hams, result.spams, result.missing) == (44, 44, 0)
    assert image(MailStore.open(store.folder)) == expected
    assert check_store(store.folder).is_intact
    assert not rebuild_store(store.folder).damaged


def test_a_ledger_with_other_messages_than_the_archive_is_learned_again(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store", "logistic")
    store.fold()
    expected = image(store)
    path = Path(store.folder, "ledger")
    ledger = MailStore.open(store.folder).filter().ledger
    ledger.learn(store.settings.features.hashed_features([ham(99)]), b"\0")
    path.write_bytes(ledger.image(type(ledger).open(str(path)).note))
    assert not check_store(store.folder).is_intact
    assert rebuild_store(store.folder).missing == 0
    assert image(MailStore.open(store.folder)) == expected
    assert check_store(store.folder).is_intact


@pytest.mark.parametrize("learner", ["logistic", "perceptron"])
def test_a_ledger_is_learned_again_from_the_archive(tmp_path: Path, learner: str) -> None:
    store = new_store(tmp_path / "store", learner)
    expected = image(store)
    flip(Path(store.folder, "ledger"), 5000)
    result = rebuild_store(store.folder)
    assert (result.hams, result.spams, result.missing) == (44, 44, 0)
    assert image(MailStore.open(store.folder)) == expected
    assert image(store) == expected
    assert MailStore.open(store.folder).unlearn([ham(1)]).ham == 1
    assert check_store(store.folder).is_intact


@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
@pytest.mark.parametrize("damage", ["flip", "remove"])
def test_a_ledger_is_kept_if_only_names_are_damaged(tmp_path: Path, learner: str, damage: str) -> None:
    store = new_store(tmp_path / "store", learner, words=True)
    verdicts = store.judge([ham(1), spam(1)])
    words = Path(store.folder, "words.0")
    flip(words, 50) if damage == "flip" else words.unlink()
    assert not check_store(store.folder).is_intact
    result = rebuild_store(store.folder)
    assert (result.hams, result.spams, result.missing, result.lost_names) == (44, 44, 0, True)
    text = " ".join(str(result).split())
    assert "No message is missing. The words of earlier mail are lost" in text
    assert check_store(store.folder).is_intact
    rebuilt = MailStore.open(store.folder)
    assert rebuilt.judge([ham(1), spam(1)]) == verdicts
    rebuilt.learn([b"Subject: zebra\n\nzebra crossing"], "spam")
    assert "zebra" in str(rebuilt.strongest(100))
    assert rebuilt.unlearn([ham(1)]).ham == 1
    assert check_store(store.folder).is_intact


def test_kept_files_are_on_disk_before_any_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path / "store", "logistic")
    flip(Path(store.folder, "ledger"), 5000)
    flushed: list[str | int] = []
    replace = os.replace

    def flush(descriptor: int) -> None:
        flush_to_disk(descriptor)
        flushed.append(os.fstat(descriptor).st_ino)

    def check_flushed(source: str, target: str) -> None:
        if os.path.dirname(target) == store.folder:
            assert f"{store.folder}.damaged-1" in flushed
            assert str(tmp_path) in flushed
            if os.path.basename(target).startswith("archive"):
                assert flushed[0] == os.stat(source).st_ino
        replace(source, target)

    monkeypatch.setattr(rebuild, "flush_to_disk", flush)
    monkeypatch.setattr(rebuild, "fsync_folder", flushed.append)
    monkeypatch.setattr(os, "replace", check_flushed)
    rebuild_store(store.folder)
    assert len(flushed) > 3


@pytest.mark.parametrize("damage", ["flip", "truncate"])
def test_a_ledger_is_kept_if_the_end_of_the_journal_is_lost(tmp_path: Path, damage: str) -> None:
    store = new_store(tmp_path / "store", "naive-bayes")
    journal = Path(store.folder, "journal")
    flip(journal, -20) if damage == "flip" else journal.write_bytes(journal.read_bytes()[:-20])
    fresh = MailStore.open(store.folder)
    for call in (lambda: fresh.judge([ham(1)]), lambda: fresh.learn([ham(1)], "ham"), fresh.status):
        with pytest.raises(
            DamagedJournal, match=r"the last records, which were on disk.*or rebuild the store"
        ):
            call()
    result = rebuild_store(store.folder)
    assert (result.hams, result.spams, result.missing) == (44, 40, None)
    assert "mail that was learned last may be missing" in " ".join(str(result).split())
    assert counts(MailStore.open(store.folder)) == (44, 40)
    assert check_store(store.folder).is_intact
    assert MailStore.open(store.folder).learn([spam(43)], "spam").new == 1


def test_a_store_with_a_damaged_table_of_keys_is_rebuilt_from_mail(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store", "naive-bayes")
    expected = image(store)
    flip(Path(store.folder, "journal"), 100)
    with pytest.raises(ModelFileError, match="what the store knew of the learned messages is damaged"):
        rebuild_store(store.folder)
    result = rebuild_store(store.folder, learn_everything)
    assert (result.hams, result.spams, result.missing) == (44, 44, None)
    assert image(MailStore.open(store.folder)) == expected
    assert check_store(store.folder).is_intact
    # A process that had the store open goes on with the new one.
    store.learn([ham(99)], "ham")
    assert counts(store) == counts(MailStore.open(store.folder)) == (45, 44)


@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
def test_a_removed_ledger_is_learned_again_from_mail(tmp_path: Path, learner: str) -> None:
    store = new_store(tmp_path / "store", learner)
    Path(store.folder, "ledger").unlink()
    with pytest.raises(ModelFileError, match=r"learned messages is damaged.* Nothing was changed\."):
        rebuild_store(store.folder)
    result = rebuild_store(store.folder, learn_everything)
    assert (result.hams, result.spams, result.missing) == (44, 44, 0)
    assert check_store(store.folder).is_intact


def test_a_second_rebuild_keeps_both_damaged_stores(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store", "naive-bayes")
    for number in (1, 2):
        flip(Path(store.folder, "ledger"), 5000)
        assert rebuild_store(store.folder, learn_everything).damaged == f"{store.folder}.damaged-{number}"
        assert check_store(store.folder).is_intact


def test_a_rebuild_that_was_killed_can_be_repeated(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store", "naive-bayes")
    expected = image(store)
    flip(Path(store.folder, "ledger"), 5000)
    shutil.copytree(store.folder, Path(store.folder, "rebuild.draft"))
    rebuild_store(store.folder, learn_everything)
    assert image(MailStore.open(store.folder)) == expected
    assert not Path(store.folder, "rebuild.draft").exists()
    assert check_store(store.folder).is_intact


def test_what_a_killed_rebuild_left_in_an_intact_store_is_removed(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store", "naive-bayes")
    shutil.copytree(store.folder, Path(store.folder, "rebuild.draft"))
    assert not rebuild_store(store.folder).damaged
    assert not Path(store.folder, "rebuild.draft").exists()


def test_damaged_settings_cannot_be_rebuilt(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store", "naive-bayes")
    flip(Path(store.folder, "settings.json"), 5)
    with pytest.raises(ModelFileError, match=r"settings\.json.*or learn all mail again into another folder"):
        rebuild_store(store.folder, learn_everything)
