"""Contenders of the rows `defaults`: our learners by default, by hand, and scikit-learn's simple pipelines.

The manual settings are data. They state what a release may choose automatically, so that they mean the same
before and after; a setting that this version of weigh does not know is left out.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

import weigh
from benchmarks.quality.public_tables import Task

Role = Literal["default", "setting", "peer"]
Parameters = Mapping[str, Any]
MISSING = "(missing)"
TRIAL_ROWS = pd.DataFrame({"x": np.arange(60) ** 1.5, "z": np.arange(60) % 7 + 0.5}), np.arange(60) // 30


@dataclass(frozen=True)
class Contender:
    """A way to make a model for a table: `make(X)` returns an estimator that has not been fitted."""

    name: str
    learner: str  # our class, or the one of ours that a peer corresponds to
    role: Role
    make: Callable[[pd.DataFrame], Any]


# What defaults meant before any of them was automatic, stated so that a manual setting keeps its meaning.
FIXED: Mapping[str, Parameters] = {"NaiveBayes": {"calibration": None}, "Number": {"shape": "normal"}}
NORMALS = {"own spread": {"spread": "own"}, "shared spread": {"spread": "shared"}}
BINS = {f"{count} bins": {"bins": count} for count in (5, 10, 20)}
MANUAL: Mapping[str, Mapping[str, Parameters]] = {
    "NaiveBayes": {
        **{name: {"number": number} for name, number in (NORMALS | BINS).items()},
        **{
            f"{name}, temperature": {"number": number, "calibration": "temperature"}
            for name, number in (NORMALS | {"10 bins": BINS["10 bins"]}).items()
        },
    },
    "Perceptron": {
        "no scale": {"scale": None},
        "unit scale": {"scale": "unit"},
        "unit scale, 5 passes": {"scale": "unit", "max_iter": 5},
        "unit scale, 100 passes": {"scale": "unit", "max_iter": 100},
    },
    "LogisticRegression": {
        "no scale, Normal(1)": {"scale": None, "prior": 1.0},
        "no scale, Normal(10)": {"scale": None, "prior": 10.0},
        **{f"unit scale, Normal({s:g})": {"scale": "unit", "prior": s} for s in (0.1, 0.3, 1.0, 3.0, 10.0)},
    },
    "LinearRegression": {
        "no scale, no prior": {"scale": None, "prior": None},
        "no scale, Normal(1)": {"scale": None, "prior": 1.0},
        **{f"unit scale, Normal({s:g})": {"scale": "unit", "prior": s} for s in (0.1, 1.0, 10.0)},
        **{
            f"{name}, {prior}": {"scale": scale, "prior": make("cv")}
            for name, scale in (("no scale", None), ("unit scale", "unit"))
            for prior, make in (("Normal('cv')", weigh.Normal), ("Laplace('cv')", weigh.Laplace))
        },
    },
}
DEFAULTS: Mapping[Task, Mapping[str, tuple[str, Parameters]]] = {
    "classification": {
        "NaiveBayes()": ("NaiveBayes", {}),
        "NaiveBayes(calibration='auto')": ("NaiveBayes", {"calibration": "auto"}),
        "Perceptron()": ("Perceptron", {}),
        "LogisticRegression()": ("LogisticRegression", {}),
    },
    "regression": {
        "LinearRegression()": ("LinearRegression", {}),
        "LinearRegression(prior=Normal('cv'))": ("LinearRegression", {"prior": weigh.Normal("cv")}),
        "LinearRegression(prior=Laplace('cv'))": ("LinearRegression", {"prior": weigh.Laplace("cv")}),
    },
}


def list_contenders(task: Task) -> list[Contender]:
    """Return the defaults and manual settings that this version knows, and the peers of a task."""
    defaults = [
        Contender(name, learner, "default", partial(make_ours, learner, parameters))
        for name, (learner, parameters) in DEFAULTS[task].items()
        if _is_known(getattr(weigh, learner), parameters)
    ]
    learners = dict.fromkeys(learner for learner, _ in DEFAULTS[task].values())
    settings = [
        Contender(f"{learner}: {name}", learner, "setting", partial(make_ours, learner, known))
        for learner in learners
        for name, parameters in MANUAL[learner].items()
        if (known := _select_known(learner, parameters)) is not None
    ]
    peers = [Contender(name, learner, "peer", make) for name, (learner, make) in PEERS[task].items()]
    return [*defaults, *settings, *peers]


def make_ours(learner: str, parameters: Parameters, X: pd.DataFrame) -> Any:
    """Return one of our learners; its parameters do not depend on the table."""
    return getattr(weigh, learner)(**parameters)


def _select_known(learner: str, parameters: Parameters) -> Parameters | None:
    """Return a setting with the fixed values that this version knows; None if the setting is unknown."""
    chosen = _complete(learner, parameters)
    if "number" in chosen:
        # Bins exclude a stated shape.
        numbers = (_complete("Number", chosen["number"]), chosen["number"])
        known = next((number for number in numbers if _is_known(weigh.Number, number)), None)
        if known is None:
            return None
        chosen["number"] = weigh.Number(**known)
    return chosen if _is_known(getattr(weigh, learner), chosen) else None


def _is_known(make: Callable[..., Any], parameters: Parameters) -> bool:
    """Whether a kind can be made with these parameters, and a learner also be fitted."""
    try:
        made = make(**parameters)
        if hasattr(made, "fit"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made.fit(*TRIAL_ROWS)
    except (TypeError, weigh.errors.WeighError):
        return False
    return True


def _complete(maker: str, parameters: Parameters) -> dict[str, Any]:
    names = inspect.signature(getattr(weigh, maker)).parameters
    return {name: value for name, value in FIXED.get(maker, {}).items() if name in names} | dict(parameters)


def to_plain_frame(X: pd.DataFrame) -> pd.DataFrame:
    """Return numbers as floats and missing strings as a level, for scikit-learn."""
    return pd.DataFrame(
        {
            name: X[name].fillna(MISSING).astype(object)
            if X[name].dtype == object
            else X[name].to_numpy(float, na_value=np.nan)
            for name in X
        },
        index=X.index,
    )


def split_columns(X: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the names of the numbers and of the categories."""
    categories = [str(name) for name in X if X[name].dtype == object]
    return [str(name) for name in X if name not in categories], categories


