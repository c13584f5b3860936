"""P4: the lazy average: the mean of the weights that followed an error."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import weigh
from weigh.explain.perceptron_trace import trace

COLUMNS = {"familiarity": weigh.Category(levels=("high", "medium", "low"))}


def test_the_mean_of_the_weights_after_eight_errors(spam_table: Any, new_mail: Any) -> None:
    learner = weigh.Perceptron(keep="lazy", shuffle=False, max_iter=2, columns=COLUMNS)
    found = trace(learner, spam_table, "spam")
    w, b = found.weights()
    assert list(w.values()) == [F(-1, 8), F(7, 8), F(-2, 8), F(-8, 8), F(4, 8)]
    assert b == F(-6, 8)
    assert found.score(new_mail) == F(-1, 4)
    assert found.predict(new_mail) == "not-spam"
