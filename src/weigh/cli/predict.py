"""`weigh predict`: stream predictions for the rows of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TextIO

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    class_by_name,
    data_file_options,
    json_option,
    model_argument,
    open_output,
    open_source_for_model,
    raw_option,
)
from weigh.cli.output import CsvWriter, print_text, to_json_text

SECTIONS = {
    "Examples": """
        weigh predict income.weigh new.csv
        weigh predict income.weigh new.csv --proba -o predictions.csv
        weigh predict spam.weigh mails.csv --unsure 0.1          # 'unsure' below 90 %
        weigh predict spam.weigh mails.csv --cost ham:spam=20    # lost ham costs 20
        weigh predict income.weigh new.csv --check               # flag unfamiliar rows
        weigh predict price.weigh homes.csv --std                # with std. deviation
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@click.argument("data", metavar="DATA")
@click.option("-o", "--output", metavar="FILE", help="Output file. [default: standard output]")
@click.option("--proba", is_flag=True, help="Also write the probability of every class.")
@click.option("--unsure", type=click.FloatRange(0), metavar="COST", help="Cost of the answer 'unsure'.")
@click.option(
    "--cost", "costs", multiple=True, metavar="TRUE:SAID=COST", help="Cost of an error; others cost 1."
)
@click.option("--check", is_flag=True, help="Also flag rows unlike the training rows.")
@click.option("--std", is_flag=True, help="Regression: also write the predictive standard deviation.")
@raw_option
@data_file_options
@json_option
def command(
    model: str,
    data: str,
    output: str | None,
    proba: bool,
    unsure: float | None,
    costs: tuple[str, ...],
    check: bool,
    std: bool,
    raw: bool,
    as_json: bool,
    **written: Any,
) -> None:
    """Write a prediction and its probability for every row of a file, as CSV.

    A perceptron has no probabilities and writes the lead over the next class instead. A linear regression
    writes the predicted number, with --std also its standard deviation.

    The rows need the columns of the training data; a label column is ignored. With --json every row is one
    line of JSON.

    In CSV, control characters in names become escapes, and names that a spreadsheet would run as formulas,
    such as =1+1, get a single quote in front. --raw writes all names unchanged, except that control
    characters never reach a terminal.
    """
    from weigh import errors
    from weigh.cli.progress import show_row_progress
    from weigh.model.base import Model
    from weigh.model.decision import Decision
    from weigh.model.file.loading import load

    check_output_is_not_input(output, model, data)
    loaded = load(model)
    if not isinstance(loaded, Model):
        from weigh.cli.predict_regression import write_regression_predictions

        if check:
            _make_detector(loaded)  # raises the error that says why this is not possible
        unsupported = {"--proba": proba, "--unsure": unsure is not None, "--cost": costs}
        write_regression_predictions(
            loaded, open_source_for_model(loaded, data, **written), output, std, as_json, unsupported
        )
        return
    if std:
        raise errors.Unsupported(
            "--std is for regressions, and this model predicts classes. --proba writes the probability of "
            "each class."
        )
    table = dict(_parse_cost(text, loaded.classes) for text in costs)
    decision = Decision(costs=table or None, unsure=unsure) if table or unsure is not None else None
    if not loaded.has_probabilities and (proba or decision is not None):
        raise errors.Unsupported(
            "This model has no probabilities, which --proba, --unsure and --cost need. Train naive-bayes or "
            "logistic instead."
        )
    detector = _make_detector(loaded) if check else None
    opened = open_source_for_model(loaded, data, **written)
    # Raises an error before anything is written.
    opened = loaded.schema.align_source(opened)
    with open_output(output) as file, show_row_progress(opened, not file.isatty()) as source:
        confidence_name = "probability" if loaded.has_probabilities else "lead"
        writer = (
            _JsonLinesWriter(file, proba, confidence_name)
            if as_json
            else _PredictionCsvWriter(CsvWriter(file, raw), loaded.classes, proba, check, confidence_name)
        )
        for batch in _predict_batches(loaded, source, decision, detector):
            writer.write(batch)
    if detector is not None and detector.n_rows:
        print_text(detector.summary(), err=True)


def _make_detector(model: Any) -> Any:
    from weigh.explain.novelty_detection import NoveltyDetector

    return NoveltyDetector(model)


def _parse_cost(text: str, classes: list[Any]) -> tuple[tuple[Any, Any], float]:
    pair, _, cost = text.rpartition("=")
    names = [str(label) for label in classes]
    # A class may be called "a:b", so every colon is tried.
    for at in (k for k, mark in enumerate(pair) if mark == ":"):
        if pair[:at] in names and pair[at + 1 :] in names:
            try:
                return (classes[names.index(pair[:at])], classes[names.index(pair[at + 1 :])]), float(cost)
            except ValueError:
                break
    if ":" in pair:
        for name in pair.split(":", 1):
            class_by_name(name, classes, "--cost")
    raise click.BadParameter(f"{text!r} is not TRUE:SAID=COST.", param_hint="'--cost'")


