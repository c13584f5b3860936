"""Predictions and explanations, equal to those of the library, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh._core import to_json_fields
from weigh.deduplicated_warnings import collect_warnings
from weigh.features.blocks import Floats
from weigh.model.base import Model
from weigh.model.decision import UNSURE, Decision, log_softmax
from weigh.serve.descriptions import describe
from weigh.serve.http.reply import encode_json
from weigh.serve.spans import TextHighlighter
from weigh.source.chunk import Chunk


@dataclass(frozen=True)
class PredictOptions:
    """How to predict: the rule for verdicts, and what to add.

    With `predictive`, parameters of naive Bayes and joint Bayes are integrated out. `check` adds the reasons
    why rows are unlike the training rows, and `std` the standard deviations of a regression.
    """

    decision: Decision | None = None
    predictive: bool = False
    check: bool = False
    std: bool = False


@dataclass(frozen=True)
class ExplainOptions:
    """What to add to the evidence: the calculation, the smallest change of the verdict, and the marked words.

    `most` keeps the strongest contributions and sums the others; `to` is the class that `flip` looks for.
    """

    worked: str | None = None
    flip: bool = False
    to: Any = None
    most: int | None = None
    spans: bool = True


@dataclass(frozen=True)
class Predictions:
    """Predictions of rows, column by column.

    `values` [rows, classes] are probabilities, or the scores of a model without them; a regression has none.
    """

    key: str
    answers: list[Any]
    class_names: Sequence[str] = ()
    values_key: str = ""
    values: Floats | None = None
    std: list[float] | None = None
    unfamiliar: list[list[dict[str, Any]]] | None = None

    def to_json(self) -> list[str]:
        """Return one JSON object per row."""
        columns = [self._answers_to_json()]
        if self.values is not None:
            fields = to_json_fields(self.values, list(map(encode_json, self.class_names)))
            columns.append([f'"{self.values_key}":{{{each}}}' for each in fields])
        if self.std is not None:
            columns.append(_numbers_to_json("std", self.std))
        if self.unfamiliar is not None:
            columns.append([f'"unfamiliar":{encode_json(reasons)}' for reasons in self.unfamiliar])
        return [f"{{{','.join(row)}}}" for row in zip(*columns, strict=True)]

    def _answers_to_json(self) -> list[str]:
        if self.values is None:
            return _numbers_to_json(self.key, self.answers)
        # With their types, because 1, 1.0 and True are equal.
        labels = list(zip(map(type, self.answers), self.answers, strict=True))
        texts = {each: f'"{self.key}":{encode_json(each[1])}' for each in set(labels)}
        return [texts[each] for each in labels]

    def columns(self) -> dict[str, list[Any]]:
        """Return the predictions as columns of a table."""
        columns: dict[str, list[Any]] = {self.key: self.answers}
        if self.values is not None:
            for name, values in zip(self.class_names, self.values.T.tolist(), strict=True):
                columns[f"P({name})" if self.values_key == "probabilities" else f"score({name})"] = values
        if self.std is not None:
            columns["std"] = self.std
        if self.unfamiliar is not None:
            columns["unfamiliar"] = ["; ".join(reason["text"] for reason in row) for row in self.unfamiliar]
        return columns


def _numbers_to_json(name: str, numbers: Sequence[float]) -> list[str]:
    return to_json_fields(np.array(numbers, float)[:, None], [encode_json(name)])


class Predictor:
    """Answers for the rows of one model, and what they need besides it."""

    def __init__(self, model: Any) -> None:
        self.model = model

    @cached_property
    def class_names(self) -> list[str]:
        """The classes as keys of JSON objects: as text, or as in Python where texts would be equal."""
        classes = self.model.classes
        names = [str(label) for label in classes]
        return names if len(set(names)) == len(names) else [repr(label) for label in classes]

    @cached_property
    def description(self) -> dict[str, Any]:
        """The facts of the model for clients."""
        return {**describe(self.model), "can_check": self._can_examine}

    @cached_property
    def _predictive(self) -> Predictor:
        return Predictor(self.model.predictive())

    @cached_property
    def _detector(self) -> Any:
        # Imported here because most requests do not ask for unfamiliar rows.
        from weigh.explain.novelty_detection import NoveltyDetector

        return NoveltyDetector(self.model)

    @cached_property
    def _highlighter(self) -> TextHighlighter:
        return TextHighlighter(self.model.schema)

    def class_of(self, name: Any) -> Any:
        """Return the class that a value of JSON means: itself, or the class of this name."""
        for label, known in zip(self.model.classes, self.class_names, strict=True):
            if (type(name) is type(label) and name == label) or name == known:
                return label
        raise errors.LabelError(
            f"The model has no class {errors.one_line_repr(name)}; it has "
            f"{errors.quote_names(self.model.classes)}.",
            suggestion=errors.closest(name, self.class_names),
        )

    def predict(self, rows: Any, options: PredictOptions = PredictOptions()) -> Predictions:
        """Return the predictions of rows in any form that the model reads."""
        if options.predictive:
            return self._predictive.predict(
                rows, PredictOptions(options.decision, check=options.check, std=options.std)
            )
        unfamiliar = self.find_unfamiliar(rows) if options.check else None
        model = self.model
        if not isinstance(model, Model):
            return self._predict_numbers(rows, options, unfamiliar)
        if options.std:
            raise errors.Unsupported("std is for regressions, and this model predicts classes.")
        if options.decision is not None and not model.has_probabilities:
            raise errors.Unsupported(
                "This model has no probabilities, which unsure, costs and class_prior need. Calibrate it, or "
                "train naive Bayes or logistic regression."
            )
        scores = model.scores(rows)
        if options.decision is None:
            labels = model.labels[model.best(scores)].tolist()
        else:
            labels = options.decision.verdicts(scores, model.log_prior, model.classes).tolist()
        key, values = (
            ("probabilities", np.exp(log_softmax(scores))) if model.has_probabilities else ("scores", scores)
        )
        return Predictions("label", labels, self.class_names, key, values, unfamiliar=unfamiliar)

    def _predict_numbers(self, rows: Any, options: PredictOptions, unfamiliar: Any) -> Predictions:
        if options.decision is not None:
            raise errors.Unsupported(
                "A regression predicts numbers, not classes, so unsure, costs and class_prior cannot be used."
            )
        if not options.std:
            return Predictions("prediction", self.model.predict(rows).tolist(), unfamiliar=unfamiliar)
        predicted, deviations = self.model.predict(rows, return_std=True)
        return Predictions("prediction", predicted.tolist(), std=deviations.tolist(), unfamiliar=unfamiliar)

    def find_unfamiliar(self, rows: Any) -> list[list[dict[str, Any]]]:
        """Return for each row the reasons why it is unlike the training rows."""
        found: list[list[dict[str, Any]]] = []
        for chunk in self._detector.model.chunks(rows):
            reasons = self._detector.find_reasons(chunk)
            found += [
                [{**asdict(reason), "text": str(reason)} for reason in reasons.get(row, ())]
                for row in range(chunk.n_rows)
            ]
        return found

    def prepare(self) -> None:
        """Import and compute what the first requests would otherwise wait for."""
        _ = self.description, self._can_examine

    def examine(self, rows: Any) -> list[dict[str, Any]] | None:
        """Return why the first row is unlike the training rows; None if the model cannot tell."""
        if not self._can_examine:
            return None
        with collect_warnings():  # which the prediction has, too
            return self.find_unfamiliar(rows)[0]

    @cached_property
    def _can_examine(self) -> bool:
        try:
            return bool(self._detector.is_examining)
        except errors.WeighError:
            return False

    def explain(self, rows: Any, options: ExplainOptions = ExplainOptions()) -> list[dict[str, Any]]:
        """Return the evidence for rows in any form that the model reads."""
        return [answer for chunk in self.model.chunks(rows) for answer in self._explain_chunk(chunk, options)]

    def _explain_chunk(self, chunk: Chunk, options: ExplainOptions) -> Iterator[dict[str, Any]]:
        for row, evidence in enumerate(self.model.explain(chunk)):
            shown = evidence if options.most is None else evidence.shortened(options.most)
            answer = shown.to_dict()
            answer["unit"] = evidence.unit
            if evidence.probabilities:
                answer["probabilities"] = dict(
                    zip(self.class_names, evidence.probabilities.values(), strict=True)
                )
            if options.spans:
                answer["spans"] = self._highlighter.find_spans(chunk, row, evidence.table)
            if options.worked is not None:
                answer["worked"] = evidence.worked(options.worked)
            if options.flip:
                answer["flip"] = self._flip(chunk.slice(row, row + 1), options.to)
            yield answer

    def _flip(self, row: Chunk, to: Any) -> dict[str, Any]:
        # Imported here because most explanations do without.
        from weigh.explain.counterfactual import flip

        found = flip(self.model, row, None if to is None else self.class_of(to))
        return {**found.to_dict(), "text": str(found)}


def count_answers(predictions: Predictions, predictor: Predictor) -> dict[str, int]:
    """Return how often each verdict occurs, with 'unsure' among them; a regression has none."""
    if predictions.key != "label":
        return {}
    if len(predictions.answers) == 1:
        return {_verdict_name(predictions.answers[0], predictor): 1}
    counts: dict[str, int] = {}
    for answer in predictions.answers:
        name = _verdict_name(answer, predictor)
        counts[name] = counts.get(name, 0) + 1
    return counts


def _verdict_name(answer: Any, predictor: Predictor) -> str:
    return UNSURE if answer == UNSURE and answer not in predictor.model.classes else str(answer)
