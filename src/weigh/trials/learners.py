"""Learners by name, their settings, and an encoder that turns any table into a numeric matrix."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin, is_regressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Tags

from weigh import errors
from weigh.estimators.bayes import JointBayes, NaiveBayes
from weigh.estimators.linear_model import LinearRegression, LogisticRegression
from weigh.estimators.perceptron import Perceptron
from weigh.estimators.threshold import Threshold
from weigh.features.schema import Schema
from weigh.learn.design_matrix import linear_schema
from weigh.learn.feature_index import FeatureIndex
from weigh.learn.preprocessing import fit_preprocessing, needs_first_pass
from weigh.parameters import SCALES
from weigh.source.base import Source
from weigh.source.chunk import Chunk
from weigh.source.memory.table import rows as rows_of
from weigh.source.sparse_rows import SparseRows
from weigh.text import truncate


def decision_tree() -> Any:
    """Return scikit-learn's decision tree for tables with any kinds of columns."""
    return make_pipeline(AsNumbers(scale=None), DecisionTreeClassifier(random_state=0))


def nearest_neighbours() -> Any:
    """Return scikit-learn's nearest neighbours for any kinds of columns, with numbers standardised."""
    return make_pipeline(AsNumbers(), KNeighborsClassifier())


def standardised_logistic_regression() -> Any:
    """Return logistic regression with numbers standardised, so that its prior treats all columns alike."""
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

LearnersLike = Any  # a learner or its name, or several as a list or as a mapping from names


def learners_by_name(learners: LearnersLike, owner: str) -> dict[str, Any]:
    """Return learners by name; None means `DEFAULT_LEARNERS`, a string a key of `LEARNER_FACTORIES`."""
    if learners is None:
        learners = DEFAULT_LEARNERS
    if isinstance(learners, str) or not isinstance(learners, Mapping | Sequence):
        learners = [learners]
    if not len(learners):
        raise errors.parameter_error(owner, "learners", "at least one learner", learners)
    if isinstance(learners, Mapping):
        return {str(name): _make_learner(each, owner) for name, each in learners.items()}
    by_name: dict[str, Any] = {}
    for each in learners:
        name = each if isinstance(each, str) else _learner_name(each)
        n_same = sum(other == name or other.startswith(f"{name} (") for other in by_name)
        by_name[f"{name} ({n_same + 1})" if n_same else name] = _make_learner(each, owner)
    return by_name


def _learner_name(learner: Any) -> str:
    return type(learner.steps[-1][1] if isinstance(learner, Pipeline) else learner).__name__


def _make_learner(learner: Any, owner: str) -> Any:
    if isinstance(learner, str):
        problem = f"{owner}: there is no learner {learner!r}; there are"
        return errors.find_named(LEARNER_FACTORIES, learner, problem)()
    if isinstance(learner, type) or not (hasattr(learner, "fit") and hasattr(learner, "get_params")):
        must = f"learners such as weigh.NaiveBayes(), or names: {errors.quote_names(LEARNER_FACTORIES)}"
        raise errors.parameter_error(owner, "learners", must, learner)
    return learner


def is_regression(learner: Any) -> bool:
    """Return whether a learner predicts numbers."""
    return bool(is_regressor(learner))


def set_column_kinds(learner: Any, kinds: Any) -> None:
    """Set the column kinds of a learner that `LEARNER_FACTORIES` made."""
    parameter = next(name for name in learner.get_params() if name.rpartition("__")[2] == "columns")
    learner.set_params(**{parameter: kinds})


def format_settings(learner: Any) -> str:
    """Return the settings that differ from the defaults; for a pipeline, those of each step."""
    if isinstance(learner, Pipeline):
        return " + ".join(f"{type(step).__name__}({format_settings(step)})" for _, step in learner.steps)
    defaults = {name: each.default for name, each in inspect.signature(type(learner)).parameters.items()}
    params = learner.get_params(deep=False).items()
    return ", ".join(f"{name}={value!r}" for name, value in params if repr(value) != repr(defaults.get(name)))


def format_settings_note(settings: Mapping[str, str]) -> list[str]:
    """Return a sentence that lists non-default settings, or an empty list if there are none."""
    items = [f"{truncate(name, 30)}: {truncate(values, 200)}" for name, values in settings.items() if values]
    return [f"Non-default settings: {'; '.join(items)}."] if items else []


MAX_DENSE_COLUMNS = 512  # wider matrices stay sparse


class AsNumbers(TransformerMixin, BaseEstimator):
    """Encode a table as a matrix with one column per number, flag, category level and word.

    This is the design matrix of the linear learners. `scale="unit"` standardises numbers, so that distances
    do not depend on units. Missing values, unseen levels and unseen words are zero. `columns` are the
    kinds of the columns, as in the other learners.
    """

    def __init__(self, scale: str | None = "unit", missing: Any = (), columns: Any = "auto") -> None:
        self.scale = scale
        self.columns = columns
        self.missing = missing

    def infer_columns(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Return parameters that state the kinds of the columns which `fit` would infer; y is ignored."""
        return {"columns": self._infer_schema(rows_of(X, missing=self.missing)), "scale": None}

    def _infer_schema(self, source: Source) -> Schema:
        scale = SCALES.check(type(self).__name__, "scale", self.scale)
        return linear_schema(source, self.columns, scale=scale, missing=self.missing)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the kinds, levels, words and scales of the columns; y is ignored."""
        source = rows_of(X, missing=self.missing)
        self.schema_ = self._infer_schema(source)
        chunks = self.schema_.chunks
        fitted = fit_preprocessing(self.schema_, chunks(source)) if needs_first_pass(self.schema_) else {}
        self.space_ = FeatureIndex(self.schema_, fitted)
        for chunk in chunks(source):
            self._encode_chunk(chunk, grow=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows as a matrix, dense up to `MAX_DENSE_COLUMNS` columns and sparse beyond."""
        source = rows_of(X, missing=self.missing)
        parts = [self._encode_chunk(chunk, grow=False) for chunk in self.schema_.chunks(source)]
        rows = SparseRows.concatenate(parts, self.space_.width)
        if rows.width <= MAX_DENSE_COLUMNS:
            return rows.to_dense()
        return csr_matrix((rows.entry_values(), rows.indices, rows.indptr), shape=rows.shape)

    def _encode_chunk(self, chunk: Chunk, *, grow: bool) -> SparseRows:
        blocks = self.space_.prepare_blocks(self.schema_.encode(chunk), None)
        return self.space_.to_rows(blocks, grow=grow)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
