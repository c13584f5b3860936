"""Agreement with scikit-learn's naive Bayes to 1e-10.

Where the two differ on purpose, the data are chosen so that it does not matter:

- an unseen level: ours gets the prior's share, `CategoricalNB` raises; so every level is in training;
- a class without any value of a column: ours uses the whole column's, scikit-learn divides by zero
  or has a variance of nan; so every class has values;
- missing values: ours ignores them, scikit-learn raises; so there are none;
- small variances: ours are at least `floor` times the column's, scikit-learn adds `var_smoothing` to
  every variance; so both are set to zero;
- pseudo-counts of zero: ours keeps exact zeros, scikit-learn clips at 1e-10; so alphas are positive;
- the class prior of complement naive Bayes: both ignore it, except for a single class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

import weigh

TOLERANCE = 1e-10
LEVELS = 4
WEIGHTS = ["none", "whole", "fractional"]
ALPHAS = [1.0, 0.5, 1e-3, 7.0]
SEEDS = [0, 1, 2]


@dataclass(frozen=True)
class Data:
    """Random rows of every kind, with labels and weights; unseen rows in `new`."""

    y: Any
    weights: Any
    train: dict[str, Any]
    new: dict[str, Any]


def make_data(seed: int, weights: str = "none", classes: int = 3, rows: int = 240, width: int = 11) -> Data:
    rng = np.random.default_rng(seed)
    # Every class and every level occurs, in both halves.
    y = np.concatenate([np.arange(classes), rng.choice(classes, rows - classes, p=_uneven(rng, classes))])
    names = np.array([f"class {c:04}" for c in range(classes)])
    data = {
        "none": None,
        "whole": rng.integers(1, 5, rows).astype(float),
        "fractional": rng.uniform(0.1, 3, rows),
    }
    return Data(
        names[y], data[weights], _rows(rng, y, width), _rows(rng, rng.integers(0, classes, 50), width)
    )


def _uneven(rng: Any, classes: int) -> Any:
    return rng.dirichlet(np.full(classes, 5.0))


def _rows(rng: Any, y: Any, width: int) -> dict[str, Any]:
    shift = (y % 5)[:, None] + np.arange(width)[None, :] % 3
    levels = rng.integers(0, LEVELS, (len(y), width))
    levels[:LEVELS] = np.arange(LEVELS)[:, None]
    return {
        "count": rng.poisson(0.3 + 0.4 * shift).astype(float),
        "flag": (rng.random((len(y), width)) < 0.1 + 0.1 * shift).astype(float),
        "category": levels,
        "number": rng.normal(1e3 + shift, 0.5 + 0.2 * shift),
    }


def ours(kind: Any, data: Data, X: Any, **settings: Any) -> Any:
    return weigh.NaiveBayes(columns=kind, **settings).fit(X, data.y, data.weights)


def check_agreement(first: Any, second: Any, rows: Any) -> None:
    """Assert equal classes, joint log-likelihoods, posteriors and predictions."""
    assert first.classes_.tolist() == second.classes_.tolist()
    joint = first.predict_joint_log_proba(rows)
    assert np.abs(joint - second.predict_joint_log_proba(rows)).max() < TOLERANCE * max(
        1.0, np.abs(joint).max()
    )
    assert np.abs(first.predict_log_proba(rows) - second.predict_log_proba(rows)).max() < TOLERANCE
    assert (first.predict(rows) == second.predict(rows)).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(
    ("kind", "peer", "settings"),
    [
        ("count", MultinomialNB, {}),
        ("flag", BernoulliNB, {}),
        ("count", ComplementNB, {"complement": True}),
        ("category", CategoricalNB, {}),
    ],
    ids=["multinomial", "bernoulli", "complement", "categorical"],
)
def test_discrete_models_agree(
    kind: str, peer: Any, settings: dict[str, Any], alpha: float, weights: str, seed: int
) -> None:
    data = make_data(seed, weights)
    X = data.train[kind]
    theirs = peer(alpha=alpha).fit(X, data.y, data.weights)
    check_agreement(ours(kind, data, X, prior=alpha, **settings), theirs, data.new[kind])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_gaussian_models_agree(weights: str, seed: int) -> None:
    data = make_data(seed, weights)
    X = data.train["number"]
    theirs = GaussianNB(var_smoothing=0).fit(X, data.y, data.weights)
    check_agreement(ours(weigh.Number(floor=0), data, X), theirs, data.new["number"])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array])
@pytest.mark.parametrize(
    ("kind", "peer", "complement"),
    [("count", MultinomialNB, False), ("flag", BernoulliNB, False), ("count", ComplementNB, True)],
)
def test_sparse_matrices_agree(kind: str, peer: Any, complement: bool, form: Any, weights: str) -> None:
    data = make_data(5, weights, width=40)
    X, new = form(data.train[kind]), form(data.new[kind])
    theirs = peer().fit(X, data.y, data.weights)
    check_agreement(ours(kind, data, X, complement=complement), theirs, new)


@pytest.mark.parametrize("classes", [1, 2, 150])
def test_one_two_and_many_classes_agree(classes: int) -> None:
    data = make_data(3, classes=classes, rows=4 * classes + 100)
    for kind, peer in (("count", MultinomialNB), ("flag", BernoulliNB), ("category", CategoricalNB)):
        theirs = peer().fit(data.train[kind], data.y)
        check_agreement(ours(kind, data, data.train[kind]), theirs, data.new[kind])
    theirs = ComplementNB().fit(data.train["count"], data.y)
    check_agreement(ours("count", data, data.train["count"], complement=True), theirs, data.new["count"])


@pytest.mark.parametrize("shares", [[0.2, 0.5, 0.3], "uniform"])
def test_stated_class_priors_agree(shares: Any) -> None:
    data = make_data(4)
    X = data.train["count"]
    class_prior = (
        shares if shares == "uniform" else dict(zip(np.unique(data.y).tolist(), shares, strict=True))
    )
    theirs = MultinomialNB(**({"fit_prior": False} if shares == "uniform" else {"class_prior": shares}))
    check_agreement(ours("count", data, X, class_prior=class_prior), theirs.fit(X, data.y), data.new["count"])


def test_fractional_counts_agree() -> None:
    data = make_data(6)
    X, new = data.train["count"] * 0.37, data.new["count"] * 0.37
    check_agreement(ours("count", data, X), MultinomialNB().fit(X, data.y), new)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_partial_fit_agrees_batch_by_batch(weights: str) -> None:
    data = make_data(7, weights)
    X, classes = data.train["count"], np.unique(data.y)
    first, second = weigh.NaiveBayes(columns="count"), MultinomialNB()
    for rows in np.array_split(np.arange(len(X)), 4):
        w = None if data.weights is None else data.weights[rows]
        first.partial_fit(X[rows], data.y[rows], classes=classes, sample_weight=w)
        second.partial_fit(X[rows], data.y[rows], classes=classes, sample_weight=w)
        check_agreement(first, second, data.new["count"])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_mixed_model_is_the_sum_of_scikit_learns_models(seed: int, weights: str) -> None:
    data = make_data(seed, weights, width=3)
    peers = {
        "count": MultinomialNB(),
        "flag": BernoulliNB(),
        "category": CategoricalNB(),
        "number": GaussianNB(var_smoothing=0),
    }
    kinds = {kind: weigh.Number(floor=0) if kind == "number" else kind for kind in peers}
    columns = {f"{kind}{j}": kinds[kind] for kind in peers for j in range(3)}

    def table(parts: dict[str, Any]) -> dict[str, Any]:
        return {f"{kind}{j}": parts[kind][:, j] for kind in peers for j in range(3)}

    whole = ours(columns, data, table(data.train))
    total = np.tile(whole.model_.log_prior, (50, 1))
    for kind, peer in peers.items():
        peer.fit(data.train[kind], data.y, data.weights)
        total += peer.predict_joint_log_proba(data.new[kind]) - whole.model_.log_prior
    assert (
        np.abs(whole.predict_joint_log_proba(table(data.new)) - total).max() < TOLERANCE * np.abs(total).max()
    )
