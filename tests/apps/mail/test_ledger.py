"""The ledger of the mail filter: what it learns, beside plain Python, and its laws."""

from __future__ import annotations

import math
import random
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.apps.mail.reference_ledgers import TWINS, Views, print_of
from weigh._core import MailLedger
from weigh.apps.mail.learners import LEARNERS

LARGEST = (1 << 64) - 1
keys = st.one_of(st.integers(1, 12), st.sampled_from([1 << 32, 1 << 63, LARGEST]))
views = st.lists(keys, max_size=8).map(lambda view: tuple(sorted(set(view))))
mails = st.tuples(views, views)
labelled = st.lists(st.tuples(mails, st.integers(0, 1)), max_size=30)


def learned(learner: str, examples: list[tuple[Views, int]]) -> MailLedger:
    ledger = MailLedger(learner)
    ledger.learn([print_of(mail) for mail, _ in examples], bytes(spam for _, spam in examples))
    return ledger


def close(found: float, expected: float, tolerance: float) -> bool:
    return abs(found - expected) <= tolerance * max(1.0, abs(expected))


@pytest.mark.parametrize(
    ("learner", "tolerance"), [("naive-bayes", 1e-12), ("logistic", 1e-5), ("perceptron", 1e-5)]
)
@settings(max_examples=150, deadline=None)
@given(labelled, st.lists(mails, max_size=5))
def test_a_ledger_says_what_its_twin_in_plain_python_says(learner, tolerance, examples, asked):
    ledger, twin = learned(learner, examples), TWINS[learner]()
    for mail, spam in examples:
        twin.learn(mail, spam)
    for mail, score in zip(asked, ledger.judge([print_of(mail) for mail in asked]), strict=True):
        expected = twin.evidence(mail)
        assert close(score, sum(expected.values()), tolerance)
        found = {(view, key): nats for view, key, nats in ledger.evidence(print_of(mail))}
        for place in found.keys() | expected.keys():
            # Rows that say nothing need not be told.
            assert close(found.get(place, 0.0), expected.get(place, 0.0), tolerance)


@given(labelled, st.randoms())
@settings(deadline=None)
def test_naive_bayes_does_not_know_the_order(examples, chance):
    shuffled = examples.copy()
    chance.shuffle(shuffled)
    assert learned("naive-bayes", shuffled).image(b"") == learned("naive-bayes", examples).image(b"")


@given(labelled, labelled)
@settings(deadline=None)
def test_what_is_unlearned_was_never_learned(kept, gone):
    ledger = learned("naive-bayes", [*gone, *kept])
    ledger.unlearn([print_of(mail) for mail, _ in gone], bytes(spam for _, spam in gone))
    assert ledger.image(b"n") == learned("naive-bayes", kept).image(b"n")
    assert (ledger.hams, ledger.spams) == tuple(sum(spam == label for _, spam in kept) for label in (0, 1))
    assert ledger.features == learned("naive-bayes", kept).features


@pytest.mark.parametrize("learner", LEARNERS)
@given(labelled)
@settings(deadline=None, max_examples=50)
def test_a_batch_is_its_mails_one_by_one(learner, examples):
    together, apart = learned(learner, examples), MailLedger(learner)
    for mail, spam in examples:
        apart.learn([print_of(mail)], bytes([spam]))
    assert together.image(b"") == apart.image(b"")
    prints = [print_of(mail) for mail, _ in examples]
    assert together.judge(prints) == [score for each in prints for score in apart.judge([each])]


@pytest.mark.parametrize("learner", LEARNERS)
@given(labelled)
@settings(deadline=None, max_examples=50)
def test_evidence_adds_up_to_the_score(learner, examples):
    ledger = learned(learner, examples)
    for mail, _ in examples:
        (score,) = ledger.judge([print_of(mail)])
        assert abs(sum(nats for _, _, nats in ledger.evidence(print_of(mail))) - score) < 1e-9


def test_naive_bayes_knows_nothing_before_it_has_seen_both():
    ledger = learned("naive-bayes", [(((1, 2), (3,)), 1)])
    assert ledger.judge([print_of(((1, 2), (3,)))]) == [0.0]
    assert ledger.evidence(print_of(((1,), (9,)))) == [(0, 1, 0.0)]


