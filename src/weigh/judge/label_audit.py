"""The label audit: which rows are most at odds with what a model makes of all the others."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge import label_audit_format
from weigh.judge.audit_predictors import AuditPredictor, choose_audit_predictor
from weigh.judge.metrics.accumulators import LossMoments
from weigh.judge.metrics.batches import LabelledBatch, check_label_present, read_batches
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.confusion_matrix import ConfusionMatrix
from weigh.judge.metrics.evaluation import resolve_labels
from weigh.judge.metrics.losses import UNSEEN, Codes, Floats
from weigh.judge.metrics.predictor import ClassPredictions, encode_labels, is_regression, make_predictor
from weigh.model.evidence.evidence import EvidenceRow
from weigh.text import to_json_value

BatchCallback = Callable[[int, LabelledBatch, list[Any], Floats | None], None]


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The result of `audit`; prints as text of at most 80 columns.

    `left_out` tells whether each row was judged by the model without it; if not, `has_seen` whether the
    model had learned the rows (None: not known), and `can_forget` whether it could leave them out if it
    had. `rows` are those most at odds, the worst first, `pairs`
    the classes taken for each other, the most frequent first. `wrong` estimates how many labels look
    wrong: rows of which the model is as sure that they are of another class as it is, on average, of the
    rows labelled with that class (None without probabilities). `measures` are `accuracy` and, with
    probabilities, `log_loss`, with intervals. `unjudged` rows are in none of these: no other row has their
    label, the model does not know it, or without the row no class can have its values.
    """

    classes: tuple[Any, ...]
    n: int
    left_out: bool
    has_seen: bool | None
    can_forget: bool
    level: float
    measures: tuple[Measure, ...]
    at_odds: int
    wrong: int | None
    pairs: tuple[ClassPair, ...]
    rows: tuple[SuspectRow, ...]
    unjudged: int = 0

    def measure(self, name: str) -> Measure:
        """The measure of that name."""
        for measure in self.measures:
            if measure.name == name:
                return measure
        known = [measure.name for measure in self.measures]
        raise errors.Unsupported(f"This audit has no measure {name!r}; it has {errors.quote_names(known)}.")

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "classes": [to_json_value(label) for label in self.classes],
            "n": self.n,
            "left_out": self.left_out,
            "has_seen": self.has_seen,
            "can_forget": self.can_forget,
            "level": self.level,
            "measures": [measure.to_dict() for measure in self.measures],
            "at_odds": self.at_odds,
            "look_wrong": self.wrong,
            "unjudged": self.unjudged,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "rows": [row.to_dict() for row in self.rows],
        }

    def __str__(self) -> str:
        return label_audit_format.format_audit(self)

    def __repr__(self) -> str:
        return label_audit_format.audit_headline(self)

    def _repr_html_(self) -> str:
        return label_audit_format.audit_html(self)

    def plot(self) -> Any:
        """Return a picture of the rows most at odds: how far each is from its label."""
        return label_audit_format.plot_audit(self)


def audit(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    label: str | None = None,
    most: int = 20,
    seen: bool | None = None,
    level: float = 0.95,
) -> Audit:
    """List the rows whose labels a model doubts most, with its reasons.

    A naive Bayes or joint model judges each row that it has learned without that row, exactly, as if it
    had been trained on all the others. Accuracy and log loss are then those of leaving one row out: an
    honest estimate without a held-out table. Other models judge rows as they predict them.

    Parameters
    ----------
    model : a model or estimator of this library, or any fitted scikit-learn classifier
    data : labelled rows as `fit` takes them, or a source; of its batches only rows at odds are kept
    y : array of labels, or the name of the label column, or None: the source's own, else the model's
    label : name of the label column, the same as a name given as `y`
    most : how many rows to list
    seen : whether the model has learned these rows; None finds out where its counts prove it, which they do
        of all the rows that it was trained on. For a part of them give True
    level : confidence level of the intervals
    """
    return audit_with_callback(model, data, y, label, most, seen, level)


