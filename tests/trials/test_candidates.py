"""Trials use the column kinds of all rows, and labels in any container."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import weigh
from weigh.estimators.base import fix_schema
from weigh.trials.candidates import Candidate
from weigh.trials.learners import LEARNER_FACTORIES, AsNumbers
from weigh.trials.rows import LabelledRows

RNG = np.random.default_rng(0)
N = 160
# Most subsets have no value of "rare", and few of "count", whose 25 values make it a number.
RARE = np.full(N, None, dtype=object)
RARE[70:160:10] = list("pqpppqqqp")
TABLE = pd.DataFrame(
    {
        "colour": RNG.choice(["red", "green", "blue"], N),
        "rare": RARE,
        "x": RNG.normal(size=N),
        "count": RNG.integers(0, 25, N),
        "flag": RNG.integers(0, 2, N),
    }
)
LABELS = np.where(TABLE["x"] + RNG.normal(size=N) > 0, "a", "b")


@pytest.mark.parametrize("learner", sorted(set(LEARNER_FACTORIES) - {"linear"}))
def test_a_column_that_is_empty_in_a_subset_does_not_stop_a_curve(learner: str) -> None:
    result = weigh.learning_curve(learner, TABLE, LABELS, sizes=[6, 60], folds=2, repeats=1)
    assert result.sizes == (6, 60)


def test_a_column_that_is_empty_in_a_subset_stops_no_other_trial() -> None:
    weigh.bias_variance("naive-bayes", TABLE, LABELS)
    weigh.compare(["naive-bayes", "logistic"], TABLE, LABELS, repeats=1)
    weigh.tune(weigh.NaiveBayes(), {"prior": [1, 2]}, TABLE, LABELS)


def test_an_empty_column_is_skipped() -> None:
    curve = weigh.learning_curve("naive-bayes", TABLE.assign(rare=None), LABELS)
    assert str(curve).startswith("error rate on 160 rows")


@pytest.mark.parametrize("name", sorted(LEARNER_FACTORIES))
def test_fixed_kinds_give_the_model_that_inferred_kinds_give(name: str) -> None:
    table = TABLE if name != "joint" else TABLE[["colour", "rare", "flag"]]
    targets = TABLE["x"] * 3 + TABLE["count"] if name == "linear" else LABELS
    learner = LEARNER_FACTORIES[name]()
    inferred = clone(learner).fit(table, targets).predict(table)
    assert (fix_schema(learner, table, targets).fit(table, targets).predict(table) == inferred).all()


@pytest.mark.parametrize(
    "learner",
    [weigh.NaiveBayes(), make_pipeline(AsNumbers(), DecisionTreeClassifier()), DecisionTreeClassifier()],
)
def test_a_subset_has_the_features_of_all_rows(learner: Any) -> None:
    candidate = Candidate.of("it", learner, LabelledRows.of(TABLE, LABELS))
    fitted = candidate.fit(np.arange(30)).learner
    schema = fitted.schema_ if hasattr(fitted, "schema_") else fitted[0].schema_
    kinds = dict(zip(schema.names, (kind.name for kind in schema.kinds), strict=True))
    assert kinds["count"] in {"number", "value"}
    assert kinds["rare"] == "category"


def test_the_settings_in_a_result_are_those_that_were_given() -> None:
    result = weigh.learning_curve(
        weigh.NaiveBayes(prior=2), TABLE, LABELS, sizes=[20, 60], folds=2, repeats=1
    )
    assert result.curves[0].settings == "prior=2"


SEPARABLE = np.where(TABLE["x"] > 0, "a", "b")
CONTAINERS = {
    "Arrow strings of pandas": pd.Series(SEPARABLE, dtype="string[pyarrow]").array,
    "pandas strings": pd.Series(SEPARABLE, dtype="str"),
    "pandas categories": pd.Series(SEPARABLE, dtype="category"),
    "polars Series": pl.Series(SEPARABLE.tolist()),
    "Arrow chunks": pa.chunked_array([SEPARABLE[:50].tolist(), SEPARABLE[50:].tolist()]),
    "one column": pd.DataFrame({"y": SEPARABLE}),
}


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("name", CONTAINERS)
def test_every_trial_takes_labels_in_any_container(name: str) -> None:
    numbers, labels = TABLE[["x"]], CONTAINERS[name]
    weigh.learning_curve("naive-bayes", numbers, labels, sizes=[20, 60], folds=2, repeats=1)
    weigh.bias_variance("naive-bayes", numbers, labels)
    weigh.compare(["naive-bayes"], numbers, labels, repeats=1)
    weigh.tune(weigh.NaiveBayes(), {"prior": [1, 2]}, numbers, labels)
    weigh.path(weigh.LogisticRegression(weigh.Normal(1)), numbers, labels, n=3)
    assert str(weigh.margin(numbers, labels)) == str(weigh.margin(numbers, SEPARABLE))
    assert str(weigh.mistake_bound(numbers, labels)) == str(weigh.mistake_bound(numbers, SEPARABLE))
