"""Contenders of the rows `additive`: our additive models, and other libraries' additive and boosted models.

Peers have the settings that their documentation recommends for a first model; a setting that is not the
default is part of the name. Every contender computes on one core, so EBM has n_jobs=1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import weigh
from benchmarks.quality.default_settings import (
    Contender,
    Parameters,
    Role,
    make_ours,
    make_pipeline_of,
    split_columns,
    to_plain_frame,
)
from benchmarks.quality.public_tables import Task

MAX_LEVELS = 254  # of a category in HistGradientBoosting; rarer levels share one more
N_KNOTS = 8
N_INVERSE_FOLDS = 3
INVERSE_PENALTIES = np.geomspace(1e-3, 1e3, 7)
PENALTIES = np.geomspace(1e-3, 1e4, 15)
LEARNERS: Mapping[Task, str] = {"classification": "LogisticRegression", "regression": "LinearRegression"}
SUFFIXES: Mapping[Task, str] = {"classification": "Classifier", "regression": "Regressor"}
OURS: Mapping[str, Parameters] = {
    "plain": {},
    "curves": {"curves": "auto"},
    "pairs": {"curves": "auto", "pairs": "auto"},
}
CHOICE = "choice"
EBMS: Mapping[str, tuple[str, Parameters]] = {
    "ebm": ("EBM, no pairs", {"interactions": 0}),
    "ebm-10-pairs": ("EBM, 10 pairs", {"interactions": 10}),
    "ebm-pairs": ("EBM", {}),
}
PEERS = (*EBMS, "boosting", "splines", "gam")
ENVIRONMENTS = {"gam": "gam"}  # others: peers


def list_keys() -> list[str]:
    """Return the names of the contenders on the command line."""
    return [*OURS, CHOICE, *PEERS]


def find_contender(key: str, task: Task) -> Contender:
    """Return the contender with this name on the command line."""
    learner = LEARNERS[task]
    if key in OURS:
        arguments = ", ".join(f"{name}={value!r}" for name, value in OURS[key].items())
        # The model without curves is a rival that the others must beat.
        role: Role = "peer" if key == "plain" else "default"
        return Contender(f"{learner}({arguments})", learner, role, partial(make_ours, learner, OURS[key]))
    if key == CHOICE:
        return Contender("choose_learner", learner, "default", lambda X: ChosenLearner())
    if key in EBMS:
        name, parameters = EBMS[key]
        return Contender(name, learner, "peer", partial(make_ebm, task, parameters))
    name, make = {
        "boosting": (f"HistGradientBoosting{SUFFIXES[task]}", make_boosting),
        "splines": ("SplineTransformer + " + LINEAR_MODELS[task][0], PenalisedSplines),
        "gam": ("pyGAM, gridsearch", SplineGam),
    }[key]
    return Contender(name, learner, "peer", partial(make, task))


class ChosenLearner:
    """The learner that choose_learner chooses for the training rows; the comparison is part of the fit."""

    def fit(self, X: pd.DataFrame, y: Any) -> ChosenLearner:
        self.model = weigh.choose_learner(X, y).estimator.fit(X, y)
        return self

    def predict(self, X: pd.DataFrame) -> Any:
        return self.model.predict(X)

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(X)


def make_ebm(task: Task, parameters: Parameters, X: pd.DataFrame) -> Any:
    """Return InterpretML's explainable boosting machine."""
    from interpret import glassbox
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    make = getattr(glassbox, f"ExplainableBoosting{SUFFIXES[task]}")
    return make_pipeline(FunctionTransformer(to_plain_frame), make(n_jobs=1, **parameters))


def make_boosting(task: Task, X: pd.DataFrame) -> Any:
    """Return scikit-learn's boosted trees, which split categories and missing values natively."""
    from sklearn import ensemble
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

    numbers, categories = split_columns(X)
    encode = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=MAX_LEVELS
    )
    transform = ColumnTransformer([("categories", encode, categories), ("numbers", "passthrough", numbers)])
    make = getattr(ensemble, f"HistGradientBoosting{SUFFIXES[task]}")
    trees = make(categorical_features=list(range(len(categories))), random_state=0)
    return make_pipeline(FunctionTransformer(to_plain_frame), transform, trees)


