"""Learners that go by the order of messages are not led astray by a long run of one kind."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.apps.mail.sample_mails import ham, image, spam
from weigh._core import MailLedger
from weigh.apps.mail.replay import is_imbalanced
from weigh.apps.mail.storage import HAM_MARK, SPAM_MARK
from weigh.apps.mail.store import MailStore

HAMS, SPAMS = [ham(n) for n in range(80)], [spam(n) for n in range(80)]


def dealt_by_lot(store: MailStore, labelled: dict[bytes, str]) -> bytes:
    """All that a ledger knows which has learned messages in the order of what they are known by."""
    ledger = MailLedger(store.settings.learner)
    found = store.settings.features.identify(list(labelled))
    for _, print, label in sorted(
        (*each, label) for each, label in zip(found, labelled.values(), strict=True)
    ):
        ledger.learn([print], bytes([label == "spam"]))
    return ledger.image(b"")


@pytest.mark.parametrize("learner", ["logistic", "perceptron"])
@pytest.mark.parametrize("order", [("spam", "ham"), ("ham", "spam")])
def test_one_kind_after_the_other_is_learned_mixed(tmp_path, learner, order):
    given = {"ham": HAMS, "spam": SPAMS}
    with_lot = {content: label for label in order for content in given[label]}
    store = MailStore.open(tmp_path / "store", create=True, learner=learner)
    for label in order:
        store.learn(given[label], label)
    assert image(store) == dealt_by_lot(store, with_lot)
    assert image(MailStore.open(tmp_path / "store")) == image(store)
    assert all(verdict.score > 0 for verdict in store.judge(SPAMS))
    assert all(verdict.score < 0 for verdict in store.judge(HAMS))


def test_who_holds_a_store_sees_that_others_have_mixed_it(tmp_path):
    store = MailStore.open(tmp_path / "store", create=True, learner="logistic")
    store.learn(SPAMS, "spam")
    held = MailStore.open(tmp_path / "store")
    held.judge(HAMS[:1])
    store.learn(HAMS, "ham")
    assert image(held) == image(store)


def test_what_is_learned_after_mixing_comes_last_and_can_be_taken_back(tmp_path):
    store = MailStore.open(tmp_path / "store", create=True, learner="logistic")
    store.learn(SPAMS, "spam")
    store.learn(HAMS, "ham")
    before = image(store)
    store.learn([ham(1000)], "ham")
    assert image(store) != before
    store.unlearn([ham(1000)])
    assert image(store) == before


def test_a_run_is_long_and_of_nearly_one_kind():
    assert is_imbalanced(Counter({SPAM_MARK: 64}))
    assert is_imbalanced(Counter({HAM_MARK: 81, SPAM_MARK: 10}))
    assert not is_imbalanced(Counter({SPAM_MARK: 63}))
    assert not is_imbalanced(Counter({HAM_MARK: 80, SPAM_MARK: 10}))
    assert not is_imbalanced(Counter())
