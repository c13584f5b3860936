"""`audit`: the rows whose labels disagree most with a model's predictions."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Step
from weigh.judge.audit_predictors import AuditPredictor, choose_audit_predictor, labelled_chunk
from weigh.judge.label_audit_format import audit_headline, audit_sections, plot_audit
from weigh.judge.label_noise import LeadCounts
from weigh.judge.metrics.accumulators import LossMoments
from weigh.judge.metrics.batches import LabelledBatch, check_label_present, read_batches
from weigh.judge.metrics.confidence_intervals import Measure, find_measure
from weigh.judge.metrics.confusion_matrix import ConfusionMatrix
from weigh.judge.metrics.evaluation import resolve_labels
from weigh.judge.metrics.losses import UNSEEN, Codes, Floats
from weigh.judge.metrics.predictor import ClassPredictions, encode_labels, is_regression, make_predictor
from weigh.judge.redundancy_check import RedundancyCheck, check_redundancy
from weigh.learn.labelled_sample import LabelledSample
from weigh.model.evidence.evidence import EvidenceRow
from weigh.model.naive_bayes import BayesModel
from weigh.result import Facts, Section, TabularResult
from weigh.source.chunk import Chunk

MAX_LEAD = 1e6  # nats

BatchCallback = Callable[[LabelledBatch, list[Any], Floats | None], None]


@dataclass(frozen=True, eq=False, repr=False)
class Audit(TabularResult):
    """The result of `audit`; prints as text of at most 80 columns.

    `left_out` says whether each row was predicted by the model without it; if not, `has_seen` whether the
    model was trained on the rows (None: unknown), and `can_forget` whether it could leave them out then.
    `rows` are those that disagree most with the model, worst first, `pairs` the confused classes, most
    frequent first. `wrong` estimates how many of the labels at odds are wrong, from the share that even the
    surest predictions contradict (see `weigh.judge.label_noise`; None without probabilities). `measures` are
    `accuracy` and, with probabilities, `log_loss`, with intervals. `unjudged` counts rows that are in none of
    these: no other row has their label, it is not a class of the model, or without the row every class has
    probability zero. `redundancy` says which features of a naive Bayes model repeat others, and whether it
    predicts better without them (None: no feature does).
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
    redundancy: RedundancyCheck | None = None
    _json = (
        *("classes", "n", "left_out", "has_seen", "can_forget", "level", "measures", "at_odds"),
        *(("look_wrong", "wrong"), "unjudged", "pairs", "rows", "redundancy"),
    )
    _frames = ("rows", "pairs", "measures")

    def measure(self, name: str) -> Measure:
        """Return the measure with this name."""
        return find_measure(self.measures, name, "audit")

    @property
    def headline(self) -> str:
        """How many rows were judged, and how."""
        return audit_headline(self)

    def sections(self) -> Iterator[Section]:
        """Yield the measures, the notes, the confused classes and the rows most at odds."""
        return audit_sections(self)

    def __repr__(self) -> str:
        return self.headline

    def plot(self) -> Any:
        """Plot the rows that disagree most with the model, by the log loss of their labels."""
        return plot_audit(self)


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
    """List the rows whose labels disagree most with a model, with its reasons.

    A naive Bayes or joint model predicts each of its training rows without that row, exactly as if it had
    been trained on all the others. Accuracy and log loss are then leave-one-out estimates, unbiased by
    training on the row. Other models predict the rows as usual.

    Parameters
    ----------
    model : a model or estimator of this library, or any fitted scikit-learn classifier
    data : labelled rows as `fit` takes them, or a source; read in batches
    y : array of labels, or the name of the label column, or None: the source's labels, else the model's
    label : name of the label column; the same as passing a name as `y`
    most : how many rows to list
    seen : whether the model was trained on these rows. None finds out from its counts, which works for all
        training rows together; for a part of them give True
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
    callback: BatchCallback | None = None,
) -> Audit:
    """Audit rows; calls `callback(batch, predicted, label_probabilities)` for each batch."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise errors.parameter_error("audit", "most", "a whole number of at least 1", most)
    if not (isinstance(level, int | float) and 0.0 < level < 1.0):
        raise errors.parameter_error("audit", "level", "a number between 0 and 1", level)
    if is_regression(model):
        raise errors.Unsupported(
            "audit looks for wrong class labels, but a regression predicts numbers.",
            hint=Step(
                "largest errors",
                "See the rows with the largest errors: weigh.evaluate(model, data).largest.",
            ),
        )
    y, label = resolve_labels(y, label)
    predictor = make_predictor(model)
    audit_predictor = choose_audit_predictor(predictor, model, data, label if y is None else y, seen)
    totals = _AuditAccumulator(audit_predictor, most, callback)
    for batch in read_batches(predictor, data, y, label, None):
        totals.add(batch)
    return totals.result(float(level))


