"""scikit-learn's naive Bayes on mixed tables, in its fastest form, and pipelines for UCI Adult.

CategoricalNB models the strings, GaussianNB the numbers; the sum of their joint log-probabilities minus one
log-prior is the naive Bayes score of a row. The strings are encoded by scikit-learn's OrdinalEncoder or by
pandas' hash tables, which are faster. Labels are encoded first, because both classifiers are many times
slower on string labels. Five-fold cross-validation on the training file ranks the pipelines for Adult; the
accuracy on the test file is only reported.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
)

from benchmarks.data import ADULT, ADULT_TEST, read_adult
from benchmarks.data import ADULT_CATEGORIES as CATEGORIES
from benchmarks.data import ADULT_NUMBERS as NUMBERS
from benchmarks.job import DATA

DISCRETE_NUMBERS = [name for name in NUMBERS if name != "fnlwgt"]

Encoder = Literal["ordinal", "pandas"]
Codes = npt.NDArray[np.int64]


class OrdinalCodes:
    """Codes from scikit-learn's OrdinalEncoder; 0 stands for unseen levels."""

    def fit_transform(self, frame: Any) -> Codes:
        # The encoder takes 1.3 times as long on Arrow-backed strings as on Python strings.
        self.encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, dtype=np.int64)
        return np.asarray(self.encoder.fit_transform(frame.astype(object)) + 1)

    def transform(self, frame: Any) -> Codes:
        return np.asarray(self.encoder.transform(frame.astype(object)) + 1)


class PandasCodes:
    """Codes from `pandas.factorize`; 0 stands for unseen levels."""

    def fit_transform(self, frame: Any) -> Codes:
        pairs = [pd.factorize(frame[name]) for name in frame.columns]
        self.levels = [pd.Index(levels) for _, levels in pairs]
        return np.column_stack([codes for codes, _ in pairs]) + 1

    def transform(self, frame: Any) -> Codes:
        columns = zip(frame.columns, self.levels, strict=True)
        return np.column_stack([self._look_up(frame[name], levels) for name, levels in columns]) + 1

    def _look_up(self, values: Any, levels: Any) -> Codes:
        # Looking up only the distinct values is faster than looking up every row.
        codes, distinct = pd.factorize(values)
        return np.asarray(np.append(levels.get_indexer(distinct), -1)[codes])


class MixedNaiveBayes:
    """CategoricalNB and GaussianNB on the columns of one frame."""

    def __init__(self, categories: list[str], numbers: list[str], encoder: Encoder) -> None:
        self.categories, self.numbers = categories, numbers
        self.codes = PandasCodes() if encoder == "pandas" else OrdinalCodes()
        self.imputer = SimpleImputer()
        self.categorical_model, self.gaussian_model = CategoricalNB(), GaussianNB()

    def fit(self, frame: Any, label: str) -> MixedNaiveBayes:
        y, self.labels = pd.factorize(frame[label])
        self.categorical_model.fit(self.codes.fit_transform(frame[self.categories]), y)
        self.gaussian_model.fit(self.imputer.fit_transform(self._values(frame)), y)
        return self

    def predict(self, frame: Any) -> Any:
        codes = self.codes.transform(frame[self.categories])
        values = self.imputer.transform(self._values(frame))
        scores = self.categorical_model.predict_joint_log_proba(codes)
        scores += self.gaussian_model.predict_joint_log_proba(values)
        scores -= self.categorical_model.class_log_prior_
        return self.labels[scores.argmax(axis=1)]

    def _values(self, frame: Any) -> npt.NDArray[np.float64]:
        # The imputer takes five times as long on Arrow-backed numbers as on one float array.
        return np.asarray(frame[self.numbers].to_numpy(dtype=float, na_value=np.nan))


class CodeTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped base classes
    """The encoders above as a scikit-learn transformer."""

    def __init__(self, encoder: str = "pandas") -> None:
        self.encoder = encoder

    def fit(self, X: Any, y: Any = None) -> Self:
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        self.codes_ = PandasCodes() if self.encoder == "pandas" else OrdinalCodes()
        return self.codes_.fit_transform(X)

    def transform(self, X: Any) -> Any:
        return self.codes_.transform(X)


class CategoricalGaussianNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base classes
    """The sum of the log-posteriors of CategoricalNB and GaussianNB, minus one log-prior."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    def fit(self, X: Any, y: Any) -> Self:
        self.a_ = make_pipeline(CodeTransformer(), CategoricalNB()).fit(X[CATEGORIES], y)
        self.b_ = clone(self.numbers).fit(X[NUMBERS], y)
        self.classes_ = self.a_.classes_
        return self

    def predict(self, X: Any) -> Any:
        a, b = self.a_.predict_log_proba(X[CATEGORIES]), self.b_.predict_log_proba(X[NUMBERS])
        return self.classes_[(a + b - self.a_[-1].class_log_prior_).argmax(axis=1)]


class ValueLevelNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base classes
    """CategoricalNB with every value of every number as a level; only fnlwgt is binned.

    Uses neither ColumnTransformer nor KBinsDiscretizer, which would take a sixth of the time.
    """

    def __init__(self, alpha: float = 1.0, class_prior: Any = None, bins: int = 32) -> None:
        self.alpha, self.class_prior, self.bins = alpha, class_prior, bins

    def fit(self, X: Any, y: Any) -> Self:
        self.cuts_ = np.quantile(X["fnlwgt"], np.arange(1, self.bins) / self.bins)
        self.coder_ = PandasCodes()
        codes = self.coder_.fit_transform(X[CATEGORIES + DISCRETE_NUMBERS])
        learner = CategoricalNB(alpha=self.alpha, class_prior=self.class_prior)
        self.learner_ = learner.fit(self._with_bins(codes, X), y)
        self.classes_ = self.learner_.classes_
        return self

    def predict(self, X: Any) -> Any:
        codes = self.coder_.transform(X[CATEGORIES + DISCRETE_NUMBERS])
        return self.learner_.predict(self._with_bins(codes, X))

    def _with_bins(self, codes: Any, X: Any) -> Any:
        return np.column_stack([codes, np.searchsorted(self.cuts_, X["fnlwgt"])])


def make_binner(count: int, strategy: str, encode: str = "ordinal") -> Any:
    method = {"quantile_method": "averaged_inverted_cdf"} if strategy == "quantile" else {}
    return KBinsDiscretizer(count, encode=encode, strategy=strategy, **method)


def binned_pipeline(count: int, strategy: str, encoder: str = "pandas", **settings: Any) -> Any:
    """Return CategoricalNB on codes and binned numbers; `min_categories` covers empty last bins."""
    columns = ColumnTransformer(
        [("codes", CodeTransformer(encoder), CATEGORIES), ("bins", make_binner(count, strategy), NUMBERS)]
    )
    min_categories = [1] * len(CATEGORIES) + [count] * len(NUMBERS)
    return make_pipeline(columns, CategoricalNB(min_categories=min_categories, **settings))


def one_hot_pipeline(count: int, strategy: str, learner: Any) -> Any:
    """Return a learner on one-hot encoded levels and bins."""
    levels = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer(
        [("levels", levels, CATEGORIES), ("bins", make_binner(count, strategy, "onehot"), NUMBERS)]
    )
    return make_pipeline(columns, learner)


def candidate_pipelines() -> dict[str, Any]:
    """Return all pipelines by name; P(>50K) in a name replaces the class frequencies."""
    pipelines: dict[str, Any] = {}
    for count in (10, 20, 32, 64, 128):
        for strategy in ("quantile", "uniform"):
            pipelines[f"CategoricalNB, {count} {strategy} bins"] = binned_pipeline(count, strategy)
    pipelines["CategoricalNB, 64 uniform bins, P(>50K) = 0.05"] = binned_pipeline(
        64, "uniform", class_prior=[0.95, 0.05]
    )
    pipelines["CategoricalNB + GaussianNB"] = CategoricalGaussianNB(GaussianNB())
    for smoothing in (1e-5, 1e-4, 1e-3, 1e-2):
        name = f"CategoricalNB + GaussianNB(var_smoothing={smoothing:g})"
        pipelines[name] = CategoricalGaussianNB(GaussianNB(var_smoothing=smoothing))
    normal = QuantileTransformer(output_distribution="normal")
    pipelines["CategoricalNB + power transform + GaussianNB"] = CategoricalGaussianNB(
        make_pipeline(PowerTransformer(), GaussianNB())
    )
    pipelines["CategoricalNB + quantile transform + GaussianNB"] = CategoricalGaussianNB(
        make_pipeline(normal, GaussianNB())
    )
    for learner in (BernoulliNB(), MultinomialNB(), ComplementNB()):
        name = f"one-hot, 64 uniform bins, {type(learner).__name__}"
        pipelines[name] = one_hot_pipeline(64, "uniform", learner)
    return pipelines | value_level_grid()


def value_level_grid() -> dict[str, Any]:
    """Return the grid of pseudo-counts, class priors and bins from which weigh's settings were chosen."""
    pipelines: dict[str, Any] = {}
    for alpha in (1.0, 0.1, 0.01, 0.001, 0.0001, 0.000001):
        name = f"CategoricalNB, values as levels, alpha {alpha:g}"
        pipelines[name] = ValueLevelNB(alpha)
        for p in (0.08, 0.06, 0.05, 0.045, 0.04, 0.035, 0.03, 0.025, 0.02):
            pipelines[f"{name}, P(>50K) = {p}"] = ValueLevelNB(alpha, [1.0 - p, p])
            for bins in (16, 64):
                pipelines[f"{name}, {bins} bins, P(>50K) = {p}"] = ValueLevelNB(alpha, [1.0 - p, p], bins)
    return pipelines


def pipeline_accuracies(pipelines: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Return cross-validated and test accuracy of every pipeline."""
    (X, y), (X_test, y_test) = read_adult(DATA / ADULT), read_adult(DATA / ADULT_TEST)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    accuracies = {}
    for name, pipeline in pipelines.items():
        by_folds = cross_val_score(pipeline, X, y, cv=folds).mean()
        on_test = (clone(pipeline).fit(X, y).predict(X_test) == y_test).mean()
        accuracies[name] = (float(by_folds), float(on_test))
    return accuracies
