"""Tests of the ledger against reference implementations in plain Python, and of its laws."""

from __future__ import annotations

import math
import random
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.apps.mail.reference_ledgers import REFERENCES, Views, pack_features
from weigh._core import MailLedger
from weigh.apps.mail.learners import LEARNERS

MAX_KEY = (1 << 64) - 1
keys = st.one_of(st.integers(1, 12), st.sampled_from([1 << 32, 1 << 63, MAX_KEY]))
views = st.lists(keys, max_size=8).map(lambda view: tuple(sorted(set(view))))
mails = st.tuples(views, views)
labelled = st.lists(st.tuples(mails, st.integers(0, 1)), max_size=30)


def trained_ledger(learner: str, examples: list[tuple[Views, int]]) -> MailLedger:
    ledger = MailLedger(learner)
    ledger.learn([pack_features(mail) for mail, _ in examples], bytes(spam for _, spam in examples))
    return ledger


def close(found: float, expected: float, tolerance: float) -> bool:
    return abs(found - expected) <= tolerance * max(1.0, abs(expected))


@pytest.mark.parametrize(
    ("learner", "tolerance"), [("naive-bayes", 1e-12), ("logistic", 1e-5), ("perceptron", 1e-5)]
)
@settings(max_examples=150, deadline=None)
@given(labelled, st.lists(mails, max_size=5))
def test_scores_and_evidence_match_the_reference(learner, tolerance, examples, judged):
    ledger, reference = trained_ledger(learner, examples), REFERENCES[learner]()
    for mail, spam in examples:
        reference.learn(mail, spam)
    for mail, score in zip(judged, ledger.judge([pack_features(mail) for mail in judged]), strict=True):
        expected = reference.evidence(mail)
        assert close(score, sum(expected.values()), tolerance)
        actual = {(view, key): nats for view, key, nats in ledger.evidence(pack_features(mail))}
        for feature in actual.keys() | expected.keys():
            # Features with no contribution may be omitted.
            assert close(actual.get(feature, 0.0), expected.get(feature, 0.0), tolerance)


@given(labelled, st.randoms())
@settings(deadline=None)
def test_naive_bayes_does_not_depend_on_the_order(examples, rng):
    shuffled = examples.copy()
    rng.shuffle(shuffled)
    assert trained_ledger("naive-bayes", shuffled).image(b"") == trained_ledger(
        "naive-bayes", examples
    ).image(b"")


@given(labelled, labelled)
@settings(deadline=None)
def test_unlearning_equals_never_having_learned(kept, removed):
    ledger = trained_ledger("naive-bayes", [*removed, *kept])
    ledger.unlearn([pack_features(mail) for mail, _ in removed], bytes(spam for _, spam in removed))
    assert ledger.image(b"n") == trained_ledger("naive-bayes", kept).image(b"n")
    assert (ledger.hams, ledger.spams) == tuple(sum(spam == label for _, spam in kept) for label in (0, 1))
    assert ledger.features == trained_ledger("naive-bayes", kept).features


@pytest.mark.parametrize("learner", LEARNERS)
@given(labelled)
@settings(deadline=None, max_examples=50)
def test_a_batch_equals_its_mails_one_by_one(learner, examples):
    batched, single = trained_ledger(learner, examples), MailLedger(learner)
    for mail, spam in examples:
        single.learn([pack_features(mail)], bytes([spam]))
    assert batched.image(b"") == single.image(b"")
    hashed = [pack_features(mail) for mail, _ in examples]
    assert batched.judge(hashed) == [score for each in hashed for score in single.judge([each])]


@pytest.mark.parametrize("learner", LEARNERS)
@given(labelled)
@settings(deadline=None, max_examples=50)
def test_evidence_sums_to_the_score(learner, examples):
    ledger = trained_ledger(learner, examples)
    for mail, _ in examples:
        (score,) = ledger.judge([pack_features(mail)])
        assert abs(sum(nats for _, _, nats in ledger.evidence(pack_features(mail))) - score) < 1e-9


def test_naive_bayes_scores_zero_before_both_labels_are_learned():
    ledger = trained_ledger("naive-bayes", [(((1, 2), (3,)), 1)])
    assert ledger.judge([pack_features(((1, 2), (3,)))]) == [0.0]
    assert ledger.evidence(pack_features(((1,), (9,)))) == [(0, 1, 0.0)]