class _AuditAccumulator:
    """The running sums and the worst rows of an audit."""

    def __init__(self, predictor: AuditPredictor, most: int, callback: BatchCallback | None) -> None:
        self._predictor = predictor
        self._callback = callback
        self._class_names = list(predictor.predictor.classes)
        self._suspects = TopSuspects(most)
        self._confusion = ConfusionMatrix.empty(len(self._class_names))
        self._log_loss: LossMoments | None = None
        self._n_rows = self._n_unjudged = 0
        self._leads = LeadCounts()
        self._disagreements: list[tuple[Codes, Codes, Floats]] = []
        self._pair_counts: Counter[tuple[int, int]] = Counter()
        base = predictor.uncalibrated_model
        self._bayes_model = base if isinstance(base, BayesModel) else None
        self._sample = None if self._bayes_model is None else LabelledSample(self._bayes_model.schema)

    def add(self, batch: LabelledBatch) -> None:
        """Predict one batch and add its rows."""
        codes = encode_labels(self._predictor.predictor.classes, batch.labels)
        for row in np.flatnonzero(codes == UNSEEN):
            check_label_present(batch.labels[row], self._n_rows + int(row))
        output, is_judged = self._predictor.predict(batch)
        rows = np.flatnonzero((codes != UNSEEN) & is_judged & (batch.weights > 0))
        self._n_unjudged += len(codes) - len(rows)
        if self._sample is not None and len(rows):
            self._sample.add(_select_rows(labelled_chunk(batch), rows))
        labels, predicted = codes[rows], output.predictions[rows]
        self._confusion = self._confusion.add(labels, predicted, batch.weights[rows])
        if output.log_posterior is not None and output.posterior is not None:
            self._add_losses(labels, predicted, output.log_posterior[rows], batch.weights[rows])
        wrong = rows[labels != predicted]
        self._pair_counts.update(zip(codes[wrong].tolist(), output.predictions[wrong].tolist(), strict=True))
        sizes = [(self._disagreement(output, row, int(codes[row])), row) for row in wrong.tolist()]
        self._suspects.add(sizes, lambda row: self._make_suspect(batch, output, row, int(codes[row])))
        if self._callback is not None:
            self._call_back(self._callback, batch, output, codes, rows)
        self._n_rows += len(codes)

    def _add_losses(self, labels: Codes, predicted: Codes, log_posterior: Floats, weights: Floats) -> None:
        log_p = log_posterior[np.arange(len(labels)), labels]
        self._log_loss = (self._log_loss or LossMoments()).add(0.0 - log_p, weights)
        if len(self._class_names) < 2:
            return
        top_two = np.partition(log_posterior, -2, axis=1)[:, -2:]
        # Where the second class is impossible, the lead is beyond all bounds.
        leads = np.nan_to_num(top_two[:, 1] - top_two[:, 0], posinf=MAX_LEAD).clip(0.0, MAX_LEAD)
        self._leads.add(leads, labels == predicted, weights)
        wrong = np.flatnonzero(labels != predicted)
        self._disagreements.append((labels[wrong], predicted[wrong], leads[wrong]))

    def _disagreement(self, output: ClassPredictions, row: int, label: int) -> float:
        """Return the log loss of a row's label, or without probabilities the lead of the predicted class."""
        log_posterior = output.log_posterior
        return (
            self._lead(output, row, label)
            if log_posterior is None
            else 0.0 - float(log_posterior[row, label])
        )

    def _lead(self, output: ClassPredictions, row: int, label: int) -> float:
        """Return the score of a row's predicted class minus that of its label."""
        scores = output.scores if output.log_posterior is None else output.log_posterior
        if scores is None or scores.shape[1] != len(self._class_names):
            return 0.0
        return float(scores[row, output.predictions[row]] - scores[row, label])

    def _make_suspect(
        self, batch: LabelledBatch, output: ClassPredictions, row: int, label: int
    ) -> SuspectRow:
        code = int(output.predictions[row])
        predicted, lead = self._class_names[code], self._lead(output, row, label)
        reasons = self._predictor.reasons(batch, row, predicted)
        suspect = SuspectRow(int(batch.numbers[row]), batch.labels[row], predicted, lead, reasons=reasons)
        if output.log_posterior is None:
            return suspect
        log_p, log_q = (float(output.log_posterior[row, c]) for c in (label, code))
        p, q = float(np.exp(log_p)), float(np.exp(log_q))
        return replace(suspect, probability=p, said_probability=q, loss=0.0 - log_p)

    def _call_back(
        self, callback: BatchCallback, batch: LabelledBatch, output: ClassPredictions, codes: Codes, rows: Any
    ) -> None:
        predicted: list[Any] = [None] * len(codes)
        probabilities = None if output.posterior is None else np.full(len(codes), np.nan)
        for row in rows.tolist():
            predicted[row] = self._class_names[int(output.predictions[row])]
        if probabilities is not None and output.posterior is not None:
            probabilities[rows] = output.posterior[rows, codes[rows]]
        callback(batch, predicted, probabilities)

    def result(self, level: float) -> Audit:
        """Return the audit of all batches."""
        if not len(self._confusion.weight):
            raise errors.DataError(
                "None of these rows can be judged: no other row has their label, or it is not a class of the "
                "model. Give rows of the model's classes, several of each."
            )
        measures = [Measure("accuracy", *self._confusion.accuracy(level))]
        if self._log_loss is not None:
            measures.append(Measure("log_loss", *self._log_loss.interval(level)))
        wrong = self._estimate_wrong_labels()
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
            self._check_redundancy(level),
        )

    def _check_redundancy(self, level: float) -> RedundancyCheck | None:
        if self._sample is None or self._bayes_model is None or len(self._class_names) < 2:
            return None
        return check_redundancy(
            self._bayes_model,
            self._sample,
            has_seen=self._predictor.is_leave_one_out,
            is_calibrated=self._predictor.model is not self._bayes_model,
            level=level,
        )

    def _estimate_wrong_labels(self) -> Counter[tuple[int, int]] | None:
        """Estimate the number of wrong labels per (label, predicted class); None without probabilities."""
        if self._log_loss is None:
            return None
        if not self._disagreements:
            return Counter()
        noise = self._leads.estimate_noise(len(self._class_names))
        expected: dict[tuple[int, int], float] = {}
        for labels, predicted, leads in self._disagreements:
            probabilities = noise.wrong_given_disagreement(leads)
            pairs = zip(labels.tolist(), predicted.tolist(), probabilities.tolist(), strict=True)
            for label, said, probability in pairs:
                expected[label, said] = expected.get((label, said), 0.0) + probability
        return _round_to_sum(expected)

    def _class_pairs(self, wrong: Counter[tuple[int, int]] | None) -> tuple[ClassPair, ...]:
        order = sorted(self._pair_counts.items(), key=lambda item: (-item[1], item[0]))
        return tuple(
            ClassPair(
                self._class_names[a], self._class_names[b], rows, None if wrong is None else wrong[a, b]
            )
            for (a, b), rows in order
        )


