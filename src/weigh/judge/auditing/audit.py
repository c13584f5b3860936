"""The label audit: which rows are most at odds with what a model makes of all the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.auditing import audit_text
from weigh.judge.auditing.judges import Judge, judge_of
from weigh.judge.auditing.suspects import ClassPair, Suspect, Worst
from weigh.judge.measures.batches import Batch, batches, refuse_missing
from weigh.judge.measures.confusion import Confusion
from weigh.judge.measures.evaluation import given_labels
from weigh.judge.measures.losses import UNSEEN, Codes, Floats
from weigh.judge.measures.measure import Measure
from weigh.judge.measures.subject import Answer, codes_of, is_regression, subject
from weigh.judge.measures.tally import Moments
from weigh.text import plain

Sink = Callable[[int, Batch, list[Any], Floats | None], None]


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
    rows: tuple[Suspect, ...]
    unjudged: int = 0

    def measure(self, name: str) -> Measure:
        """The measure of that name."""
        for measure in self.measures:
            if measure.name == name:
                return measure
        known = [measure.name for measure in self.measures]
        raise errors.Unsupported(f"This audit has no measure {name!r}; it has {errors.listing(known)}.")

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "classes": [plain(label) for label in self.classes],
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
        return audit_text.text(self)

    def __repr__(self) -> str:
        return audit_text.headline(self)

    def _repr_html_(self) -> str:
        return audit_text.markup(self)

    def plot(self) -> Any:
        """Return a picture of the rows most at odds: how far each is from its label."""
        return audit_text.drawn(self)


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
    return audited(model, data, y, label, most, seen, level)


def audited(
    model: Any,
    data: Any,
    y: Any,
    label: str | None,
    most: int,
    seen: bool | None,
    level: float,
    sink: Sink | None = None,
) -> Audit:
    """Audit rows, each batch also given to `sink`: first row, batch, what is said, probability of labels."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise errors.parameter("audit", "most", "a whole number of at least 1", most)
    if not (isinstance(level, int | float) and 0.0 < level < 1.0):
        raise errors.parameter("audit", "level", "a number between 0 and 1", level)
    if is_regression(model):
        raise errors.Unsupported(
            "audit looks for wrong class labels, and a regression predicts numbers. See the rows that it "
            "missed most: weigh.evaluate(model, data).largest."
        )
    y, label = given_labels(y, label)
    asked = subject(model)
    run = _Run(judge_of(asked, model, data, label if y is None else y, seen), most, sink)
    for batch in batches(asked, data, y, label, None):
        run.add(batch)
    return run.result(float(level))


