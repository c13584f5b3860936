"""The learners that `choose_learner` compares, from the simplest to the richest, and the sample they see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from weigh import errors
from weigh.estimators.bayes import NaiveBayes
from weigh.estimators.linear_model import LinearRegression, LogisticRegression
from weigh.features.columns import is_missing
from weigh.features.curves import Pair
from weigh.features.row_hashes import add_label_hashes, add_target_hashes, hash_features
from weigh.features.schema import Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.learn.additive.fitting import is_additive
from weigh.learn.holdout import is_held_out
from weigh.model.counts.bayes_counts import missing_labels_error
from weigh.parameters.learners import LEARNERS
from weigh.source.base import Source
from weigh.source.memory.table import rows as rows_of
from weigh.source.selected_rows import SelectedRows, is_missing_row
from weigh.trials.candidates import Candidate
from weigh.trials.rows import LabelledRows

MAX_ROWS = 20_000  # of the sample
TEXT_ROWS = 1_000  # whose characters are counted
ESTIMATORS = {"naive-bayes": NaiveBayes, "logistic": LogisticRegression, "linear": LinearRegression}
TITLES = {"naive-bayes": "naive Bayes", "logistic": "logistic regression", "linear": "linear regression"}
# From the simplest to the richest; of equal ones the first is chosen. Counts can be merged and forgotten.
CLASS_LEARNERS = ("naive-bayes", "logistic")
NUMBER_LEARNERS = ("linear",)
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "naive-bayes": ({},),
    "logistic": ({}, {"curves": "auto"}, {"curves": "auto", "pairs": "auto"}),
    "linear": ({}, {"curves": "auto"}, {"curves": "auto", "pairs": "auto"}),
}


@dataclass(frozen=True, eq=False)
class LearnerVariant:
    """A learner with parameters: those that the variant adds, and those that the user gave."""

    learner: str
    added: Mapping[str, Any]
    given: Mapping[str, Any]

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters; those that the user gave take precedence."""
        return {**self.added, **self.given}

    @property
    def name(self) -> str:
        """The name in tables and sentences, such as "logistic regression with curves"."""
        parts = [name for name in ("curves", "pairs") if self.parameters.get(name) not in (None, 0)]
        return f"{TITLES[self.learner]}{' with ' * bool(parts)}{' and '.join(parts)}"

    def adds(self, parameter: str) -> bool:
        """Return whether the variant sets a parameter that the user left open."""
        return parameter in self.added and parameter not in self.given

    def has_effect(self, schema: Any) -> bool:
        """Return whether curves, if the variant adds them, change anything for columns of these kinds."""
        if not (self.adds("curves") and isinstance(schema, Schema)):
            return True
        return is_additive(schema, self.parameters.get("pairs"))

    def estimator(self, columns: Any, missing: Any) -> Any:
        """Return the untrained estimator."""
        return ESTIMATORS[self.learner](columns=columns, missing=missing, **self.parameters)


def list_variants(learner: str, given: Mapping[str, Any]) -> Iterator[LearnerVariant]:
    """Yield the variants of a learner that differ after the parameters of the user are set."""
    seen = set()
    table = LEARNERS[learner]
    allowed = table.for_method(given["method"]).names if given.get("method") else table.names
    for added in VARIANTS[learner]:
        if any(given.get(name, value) != value for name, value in added.items()):
            continue
        variant = LearnerVariant(learner, added, given)
        effective = {name: value for name, value in variant.parameters.items() if value is not None}
        if all(name in allowed for name in added) and repr(sorted(effective.items())) not in seen:
            seen.add(repr(sorted(effective.items())))
            yield variant


def has_pairs(schema: Any) -> bool:
    """Return whether a schema has pairs of columns."""
    return isinstance(schema, Schema) and any(isinstance(each.kind, Pair) for each in schema.column_groups)


@dataclass(frozen=True, eq=False)
class Sample:
    """At most about `MAX_ROWS` rows in memory, the number of all rows, and that of their columns."""

    rows: LabelledRows
    n_rows: int
    n_columns: int

    @classmethod
    def of(cls, source: Source, seed: int, is_regression: bool) -> Sample:
        """Read a sample of a source chunk by chunk; it depends only on the numbers of the rows."""
        n_rows = _count_labelled_rows(source)
        if n_rows > MAX_ROWS:
            source = SelectedRows(source, is_held_out(0, n_rows, seed, MAX_ROWS / n_rows))
        rows = LabelledRows.of(source)
        return cls(rows.with_numeric_labels() if is_regression else rows, n_rows, source.width)

    def __len__(self) -> int:
        return len(self.rows)

    def count_labels(self) -> list[int]:
        """Return how often each label occurs, most frequent first."""
        return [count for _, count in Counter(self.rows.labels.tolist()).most_common()]


def _count_labelled_rows(source: Source) -> int:
    """Return the number of rows; raises LabelError if some have no label."""
    n_rows = 0
    for chunk in source.chunks(dict.fromkeys(source.names, "skip")):
        if chunk.labels is not None:
            is_missing_label = is_missing_row(chunk.labels)
            if is_missing_label.any():
                raise missing_labels_error(chunk, is_missing_label)
        n_rows += chunk.n_rows
    return n_rows


def canonical_order(candidate: Candidate, is_regression: bool) -> Any:
    """Return the rows [n] in an order that depends on what they contain, not on where they are.

    Rows that the schema cannot tell apart are interchangeable.
    """
    rows, schema = candidate.rows, candidate.prepared.columns
    if not isinstance(schema, Schema):
        return np.arange(len(rows))
    chunks = list(schema.chunks(rows_of(rows.data)))
    hashes = np.concatenate([hash_features(schema, schema.blocks(chunk), chunk.n_rows) for chunk in chunks])
    if is_regression:
        add_target_hashes(np.ascontiguousarray(rows.labels, np.float64), hashes)
    else:
        add_label_hashes(rows.labels.tolist(), None, hashes)
    return np.argsort(hashes, kind="stable")


def text_share(rows: LabelledRows, schema: Any) -> float:
    """Return the share of the characters of the cells that columns of text hold."""
    if not isinstance(rows.data, Mapping) or not isinstance(schema, Schema):
        return _bare_text_share(rows.data)
    texts = {
        name
        for group in schema.column_groups
        if isinstance(group.kind, BagOfWordsKind)
        for name in group.names
    }
    used = {name for group in schema.column_groups for name in group.names} | set(schema.dates)
    counts = {name: _count_characters(column) for name, column in rows.data.items() if name in used}
    total = sum(counts.values())
    return sum(counts.get(name, 0) for name in texts) / total if total else 0.0


def _bare_text_share(data: Any) -> float:
    is_texts = (
        isinstance(data, list | tuple) and len(data) > 0 and all(isinstance(each, str) for each in data)
    )
    return float(is_texts)


def _count_characters(column: Sequence[Any]) -> int:
    return sum(len(str(value)) for value in islice(column, TEXT_ROWS) if not is_missing(value))


def one_sentence(error: errors.WeighError) -> str:
    """Return the first sentence of a message, without its advice."""
    return str(error).partition(". ")[0].rstrip(".")
