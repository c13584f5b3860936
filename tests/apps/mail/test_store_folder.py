"""Tests of the folder of a store: private, created once, and rejected if something is wrong with it."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.apps.mail.sample_mails import counts, files, ham, image, spam
from weigh.apps.mail import settings as settings_module
from weigh.apps.mail import store as module
from weigh.apps.mail.features import FEATURES_VERSION
from weigh.apps.mail.folder import default_folder, prepare_folder
from weigh.apps.mail.results import LearnResult
from weigh.apps.mail.store import MailStore
from weigh.apps.mail.verdict import Costs
from weigh.errors import JournalError, ModelFileError, ParameterError, UnfoldedJournal

FEATURES = {"version": FEATURES_VERSION, "pairs": "pairs", "characters": 0, "salt": "00ff"}
ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> MailStore:
    store = MailStore.open(tmp_path / "store", create=True)
    store.learn([ham(number) for number in range(5)], "ham")
    store.learn([spam(number) for number in range(5)], "spam")
    store.fold()
    return store


def edit_settings(store: MailStore, **changes: Any) -> None:
    path = Path(store.folder) / "settings.json"
    settings = json.loads(path.read_text()) | changes
    kept = {name: value for name, value in settings.items() if value != "drop" and name != "checksum"}
    path.write_text(json.dumps(kept | {"checksum": settings_module._checksum(kept)}))


def test_only_the_owner_may_read_a_store(tmp_path: Path) -> None:
    existing = tmp_path / "existing"
    existing.mkdir(mode=0o755)
    for folder in (tmp_path / "deep" / "new", existing):
        store = MailStore.open(folder, create=True, learner="logistic", words=True)
        store.learn([ham(1)], "ham")
        store.fold()
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        assert {stat.S_IMODE(os.stat(folder / name).st_mode) for name in files(store)} == {0o600}


def test_a_store_has_five_files(store: MailStore) -> None:
    assert files(store) == {"settings.json", "journal", "journal.lock", "journal.queue", "ledger"}


def test_a_folder_without_a_store_is_rejected_unless_one_is_to_be_created(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(ModelFileError, match=r"there is no mail store. Create one by learning mail"):
            MailStore.open(folder)
        assert os.listdir(tmp_path) == []


def test_a_folder_with_other_files_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("words")
    with pytest.raises(
        ModelFileError, match=r"contains other files, such as 'thesis.txt', but no mail store"
    ):
        MailStore.open(tmp_path, create=True)
    with pytest.raises(ModelFileError, match="the mail store cannot be read: Not a directory"):
        MailStore.open(tmp_path / "thesis.txt", create=True)
    assert os.listdir(tmp_path) == ["thesis.txt"]


def test_an_interrupted_creation_can_be_repeated(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "store", create=True)
    os.unlink(os.path.join(store.folder, "settings.json"))
    Path(store.folder, ".weigh-0123456789abcdef.tmp").touch()
    assert MailStore.open(store.folder, create=True).learn([ham(1)], "ham") == LearnResult(new=1)


def test_lost_settings_are_not_recreated(store: MailStore, tmp_path: Path) -> None:
    os.unlink(os.path.join(store.folder, "settings.json"))
    with pytest.raises(ModelFileError, match="contains other files, such as 'ledger'"):
        MailStore.open(store.folder, create=True)
    unfolded = MailStore.open(tmp_path / "unfolded", create=True)
    unfolded.learn([ham(1)], "ham")
    os.unlink(os.path.join(unfolded.folder, "settings.json"))
    with pytest.raises(ModelFileError, match=r"settings.json is missing, but there is a journal"):
        MailStore.open(unfolded.folder, create=True)


def test_concurrent_processes_create_one_store(tmp_path: Path) -> None:
    code = "import sys; from weigh.apps.mail.store import MailStore; "
    code += "print(MailStore.open(sys.argv[1], create=True).settings.features.salt)"
    command = [sys.executable, "-c", code, str(tmp_path / "store")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(4)]
    assert len({process.communicate()[0] for process in processes}) == 1


def test_a_store_just_created_by_another_process_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "store"

    def create_store_first(path: str) -> None:
        monkeypatch.setattr(settings_module, "prepare_folder", prepare_folder)
        other = MailStore.open(folder, create=True, learner="logistic")
        other.learn([ham(1)], "ham")
        other.fold()
        prepare_folder(path)

    monkeypatch.setattr(settings_module, "prepare_folder", create_store_first)
    store = MailStore.open(folder, create=True)
    assert store.settings.learner == "logistic"
    assert counts(store) == (1, 0)


def test_a_store_keeps_its_settings(tmp_path: Path) -> None:
    options: dict[str, Any] = {"learner": "logistic", "pairs": "sparse", "characters": 4, "words": True}
    MailStore.open(tmp_path / "store", create=True, costs=Costs(100, 2, 1), **options)
    for store in (
        MailStore.open(tmp_path / "store"),
        MailStore.open(tmp_path / "store", create=True, **options),
    ):
        settings = store.settings
        assert (settings.learner, settings.words) == ("logistic", True)
        assert (settings.features.pairs, settings.features.characters) == ("sparse", 4)
        assert settings.costs == store.costs == Costs(100, 2, 1)
    others: dict[str, tuple[Any, str]] = {
        "learner": ("naive-bayes", "with learner 'logistic', not with learner 'naive-bayes'"),
        "pairs": ("none", "with pairs 'sparse', not with pairs 'none'"),
        "characters": (0, "with characters 4, not with characters 0"),
        "words": (False, "with words, not without words"),
    }
    for name, (value, difference) in others.items():
        with pytest.raises(ParameterError) as caught:
            MailStore.open(tmp_path / "store", create=True, **{name: value})
        assert str(caught.value) == (
            f"{tmp_path / 'store'}: this store was created {difference}. Give another folder, "
            "or remove this one and learn all mail again."
        )


def test_costs_can_differ_between_readers(store: MailStore) -> None:
    other = MailStore.open(store.folder, costs=Costs(1, 1, 0.4))
    assert other.costs == Costs(1, 1, 0.4)
    assert MailStore.open(store.folder).costs == Costs()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "bayes"}, "Filter: learner must be one of .*, got 'bayes'"),
        ({"words": "yes"}, "MailStore: words must be True or False, got 'yes'"),
        ({"pairs": "all"}, "FeatureExtractor: pairs must be"),
    ],
)
def test_invalid_settings_are_rejected_before_anything_is_created(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        MailStore.open(tmp_path / "store", create=True, **options)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 3}, "has format 3; this version of weigh reads formats up to 2. Use a later version"),
        ({"format": "x"}, "does not contain the settings of a mail store"),
        ({"format": "drop"}, "does not contain the settings of a mail store"),
        ({"costs": "drop", "words": "drop"}, "is missing 'words', 'costs'"),
        ({"learner": "oracle"}, "cannot use: Filter: learner must be one of"),
        (
            {"features": FEATURES | {"version": FEATURES_VERSION + 1}},
            rf"extracts different features \({FEATURES_VERSION + 1}; this",
        ),
        (
            {"features": FEATURES | {"version": None}},
            r"a version of weigh that.*\(None; .*Learn all mail again",
        ),
        ({"features": {"pairs": "pairs"}}, "was created by a version of weigh"),
        (
            {"features": {"version": FEATURES_VERSION, "pairs": "pairs"}},
            "settings that this version of weigh cannot use",
        ),
        ({"features": FEATURES | {"salt": "no number"}}, "this version of weigh cannot use"),
        ({"features": FEATURES | {"salt": 5}}, "this version of weigh cannot use"),
        ({"features": FEATURES | {"pairs": "all"}}, "this version of weigh cannot use"),
        ({"features": [1]}, "this version of weigh cannot use"),
        ({"costs": {"ham_lost": -1}}, "cannot use: Costs: ham_lost must be a number above 0"),
        ({"costs": {"ham": 1}}, "this version of weigh cannot use"),
        ({"learner": "logistic"}, "belongs to the learner 'naive-bayes', but the settings say 'logistic'"),
    ],
)
def test_invalid_settings_files_are_rejected(store: MailStore, changes: dict[str, Any], message: str) -> None:
    edit_settings(store, **changes)
    with pytest.raises(ModelFileError, match=message):
        MailStore.open(store.folder).judge([ham(1)])


def test_any_changed_digit_or_letter_of_the_settings_is_detected(store: MailStore) -> None:
    path = Path(store.folder, "settings.json")
    content = path.read_text()
    for at, character in enumerate(content):
        if character.isalnum():
            path.write_text(content[:at] + chr(ord(character) ^ 1) + content[at + 1 :])
            with pytest.raises(ModelFileError, match=r"settings\.json.*(Restore it from a copy|Use a later)"):
                MailStore.open(store.folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "\xff", "[" * 100_000, '{"format": true}'])
def test_a_file_without_settings_is_rejected(store: MailStore, text: str) -> None:
    Path(store.folder, "settings.json").write_text(text, encoding="latin-1")
    with pytest.raises(ModelFileError, match=r"does not contain the settings of a mail store|is missing"):
        MailStore.open(store.folder)


def test_a_damaged_or_lost_ledger_is_rejected_and_changes_nothing(store: MailStore) -> None:
    ledger = Path(store.folder, "ledger")
    content = ledger.read_bytes()
    for damaged in (b"", b"x", content[:50], content[:-1], b"x" * len(content)):
        ledger.write_bytes(damaged)
        fresh = MailStore.open(store.folder)
        for call in (lambda fresh=fresh: fresh.judge([ham(1)]), lambda fresh=fresh: fresh.unlearn([ham(1)])):
            with pytest.raises(ModelFileError, match="Restore the whole folder from a copy"):
                call()
    ledger.unlink()
    with pytest.raises(ModelFileError, match="the ledger and the journal do not belong together"):
        MailStore.open(store.folder).judge([ham(1)])
    ledger.write_bytes(content)
    assert counts(MailStore.open(store.folder)) == (5, 5)


def test_a_ledger_and_a_journal_of_different_backups_are_rejected(store: MailStore) -> None:
    old = Path(store.folder, "ledger").read_bytes()
    store.learn([ham(9)], "ham")
    store.fold()
    Path(store.folder, "ledger").write_bytes(old)
    with pytest.raises(ModelFileError, match="the ledger and the journal do not belong together"):
        MailStore.open(store.folder).judge([ham(1)])


def test_a_damaged_journal_is_rejected(store: MailStore) -> None:
    Path(store.folder, "journal").write_bytes(b"x" * 100)
    for call in (lambda: MailStore.open(store.folder).judge([ham(1)]), lambda: store.learn([ham(9)], "ham")):
        with pytest.raises(JournalError, match="is not a journal of weigh"):
            call()


def test_nothing_is_learned_into_a_store_with_a_damaged_ledger(store: MailStore) -> None:
    ledger = Path(store.folder, "ledger")
    content = ledger.read_bytes()
    middle = len(content) // 2
    ledger.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    fresh = MailStore.open(store.folder)
    store.fold()
    for call in (lambda: fresh.learn([ham(9)], "ham"), fresh.status):
        with pytest.raises(ModelFileError, match=r"its bytes [0-9]+ to [0-9]+ are damaged"):
            call()
    ledger.write_bytes(content)
    assert counts(MailStore.open(store.folder)) == (5, 5)


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_truncated_or_lost_archive_is_rejected_when_it_is_needed(tmp_path: Path, damage: str) -> None:
    store = MailStore.open(tmp_path / "store", create=True, learner="logistic")
    store.learn([ham(number) for number in range(5)], "ham")
    store.fold()
    path = tmp_path / "store" / "archive.0"
    content, before = path.read_bytes(), image(store)
    path.write_bytes(content[:-1]) if damage == "cut" else path.unlink()
    with pytest.raises(ModelFileError, match=r"is truncated|cannot be read: No such file"):
        store.unlearn([ham(1)])
    with pytest.raises(ModelFileError, match=r"is truncated|cannot be read: No such file"):
        store.learn([ham(1)], "spam")
    assert image(store) == image(MailStore.open(store.folder)) == before
    path.write_bytes(content)
    store.unlearn([ham(1)])
    assert counts(MailStore.open(store.folder)) == (4, 0)


def test_messages_are_learned_even_if_folding_fails(
    store: MailStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_disk_full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(module, "_MAX_JOURNAL_TAIL", 0)
        patch.setattr(os, "replace", raise_disk_full)
        with pytest.warns(UnfoldedJournal, match="cannot be folded into the ledger.*No space left on device"):
            assert store.learn([ham(9)], "ham") == LearnResult(new=1)
        with pytest.raises(ModelFileError, match="the mail store cannot be written: No space left on device"):
            store.fold()
    assert counts(store) == counts(MailStore.open(store.folder)) == (6, 5)


def test_the_default_folder_follows_the_xdg_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEIGH_MAIL", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    assert default_folder() == "/home/me/.local/share/weigh/mail"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_folder() == "/data/weigh/mail"
    monkeypatch.setenv("WEIGH_MAIL", "/elsewhere")
    assert default_folder() == "/elsewhere"


def test_a_store_is_opened_without_numpy(store: MailStore) -> None:
    code = "import sys; from weigh.apps.mail.store import MailStore; "
    code += "print(MailStore.open(sys.argv[1]).judge([b'x'])[0].label, 'numpy' in sys.modules)"
    command = [sys.executable, "-c", code, store.folder]
    assert subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout == "unsure False\n"
