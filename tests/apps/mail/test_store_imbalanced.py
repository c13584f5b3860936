"""Order-dependent learners are not misled by a long run of one label."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.apps.mail.sample_mails import ham, image, spam
from weigh._core import MailLedger
from weigh.apps.mail.replay import is_imbalanced
from weigh.apps.mail.storage import HAM_MARK, SPAM_MARK
from weigh.apps.mail.store import MailStore

HAMS, SPAMS = [ham(n) for n in range(80)], [spam(n) for n in range(80)]


def shuffled_image(store: MailStore, labelled: dict[bytes, str]) -> bytes:
    """Return the image of a ledger that has learned messages in the order of their identities."""
    ledger = MailLedger(store.settings.learner)
    identified = store.settings.features.identify(list(labelled))
    for _, hashed, label in sorted(
        (*each, label) for each, label in zip(identified, labelled.values(), strict=True)
    ):
        ledger.learn([hashed], bytes([label == "spam"]))
    return ledger.image(b"")


@pytest.mark.parametrize("learner", ["logistic", "perceptron"])
@pytest.mark.parametrize("order", [("spam", "ham"), ("ham", "spam")])
def test_one_label_after_the_other_is_learned_in_shuffled_order(tmp_path, learner, order):
    mails = {"ham": HAMS, "spam": SPAMS}
    labelled = {content: label for label in order for content in mails[label]}
    store = MailStore.open(tmp_path / "store", create=True, learner=learner)
    for label in order:
        store.learn(mails[label], label)
    assert image(store) == shuffled_image(store, labelled)
    assert image(MailStore.open(tmp_path / "store")) == image(store)
    assert all(verdict.score > 0 for verdict in store.judge(SPAMS))
    assert all(verdict.score < 0 for verdict in store.judge(HAMS))


def test_an_open_store_notices_that_another_has_shuffled_the_messages(tmp_path):
    store = MailStore.open(tmp_path / "store", create=True, learner="logistic")
    store.learn(SPAMS, "spam")
    reader = MailStore.open(tmp_path / "store")
    reader.judge(HAMS[:1])
    store.learn(HAMS, "ham")
    assert image(reader) == image(store)


def test_messages_learned_after_shuffling_come_last_and_can_be_unlearned(tmp_path):
    store = MailStore.open(tmp_path / "store", create=True, learner="logistic")
    store.learn(SPAMS, "spam")
    store.learn(HAMS, "ham")
    before = image(store)
    store.learn([ham(1000)], "ham")
    assert image(store) != before
    store.unlearn([ham(1000)])
    assert image(store) == before


def test_a_run_is_imbalanced_if_it_is_long_and_nearly_all_of_one_label():
    assert is_imbalanced(Counter({SPAM_MARK: 64}))
    assert is_imbalanced(Counter({HAM_MARK: 81, SPAM_MARK: 10}))
    assert not is_imbalanced(Counter({SPAM_MARK: 63}))
    assert not is_imbalanced(Counter({HAM_MARK: 80, SPAM_MARK: 10}))
    assert not is_imbalanced(Counter())
