"""The folder of a store: private, made once, and refused in words when something is wrong with it."""

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
from weigh.apps.mail import settings as making
from weigh.apps.mail import store as module
from weigh.apps.mail.features import FEATURES_VERSION
from weigh.apps.mail.folder import default_folder, prepare_folder
from weigh.apps.mail.results import LearnResult
from weigh.apps.mail.store import MailStore
from weigh.apps.mail.verdict import Costs
from weigh.errors import JournalError, ModelFileError, ParameterError

SEEN = {"version": FEATURES_VERSION, "pairs": "pairs", "characters": 0, "salt": "00ff"}
ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> MailStore:
    store = MailStore.open(tmp_path / "store", create=True)
    store.learn([ham(number) for number in range(5)], "ham")
    store.learn([spam(number) for number in range(5)], "spam")
    store.fold()
    return store


def edited(store: MailStore, **changes: Any) -> None:
    path = Path(store.folder) / "settings.json"
    told = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({name: value for name, value in told.items() if value != "drop"}))


def test_only_the_owner_may_read_a_store(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir(mode=0o755)
    for folder in (tmp_path / "deep" / "new", given):
        store = MailStore.open(folder, create=True, learner="logistic", words=True)
        store.learn([ham(1)], "ham")
        store.fold()
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        assert {stat.S_IMODE(os.stat(folder / name).st_mode) for name in files(store)} == {0o600}


def test_a_store_has_few_files(store: MailStore) -> None:
    assert files(store) == {"settings.json", "journal", "journal.lock", "journal.queue", "ledger"}


def test_a_folder_without_a_store_is_refused_unless_one_is_to_be_made(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(ModelFileError, match=r"there is no mail store. Make one by learning"):
            MailStore.open(folder)
        assert os.listdir(tmp_path) == []


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("words")
    with pytest.raises(ModelFileError, match=r"holds other files, such as 'thesis.txt', and no mail store"):
        MailStore.open(tmp_path, create=True)
    with pytest.raises(ModelFileError, match="the mail store cannot be read: Not a directory"):
        MailStore.open(tmp_path / "thesis.txt", create=True)
    assert os.listdir(tmp_path) == ["thesis.txt"]


def test_a_store_whose_making_was_interrupted_is_made(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "store", create=True)
    os.unlink(os.path.join(store.folder, "settings.json"))
    Path(store.folder, ".weigh-0123.tmp").touch()
    assert MailStore.open(store.folder, create=True).learn([ham(1)], "ham") == LearnResult(new=1)


def test_settings_that_are_lost_are_not_made_up(store: MailStore, tmp_path: Path) -> None:
    os.unlink(os.path.join(store.folder, "settings.json"))
    with pytest.raises(ModelFileError, match="holds other files, such as 'ledger'"):
        MailStore.open(store.folder, create=True)
    unfolded = MailStore.open(tmp_path / "unfolded", create=True)
    unfolded.learn([ham(1)], "ham")
    os.unlink(os.path.join(unfolded.folder, "settings.json"))
    with pytest.raises(ModelFileError, match=r"settings.json is missing beside a journal"):
        MailStore.open(unfolded.folder, create=True)


def test_a_store_is_made_once_by_however_many(tmp_path: Path) -> None:
    code = "import sys; from weigh.apps.mail.store import MailStore; "
    code += "print(MailStore.open(sys.argv[1], create=True).settings.features.salt)"
    command = [sys.executable, "-c", code, str(tmp_path / "store")]
    making = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(4)]
    assert len({process.communicate()[0] for process in making}) == 1


def test_a_store_that_somebody_else_has_just_made_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "store"

    def overtaken(place: str) -> None:
        monkeypatch.setattr(making, "prepare_folder", prepare_folder)
        other = MailStore.open(folder, create=True, learner="logistic")
        other.learn([ham(1)], "ham")
        other.fold()
        prepare_folder(place)

    monkeypatch.setattr(making, "prepare_folder", overtaken)
    store = MailStore.open(folder, create=True)
    assert store.settings.learner == "logistic"
    assert counts(store) == (1, 0)


def test_a_store_keeps_the_settings_it_was_made_with(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"learner": "logistic", "pairs": "sparse", "characters": 4, "words": True}
    MailStore.open(tmp_path / "store", create=True, costs=Costs(100, 2, 1), **asked)
    for store in (
        MailStore.open(tmp_path / "store"),
        MailStore.open(tmp_path / "store", create=True, **asked),
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
    for name, (wanted, sentence) in others.items():
        with pytest.raises(ParameterError) as refused:
            MailStore.open(tmp_path / "store", create=True, **{name: wanted})
        assert str(refused.value) == (
            f"{tmp_path / 'store'}: this store was made {sentence}. Give another folder (--store DIR), "
            "or remove this one and learn all mail again."
        )


def test_costs_may_differ_from_one_holder_to_the_next(store: MailStore) -> None:
    careless = MailStore.open(store.folder, costs=Costs(1, 1, 0.4))
    assert careless.costs == Costs(1, 1, 0.4)
    assert MailStore.open(store.folder).costs == Costs()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"learner": "bayes"}, "Filter: learner must be one of .*, got 'bayes'"),
        ({"words": "yes"}, "MailStore: words must be True or False, got 'yes'"),
        ({"pairs": "all"}, "Features: pairs must be"),
    ],
)
def test_unknown_settings_are_refused_before_anything_is_made(
    tmp_path: Path, asked: dict[str, Any], told: str
) -> None:
    with pytest.raises(ParameterError, match=told):
        MailStore.open(tmp_path / "store", create=True, **asked)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"format": 2}, "is of format 2; this weigh reads formats up to 1. Use a later weigh"),
        ({"format": "x"}, "does not hold the settings of a mail store"),
        ({"format": "drop"}, "does not hold the settings of a mail store"),
        ({"costs": "drop", "words": "drop"}, "lacks 'words', 'costs'"),
        ({"learner": "oracle"}, "cannot use: Filter: learner must be one of"),
        (
            {"features": SEEN | {"version": FEATURES_VERSION + 1}},
            rf"other features in a mail \({FEATURES_VERSION + 1}; this",
        ),
        ({"features": SEEN | {"version": None}}, r"another version of weigh.*\(None; .*Learn all mail anew"),
        ({"features": {"pairs": "pairs"}}, "was made by another version of weigh"),
        (
            {"features": {"version": FEATURES_VERSION, "pairs": "pairs"}},
            "settings that this weigh cannot use",
        ),
        ({"features": SEEN | {"salt": "no number"}}, "this weigh cannot use"),
        ({"features": SEEN | {"salt": 5}}, "this weigh cannot use"),
        ({"features": SEEN | {"pairs": "all"}}, "this weigh cannot use"),
        ({"features": [1]}, "this weigh cannot use"),
        ({"costs": {"ham_lost": -1}}, "cannot use: Costs: ham_lost must be a number above 0"),
        ({"costs": {"ham": 1}}, "this weigh cannot use"),
        ({"learner": "logistic"}, "was learned by 'naive-bayes', and the settings beside it say 'logistic'"),
    ],
)
def test_settings_that_are_wrong_are_refused(store: MailStore, changes: dict[str, Any], told: str) -> None:
    edited(store, **changes)
    with pytest.raises(ModelFileError, match=told):
        MailStore.open(store.folder).judge([ham(1)])


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "\xff", "[" * 100_000, '{"format": true}'])
def test_a_file_that_holds_no_settings_is_refused(store: MailStore, text: str) -> None:
    Path(store.folder, "settings.json").write_text(text, encoding="latin-1")
    with pytest.raises(ModelFileError, match=r"does not hold the settings of a mail store|lacks"):
        MailStore.open(store.folder)


