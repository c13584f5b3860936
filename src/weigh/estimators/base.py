"""Base classes of the scikit-learn estimators: label checks, fitted attributes, and methods of the model."""

from __future__ import annotations

import os
import textwrap
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from threading import RLock
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, column_or_1d

from weigh import errors
from weigh.features.blocks import Floats
from weigh.features.kinds import Count
from weigh.features.schema import Schema
from weigh.immutable import add_docstring_note, make_read_only
from weigh.learn.leaking_columns import warn_of_leaking_columns
from weigh.learn.single_row_classes import warn_of_single_row_classes
from weigh.model.counts.count_table import canonical_order_key
from weigh.model.decision import Decision
from weigh.model.evidence.evidence import Explained
from weigh.parameters import ParameterTable
from weigh.source.base import Source
from weigh.source.memory.columns import base_type_names
from weigh.source.memory.matrices import is_sparse
from weigh.source.memory.table import rows as rows_of

THREAD_NOTE = """\
Threads may share an estimator. Calls that change it (`fit`, `partial_fit`, `merge`, `forget`, `set_params`)
take turns; all others use the model from before or after such a call."""
P = ParamSpec("P")
EstimatorT = TypeVar("EstimatorT", bound=BaseEstimator)
ResultT = TypeVar("ResultT")
# Outside the estimators, whose attributes must be parameters or fitted, and can be copied and pickled.
_locks: WeakKeyDictionary[BaseEstimator, Any] = WeakKeyDictionary()
if hasattr(os, "register_at_fork"):
    # The threads that hold these locks do not exist in a forked process.
    os.register_at_fork(after_in_child=_locks.clear)


def lock_of(estimator: BaseEstimator) -> Any:
    """Return the lock of an estimator, which calls that change it hold until they return."""
    return _locks.setdefault(estimator, RLock())


