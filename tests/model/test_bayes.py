"""What a naive Bayes model says of itself, and what it refuses."""

from __future__ import annotations

import pytest

import weigh
from weigh import errors

TABLE = {"x": ["a", "b", "b"], "t": ["one two", "two", "three"], "y": [0, 1, 1]}


def test_a_word_that_is_a_flag_has_a_posterior_of_its_own():
    model = weigh.NaiveBayes({"t": weigh.Text(counts=False)}).fit(TABLE, "y").model_
    assert model.posterior("t: two", 1) == weigh.Beta(2, 2)
    with pytest.raises(errors.Unsupported, match="Column 't' has a probability for every word"):
        model.posterior("t", 1)


def test_a_model_that_has_forgotten_everything_says_so():
    nb = weigh.NaiveBayes().fit(TABLE, "y")
    nb.forget(TABLE, "y")
    with pytest.raises(errors.Unsupported, match="This model knows no class"):
        nb.predict(TABLE)


def test_explaining_many_texts_takes_time_in_proportion():
    rows = [" ".join(f"word{(7 * i + k) % 5000}" for k in range(30)) for i in range(2000)]
    nb = weigh.NaiveBayes({"text": "text"}).fit(rows, [i % 2 for i in range(2000)])
    evidence = nb.explain(rows)
    assert len(evidence) == 2000
    assert evidence[0].total == pytest.approx(abs(float(nb.model_.scores(rows[:1])[0] @ [1, -1])))