def test_a_damaged_or_lost_ledger_is_refused_and_changes_nothing(store: MailStore) -> None:
    ledger = Path(store.folder, "ledger")
    whole = ledger.read_bytes()
    for damaged in (b"", b"x", whole[:50], whole[:-1], b"x" * len(whole)):
        ledger.write_bytes(damaged)
        fresh = MailStore.open(store.folder)
        for ask in (lambda fresh=fresh: fresh.judge([ham(1)]), lambda fresh=fresh: fresh.unlearn([ham(1)])):
            with pytest.raises(ModelFileError, match="Restore the whole folder from a copy"):
                ask()
    ledger.unlink()
    with pytest.raises(ModelFileError, match="the ledger and the journal do not belong together"):
        MailStore.open(store.folder).judge([ham(1)])
    ledger.write_bytes(whole)
    assert counts(MailStore.open(store.folder)) == (5, 5)


def test_a_ledger_and_a_journal_of_different_copies_are_refused(store: MailStore) -> None:
    old = Path(store.folder, "ledger").read_bytes()
    store.learn([ham(9)], "ham")
    store.fold()
    Path(store.folder, "ledger").write_bytes(old)
    with pytest.raises(ModelFileError, match="the ledger and the journal do not belong together"):
        MailStore.open(store.folder).judge([ham(1)])


def test_a_damaged_journal_is_refused(store: MailStore) -> None:
    Path(store.folder, "journal").write_bytes(b"x" * 100)
    for ask in (lambda: MailStore.open(store.folder).judge([ham(1)]), lambda: store.learn([ham(9)], "ham")):
        with pytest.raises(JournalError, match="is not a journal of weigh"):
            ask()


def test_a_ledger_that_is_damaged_within_is_not_folded_on(store: MailStore) -> None:
    ledger = Path(store.folder, "ledger")
    whole = ledger.read_bytes()
    at = len(whole) // 2
    ledger.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    fresh = MailStore.open(store.folder)
    fresh.learn([ham(9)], "ham")
    with pytest.raises(ModelFileError, match="its counts are damaged"):
        fresh.fold()
    ledger.write_bytes(whole)
    assert counts(MailStore.open(store.folder)) == (6, 5)


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_an_archive_that_is_cut_or_lost_is_refused_when_it_is_needed(tmp_path: Path, damage: str) -> None:
    store = MailStore.open(tmp_path / "store", create=True, learner="logistic")
    store.learn([ham(number) for number in range(5)], "ham")
    store.fold()
    path = tmp_path / "store" / "archive.0"
    whole, before = path.read_bytes(), image(store)
    path.write_bytes(whole[:-1]) if damage == "cut" else path.unlink()
    with pytest.raises(ModelFileError, match=r"is cut short|cannot be read: No such file"):
        store.unlearn([ham(1)])
    with pytest.raises(ModelFileError, match=r"is cut short|cannot be read: No such file"):
        store.learn([ham(1)], "spam")
    assert image(store) == image(MailStore.open(store.folder)) == before
    path.write_bytes(whole)
    store.unlearn([ham(1)])
    assert counts(MailStore.open(store.folder)) == (4, 0)


def test_learning_that_cannot_be_folded_is_learning_all_the_same(
    store: MailStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(module, "_MAX_JOURNAL_TAIL", 0)
        patch.setattr(os, "replace", full)
        assert store.learn([ham(9)], "ham") == LearnResult(new=1)
        with pytest.raises(ModelFileError, match="the mail store cannot be written: No space left on device"):
            store.fold()
    assert counts(store) == counts(MailStore.open(store.folder)) == (6, 5)


def test_the_default_folder_is_where_data_of_programs_belong(monkeypatch: pytest.MonkeyPatch) -> None:
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
