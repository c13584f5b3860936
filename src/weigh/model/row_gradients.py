"""The gradient of each labelled row's log-likelihood in the weights of a linear or logistic regression.

A row with features x, target y and weight s has the gradient s (y − μ) x, where μ are the probabilities of
the classes, or the prediction of a linear regression, whose noise counts as 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.immutable import Immutable
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.decision import log_softmax
from weigh.model.linear import LinearPredictor, design_rows, standardisation_of
from weigh.model.regression import RegressionModel
from weigh.result import Result, Section, Table
from weigh.source.base import Source
from weigh.source.chunk import Chunk
from weigh.source.memory.table import rows as rows_of
from weigh.source.sparse_rows import SparseRows

MAX_PRINTED = 40


@dataclass(frozen=True, eq=False)
class RowGradients(Immutable):
    """The features X [n, d] as in training, residuals s (y − μ) [n, k], and curvatures s · variance [n]."""

    X: SparseRows
    residuals: Floats
    curvature: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Gradient(Result):
    """The gradient of the log-likelihood of rows; `coef` is [d] or [classes, d], like the model's."""

    features: tuple[str, ...]
    classes: tuple[Any, ...]
    coef: Floats
    intercept: Any
    _json = ("features", "classes", "coef", "intercept")

    @property
    def headline(self) -> str:
        """What the gradient is of."""
        return "Gradient of the log-likelihood; that of the log loss has the opposite sign"

    def sections(self) -> list[Section]:
        """Return the components, the bias first."""
        columns = np.column_stack([np.ravel(self.intercept), np.atleast_2d(self.coef)]).T
        header = (
            ["feature", *(str(label) for label in self.classes)] if self.coef.ndim == 2 else ["feature", ""]
        )
        names = ["bias", *self.features]
        shown = list(zip(names, columns.tolist(), strict=True))[:MAX_PRINTED]
        rows = [[name, *(f"{value:.6g}" for value in values)] for name, values in shown]
        return [
            Section(
                "gradient",
                [Table([header, *rows], indent="  ", widths=(40,), n_hidden=len(names) - len(shown))],
            )
        ]


def iterate_row_gradients(
    model: Any, data: Any, y: Any, weights: Any, at: tuple[Floats, Floats] | None = None
) -> Iterator[RowGradients]:
    """Yield the gradients of labelled rows, chunk by chunk.

    `at` are weights [d, k] and intercepts [k] in the original units; None takes those of the model.
    """
    if model.fit.strengths is not None:
        raise errors.Unsupported(
            "The features of a model with curves are cells of its columns, whose gradients are not "
            "available. Train without curves and pairs."
        )
    is_regression = isinstance(model, RegressionModel)
    for chunk in model.chunks(labelled_source(model, data, y, weights)):
        rows = model.encode(chunk)
        X = design_rows(model.terms, rows.blocks, rows.n_rows)
        scores = model.linear_predictor(rows) if at is None else _scores(model, X, *at)
        s = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
        if is_regression:
            targets, means, variance = _read_numbers(chunk), scores, np.ones(len(s))
        else:
            targets, means = _read_classes(chunk, model.class_list), np.exp(log_softmax(scores))
            variance = means[:, -1] * (1 - means[:, -1])
        yield RowGradients(X, s[:, None] * (targets - means), s * variance)


def labelled_source(model: Any, data: Any, y: Any, weights: Any) -> Source:
    """Return rows with their labels as a source that is read like the model's training rows."""
    is_labelled = isinstance(data, Source) and (data.label or data.prefix(1).labels is not None)
    label = model.label if y is None and not is_labelled else y
    if label is None and not is_labelled:
        raise errors.LabelError("The rows have no labels. Give y: one label per row, or its column.")
    return rows_of(data, label, weights, missing=model.schema.missing).with_storage(model.storage)


def _read_numbers(chunk: Chunk) -> Floats:
    """Return the labels as numbers [n, 1]."""
    codes, labels = encode_labels(chunk, allows_fractions=True)
    try:
        return np.array([float(label) for label in labels])[codes][:, None]
    except (TypeError, ValueError):
        raise errors.LabelError(
            f"A linear regression needs numbers as labels, got {errors.quote_names(labels)}. Give the column "
            "that it was trained to predict."
        ) from None


def _read_classes(chunk: Chunk, classes: Sequence[Any]) -> Floats:
    """Return the labels as rows [n, classes] with a one for the class."""
    codes, labels = encode_labels(chunk)
    known = {label: code for code, label in enumerate(classes)}
    for label in labels:
        if label not in known:
            raise errors.LabelError(
                f"The label {label!r} is not one of the model's classes: {errors.quote_names(classes)}. "
                "Leave such rows out."
            )
    return np.asarray(np.eye(len(known))[np.array([known[label] for label in labels])[codes]])


def _scores(model: LinearPredictor, X: SparseRows, coef: Floats, intercept: Floats) -> Floats:
    """Return the scores [n, classes] of other weights, of two classes relative to the first."""
    centres, units = standardisation_of(model.terms)
    products = np.zeros((X.shape[0], coef.shape[1]))
    np.add.at(products, X.entry_rows(), X.entry_values()[:, None] * (units[:, None] * coef)[X.indices])
    scores = products + centres @ coef + intercept
    return np.hstack([np.zeros_like(scores), scores]) if coef.shape[1] == 1 else scores


def sum_gradients(model: Any, data: Any, y: Any, weights: Any, coef: Any, intercept: Any) -> Gradient:
    """Return the gradient of the log-likelihood of labelled rows, summed, in the original units."""
    is_binary = len(model.class_list) == 2
    at = None
    if coef is not None or intercept is not None:
        own = np.atleast_2d(model.coef), np.atleast_1d(model.intercept)
        at = (
            _broadcast_weights("coef", coef, own[0]).T,
            _broadcast_weights("intercept", intercept, own[1]),
        )
    centres, units = standardisation_of(model.terms)
    totals, sums = (
        np.zeros((len(model.feature_names), len(model.class_list))),
        np.zeros(len(model.class_list)),
    )
    for part in iterate_row_gradients(model, data, y, weights, at):
        contributions = part.X.entry_values()[:, None] * part.residuals[part.X.entry_rows()]
        np.add.at(totals, part.X.indices, contributions)
        sums += part.residuals.sum(axis=0)
    totals = totals * units[:, None] + centres[:, None] * sums
    features, classes = tuple(model.features), tuple(model.class_list)
    if is_binary:
        return Gradient(features, classes, totals[:, 1], float(sums[1]))
    return Gradient(features, classes, np.ascontiguousarray(totals.T), sums)


def _broadcast_weights(name: str, values: Any, own: Floats) -> Floats:
    """Return the values in the shape of the model's own weights; None stands for these."""
    if values is None:
        return own
    try:
        return np.array(np.broadcast_to(np.asarray(values, dtype=np.float64), own.shape))
    except (TypeError, ValueError):
        shape = own.shape if len(own) > 1 else own.shape[1:]
        raise errors.parameter_error(
            "gradient", name, f"a number, or numbers of the shape {shape}", values
        ) from None