def test_naive_bayes_by_hand():
    # One spam of three has the feature, no ham of one: f = (0.015 + 1) / 1.03, of two features in its view.
    ledger = learned("naive-bayes", [(((7,), ()), 1), (((), ()), 1), (((), ()), 1), (((), ()), 0)])
    ((view, key, nats),) = ledger.evidence(print_of(((7, 8), ())))
    assert (view, key) == (0, 7)
    assert nats == pytest.approx(10 * math.log(1.015 / 0.015) / 2, rel=1e-12)


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"\0" * 7,
        b"\1\0\0\0\0\0\0\0",
        print_of(((1,), ())) + b"x",
        print_of(((1,), ()))[:-1],
        b"\2\0\0\0\0\0\0\0" + b"\2" + b"\0" * 7 + b"\1" + b"\0" * 7,
        b"\2\0\0\0\0\0\0\0" + (b"\2" + b"\0" * 7) * 2,
        b"\1\0\0\0\0\0\0\0" + b"\0" * 8,
        b"\xff" * 8,
        b"\xff" * 32,
    ],
)
def test_prints_that_are_not_in_order_are_refused_and_nothing_changes(bad):
    ledger = learned("naive-bayes", [(((1, 2), (3,)), 1)])
    before, good = ledger.image(b""), print_of(((1, 2), (3,)))
    for act in (
        lambda: ledger.learn([good, bad], b"\1\1"),
        lambda: ledger.unlearn([good, bad], b"\1\1"),
        lambda: ledger.judge([good, bad]),
        lambda: ledger.evidence(bad),
    ):
        with pytest.raises(ValueError, match="print"):
            act()
    assert ledger.image(b"") == before


def test_labels_are_one_byte_each():
    ledger = MailLedger("naive-bayes")
    for labels in (b"", b"\0\0", b"\2", b"1"):
        with pytest.raises(ValueError, match="label"):
            ledger.learn([print_of(((1,), ()))], labels)
    assert ledger.image(b"") == MailLedger("naive-bayes").image(b"")


def test_what_was_not_learned_cannot_be_unlearned():
    ledger = learned("naive-bayes", [(((1, 2), (3,)), 1), (((1,), ()), 0)])
    before = ledger.image(b"")
    for prints, labels in (
        ([print_of(((1, 2), (3,)))], b"\0"),
        ([print_of(((1, 2), (3, 4)))], b"\1"),
        ([print_of(((1, 2), (3,)))] * 2, b"\1\1"),
        ([print_of(((), ()))] * 2, b"\0\0"),
    ):
        with pytest.raises(ValueError, match="not learned"):
            ledger.unlearn(prints, labels)
        assert ledger.image(b"") == before


@pytest.mark.parametrize("learner", [name for name in LEARNERS if LEARNERS[name].is_ordered])
def test_learners_for_which_order_matters_do_not_unlearn(learner):
    examples = [(((1, 2), (3,)), 1), (((1,), (3, 4)), 0), (((2,), (4,)), 1)]
    ledger = learned(learner, examples)
    with pytest.raises(ValueError, match="cannot unlearn"):
        ledger.unlearn([print_of(examples[0][0])], b"\1")
    assert ledger.image(b"") != learned(learner, examples[::-1]).image(b"")


def test_what_is_no_text_and_what_are_no_bytes_are_refused():
    with pytest.raises(TypeError):
        MailLedger("\ud800")
    ledger = MailLedger("naive-bayes")
    for refused in (
        ledger.judge,
        lambda prints: ledger.learn(prints, b"\1"),
        lambda prints: ledger.unlearn(prints, b"\1"),
    ):
        with pytest.raises(TypeError, match="prints are bytes"):
            refused(["x"])


def test_a_learner_has_a_name():
    with pytest.raises(ValueError, match="no learner"):
        MailLedger("bayes")


def test_threads_judge_while_one_learns():
    chance = random.Random(1)
    prints = [
        print_of([[chance.getrandbits(60) + 1 for _ in range(20)] for _ in range(2)]) for _ in range(500)
    ]
    ledger = MailLedger("naive-bayes")
    stop = threading.Event()

    def judge() -> None:
        while not stop.is_set():
            ledger.judge(prints[:50])

    threads = [threading.Thread(target=judge) for _ in range(3)]
    for thread in threads:
        thread.start()
    for at in range(0, 500, 5):
        ledger.learn(prints[at : at + 5], b"\1\0\1\0\1")
    stop.set()
    for thread in threads:
        thread.join()
    alone = MailLedger("naive-bayes")
    alone.learn(prints, b"\1\0\1\0\1" * 100)
    assert ledger.image(b"") == alone.image(b"")
