"""The columns that `weigh predict` writes for a classifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh.cli.output.tables import OutputColumn
from weigh.model.base import Model
from weigh.model.decision import Decision, log_softmax
from weigh.source.base import Source
from weigh.source.chunk import Chunk
from weigh.text import format_quantity, truncate

DIGITS = 6
MAX_LISTED_CLASSES = 5


class ClassPredictor:
    """Predicts the classes of rows; counts the verdicts for the summary.

    `top` is the number of most probable classes to write, and `reasons` that of the strongest reasons.
    """

    def __init__(
        self,
        model: Model,
        proba: bool,
        top: int,
        reasons: int,
        decision: Decision | None,
        detector: Any,
    ) -> None:
        self._model, self._decision, self._detector = model, decision, detector
        self._proba, self._top, self._reasons = proba, top, reasons
        self._counts: Counter[Any] = Counter()

    @classmethod
    def build(
        cls,
        model: Model,
        proba: bool,
        top: int | None,
        reasons: int | None,
        costs: Mapping[Any, float],
        unsure: float | None,
        check: bool,
    ) -> ClassPredictor:
        """Return the predictor for the options, or raise Unsupported if the model cannot do that."""
        model.check_has_outputs()
        decision = Decision(costs=dict(costs) or None, unsure=unsure) if costs or unsure is not None else None
        if not model.has_probabilities and (proba or decision is not None):
            raise errors.Unsupported(
                "This model has no probabilities, which --proba, --unsure and --cost need. Train naive-bayes "
                "or logistic instead."
            )
        detector = None
        if check:
            from weigh.explain.novelty_detection import NoveltyDetector

            detector = NoveltyDetector(model)
        return cls(model, proba, min(top or 0, len(model.classes)), reasons or 0, decision, detector)

    @cached_property
    def columns(self) -> list[OutputColumn]:
        """The columns of the predictions."""
        confidence, score = ("probability",) * 2 if self._model.has_probabilities else ("lead", "score")
        classes = [str(label) for label in self._model.classes] if self._proba else []
        ranked = [
            column
            for k in range(1, self._top + 1)
            for column in (OutputColumn(f"label_{k}"), OutputColumn(f"{score}_{k}", DIGITS))
        ]
        return [
            OutputColumn("prediction"),
            OutputColumn(confidence, DIGITS),
            *(OutputColumn(f"P({name})", DIGITS, "probabilities", name) for name in classes),
            *ranked,
            *(OutputColumn(f"reason_{k}") for k in range(1, self._reasons + 1)),
            *[OutputColumn("unfamiliar")] * (self._detector is not None),
        ]

    def predict(self, source: Source) -> Iterator[list[Sequence[Any]]]:
        """Yield the values of all columns, batch by batch."""
        for chunk, values in self._model.map_chunks(self._predict_chunk, source):
            self._counts.update(values[0])
            yield values if self._detector is None else [*values, self._detector.reasons_by_row(chunk)]

    def _predict_chunk(self, chunk: Chunk) -> tuple[Chunk, list[Sequence[Any]]]:
        model = self._model
        evidence: Iterator[Any] | None = None
        if self._reasons:
            encoded = model.encode(chunk)
            scores = model.finite_scores(encoded)
            evidence = model.explain_rows(encoded, scores)
        else:
            scores = model.score_chunk(chunk)
        verdicts = self._verdicts(scores)
        shares = np.exp(log_softmax(scores)) if model.has_probabilities else scores
        values: list[Sequence[Any]] = [verdicts, self._confidences(verdicts, scores, shares)]
        values += shares.T.tolist() if self._proba else []
        values += self._most_probable(shares)
        if evidence is not None:
            pairs = zip(evidence, verdicts, strict=True)
            values += transpose([class_reasons(row, verdict, self._reasons) for row, verdict in pairs])
        return chunk, values

    def _verdicts(self, scores: Any) -> list[Any]:
        model = self._model
        if self._decision is None:
            verdicts: list[Any] = model.labels[model.best(scores)].tolist()
            return verdicts
        return list(self._decision.verdicts(scores, model.log_prior, model.classes).tolist())

    def _confidences(self, verdicts: Sequence[Any], scores: Any, shares: Any) -> list[float]:
        """Return the probability or lead of each verdict; 'unsure' has that of the best class."""
        if not self._model.has_probabilities:
            leads: list[float] = self._model.leads(scores).tolist()
            return leads
        index = {label: at for at, label in enumerate(self._model.classes)}
        codes = np.array([index.get(verdict, -1) for verdict in verdicts], dtype=np.intp)
        confidences = np.where(codes < 0, shares.max(axis=1), shares[np.arange(len(codes)), codes])
        return [float(share) for share in confidences]

    def _most_probable(self, shares: Any) -> Iterator[list[Any]]:
        """Yield label and probability of the most probable class, then of the next one, and so on."""
        if not self._top:
            return
        order = np.argsort(-shares, axis=1, kind="stable")
        classes = self._model.classes
        for k in range(self._top):
            yield [classes[code] for code in order[:, k].tolist()]
            yield shares[np.arange(len(shares)), order[:, k]].tolist()

    @property
    def note(self) -> str:
        """What --check found in all rows, if it was given."""
        return self._detector.summary() if self._detector is not None and self._detector.n_rows else ""

    def summary(self) -> str:
        """Return the number of rows of each class, most frequent first."""
        counts = sorted(self._counts.items(), key=lambda item: (-item[1], str(item[0])))
        listed = [f"{n:,} {truncate(label, 40)}" for label, n in counts[:MAX_LISTED_CLASSES]]
        n_others = len(counts) - len(listed)
        if n_others:
            n_rows = sum(n for _, n in counts[MAX_LISTED_CLASSES:])
            listed.append(f"{n_rows:,} of {format_quantity(n_others, 'other class', 'other classes')}")
        return ", ".join(listed) or "nothing to predict"


def class_reasons(evidence: Any, verdict: Any, n: int) -> list[str | None]:
    """Return the n features that speak most for a verdict, strongest first, filled up with None."""
    rows = feature_rows(evidence, _rows_for(evidence, verdict))
    return format_reasons([row for row in rows if row.nats > 0], n)


def _rows_for(evidence: Any, verdict: Any) -> Sequence[Any]:
    """Return the contributions to a verdict, which costs may have changed from the most probable class."""
    if verdict in (evidence.verdict, None) or verdict not in evidence.probabilities:
        rows: Sequence[Any] = evidence.table
        return rows
    if verdict == evidence.runner_up:
        return [replace(row, nats=-row.nats) for row in evidence.table]
    try:
        rows = evidence.rows_between(verdict, evidence.verdict)
    except errors.Unsupported:
        # A calibrated model compares its two most probable classes only.
        return []
    return rows


def feature_rows(evidence: Any, rows: Sequence[Any]) -> Sequence[Any]:
    """Return the contributions of features, without those of the class prior, bias and calibration."""
    first = 0 if evidence.unit == "votes" else 1
    return [row for row in rows[first:] if (row.feature, row.value) != ("calibration", "")]


def format_reasons(rows: Sequence[Any], n: int) -> list[str | None]:
    """Return the n strongest contributions as texts, filled up with None."""
    strongest = sorted(rows, key=lambda row: -abs(row.nats))[:n]
    texts: list[str | None] = [f"{row.title} ({row.nats:+.3g})" for row in strongest]
    return texts + [None] * (n - len(texts))


def transpose(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return rows of cells as columns."""
    return [list(column) for column in zip(*rows, strict=True)]
