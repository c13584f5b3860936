"""B11: the model is generative: draw an inbox, class first, then each feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from weigh.errors import Unsupported
from weigh.model import BayesModel

INBOX: dict[str, Any] = {
    "class_prior": {"spam": 0.4, "ham": 0.6},
    "columns": {
        "investment": {"spam": 0.75, "ham": 0.2},
        "sender": {"spam": {"stranger": 0.9, "friend": 0.1}, "ham": {"stranger": 0.25, "friend": 0.75}},
        "length": {"spam": (120.0, 30.0), "ham": (60.0, 20.0)},
    },
    "label": "verdict",
}
KINDS = {"investment": "flag", "sender": "category", "length": "number"}


@pytest.fixture
def inbox() -> BayesModel:
    return BayesModel.from_parameters(**INBOX)


def test_refitting_on_a_large_sample_recovers_the_parameters(inbox: BayesModel) -> None:
    n = 40_000
    drawn = inbox.sample(n, seed=1)
    refit = weigh.NaiveBayes(columns=KINDS, prior=None).fit(drawn, "verdict").model_
    # Four standard errors of a proportion, and of a mean, within the smaller class.
    near = 4 * np.sqrt(0.25 / (0.4 * n))
    stated: Any = {d.part.title: d for d in inbox.distributions}
    found: Any = {d.part.title: d for d in refit.distributions}
    assert np.exp(refit.log_prior) == pytest.approx(np.exp(inbox.log_prior), abs=near)
    for name in ("investment", "sender"):
        assert np.abs(found[name].probabilities - stated[name].probabilities).max() < near
    assert np.abs(found["length"].mean - stated["length"].mean).max() < 4 * 30 / np.sqrt(0.4 * n)
    assert np.abs(found["length"].deviation - stated["length"].deviation).max() < 4 * 30 / np.sqrt(0.8 * n)


def test_the_same_seed_draws_the_same_inbox_and_another_seed_another(inbox: BayesModel) -> None:
    first, again, other = inbox.sample(50, seed=3), inbox.sample(50, seed=3), inbox.sample(50, seed=4)
    for name, column in first.items():
        assert np.array_equal(column, again[name])
    assert not np.array_equal(first["length"], other["length"])


def test_words_are_drawn_with_their_class_probabilities() -> None:
    counts = {"jungle": {"lion": 300, "broker": 100}, "street": {"lion": 50, "broker": 150}}
    model = BayesModel.from_counts(
        columns={"text": counts},
        kinds={"text": "text"},
        class_counts={"jungle": 10, "street": 10},
        prior=None,
    )
    drawn = model.sample(2000, seed=5)
    refit = weigh.NaiveBayes(columns="text", prior=None).fit(drawn, "class").model_
    each: Any = refit.distributions[0]
    assert each.words == ["broker", "lion"]
    assert each.probabilities == pytest.approx(np.array([[0.25, 0.75], [0.75, 0.25]]), abs=0.02)
    assert each.table.sum(axis=1) / refit.counts.rows == pytest.approx([40, 20], rel=0.05)


def test_without_a_stated_length_no_words_can_be_drawn() -> None:
    model = BayesModel.from_parameters(
        class_prior="uniform", columns={"text": {"a": {"lion": 1}}}, kinds={"text": "text"}
    )
    with pytest.raises(Unsupported, match="The number of words per row was not stated"):
        model.sample(3)


def test_rows_are_drawn_in_chunks_and_learned_as_a_stream():
    model = weigh.NaiveBayes().fit({"x": ["a", "b", "b", "b"], "y": [0, 0, 1, 1]}, "y").model_
    drawn = list(model.samples(2500, seed=3, size=1000))
    assert [len(rows["y"]) for rows in drawn] == [1000, 1000, 500]
    again = weigh.NaiveBayes({"x": "category"})
    for rows in drawn:
        again.partial_fit(rows, "y")
    assert again.model_.counts.rows.sum() == 2500
    assert model.sample(5, seed=3)["x"].tolist() == next(model.samples(5, seed=3))["x"].tolist()