@dataclass(frozen=True, eq=False)
class _PredictionBatch:
    """Verdicts, posteriors or scores [rows, classes], and reasons by index of unfamiliar rows."""

    classes: list[Any]
    verdicts: list[Any]
    posteriors: Any
    unfamiliar: dict[int, list[str]] = field(default_factory=dict)
    leads: list[float] | None = None

    def confidences(self) -> list[float]:
        """Return the probability or lead of each verdict; 'unsure' has that of the best class."""
        if self.leads is not None:
            return self.leads
        index = {label: at for at, label in enumerate(self.classes)}
        codes = [index.get(verdict, -1) for verdict in self.verdicts]
        probabilities = self.posteriors[range(len(codes)), codes]
        if -1 in codes:
            best = self.posteriors.max(axis=1)
            probabilities = [
                top if c < 0 else p for c, p, top in zip(codes, probabilities, best, strict=True)
            ]
        return [float(p) for p in probabilities]

    def rows(self) -> Iterator[tuple[Any, float, list[float], list[str]]]:
        """Yield verdict, its probability, all probabilities and reasons."""
        columns = zip(self.verdicts, self.confidences(), self.posteriors.tolist(), strict=True)
        for row, (verdict, share, shares) in enumerate(columns):
            yield verdict, share, shares, self.unfamiliar.get(row, [])


def _predict_batches(model: Any, source: Any, decision: Any, detector: Any) -> Iterator[_PredictionBatch]:
    import numpy as np

    from weigh.model.decision import log_softmax

    def predict(chunk: Any) -> tuple[Any, list[Any], Any, list[float] | None]:
        scores = model.scores(chunk)
        if decision is None:
            verdicts = model.labels[model.best(scores)]
        else:
            verdicts = decision.verdicts(scores, model.log_prior, model.classes)
        if not model.has_probabilities:
            return chunk, verdicts.tolist(), scores, model.leads(scores).tolist()
        return chunk, verdicts.tolist(), np.exp(log_softmax(scores)), None

    for chunk, verdicts, posteriors, leads in model.map_chunks(predict, source):
        yield _PredictionBatch(model.classes, verdicts, posteriors, _unfamiliar_rows(detector, chunk), leads)


def _unfamiliar_rows(detector: Any, chunk: Any) -> dict[int, list[str]]:
    if detector is None:
        return {}
    return {
        row.row - chunk.first_row: [str(reason) for reason in row.reasons]
        for row in detector.flag_rows(chunk)
    }


class _PredictionCsvWriter:
    """Writes predictions as CSV."""

    def __init__(
        self, writer: CsvWriter, classes: list[Any], proba: bool, check: bool, confidence_name: str
    ) -> None:
        from weigh.model.decision import UNSURE

        self._writer, self._proba, self._check = writer, proba, check
        self._verdicts = {label: writer.field(label) for label in (*classes, UNSURE)}
        shares = [f"P({label})" for label in classes] if proba else []
        writer.write_row(["prediction", confidence_name, *shares, *["unfamiliar"] * check])

    def write(self, batch: _PredictionBatch) -> None:
        """Write a batch."""
        if not self._proba and not self._check:
            confidences = [f"{share:.6g}" for share in batch.confidences()]
            verdicts = map(self._verdicts.__getitem__, batch.verdicts)
            self._writer.write_fields(zip(verdicts, confidences, strict=True))
            return
        self._writer.write_fields(
            [
                self._verdicts[verdict],
                f"{share:.6g}",
                *([f"{p:.6g}" for p in shares] if self._proba else []),
                *([self._writer.field("; ".join(odd))] if self._check else []),
            ]
            for verdict, share, shares, odd in batch.rows()
        )


class _JsonLinesWriter:
    """Writes predictions as JSON lines."""

    def __init__(self, file: TextIO, proba: bool, confidence_name: str) -> None:
        self._file, self._proba, self._confidence_key = file, proba, confidence_name

    def write(self, batch: _PredictionBatch) -> None:
        """Write a batch."""
        names = [str(label) for label in batch.classes]
        for verdict, share, shares, odd in batch.rows():
            row: dict[str, Any] = {"prediction": verdict, self._confidence_key: share}
            if self._proba:
                row["probabilities"] = dict(zip(names, shares, strict=True))
            if odd:
                row["unfamiliar"] = odd
            self._file.write(to_json_text(row) + "\n")