class _Run:
    """What an audit adds up over batches."""

    def __init__(self, judge: Judge, most: int, sink: Sink | None) -> None:
        self._judge = judge
        self._sink = sink
        self._names = list(judge.subject.classes)
        self._worst = Worst(most)
        self._confusion = Confusion.empty(len(self._names))
        self._log: Moments | None = None
        self._n = self._unjudged = 0
        self._trust = np.zeros((2, len(self._names)))  # rows of each label, and their probability of it
        self._doubts: list[tuple[Codes, Codes, Floats]] = []
        self._pairs: Counter[tuple[int, int]] = Counter()

    def add(self, batch: Batch) -> None:
        """Judge one batch."""
        codes = codes_of(self._judge.subject.classes, batch.labels)
        for place in np.flatnonzero(codes == UNSEEN):
            refuse_missing(batch.labels[place], self._n + int(place))
        answer, is_judged = self._judge.answer(batch)
        rows = np.flatnonzero((codes != UNSEEN) & is_judged & (batch.weights > 0))
        self._unjudged += len(codes) - len(rows)
        labels, said = codes[rows], answer.predictions[rows]
        self._confusion = self._confusion.add(labels, said, batch.weights[rows])
        if answer.log_posterior is not None and answer.posterior is not None:
            self._add_losses(labels, said, answer.log_posterior[rows], batch.weights[rows])
        odd = rows[labels != said]
        self._pairs.update(zip(codes[odd].tolist(), answer.predictions[odd].tolist(), strict=True))
        sizes = [(self._size(answer, at, int(codes[at])), at) for at in odd.tolist()]
        self._worst.add(sizes, lambda at: self._suspect(batch, answer, at, int(codes[at])))
        if self._sink is not None:
            self._tell(self._sink, batch, answer, codes, rows)
        self._n += len(codes)

    def _add_losses(self, labels: Codes, said: Codes, logs: Floats, weights: Floats) -> None:
        true = logs[np.arange(len(labels)), labels]
        self._log = (self._log or Moments()).add(0.0 - true, weights)
        for at, values in enumerate((np.ones(len(labels)), np.exp(true))):
            self._trust[at] += np.bincount(labels, values, len(self._names))
        odd = np.flatnonzero(labels != said)
        self._doubts.append((labels[odd], said[odd], np.exp(logs[odd, said[odd]])))

    def _size(self, answer: Answer, at: int, label: int) -> float:
        """Return how much a row is at odds: its log loss, or without probabilities the lead."""
        logs = answer.log_posterior
        return self._lead(answer, at, label) if logs is None else 0.0 - float(logs[at, label])

    def _lead(self, answer: Answer, at: int, label: int) -> float:
        """Return by how much what is said of a row leads its label."""
        scores = answer.scores if answer.log_posterior is None else answer.log_posterior
        if scores is None or scores.shape[1] != len(self._names):
            return 0.0
        return float(scores[at, answer.predictions[at]] - scores[at, label])

    def _suspect(self, batch: Batch, answer: Answer, at: int, label: int) -> Suspect:
        said = int(answer.predictions[at])
        about = self._n + at, batch.labels[at], self._names[said], self._lead(answer, at, label)
        reasons = self._judge.reasons(batch, at, self._names[said])
        if answer.log_posterior is None:
            return Suspect(*about, reasons=reasons)
        own, other = (float(answer.log_posterior[at, c]) for c in (label, said))
        return Suspect(*about, float(np.exp(own)), float(np.exp(other)), 0.0 - own, reasons)

    def _tell(self, sink: Sink, batch: Batch, answer: Answer, codes: Codes, rows: Any) -> None:
        said: list[Any] = [None] * len(codes)
        shares = None if answer.posterior is None else np.full(len(codes), np.nan)
        for at in rows.tolist():
            said[at] = self._names[int(answer.predictions[at])]
        if shares is not None and answer.posterior is not None:
            shares[rows] = answer.posterior[rows, codes[rows]]
        sink(self._n, batch, said, shares)

    def result(self, level: float) -> Audit:
        """Return the audit of all batches."""
        if not len(self._confusion.weight):
            raise errors.DataError(
                "None of these rows can be judged: no other row has their label, or the model lacks it. Give "
                "rows of the classes that the model knows, several of each."
            )
        measures = [Measure("accuracy", *self._confusion.accuracy(level))]
        if self._log is not None:
            measures.append(Measure("log_loss", *self._log.interval(level)))
        wrong = self._looking_wrong()
        return Audit(
            tuple(self._names),
            self._n,
            self._judge.leaves_out,
            self._judge.has_seen,
            self._judge.can_forget,
            level,
            tuple(measures),
            self._pairs.total(),
            None if wrong is None else sum(wrong.values()),
            self._told_pairs(wrong),
            self._worst.rows(),
            self._unjudged,
        )

    def _looking_wrong(self) -> Counter[tuple[int, int]] | None:
        """Return the rows of each pair of classes that the other class suits as well as its own rows."""
        if self._log is None:
            return None
        usual = np.divide(
            self._trust[1], self._trust[0], out=np.full(len(self._names), np.inf), where=self._trust[0] > 0
        )
        wrong: Counter[tuple[int, int]] = Counter()
        for labels, said, shares in self._doubts:
            # A class that no row has as its label is never usual; rounding must not decide.
            sure = shares >= usual[said] * (1 - 1e-12)
            wrong.update(zip(labels[sure].tolist(), said[sure].tolist(), strict=True))
        return wrong

    def _told_pairs(self, wrong: Counter[tuple[int, int]] | None) -> tuple[ClassPair, ...]:
        order = sorted(self._pairs.items(), key=lambda item: (-item[1], item[0]))
        return tuple(
            ClassPair(self._names[a], self._names[b], rows, None if wrong is None else wrong[a, b])
            for (a, b), rows in order
        )