LINEAR_MODELS: Mapping[Task, tuple[str, Parameters]] = {
    "classification": (
        "LogisticRegressionCV",
        {
            "Cs": INVERSE_PENALTIES,
            "cv": N_INVERSE_FOLDS,
            "l1_ratios": (0.0,),
            "scoring": "neg_log_loss",
            "max_iter": 1_000,
            "use_legacy_attributes": False,
        },
    ),
    "regression": ("RidgeCV", {"alphas": PENALTIES}),
}


class PenalisedSplines:
    """Cubic splines before scikit-learn's linear models, whose penalty is cross-validated.

    Knots are quantiles of the distinct values in training. Quantiles of all values coincide where one value
    is frequent: within the training rows of Adult their log loss is 0.3111, of distinct values 0.3032, and
    of equal distances 0.3049.
    """

    def __init__(self, task: Task, X: pd.DataFrame) -> None:
        self.estimator, self.parameters = LINEAR_MODELS[task]
        self.numbers, _ = split_columns(X)

    def fit(self, X: pd.DataFrame, y: Any) -> PenalisedSplines:
        from sklearn.compose import ColumnTransformer

        plain = to_plain_frame(X)
        splines = [(name, make_spline(plain[name]), [i]) for i, name in enumerate(self.numbers)]
        expand = [ColumnTransformer(splines)] if splines else []
        self.model = make_pipeline_of(self.estimator, X, expand, **self.parameters).fit(X, y)
        return self

    def predict(self, X: pd.DataFrame) -> Any:
        return self.model.predict(X)

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(X)


def make_spline(column: pd.Series[Any]) -> Any:
    """Return the spline of a number; one with two values or fewer stays as it is."""
    from sklearn.preprocessing import SplineTransformer

    values = np.unique(column.dropna().to_numpy(float))
    if len(values) < 3:
        return "passthrough"
    knots = np.unique(np.quantile(values, np.linspace(0.0, 1.0, N_KNOTS)))
    return SplineTransformer(knots=knots.reshape(-1, 1), extrapolation="constant")


class SplineGam:
    """pyGAM: a spline of each number and a factor of each category, with one penalty chosen by its search.

    Missing numbers are the median, missing strings a level, and unknown levels the most frequent one,
    because pyGAM accepts none of them. Columns that are constant in training are left out.
    """

    def __init__(self, task: Task, X: pd.DataFrame) -> None:
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import OrdinalEncoder

        self.task = task
        self.numbers, self.categories = split_columns(X)
        self.impute = SimpleImputer(strategy="median", keep_empty_features=True)
        self.encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)

    def fit(self, X: pd.DataFrame, y: Any) -> SplineGam:
        from pygam import LinearGAM, LogisticGAM, f, s

        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.task == "classification" and len(self.classes_) != 2:
            raise ValueError("pyGAM's LogisticGAM has two classes")
        values = self._fit_values(to_plain_frame(X))
        self.varies = np.ptp(values, axis=0) > 0
        is_factor = np.arange(values.shape[1])[self.varies] >= len(self.numbers)
        terms = [(f if factor else s)(i) for i, factor in enumerate(is_factor)]
        make, labels = (LogisticGAM, codes) if self.task == "classification" else (LinearGAM, y)
        model = make(sum(terms[1:], terms[0]))
        self.model = model.gridsearch(values[:, self.varies], labels, progress=False)
        return self

    def _fit_values(self, plain: pd.DataFrame) -> Any:
        if self.numbers:
            self.impute.fit(plain[self.numbers].to_numpy())
        if self.categories:
            codes = self.encode.fit_transform(plain[self.categories]).astype(np.int64)
            self.most_frequent = np.array([np.bincount(column).argmax() for column in codes.T])
        return self._values(plain)

    def _values(self, plain: pd.DataFrame) -> Any:
        """Return the numbers, then the codes of the levels."""
        parts = [np.empty((len(plain), 0))]
        if self.numbers:
            parts.append(self.impute.transform(plain[self.numbers].to_numpy()))
        if self.categories:
            codes = self.encode.transform(plain[self.categories])
            parts.append(np.where(codes < 0, self.most_frequent, codes))
        return np.hstack(parts)

    def predict(self, X: pd.DataFrame) -> Any:
        return self.model.predict(self._values(to_plain_frame(X))[:, self.varies])

    def predict_proba(self, X: pd.DataFrame) -> Any:
        p = self.model.predict_proba(self._values(to_plain_frame(X))[:, self.varies])
        return np.column_stack([1.0 - p, p])
