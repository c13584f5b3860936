"""Explanations sum exactly to the score, and the smallest flip is proved."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import weigh

LEARNERS = {
    "naive Bayes": weigh.NaiveBayes(),
    "logistic": weigh.LogisticRegression(),
    "perceptron": weigh.Perceptron(shuffle=False),
}


def test_the_mail_is_decided_by_16_to_15(mails: Any, new_mail: Any) -> None:
    evidence = weigh.NaiveBayes().fit(mails, "spam").explain(new_mail)[0]
    exact = [math.log(p / q) for p, q in ((3 / 5, 2 / 5), (2 / 5, 1 / 4), (2 / 5, 3 / 4), (2 / 6, 2 / 5))]
    assert [row.nats for row in evidence.table] == pytest.approx(exact, rel=1e-14)
    assert evidence.total == math.fsum(row.nats for row in evidence.table)
    assert math.exp(evidence.total) == pytest.approx(16 / 15, rel=1e-14)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_contributions_sum_to_the_difference_of_the_scores(learner: Any, mails: Any) -> None:
    model = learner.fit(mails, "spam").model_
    for evidence, scores in zip(model.explain(mails), model.scores(mails), strict=True):
        assert evidence.total == math.fsum(row.nats for row in evidence.table)
        assert evidence.total == pytest.approx(scores.max() - scores.min(), abs=1e-12)


@pytest.mark.filterwarnings("ignore::weigh.errors.MissingNumbers")  # removed numbers are missing
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_no_smaller_removal_flips_the_verdict(learner: Any) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5))
    names = [f"x{j}" for j in range(5)]
    table = dict(zip(names, X.T, strict=True)) | {"y": X @ [2.0, -1.0, 0.5, 1.0, 0.0] > 0}
    model = learner.fit(table, "y").model_
    for values in X[:8].tolist():
        row = dict(zip(names, values, strict=True))
        verdict = model.predict(row)[0]
        removed = next(
            (
                set(gone)
                for size in range(1, 6)
                for gone in itertools.combinations(names, size)
                if model.predict(row | dict.fromkeys(gone))[0] != verdict
            ),
            None,
        )
        found = weigh.flip(model, row)
        assert found.flips == (removed is not None)
        if removed is not None:
            assert found.is_smallest
            assert len(found.removed) == len(removed)
            assert model.predict(row | dict.fromkeys(r.feature for r in found.removed))[0] == found.becomes
