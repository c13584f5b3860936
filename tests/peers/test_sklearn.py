"""Agreement with scikit-learn's naive Bayes to 1e-10, where both mean the same.

Where they differ on purpose, the data here are chosen so that it does not matter:

- an unseen level: ours gets the prior's share, `CategoricalNB` raises; so every level is in training;
- a class without any value of a column: ours borrows the whole column's, scikit-learn divides by zero
  or has a variance of nan; so every class has values;
- missing values: ours adds nothing, scikit-learn refuses them; so there are none;
- narrow classes: ours are never narrower than `floor` times the column, scikit-learn adds
  `var_smoothing` to every variance; so both are set to zero;
- pseudo-counts of zero: ours keeps exact zeros, scikit-learn clips at 1e-10; so alphas are positive;
- the complement's class prior: neither uses it, except scikit-learn for a single class; ours too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

import weigh

CLOSE = 1e-10
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


def data(seed: int, weights: str = "none", classes: int = 3, rows: int = 240, width: int = 11) -> Data:
    rng = np.random.default_rng(seed)
    # Every class and every level occurs, in both halves.
    y = np.concatenate([np.arange(classes), rng.choice(classes, rows - classes, p=_uneven(rng, classes))])
    names = np.array([f"class {c:04}" for c in range(classes)])
    given = {
        "none": None,
        "whole": rng.integers(1, 5, rows).astype(float),
        "fractional": rng.uniform(0.1, 3, rows),
    }
    return Data(
        names[y], given[weights], _rows(rng, y, width), _rows(rng, rng.integers(0, classes, 50), width)
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


def ours(kind: Any, given: Data, X: Any, **settings: Any) -> Any:
    return weigh.NaiveBayes(columns=kind, **settings).fit(X, given.y, given.weights)


def check_agreement(first: Any, second: Any, rows: Any) -> None:
    """Assert equal classes, joint log-likelihoods, posteriors and verdicts."""
    assert first.classes_.tolist() == second.classes_.tolist()
    joint = first.predict_joint_log_proba(rows)
    assert np.abs(joint - second.predict_joint_log_proba(rows)).max() < CLOSE * max(1.0, np.abs(joint).max())
    assert np.abs(first.predict_log_proba(rows) - second.predict_log_proba(rows)).max() < CLOSE
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
    given = data(seed, weights)
    X = given.train[kind]
    theirs = peer(alpha=alpha).fit(X, given.y, given.weights)
    check_agreement(ours(kind, given, X, prior=alpha, **settings), theirs, given.new[kind])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_gaussian_models_agree(weights: str, seed: int) -> None:
    given = data(seed, weights)
    X = given.train["number"]
    theirs = GaussianNB(var_smoothing=0).fit(X, given.y, given.weights)
    check_agreement(ours(weigh.Number(floor=0), given, X), theirs, given.new["number"])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array])
@pytest.mark.parametrize(
    ("kind", "peer", "complement"),
    [("count", MultinomialNB, False), ("flag", BernoulliNB, False), ("count", ComplementNB, True)],
)
def test_sparse_matrices_agree(kind: str, peer: Any, complement: bool, form: Any, weights: str) -> None:
    given = data(5, weights, width=40)
    X, new = form(given.train[kind]), form(given.new[kind])
    theirs = peer().fit(X, given.y, given.weights)
    check_agreement(ours(kind, given, X, complement=complement), theirs, new)


@pytest.mark.parametrize("classes", [1, 2, 150])
def test_one_two_and_many_classes_agree(classes: int) -> None:
    given = data(3, classes=classes, rows=4 * classes + 100)
    for kind, peer in (("count", MultinomialNB), ("flag", BernoulliNB), ("category", CategoricalNB)):
        theirs = peer().fit(given.train[kind], given.y)
        check_agreement(ours(kind, given, given.train[kind]), theirs, given.new[kind])
    theirs = ComplementNB().fit(given.train["count"], given.y)
    check_agreement(ours("count", given, given.train["count"], complement=True), theirs, given.new["count"])


@pytest.mark.parametrize("shares", [[0.2, 0.5, 0.3], "uniform"])
def test_stated_class_priors_agree(shares: Any) -> None:
    given = data(4)
    X = given.train["count"]
    stated = shares if shares == "uniform" else dict(zip(np.unique(given.y).tolist(), shares, strict=True))
    theirs = MultinomialNB(**({"fit_prior": False} if shares == "uniform" else {"class_prior": shares}))
    check_agreement(ours("count", given, X, class_prior=stated), theirs.fit(X, given.y), given.new["count"])


def test_fractional_counts_agree() -> None:
    given = data(6)
    X, new = given.train["count"] * 0.37, given.new["count"] * 0.37
    check_agreement(ours("count", given, X), MultinomialNB().fit(X, given.y), new)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_partial_fit_agrees_batch_by_batch(weights: str) -> None:
    given = data(7, weights)
    X, classes = given.train["count"], np.unique(given.y)
    first, second = weigh.NaiveBayes(columns="count"), MultinomialNB()
    for rows in np.array_split(np.arange(len(X)), 4):
        w = None if given.weights is None else given.weights[rows]
        first.partial_fit(X[rows], given.y[rows], classes=classes, sample_weight=w)
        second.partial_fit(X[rows], given.y[rows], classes=classes, sample_weight=w)
        check_agreement(first, second, given.new["count"])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_mixed_model_is_the_sum_of_scikit_learns_parts(seed: int, weights: str) -> None:
    given = data(seed, weights, width=3)
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

    whole = ours(columns, given, table(given.train))
    total = np.tile(whole.model_.log_prior, (50, 1))
    for kind, peer in peers.items():
        peer.fit(given.train[kind], given.y, given.weights)
        total += peer.predict_joint_log_proba(given.new[kind]) - whole.model_.log_prior
    assert np.abs(whole.predict_joint_log_proba(table(given.new)) - total).max() < CLOSE * np.abs(total).max()