def serialised(
    method: Callable[Concatenate[EstimatorT, P], ResultT],
) -> Callable[Concatenate[EstimatorT, P], ResultT]:
    """Decorate a method that changes its estimator: calls from several threads take turns.

    Such a method sets the fitted attributes last and at once, so that methods that only read need not wait.
    """

    @wraps(method)
    def locked_method(self: EstimatorT, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        with lock_of(self):
            return method(self, *args, **kwargs)

    return locked_method


class ThreadSafeEstimator(BaseEstimator):
    """An estimator that several threads may use; its methods that change it are `serialised`."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Add to the docstring what threads may do."""
        super().__init_subclass__(**keywords)
        add_docstring_note(cls, THREAD_NOTE)

    @serialised
    def set_params(self, /, **params: Any) -> Self:
        """Set parameters by name."""
        super().set_params(**params)
        return self

    @serialised
    def __getstate__(self) -> dict[str, Any]:
        return dict(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        make_read_only({name: value for name, value in state.items() if name.endswith("_")})


class BaseLearner(ThreadSafeEstimator):
    """A scikit-learn estimator around a model; subclasses implement `fit`.

    After fitting, `model_` is the model. It predicts, explains and can be saved without scikit-learn.
    """

    # The label column is part of the rows, so scikit-learn's meta-estimators do not pass it on.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"label": UNUSED}
    __metadata_request__partial_fit: ClassVar[dict[str, str]] = {"label": UNUSED}
    __metadata_request__score: ClassVar[dict[str, str]] = {"label": UNUSED}
    _table: ClassVar[ParameterTable]
    missing: Any
    model_: Any

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Write the table of parameters into the docstring."""
        super().__init_subclass__(**keywords)
        if cls.__doc__ and "_table" in vars(cls):
            cls.__doc__ = cls.__doc__.replace("{parameters}", _format_parameters(cls._table))

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of the learner's table, as they were given."""
        return {name: getattr(self, name) for name in self._table.names}

    def _missing_markers(self) -> Any:
        return self._table.check_value("missing", self.missing)

    def _check_labels_given(self, X: Any, y: Any, target: str) -> None:
        """Raise LabelError if there are no labels; `target` is what one label is called."""
        if y is None and not (isinstance(X, Source) and X.label is not None):
            raise errors.LabelError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Give one {target} "
                f"per row, or the name of the label column."
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file atomically; `weigh.load` reads it."""
        check_is_fitted(self)
        self.model_.save(path)

    def _labels(self, y: Any, label: str | None) -> Any:
        """Return y, or the name of the label column that was given as `label`."""
        if label is None:
            return y
        if y is not None or not isinstance(label, str):
            must = "left out when y is given" if y is not None else "the name of a column"
            raise errors.parameter_error(type(self).__name__, "label", must, label)
        return label

    def _further_labels(self, X: Any, y: Any, label: str | None, default: str | None) -> Any:
        """Return the labels of further rows; without any, the name of the label column of training."""
        y = self._labels(y, label)
        return default if y is None and getattr(X, "label", None) is None else y

    def _set_fitted_attributes(self, source: Source, **attributes: Any) -> None:
        """Set attributes, and those that scikit-learn expects of every fitted estimator, at once."""
        if source.named:
            attributes["feature_names_in_"] = make_read_only(np.array(source.names, dtype=object))
        self.__dict__.update(attributes, n_features_in_=source.width)
        if not source.named:
            self.__dict__.pop("feature_names_in_", None)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    @property
    def schema_(self) -> Schema:
        """Names and kinds of the columns; can be passed to another learner as `columns`."""
        check_is_fitted(self)
        schema: Schema = self.model_.schema
        return schema

    @abstractmethod
    def infer_columns(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Return parameters that state the kinds of the columns which `fit` would infer from these rows."""

    def explain(self, X: Any) -> Explained:
        """Return the evidence for each row: named contributions that sum to the score."""
        check_is_fitted(self)
        explained: Explained = self.model_.explain(X)
        return explained

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = _are_counts(getattr(self, "columns", None))
        return tags


def _are_counts(columns: Any) -> bool:
    """Whether all columns are counts, which cannot be negative; a mapping may leave out columns."""
    kinds = columns.kinds if isinstance(columns, Schema) else [columns]
    return bool(kinds) and all(isinstance(kind, Count) or kind == Count.name for kind in kinds)


def fix_schema(learner: Any, X: Any, y: Any) -> Any:
    """Return a copy of a learner whose `columns` are the kinds that it would infer from these rows.

    Training it on a subset then does not depend on which values the subset happens to contain. A learner, or
    a pipeline whose first step is one, that infers no kinds is returned itself.
    """
    step, first = learner.steps[0] if hasattr(learner, "steps") else ("", learner)
    if not hasattr(first, "infer_columns"):
        return learner
    prefix = f"{step}__" if step else ""
    parameters = first.infer_columns(X, y)
    return clone(learner).set_params(**{f"{prefix}{name}": value for name, value in parameters.items()})


def _format_parameters(table: ParameterTable) -> str:
    """Return the section "Parameters" of a docstring; the first line is not indented."""
    lines = ["Parameters", "----------"]
    for parameter in table:
        method = f" (method={parameter.method!r})" if parameter.method else ""
        lines.append(
            f"{parameter.name} : {parameter.allowed.wording}, by default {parameter.default!r}{method}"
        )
        meaning = parameter.meaning[0].upper() + parameter.meaning[1:]
        lines += textwrap.wrap(
            f"{meaning}. {parameter.details}", 100, initial_indent="    ", subsequent_indent="    "
        )
    return textwrap.indent("\n".join(lines), "    ").strip()


class BaseClassifier(ClassifierMixin, BaseLearner):
    """A scikit-learn classifier around a model; subclasses implement `fit`."""

    def _source(self, X: Any, y: Any, sample_weight: Any = None, missing: Any = ()) -> Source:
        """Return the labelled rows; y is an array, the name of a column or None."""
        self._check_labels_given(X, y, "label")
        if y is not None and not isinstance(y, str):
            y = _check_labels(y)
        return rows_of(X, y, sample_weight, missing=missing)

    def _warn_of_labels(self, source: Source, schema: Schema, classes: Any) -> None:
        """Warn of labels that are hardly classes, and of columns that come from them.

        Before the model is set: a warning may be an error.
        """
        warn_of_single_row_classes(source, classes)
        warn_of_leaking_columns(source, schema)

    def predict(self, X: Any, decision: Decision | None = None, *, reasons: int = 0) -> Any:
        """Return one label per row; `decision` can set costs, another class prior and an 'unsure' option.

        The labels of a Dask or Spark frame are a lazy table of that engine, with the probability of each
        class and the strongest `reasons`.
        """
        check_is_fitted(self)
        return self.model_.predict(X, decision, reasons=reasons)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, label: str | None = None) -> float:
        """Return the accuracy on labelled rows; y or `label` may be the name of the label column."""
        check_is_fitted(self)
        model, y = self.model_, self._labels(y, label)
        source = self._source(X, model.label if y is None else y, missing=model.schema.missing)
        model.schema.align_source(source, type(self).__name__)
        chunks = model.schema.chunks(source.with_storage(model.storage))
        is_correct = [
            np.asarray(_label_values(chunk.labels), dtype=object) == model.predict(chunk).astype(object)
            for chunk in chunks
        ]
        return float(np.average(np.concatenate(is_correct), weights=sample_weight))


def _label_values(labels: Any) -> list[Any]:
    values: list[Any] = labels.to_pylist() if hasattr(labels, "to_pylist") else labels.tolist()
    return values


def _check_labels(y: Any) -> Any:
    """Return the labels as one column; raise LabelError for several labels per row."""
    if isinstance(y, (list, tuple)) and _LIST_TYPES & set(map(type, y)) and any(map(_has_several_labels, y)):
        raise errors.multiple_labels_error("lists")
    n_columns = count_columns(y)
    if n_columns > 1:
        raise errors.multiple_labels_error(f"{n_columns} columns")
    return to_finite_column(y)


def count_columns(y: Any) -> int:
    """Return the number of targets per row."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return int(shape[1]) if len(shape) == 2 else 1


def to_finite_column(y: Any) -> Any:
    """Return labels or targets as one column, or raise LabelError in the words of scikit-learn's checks."""
    if "polars.DataFrame" in base_type_names(y) and y.shape[1]:
        y = y.to_series()
    if hasattr(y, "dictionary_encode") or "polars.Series" in base_type_names(y):
        return y  # `rows` reads it without a copy
    if is_sparse(y):
        raise errors.LabelError(
            "Sparse data was passed for y, but dense data is required. Give y.toarray().ravel()."
        )
    try:
        # Other containers may support only conversion to an array.
        y = y if hasattr(y, "dtype") else np.asarray(y)
        if getattr(y.dtype, "kind", "") == "c":
            raise errors.LabelError("Complex data not supported: the labels are complex numbers.")
        y = column_or_1d(y, warn=True, dtype=None)
    except errors.WeighError:
        raise
    except (LookupError, TypeError, ValueError) as error:
        raise errors.LabelError(
            f"y cannot be read as one label per row: {errors.first_line(error)}."
        ) from error
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        value = "NaN" if np.isnan(y).any() else "infinity"
        raise errors.LabelError(f"Input y contains {value}. Leave such rows out before fitting.")
    return y


_LIST_TYPES = {list, tuple, set, frozenset}


def _has_several_labels(value: Any) -> bool:
    return type(value) in _LIST_TYPES and len(value) != 1


class ProbabilisticClassifier(BaseClassifier):
    """A classifier with class probabilities."""

    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities [n, C] in the order of `classes_`; of a frame a lazy table."""
        check_is_fitted(self)
        return self.model_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the log-probabilities of the classes [n, C]."""
        check_is_fitted(self)
        return np.asarray(self.model_.log_proba(X))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return the scores [n, C]: log P(class) + log P(row | class), without calibration."""
        check_is_fitted(self)
        return np.asarray(self.model_.uncalibrated.scores(X))


def check_classes(classes: Any) -> list[Any]:
    """Return the `classes` argument of `partial_fit` as Python labels, or raise ParameterError."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise errors.parameter_error("partial_fit", "classes", "a list of labels", classes)
    declared = [label.item() if hasattr(label, "item") else label for label in classes]
    if not all(isinstance(label, (str, int, float)) and label == label for label in declared):
        raise errors.parameter_error(
            "partial_fit", "classes", "labels: strings, whole numbers or booleans", declared
        )
    return declared


def check_declared_labels(labels: Iterable[Any], declared: Sequence[Any]) -> None:
    """Raise LabelError for labels that are not among the declared classes."""
    unknown = sorted(set(labels) - set(declared), key=canonical_order_key)
    if unknown:
        raise errors.LabelError(
            f"y has the label {errors.quote_names(unknown)} that is not among the classes "
            f"{errors.quote_names(declared)}."
        )


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Return scikit-learn's checks that an estimator fails by design, mapped to the reasons.

    Use as ``check_estimator(estimator, expected_failed_checks=expected_failed_checks(estimator))``.
    Classes declare the reasons in `_failed_checks`.

    Examples
    --------
    >>> import weigh
    >>> weigh.expected_failed_checks(weigh.NaiveBayes())
    {}
    """
    return dict(getattr(estimator, "_failed_checks", {}))
