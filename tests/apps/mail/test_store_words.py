"""Tests of the privacy of a store: it has no readable words unless its owner asks for them."""

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


def all_bytes(store: MailStore) -> bytes:
    return b"\0".join((Path(store.folder) / name).read_bytes() for name in os.listdir(store.folder))


def readable_words(store: MailStore) -> set[bytes]:
    """Return the words of messages that occur in the folder's bytes and are too long to do so by chance."""
    words = set(re.findall(rb"[a-z]{5,}", b" ".join([*HAMS, *SPAMS]).lower()))
    content = all_bytes(store).lower()
    return {word for word in words if word in content}


def listed_names(store: MailStore) -> set[str]:
    words = store.strongest(10_000)
    return {each.name for each in (*words.spam, *words.ham)}


@pytest.mark.parametrize("learner", LEARNERS)
def test_no_word_of_a_message_is_in_the_folder(tmp_path: Path, learner: str) -> None:
    store = MailStore.open(tmp_path / "store", create=True, learner=learner)
    store.learn(HAMS, "ham")
    store.learn(SPAMS, "spam")
    store.learn(HAMS[:2], "spam")
    assert readable_words(store) == set()
    store.fold()
    assert readable_words(store) == set()
    with pytest.raises(Unsupported, match="keeps no words, only their hashes"):
        store.strongest()


def test_two_stores_have_no_keys_in_common(tmp_path: Path) -> None:
    stores = [MailStore.open(tmp_path / name, create=True) for name in ("one", "two")]
    for store in stores:
        store.learn(HAMS, "ham")
    hashed = [store.settings.features.hashed_features(HAMS[:1])[0] for store in stores]
    keys = [{each[i : i + 8] for i in range(8, len(each), 8)} for each in hashed]
    assert keys[0] & keys[1] == set()
    assert image(stores[0]) != image(stores[1])


@pytest.mark.parametrize("learner", LEARNERS)
def test_stored_words_are_those_of_the_learned_messages(tmp_path: Path, learner: str) -> None:
    store = MailStore.open(tmp_path / "store", create=True, learner=learner, words=True)
    store.learn(HAMS, "ham")
    store.learn(SPAMS, "spam")
    assert {"pills", "noon", "lunch"} <= {name.split(":")[-1] for name in listed_names(store)}
    store.unlearn(SPAMS)
    store.learn([spam(50)], "spam")
    store.unlearn([spam(50)])
    store.fold()
    assert not any(word in all_bytes(store) for word in (b"pills", b"shop", b"example.com", b"offer1"))
    assert b"noon" in all_bytes(store)
    store.learn(SPAMS, "spam")
    store.fold()
    store.learn(SPAMS[1:], "ham")
    assert {"pills", "noon", "lunch"} <= {name.split(":")[-1] for name in listed_names(store)}


def test_storing_words_does_not_change_the_ledger(tmp_path: Path) -> None:
    without_words, with_words = (
        MailStore.open(tmp_path / str(words), create=True, words=words) for words in (False, True)
    )
    object.__setattr__(with_words.settings, "features", without_words.settings.features)
    for store in (without_words, with_words):
        store.learn(HAMS, "ham")
        store.learn(SPAMS, "spam")
        store.learn(HAMS[:3], "spam")
    assert image(without_words) == image(with_words)


def test_the_strongest_words_occur_under_one_label_only(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "store", create=True, words=True)
    store.learn(HAMS, "ham")
    store.learn(SPAMS, "spam")
    words = store.strongest(4)
    assert len(words.spam) == len(words.ham) == 4
    assert words.spam[0].score == -words.ham[0].score
    assert "pills" in {each.name for each in store.strongest(30).spam}
    assert "noon" in {each.name for each in store.strongest(30).ham}
    assert store.strongest(4) == MailStore.open(store.folder).strongest(4)
    for wrong in (0, True, "3"):
        with pytest.raises(ParameterError, match="k must be a whole number of at least 1"):
            store.strongest(wrong)  # type: ignore[arg-type]


def test_errors_do_not_quote_messages(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "store", create=True)
    store.learn(HAMS, "ham")
    store.fold()
    (tmp_path / "store" / "ledger").write_bytes(b"pills" * 100)
    with pytest.raises(WeighError) as caught:
        MailStore.open(store.folder).judge(SPAMS)
    assert "pills" not in str(caught.value)
    assert repr(store) == f"MailStore({store.folder!r})"


def test_every_store_has_its_own_salt(tmp_path: Path) -> None:
    salts = set()
    for name in "abc":
        store = MailStore.open(tmp_path / name, create=True)
        settings = read_settings(os.path.join(store.folder, "settings.json"))
        assert settings == store.settings
        salts.add(store.settings.features.salt)
    assert len(salts) == 3
