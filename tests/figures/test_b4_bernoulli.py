"""B4: Bernoulli naive Bayes; absence is evidence too."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import weigh
from weigh.errors import ImpossibleEvidence
from weigh.model import BayesModel

F = Fraction
JUNGLE = {"lion": True, "wolf": True, "monkey": True, "broker": False}


def test_the_binary_columns_of_the_spam_table(spam_table: Any, worked: Any) -> None:
    table = {name: spam_table[name] for name in ("CS373", "investment", "spam")}
    model = weigh.NaiveBayes(columns="flag").fit(table, "spam").model_
    found = worked(model, {"CS373": 1, "investment": 0})
    assert found["P(CS373=1 | class)"] == {"spam": F(1, 4), "not-spam": F(2, 5)}
    assert found["P(investment=0 | class)"] == {"spam": F(1, 4), "not-spam": F(3, 5)}
    assert found["product"] == {"spam": F(2, 5) * F(1, 16), "not-spam": F(3, 5) * F(2, 5) * F(3, 5)}


def test_an_absent_word_is_evidence_for_the_class_without_it() -> None:
    texts = {"text": ["wolf lion", "wolf", "broker wolf", "broker"], "topic": ["jungle"] * 2 + ["street"] * 2}
    model = weigh.NaiveBayes(columns={"text": weigh.Text(counts=False)}).fit(texts, "topic").model_
    evidence = model.explain({"text": "wolf"})[0]
    absent = {row.feature: row.nats for row in evidence.table if row.value == "absent"}
    assert evidence.verdict == "jungle"
    assert absent["text: broker"] == pytest.approx(math.log((1 - F(1, 4)) / (1 - F(3, 4))))
    assert absent["text: lion"] < 0


def test_a_zero_count_excludes_a_class_unless_smoothed(worked: Any) -> None:
    def topics(prior: Any) -> BayesModel:
        columns = {word: {"jungle": (10 * on, 10), "wallStreet": (9, 10)} for word, on in JUNGLE.items()}
        return BayesModel.from_counts(columns=columns, prior=prior)

    article = dict.fromkeys(JUNGLE, 1)
    assert worked(topics(None), article)["P(broker=1 | class)"]["jungle"] == 0
    assert topics(None).predict_proba(article).tolist() == [[0.0, 1.0]]
    assert worked(topics(1), article)["P(broker=1 | class)"]["jungle"] == F(1, 12)


def test_if_every_class_is_impossible_the_error_names_the_flags() -> None:
    columns = {"lion": {"jungle": (3, 3), "street": (0, 3)}, "broker": {"jungle": (0, 3), "street": (3, 3)}}
    model = BayesModel.from_counts(columns=columns, prior=None)
    with pytest.raises(ImpossibleEvidence, match=r"'jungle' by 'broker=1'; 'street' by 'lion=1'"):
        model.predict({"lion": 1, "broker": 1})


def test_a_million_sparse_columns_form_one_block() -> None:
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((np.ones(200), (np.arange(200) % 50, rng.integers(0, 10**6, 200))), (50, 10**6))
    y = np.arange(50) % 2
    model = weigh.NaiveBayes(columns="flag").fit(X, y).model_
    assert np.isfinite(model.scores(X)).all()
    assert model.predict(X).tolist() == y.tolist()
