"""Worked calculations for classes without counts and for very long products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh

LABELS = ["a", "a", "b", "b"]


@pytest.mark.parametrize("prior", [None, weigh.Dirichlet(0.5), 1.0])
@pytest.mark.parametrize(
    ("kind", "column", "value"),
    [
        ("flag", [True, False, None, None], True),
        ("category", ["u", "v", None, None], "u"),
        ("text", ["big cat", "small cat", None, ""], "cat cat big"),
        (weigh.Text(counts=False), ["big cat", "small cat", None, None], "big cat"),
    ],
)
def test_the_worked_posterior_of_a_class_without_values_agrees_with_the_score(
    kind: Any, column: list[Any], value: Any, prior: Any
) -> None:
    if kind == "flag" and isinstance(prior, weigh.Dirichlet):
        prior = weigh.Beta(1, 1)
    model = weigh.NaiveBayes(columns=kind, prior=prior).fit({"x": column, "y": LABELS}, "y").model_
    evidence = model.explain({"x": value})[0]
    posterior = next(line for line in evidence.worked().splitlines() if line.startswith("posterior"))
    probabilities = [float(word) for word in posterior.split() if "." in word]
    assert probabilities == pytest.approx(model.predict_proba({"x": value})[0].tolist(), abs=1e-5)


def test_predict_and_explain_reject_a_row_that_is_impossible_in_every_class() -> None:
    table = {"x": [1 if label == "a" else 0 for label in LABELS], "y": LABELS}
    table["z"] = [1 - x for x in table["x"]]
    model = weigh.NaiveBayes(columns="flag", prior=None).fit(table, "y").model_
    for method in (model.predict, model.explain):
        with pytest.raises(weigh.errors.ImpossibleEvidence, match="'a' by 'x=0'; 'b' by 'z=0'"):
            method({"x": 0, "z": 0})


def test_a_very_long_product_is_shown_as_its_logarithm() -> None:
    model = weigh.NaiveBayes(columns="text").fit({"x": ["cat", "dog"], "y": ["a", "b"]}, "y").model_
    row = {"x": "cat " * 5_000 + "dog " * 5_000}
    text = model.explain(row)[0].worked()
    assert f"e^{model.scores(row)[0, 0]:.6g}" in text
    assert "P(x: cat | class)^5000" in text
    assert "e^" in model.explain(row)[0].worked("latex")


def test_scoring_wide_matrices_builds_no_index_of_feature_names() -> None:
    X = np.eye(4)
    for kind in ("flag", "count"):
        model = weigh.NaiveBayes(columns=kind).fit(X, LABELS).model_
        model.scores(X)
        assert all("index_by_name" not in vars(term) for term in model.terms)
