"""Learners by name, and made ready for the rows they are tried on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.base import BaseEstimator, TransformerMixin, is_regressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Tags

from weigh import errors
from weigh.estimators import (
    JointBayes,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    Perceptron,
    Threshold,
)
from weigh.learn.design_matrix import linear_schema
from weigh.learn.feature_index import FeatureIndex
from weigh.learn.preprocessing import fit_preprocessing, needs_first_pass
from weigh.source import Chunk
from weigh.source import rows as rows_of
from weigh.text import truncate


def decision_tree() -> Any:
    """A decision tree of scikit-learn over any columns."""
    return make_pipeline(AsNumbers(scale=None), DecisionTreeClassifier(random_state=0))


def nearest_neighbours() -> Any:
    """The nearest neighbours of scikit-learn over any columns, numbers in standard deviations."""
    return make_pipeline(AsNumbers(), KNeighborsClassifier())


def standardised_logistic_regression() -> Any:
    """Logistic regression, numbers in standard deviations: its prior treats all columns alike."""
    return LogisticRegression(scale="unit")


LEARNER_FACTORIES: dict[str, Callable[[], Any]] = {
    "naive-bayes": NaiveBayes,
    "logistic": standardised_logistic_regression,
    "perceptron": lambda: Perceptron(scale="unit"),
    "tree": decision_tree,
    "neighbours": nearest_neighbours,
    "joint": JointBayes,
    "threshold": Threshold,
    "linear": LinearRegression,
}
DEFAULT_LEARNERS = ("naive-bayes", "logistic", "perceptron", "tree", "neighbours")

LearnersLike = Any  # a learner, a name, or several of them as a list or by name


def learners_by_name(learners: LearnersLike, owner: str) -> dict[str, Any]:
    """Return learners by name; None means the usual ones, a name one of `LEARNERS`."""
    if learners is None:
        learners = DEFAULT_LEARNERS
    if isinstance(learners, str) or not isinstance(learners, Mapping | Sequence):
        learners = [learners]
    if not len(learners):
        raise errors.parameter_error(owner, "learners", "one learner at least", learners)
    if isinstance(learners, Mapping):
        return {str(name): _make_learner(each, owner) for name, each in learners.items()}
    found: dict[str, Any] = {}
    for each in learners:
        name = each if isinstance(each, str) else _learner_name(each)
        again = sum(known == name or known.startswith(f"{name} (") for known in found)
        found[f"{name} ({again + 1})" if again else name] = _make_learner(each, owner)
    return found


def _learner_name(learner: Any) -> str:
    return type(learner.steps[-1][1] if isinstance(learner, Pipeline) else learner).__name__


def _make_learner(given: Any, owner: str) -> Any:
    if isinstance(given, str):
        if given not in LEARNER_FACTORIES:
            raise errors.ParameterError(
                f"{owner}: there is no learner {given!r}; there are {errors.quote_names(LEARNER_FACTORIES)}."
                f"{errors.did_you_mean(given, LEARNER_FACTORIES)}"
            )
        return LEARNER_FACTORIES[given]()
    if isinstance(given, type) or not (hasattr(given, "fit") and hasattr(given, "get_params")):
        must = f"learners such as weigh.NaiveBayes(), or names: {errors.quote_names(LEARNER_FACTORIES)}"
        raise errors.parameter_error(owner, "learners", must, given)
    return given


def is_regression(learner: Any) -> bool:
    """Whether a learner predicts numbers."""
    return bool(is_regressor(learner))


def set_column_kinds(learner: Any, kinds: Any) -> None:
    """Tell a learner that `LEARNERS` makes what its columns mean."""
    own = next(name for name in learner.get_params() if name.rpartition("__")[2] == "columns")
    learner.set_params(**{own: kinds})


def format_settings(learner: Any) -> str:
    """Return the settings that differ from the defaults; of a pipeline its steps, with their settings."""
    if isinstance(learner, Pipeline):
        return " + ".join(f"{type(step).__name__}({format_settings(step)})" for _, step in learner.steps)
    usual = {name: each.default for name, each in inspect.signature(type(learner)).parameters.items()}
    own = learner.get_params(deep=False).items()
    return ", ".join(f"{name}={value!r}" for name, value in own if repr(value) != repr(usual.get(name)))


def format_settings_note(settings: Mapping[str, str]) -> list[str]:
    """Return a sentence about learners whose settings differ from the defaults, if there are any."""
    told = [f"{truncate(name, 30)}: {truncate(own, 200)}" for name, own in settings.items() if own]
    return [f"Settings other than the defaults: {'; '.join(told)}."] if told else []


MAX_DENSE_COLUMNS = 512  # columns up to which rows are given with all their zeros


class AsNumbers(TransformerMixin, BaseEstimator):
    """One number per number, flag, level of a category and word, as our learners of weights see the rows.

    Numbers are in standard deviations from their mean if `scale` is "unit", so that no column is far away
    because of its unit. What is missing, and levels and words that were never seen, are zero. `columns` are
    kinds of columns, as our learners take them.
    """

    def __init__(self, scale: str | None = "unit", missing: Any = (), columns: Any = "auto") -> None:
        self.scale = scale
        self.columns = columns
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns' kinds, levels, words and scales; y is not looked at."""
        source = rows_of(X, missing=self.missing)
        self.schema_ = linear_schema(
            source, self.columns, scale=self.scale, missing=self.missing, owner="AsNumbers"
        )
        chunks = self.schema_.chunks
        known = fit_preprocessing(self.schema_, chunks(source)) if needs_first_pass(self.schema_) else {}
        self.space_ = FeatureIndex(self.schema_, known)
        for chunk in chunks(source):
            self._encode_chunk(chunk, grow=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows as a matrix: with all its zeros if it is narrow, else sparse."""
        source = rows_of(X, missing=self.missing)
        parts = [self._encode_chunk(chunk, grow=False) for chunk in self.schema_.chunks(source)]
        matrix = vstack(parts, format="csr")
        return matrix.toarray() if matrix.shape[1] <= MAX_DENSE_COLUMNS else matrix

    def _encode_chunk(self, chunk: Chunk, *, grow: bool) -> csr_matrix:
        blocks = self.space_.prepare_blocks(self.schema_.encode(chunk), None)
        indptr, indices, values = self.space_.to_rows(blocks, grow=grow)
        within = slice(int(indptr[0]), int(indptr[-1]))
        numbers = np.ones(len(indices[within])) if values is None else values[within]
        shape = (len(indptr) - 1, self.space_.width)
        return csr_matrix((numbers, indices[within], indptr - indptr[0]), shape=shape)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
