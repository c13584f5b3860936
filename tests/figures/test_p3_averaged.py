"""P3: the averaged perceptron: the mean of the weights over all examples."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import weigh
from weigh.explain.perceptron_trace import trace

COLUMNS = {"familiarity": weigh.Category(levels=("high", "medium", "low"))}


def test_the_mean_over_two_passes(spam_table: Any, new_mail: Any) -> None:
    found = trace(weigh.Perceptron(shuffle=False, max_iter=2, columns=COLUMNS), spam_table, "spam")
    w, b = found.weights()
    assert list(w.values()) == [F(-1, 10), F(7, 10), F(-1, 5), F(-9, 10), F(2, 5)]
    assert b == F(-7, 10)
    assert found.score(new_mail) == F(-3, 10)
    assert found.predict(new_mail) == "not-spam"
    assert str(found).endswith("\nAveraged: w = (-1/10,7/10,-1/5,-9/10,2/5) and b = -7/10")