def _select_rows(chunk: Chunk, rows: Codes) -> Chunk:
    if len(rows) == chunk.n_rows:
        return chunk
    mask = np.zeros(chunk.n_rows, dtype=bool)
    mask[rows] = True
    return chunk.select(mask)


def _round_to_sum(expected: dict[tuple[int, int], float]) -> Counter[tuple[int, int]]:
    """Round expected counts so that their sum is the rounded sum: the largest fractions are rounded up."""
    rounded = Counter({pair: int(value) for pair, value in expected.items()})
    n_left = round(sum(expected.values())) - rounded.total()
    by_fraction = sorted(expected, key=lambda pair: (rounded[pair] - expected[pair], pair))
    rounded.update(by_fraction[:n_left])
    return rounded


@dataclass(frozen=True)
class SuspectRow(Facts):
    """A row whose label disagrees with the model: `row` is its index, `said` the predicted class.

    `probability` is that of the `label`, `loss` its −log, and `said_probability` that of the predicted class;
    all None for a model without probabilities. `lead` is the score of the predicted class minus that of the
    label: log-odds in nats, or points of a decision function. `reasons` are the features that favour the
    predicted class over the label most.
    """

    row: int
    label: Any
    said: Any
    lead: float
    probability: float | None = None
    said_probability: float | None = None
    loss: float | None = None
    reasons: tuple[EvidenceRow, ...] = ()


@dataclass(frozen=True)
class ClassPair(Facts):
    """The number of rows with one label that are predicted as another class, and of likely label errors."""

    label: Any
    said: Any
    rows: int
    wrong: int | None
    _json = ("label", "said", "rows", ("look_wrong", "wrong"))


class TopSuspects:
    """The rows that disagree most with the model so far, in a bounded heap."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._heap: list[tuple[float, int, SuspectRow]] = []

    def add(self, candidates: Sequence[tuple[float, int]], make_row: Callable[[int], SuspectRow]) -> None:
        """Add candidates (disagreement, row of the batch), calling `make_row` only for those kept."""
        best = heapq.nlargest(self._capacity, candidates, key=lambda pair: (pair[0], -pair[1]))
        for size, row in best:
            if len(self._heap) == self._capacity and size <= self._heap[0][0]:
                break
            suspect = make_row(row)
            entry = (size, -suspect.row, suspect)
            if len(self._heap) < self._capacity:
                heapq.heappush(self._heap, entry)
            else:
                heapq.heapreplace(self._heap, entry)

    def rows(self) -> tuple[SuspectRow, ...]:
        """Return the rows, worst first."""
        return tuple(suspect for *_, suspect in sorted(self._heap, key=lambda entry: (-entry[0], -entry[1])))