def audit_with_callback(
    model: Any,
    data: Any,
    y: Any,
    label: str | None,
    most: int,
    seen: bool | None,
    level: float,
    sink: BatchCallback | None = None,
) -> Audit:
    """Audit rows, each batch also given to `sink`: first row, batch, what is said, probability of labels."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise errors.parameter_error("audit", "most", "a whole number of at least 1", most)
    if not (isinstance(level, int | float) and 0.0 < level < 1.0):
        raise errors.parameter_error("audit", "level", "a number between 0 and 1", level)
    if is_regression(model):
        raise errors.Unsupported(
            "audit looks for wrong class labels, and a regression predicts numbers. See the rows that it "
            "missed most: weigh.evaluate(model, data).largest."
        )
    y, label = resolve_labels(y, label)
    asked = make_predictor(model)
    run = _AuditAccumulator(
        choose_audit_predictor(asked, model, data, label if y is None else y, seen), most, sink
    )
    for batch in read_batches(asked, data, y, label, None):
        run.add(batch)
    return run.result(float(level))


class _AuditAccumulator:
    """What an audit adds up over batches."""

    def __init__(self, judge: AuditPredictor, most: int, sink: BatchCallback | None) -> None:
        self._predictor = judge
        self._callback = sink
        self._class_names = list(judge.predictor.classes)
        self._suspects = TopSuspects(most)
        self._confusion = ConfusionMatrix.empty(len(self._class_names))
        self._log_loss: LossMoments | None = None
        self._n_rows = self._n_unjudged = 0
        self._label_confidence = np.zeros(
            (2, len(self._class_names))
        )  # rows of each label, and their probability of it
        self._disagreements: list[tuple[Codes, Codes, Floats]] = []
        self._pair_counts: Counter[tuple[int, int]] = Counter()

    def add(self, batch: LabelledBatch) -> None:
        """Judge one batch."""
        codes = encode_labels(self._predictor.predictor.classes, batch.labels)
        for place in np.flatnonzero(codes == UNSEEN):
            check_label_present(batch.labels[place], self._n_rows + int(place))
        answer, is_judged = self._predictor.predict(batch)
        rows = np.flatnonzero((codes != UNSEEN) & is_judged & (batch.weights > 0))
        self._n_unjudged += len(codes) - len(rows)
        labels, said = codes[rows], answer.predictions[rows]
        self._confusion = self._confusion.add(labels, said, batch.weights[rows])
        if answer.log_posterior is not None and answer.posterior is not None:
            self._add_losses(labels, said, answer.log_posterior[rows], batch.weights[rows])
        odd = rows[labels != said]
        self._pair_counts.update(zip(codes[odd].tolist(), answer.predictions[odd].tolist(), strict=True))
        sizes = [(self._disagreement(answer, at, int(codes[at])), at) for at in odd.tolist()]
        self._suspects.add(sizes, lambda at: self._make_suspect(batch, answer, at, int(codes[at])))
        if self._callback is not None:
            self._call_back(self._callback, batch, answer, codes, rows)
        self._n_rows += len(codes)

    def _add_losses(self, labels: Codes, said: Codes, logs: Floats, weights: Floats) -> None:
        true = logs[np.arange(len(labels)), labels]
        self._log_loss = (self._log_loss or LossMoments()).add(0.0 - true, weights)
        for at, values in enumerate((np.ones(len(labels)), np.exp(true))):
            self._label_confidence[at] += np.bincount(labels, values, len(self._class_names))
        odd = np.flatnonzero(labels != said)
        self._disagreements.append((labels[odd], said[odd], np.exp(logs[odd, said[odd]])))

    def _disagreement(self, answer: ClassPredictions, at: int, label: int) -> float:
        """Return how much a row is at odds: its log loss, or without probabilities the lead."""
        logs = answer.log_posterior
        return self._lead(answer, at, label) if logs is None else 0.0 - float(logs[at, label])

    def _lead(self, answer: ClassPredictions, at: int, label: int) -> float:
        """Return by how much what is said of a row leads its label."""
        scores = answer.scores if answer.log_posterior is None else answer.log_posterior
        if scores is None or scores.shape[1] != len(self._class_names):
            return 0.0
        return float(scores[at, answer.predictions[at]] - scores[at, label])

    def _make_suspect(
        self, batch: LabelledBatch, answer: ClassPredictions, at: int, label: int
    ) -> SuspectRow:
        said = int(answer.predictions[at])
        about = self._n_rows + at, batch.labels[at], self._class_names[said], self._lead(answer, at, label)
        reasons = self._predictor.reasons(batch, at, self._class_names[said])
        if answer.log_posterior is None:
            return SuspectRow(*about, reasons=reasons)
        own, other = (float(answer.log_posterior[at, c]) for c in (label, said))
        return SuspectRow(*about, float(np.exp(own)), float(np.exp(other)), 0.0 - own, reasons)

    def _call_back(
        self, sink: BatchCallback, batch: LabelledBatch, answer: ClassPredictions, codes: Codes, rows: Any
    ) -> None:
        said: list[Any] = [None] * len(codes)
        shares = None if answer.posterior is None else np.full(len(codes), np.nan)
        for at in rows.tolist():
            said[at] = self._class_names[int(answer.predictions[at])]
        if shares is not None and answer.posterior is not None:
            shares[rows] = answer.posterior[rows, codes[rows]]
        sink(self._n_rows, batch, said, shares)

    def result(self, level: float) -> Audit:
        """Return the audit of all batches."""
        if not len(self._confusion.weight):
            raise errors.DataError(
                "None of these rows can be judged: no other row has their label, or the model lacks it. Give "
                "rows of the classes that the model knows, several of each."
            )
        measures = [Measure("accuracy", *self._confusion.accuracy(level))]
        if self._log_loss is not None:
            measures.append(Measure("log_loss", *self._log_loss.interval(level)))
        wrong = self._likely_label_errors()
        return Audit(
            tuple(self._class_names),
            self._n_rows,
            self._predictor.is_leave_one_out,
            self._predictor.has_seen,
            self._predictor.can_forget,
            level,
            tuple(measures),
            self._pair_counts.total(),
            None if wrong is None else sum(wrong.values()),
            self._class_pairs(wrong),
            self._suspects.rows(),
            self._n_unjudged,
        )

    def _likely_label_errors(self) -> Counter[tuple[int, int]] | None:
        """Return the rows of each pair of classes that the other class suits as well as its own rows."""
        if self._log_loss is None:
            return None
        usual = np.divide(
            self._label_confidence[1],
            self._label_confidence[0],
            out=np.full(len(self._class_names), np.inf),
            where=self._label_confidence[0] > 0,
        )
        wrong: Counter[tuple[int, int]] = Counter()
        for labels, said, shares in self._disagreements:
            # A class that no row has as its label is never usual; rounding must not decide.
            sure = shares >= usual[said] * (1 - 1e-12)
            wrong.update(zip(labels[sure].tolist(), said[sure].tolist(), strict=True))
        return wrong

    def _class_pairs(self, wrong: Counter[tuple[int, int]] | None) -> tuple[ClassPair, ...]:
        order = sorted(self._pair_counts.items(), key=lambda item: (-item[1], item[0]))
        return tuple(
            ClassPair(
                self._class_names[a], self._class_names[b], rows, None if wrong is None else wrong[a, b]
            )
            for (a, b), rows in order
        )


@dataclass(frozen=True)
class SuspectRow:
    """A row at odds with the model: `row` is its number, the first is 0, `said` what the model says instead.

    `probability` is that of the given `label`, `loss` its −log; `said_probability` that of what is said. A
    model without probabilities has none of them, and `lead` tells by how much what it says leads the label:
    in nats of log-odds, or in points of its scores. `reasons` are the strongest features that speak for what
    is said against the label.
    """

    row: int
    label: Any
    said: Any
    lead: float
    probability: float | None = None
    said_probability: float | None = None
    loss: float | None = None
    reasons: tuple[EvidenceRow, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        named = ("row", "label", "said", "lead", "probability", "said_probability", "loss")
        reasons = [
            {"feature": each.feature, "value": each.value, "weight": to_json_value(each.nats)}
            for each in self.reasons
        ]
        return {name: to_json_value(getattr(self, name)) for name in named} | {"reasons": reasons}


@dataclass(frozen=True)
class ClassPair:
    """How many rows of one label are said to be of another class, and how many of them look wrong."""

    label: Any
    said: Any
    rows: int
    wrong: int | None

    def to_dict(self) -> dict[str, Any]:
        """The pair for JSON."""
        return {
            "label": to_json_value(self.label),
            "said": to_json_value(self.said),
            "rows": self.rows,
            "look_wrong": self.wrong,
        }


class TopSuspects:
    """The rows most at odds so far, in bounded memory; reasons are worked out while a row is at hand."""

    def __init__(self, most: int) -> None:
        self._capacity = most
        self._heap: list[tuple[float, int, SuspectRow]] = []

    def add(self, found: Sequence[tuple[float, int]], made: Callable[[int], SuspectRow]) -> None:
        """Take in rows by how much they are at odds; `made` tells all about row i of this batch.

        Each of `found` is (how much, number of the row within its batch).
        """
        best = heapq.nlargest(self._capacity, found, key=lambda pair: (pair[0], -pair[1]))
        for size, at in best:
            if len(self._heap) == self._capacity and size <= self._heap[0][0]:
                break
            suspect = made(at)
            entry = (size, -suspect.row, suspect)
            if len(self._heap) < self._capacity:
                heapq.heappush(self._heap, entry)
            else:
                heapq.heapreplace(self._heap, entry)

    def rows(self) -> tuple[SuspectRow, ...]:
        """Return the rows, the worst first."""
        return tuple(suspect for *_, suspect in sorted(self._heap, key=lambda entry: (-entry[0], -entry[1])))