def test_naive_bayes_evidence_matches_a_calculation_by_hand():
    # One spam of three has the feature, no ham of one: f = (0.015 + 1) / 1.03, of two features in its view.
    ledger = trained_ledger("naive-bayes", [(((7,), ()), 1), (((), ()), 1), (((), ()), 1), (((), ()), 0)])
    ((view, key, nats),) = ledger.evidence(pack_features(((7, 8), ())))
    assert (view, key) == (0, 7)
    assert nats == pytest.approx(10 * math.log(1.015 / 0.015) / 2, rel=1e-12)


@pytest.mark.parametrize(
    "malformed",
    [
        b"",
        b"\0" * 7,
        b"\1\0\0\0\0\0\0\0",
        pack_features(((1,), ())) + b"x",
        pack_features(((1,), ()))[:-1],
        b"\2\0\0\0\0\0\0\0" + b"\2" + b"\0" * 7 + b"\1" + b"\0" * 7,
        b"\2\0\0\0\0\0\0\0" + (b"\2" + b"\0" * 7) * 2,
        b"\1\0\0\0\0\0\0\0" + b"\0" * 8,
        b"\xff" * 8,
        b"\xff" * 32,
    ],
)
def test_malformed_features_are_rejected_and_nothing_changes(malformed):
    ledger = trained_ledger("naive-bayes", [(((1, 2), (3,)), 1)])
    before, valid = ledger.image(b""), pack_features(((1, 2), (3,)))
    for call in (
        lambda: ledger.learn([valid, malformed], b"\1\1"),
        lambda: ledger.unlearn([valid, malformed], b"\1\1"),
        lambda: ledger.judge([valid, malformed]),
        lambda: ledger.evidence(malformed),
    ):
        with pytest.raises(ValueError, match="print"):
            call()
    assert ledger.image(b"") == before


def test_invalid_label_bytes_are_rejected():
    ledger = MailLedger("naive-bayes")
    for labels in (b"", b"\0\0", b"\2", b"1"):
        with pytest.raises(ValueError, match="label"):
            ledger.learn([pack_features(((1,), ()))], labels)
    assert ledger.image(b"") == MailLedger("naive-bayes").image(b"")


def test_messages_that_were_not_learned_cannot_be_unlearned():
    ledger = trained_ledger("naive-bayes", [(((1, 2), (3,)), 1), (((1,), ()), 0)])
    before = ledger.image(b"")
    for hashed, labels in (
        ([pack_features(((1, 2), (3,)))], b"\0"),
        ([pack_features(((1, 2), (3, 4)))], b"\1"),
        ([pack_features(((1, 2), (3,)))] * 2, b"\1\1"),
        ([pack_features(((), ()))] * 2, b"\0\0"),
    ):
        with pytest.raises(ValueError, match="not learned"):
            ledger.unlearn(hashed, labels)
        assert ledger.image(b"") == before


@pytest.mark.parametrize("learner", [name for name in LEARNERS if LEARNERS[name].is_ordered])
def test_order_dependent_learners_cannot_unlearn(learner):
    examples = [(((1, 2), (3,)), 1), (((1,), (3, 4)), 0), (((2,), (4,)), 1)]
    ledger = trained_ledger(learner, examples)
    with pytest.raises(ValueError, match="cannot unlearn"):
        ledger.unlearn([pack_features(examples[0][0])], b"\1")
    assert ledger.image(b"") != trained_ledger(learner, examples[::-1]).image(b"")


def test_wrong_types_are_rejected():
    with pytest.raises(TypeError):
        MailLedger("\ud800")
    ledger = MailLedger("naive-bayes")
    for call in (
        ledger.judge,
        lambda hashed: ledger.learn(hashed, b"\1"),
        lambda hashed: ledger.unlearn(hashed, b"\1"),
    ):
        with pytest.raises(TypeError, match="prints are bytes"):
            call(["x"])


def test_an_unknown_learner_is_rejected():
    with pytest.raises(ValueError, match="no learner"):
        MailLedger("bayes")


def test_threads_can_judge_while_one_learns():
    rng = random.Random(1)
    hashed = [
        pack_features([[rng.getrandbits(60) + 1 for _ in range(20)] for _ in range(2)]) for _ in range(500)
    ]
    ledger = MailLedger("naive-bayes")
    stop = threading.Event()

    def judge() -> None:
        while not stop.is_set():
            ledger.judge(hashed[:50])

    threads = [threading.Thread(target=judge) for _ in range(3)]
    for thread in threads:
        thread.start()
    for start in range(0, 500, 5):
        ledger.learn(hashed[start : start + 5], b"\1\0\1\0\1")
    stop.set()
    for thread in threads:
        thread.join()
    expected = MailLedger("naive-bayes")
    expected.learn(hashed, b"\1\0\1\0\1" * 100)
    assert ledger.image(b"") == expected.image(b"")