def make_pipeline_of(estimator: str, X: pd.DataFrame, expand: Sequence[Any] = (), **parameters: Any) -> Any:
    """Return one-hot categories and standardised numbers, missing ones the median, before an estimator.

    The transformers in `expand` change the numbers before they are standardised.
    """
    from sklearn import linear_model, naive_bayes
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    numbers, categories = split_columns(X)
    impute = SimpleImputer(strategy="median", keep_empty_features=True)
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    transform = ColumnTransformer(
        [
            ("numbers", make_pipeline(impute, *expand, StandardScaler()), numbers),
            ("categories", encode, categories),
        ]
    )
    make = getattr(linear_model, estimator, None) or getattr(naive_bayes, estimator)
    return make_pipeline(FunctionTransformer(to_plain_frame), transform, make(**parameters))


class BinnedBayes:
    """CategoricalNB on levels and bins, or on levels with GaussianNB on the numbers."""

    def __init__(self, X: pd.DataFrame, bins: int | None) -> None:
        self.bins = bins
        self.numbers, self.categories = split_columns(X)

    def fit(self, X: pd.DataFrame, y: Any) -> BinnedBayes:
        from sklearn.impute import SimpleImputer
        from sklearn.naive_bayes import CategoricalNB, GaussianNB
        from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder

        plain = to_plain_frame(X)
        self.classes_ = np.unique(y)
        self.priors = np.log(np.unique(y, return_counts=True)[1] / len(y))
        self.encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        self.impute = SimpleImputer(strategy="median", keep_empty_features=True)
        self.discretise = KBinsDiscretizer(
            self.bins or 2, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf"
        )
        if self.categories:
            self.encode.fit(plain[self.categories])
        if self.numbers:
            values = self.impute.fit_transform(plain[self.numbers].to_numpy())
            self.discretise.fit(values)
            self.gauss = GaussianNB().fit(values, y)
        codes = self._codes(plain)
        if codes.shape[1]:
            n_levels = [len(levels) + 1 for levels in self.encode.categories_] if self.categories else []
            n_bins = [int(n) + 1 for n in self.discretise.n_bins_] if self.bins and self.numbers else []
            self.discrete = CategoricalNB(min_categories=[*n_levels, *n_bins]).fit(codes, y)
        return self

    def _codes(self, plain: pd.DataFrame) -> Any:
        """Return codes of levels, and of bins if there are any; 0 is an unknown level."""
        parts = [np.empty((len(plain), 0))]
        if self.categories:
            parts.append(self.encode.transform(plain[self.categories]) + 1)
        if self.bins and self.numbers:
            parts.append(self.discretise.transform(self.impute.transform(plain[self.numbers].to_numpy())) + 1)
        return np.hstack(parts)

    def predict_log_proba(self, X: pd.DataFrame) -> Any:
        plain = to_plain_frame(X)
        scores = np.tile(self.priors, (len(X), 1))
        if (codes := self._codes(plain)).shape[1]:
            scores += self.discrete.predict_joint_log_proba(codes) - self.priors
        if self.numbers and not self.bins:
            values = self.impute.transform(plain[self.numbers].to_numpy())
            scores += self.gauss.predict_joint_log_proba(values) - self.priors
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return np.exp(self.predict_log_proba(X))


Peer = tuple[str, Callable[[pd.DataFrame], Any]]
PEERS: Mapping[Task, Mapping[str, Peer]] = {
    "classification": {
        "GaussianNB": ("NaiveBayes", partial(make_pipeline_of, "GaussianNB")),
        "CategoricalNB + GaussianNB": ("NaiveBayes", partial(BinnedBayes, bins=None)),
        "CategoricalNB, 10 bins": ("NaiveBayes", partial(BinnedBayes, bins=10)),
        "sklearn Perceptron": ("Perceptron", partial(make_pipeline_of, "Perceptron")),
        "sklearn LogisticRegression": (
            "LogisticRegression",
            partial(make_pipeline_of, "LogisticRegression", max_iter=1_000),
        ),
    },
    "regression": {
        "sklearn LinearRegression": ("LinearRegression", partial(make_pipeline_of, "LinearRegression")),
        "Ridge": ("LinearRegression", partial(make_pipeline_of, "Ridge")),
        "LassoCV": ("LinearRegression", partial(make_pipeline_of, "LassoCV", max_iter=5_000)),
    },
}
