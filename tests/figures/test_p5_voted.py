"""P5: the voted perceptron: every hypothesis votes as often as it lasted."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import weigh
from weigh.explain.perceptron_trace import trace

COLUMNS = {"familiarity": weigh.Category(levels=("high", "medium", "low"))}


def test_the_votes_of_two_passes_and_the_tie(spam_table: Any, new_mail: Any) -> None:
    learner = weigh.Perceptron(keep="voted", shuffle=False, max_iter=2, columns=COLUMNS)
    found = trace(learner, spam_table, "spam")
    assert [count for count, _, _ in found.voted] == [1, 1, 1, 2, 1, 1, 1, 1, 1]
    assert [found.score(row) for row in found.rows] == [2, -2, 0, -2, 2]
    assert found.score(new_mail) == 0
    assert found.predict(new_mail) == "spam"


def test_the_weighted_mean_of_the_voters_is_the_averaged_perceptron(spam_table: Any) -> None:
    learner = weigh.Perceptron(keep="voted", shuffle=False, max_iter=2, columns=COLUMNS)
    found = trace(learner, spam_table, "spam")
    w, b = found.weights("averaged")
    votes = sum(count for count, _, _ in found.voted)
    assert votes == 10
    assert sum(count * bias for count, _, bias in found.voted) / F(votes) == b
    for name, weight in w.items():
        assert sum(count * weights[name] for count, weights, _ in found.voted) / F(votes) == weight
