"""What can be read in a store: nothing, unless its owner has asked for words."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.apps.mail.sample_mails import ham, image, spam
from weigh.apps.mail.settings import read_settings
from weigh.apps.mail.store import MailStore
from weigh.errors import ParameterError, Unsupported, WeighError

LEARNERS = ("naive-bayes", "logistic", "perceptron")
HAMS = [ham(number) for number in range(9)]
SPAMS = [spam(number) for number in range(9)]


def bytes_of(store: MailStore) -> bytes:
    return b"\0".join((Path(store.folder) / name).read_bytes() for name in os.listdir(store.folder))


def readable(store: MailStore) -> set[bytes]:
    """The words of all messages that are somewhere in the folder's bytes, and too long to be so by chance."""
    words = set(re.findall(rb"[a-z]{5,}", b" ".join([*HAMS, *SPAMS]).lower()))
    whole = bytes_of(store).lower()
    return {word for word in words if word in whole}


def names(store: MailStore) -> set[str]:
    found = store.strongest(10_000)
    return {each.name for each in (*found.spam, *found.ham)}


@pytest.mark.parametrize("learner", LEARNERS)
def test_no_word_of_a_message_is_in_the_folder(tmp_path: Path, learner: str) -> None:
    store = MailStore.open(tmp_path / "store", create=True, learner=learner)
    store.learn(HAMS, "ham")
    store.learn(SPAMS, "spam")
    store.learn(HAMS[:2], "spam")
    assert readable(store) == set()
    store.fold()
    assert readable(store) == set()
    with pytest.raises(Unsupported, match="keeps no words, only keys"):
        store.strongest()


def test_two_stores_have_no_key_in_common(tmp_path: Path) -> None:
    stores = [MailStore.open(tmp_path / name, create=True) for name in ("one", "two")]
    for store in stores:
        store.learn(HAMS, "ham")
    prints = [store.settings.features.hashed_features(HAMS[:1])[0] for store in stores]
    keys = [{each[at : at + 8] for at in range(8, len(each), 8)} for each in prints]
    assert keys[0] & keys[1] == set()
    assert image(stores[0]) != image(stores[1])


@pytest.mark.parametrize("learner", LEARNERS)
def test_kept_words_are_those_of_the_messages_that_are_learned(tmp_path: Path, learner: str) -> None:
    store = MailStore.open(tmp_path / "store", create=True, learner=learner, words=True)
    store.learn(HAMS, "ham")
    store.learn(SPAMS, "spam")
    assert {"pills", "noon", "lunch"} <= {name.split(":")[-1] for name in names(store)}
    store.unlearn(SPAMS)
    store.learn([spam(50)], "spam")
    store.unlearn([spam(50)])
    store.fold()
    assert not any(word in bytes_of(store) for word in (b"pills", b"shop", b"example.com", b"offer1"))
    assert b"noon" in bytes_of(store)
    store.learn(SPAMS, "spam")
    store.fold()
    store.learn(SPAMS[1:], "ham")
    assert {"pills", "noon", "lunch"} <= {name.split(":")[-1] for name in names(store)}


def test_words_do_not_change_what_is_learned(tmp_path: Path) -> None:
    plain, wordy = (
        MailStore.open(tmp_path / str(words), create=True, words=words) for words in (False, True)
    )
    object.__setattr__(wordy.settings, "features", plain.settings.features)
    for store in (plain, wordy):
        store.learn(HAMS, "ham")
        store.learn(SPAMS, "spam")
        store.learn(HAMS[:3], "spam")
    assert image(plain) == image(wordy)


def test_the_strongest_words_are_those_of_one_side_only(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "store", create=True, words=True)
    store.learn(HAMS, "ham")
    store.learn(SPAMS, "spam")
    found = store.strongest(4)
    assert len(found.spam) == len(found.ham) == 4
    assert found.spam[0].score == -found.ham[0].score
    assert "pills" in {each.name for each in store.strongest(30).spam}
    assert "noon" in {each.name for each in store.strongest(30).ham}
    assert store.strongest(4) == MailStore.open(store.folder).strongest(4)
    for wrong in (0, True, "3"):
        with pytest.raises(ParameterError, match="k must be a whole number of at least 1"):
            store.strongest(wrong)  # type: ignore[arg-type]


def test_errors_tell_nothing_of_messages(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "store", create=True)
    store.learn(HAMS, "ham")
    store.fold()
    (tmp_path / "store" / "ledger").write_bytes(b"pills" * 100)
    with pytest.raises(WeighError) as told:
        MailStore.open(store.folder).judge(SPAMS)
    assert "pills" not in str(told.value)
    assert repr(store) == f"MailStore({store.folder!r})"


def test_the_secret_number_is_another_one_in_every_store(tmp_path: Path) -> None:
    salts = set()
    for name in "abc":
        store = MailStore.open(tmp_path / name, create=True)
        settings = read_settings(os.path.join(store.folder, "settings.json"))
        assert settings == store.settings
        salts.add(store.settings.features.salt)
    assert len(salts) == 3
