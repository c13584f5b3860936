"""`report_on`: open model and rows, collect the facts of every section, and note omitted sections."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from weigh import errors
from weigh.judge.metrics.evaluation import evaluate
from weigh.judge.metrics.predictor import is_regression
from weigh.model.effects.term_effects import has_curves
from weigh.model.file.loading import load
from weigh.report.data_checks import (
    AuditFacts,
    audit_facts,
    find_identifiers,
    find_misleading_columns,
    unfamiliarity_facts,
)
from weigh.report.effect_facts import EffectFacts, MarkedRow, effect_facts
from weigh.report.facts import OmittedSection, ReportFacts
from weigh.report.learning_curve_facts import ESTIMATOR_FACTORIES, LearningCurveFacts, learning_curve_facts
from weigh.report.measure_facts import check_known_labels
from weigh.report.mistake_facts import ClassifierPredictions, mistake_facts, predict_rows
from weigh.report.model_facts import model_facts, strongest_facts
from weigh.report.probability_facts import calibration_facts, curve_facts, threshold_facts
from weigh.report.quality_facts import QualityFacts, is_strong, quality_facts
from weigh.report.regression_facts import predict_numbers, regression_facts
from weigh.report.report import Report, no_progress
from weigh.report.reproducibility import (
    FileFact,
    ReportOptions,
    compare_command,
    file_facts,
    reproducibility_facts,
)
from weigh.report.schema_facts import schema_facts
from weigh.report.summary import AdviceInputs, summarise
from weigh.source.base import Source
from weigh.source.files.open_files import open as open_file
from weigh.text import truncate

DEFAULT_MISTAKES = 10
MAX_MISTAKES = 50
MAX_FEATURES = 15  # per class, so that a chart stays readable
ADVICE_SECTIONS = ("calibration", "causes", "familiar", "audit", "learning")
# Errors in the rows themselves are raised; they do not omit a section.
INPUT_ERRORS = (errors.ColumnError, errors.LabelError, errors.FileError)
# Why a kind of model lacks a section, in terms of the reader of the page.
OMISSION_REASONS = {
    "Calibration": "The model gives no probabilities to compare with observed frequencies.",
    "Unfamiliar rows": "Only naive Bayes models keep enough about their training rows to detect new values.",
    "Strongest features": "The model has no weights of single features.",
    "Columns": "The model does not store the columns that it was trained on.",
    "Curves": "The model gives no scores to rank rows by, or all rows are of one class.",
}
TOO_FEW_ROWS_REASONS = {
    "Learning curve": "There are too few training rows, or too few of some class, to train on subsets.",
}

SectionFacts = TypeVar("SectionFacts")
ProgressCallback = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class ReportData:
    """Labelled rows and the paths of their files, if any."""

    data: Any
    y: Any
    label: str | None
    paths: tuple[str, ...]


@dataclass
class SectionCollector:
    """Collects the facts of sections, and notes the sections that do not apply and why."""

    say: ProgressCallback
    left_out: list[OmittedSection] = field(default_factory=list)

    def collect(
        self, title: str, collect_facts: Callable[..., SectionFacts | None], *args: Any, **kwargs: Any
    ) -> SectionFacts | None:
        """Return a section's facts; if model or rows do not allow it, note the reason and return None."""
        self.say(title)
        try:
            facts = collect_facts(*args, **kwargs)
        except INPUT_ERRORS:
            raise
        except errors.WeighError as error:
            reasons = TOO_FEW_ROWS_REASONS if isinstance(error, errors.DataError) else OMISSION_REASONS
            self.skip(title, reasons.get(title, str(error)))
            return None
        if facts is None:
            self.skip(title, OMISSION_REASONS[title])
        return facts

    def skip(self, title: str, why: str) -> None:
        """Note an omitted section."""
        self.left_out.append(OmittedSection(title, why))


def report_on(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    label: str | None = None,
    train: Any = None,
    title: str | None = None,
    most: int = DEFAULT_MISTAKES,
    file: str | os.PathLike[str] | None = None,
    options: ReportOptions | None = None,
    say: Callable[[str], None] = no_progress,
) -> Report:
    """Report on a trained model: what it is, how good it is, its worst mistakes, and what to do next.

    Parameters
    ----------
    model : a model or estimator of this library, the path of a model file, or a fitted classifier or
        regressor of scikit-learn, which gets only the sections that need nothing but its predictions
    data : labelled rows that the model was not trained on: the path of a file, a source, or any table
    y : one label per row, or the name of the label column; None means the model's label column
    label : name of the label column, the same as a name passed as `y`
    train : the rows that the model was trained on, as `data`, or a pair of rows and labels (X, y); adds
        an audit of their labels and a learning curve
    title : title of the report
    most : maximum number of mistakes (up to 50) and of strongest features per class (up to 15)
    file : the file that the model was loaded from, to be named in the report
    options : command-line options that the commands in the report repeat
    say : called with a status line before each step

    Returns
    -------
    Report, with `.save("report.html")`, `.facts` and `.to_dict()`
    """
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MAX_MISTAKES:
        raise errors.parameter_error("report_on", "most", f"a whole number from 1 to {MAX_MISTAKES}", most)
    if isinstance(model, str | os.PathLike):
        model, file = load(model), model
    path = None if file is None else os.fspath(file)
    if isinstance(y, str):
        y, label = None, y
    rows = _open_data(model, data, y, label)
    training = None if train is None else _open_data(model, *_split_labels(train), label)
    sections = SectionCollector(say)
    if options is None:
        options = ReportOptions((), label, title, None if most == DEFAULT_MISTAKES else most)
    inputs = _ReportInputs(model, path, rows, training, title, most, options, sections)
    return Report(
        _regression_report_facts(inputs) if is_regression(model) else _classifier_facts(inputs), say
    )


@dataclass(frozen=True, eq=False)
class _ReportInputs:
    """Everything that a report is built from."""

    model: Any
    path: str | None
    rows: ReportData
    training: ReportData | None
    title: str | None
    most: int
    options: ReportOptions
    sections: SectionCollector

    @property
    def fitted_model(self) -> Any:
        """The model of an estimator, or the model itself."""
        return getattr(self.model, "model_", self.model)

    @property
    def uncalibrated_model(self) -> Any:
        """The model before calibration."""
        return getattr(self.fitted_model, "uncalibrated", self.fitted_model)

    @property
    def label(self) -> str | None:
        """The column that is predicted."""
        return getattr(self.fitted_model, "label", None) or self.rows.label

    @property
    def report_title(self) -> str:
        """The title of the report."""
        default = f"How well {self.label} is predicted" if self.label else "Model evaluation"
        return truncate(self.title or default, 120)


def _split_labels(train: Any) -> tuple[Any, Any]:
    """Return rows and labels of a pair (X, y), or rows that contain their labels, and None."""
    if isinstance(train, tuple) and len(train) == 2:
        return train
    return train, None


def _open_data(model: Any, data: Any, y: Any, label: str | None) -> ReportData:
    """Open a file with the settings of the model's training file; other data are used as they are."""
    fitted = getattr(model, "model_", model)
    if not isinstance(data, str | os.PathLike):
        return ReportData(data, y, label, data.paths if isinstance(data, Source) else ())
    name = (label or getattr(fitted, "label", None)) if y is None else None
    source = open_file(data, name, like=fitted if hasattr(fitted, "schema") else None)
    return ReportData(source, y, None, source.paths)


def _classifier_facts(inputs: _ReportInputs) -> ReportFacts:
    sections, rows, model = inputs.sections, inputs.rows, inputs.model
    sections.say("Evaluating the model")
    evaluation: Any = evaluate(model, rows.data, rows.y, label=rows.label)
    check_known_labels(evaluation)
    quality = quality_facts(evaluation)
    sections.say("Finding the worst mistakes")
    predictions = predict_rows(model, rows.data, rows.y, rows.label, inputs.most)
    calibration = sections.collect("Calibration", calibration_facts, evaluation, model)
    if predictions.second_probability is None:
        sections.skip("Decision threshold", _missing_threshold_reason(predictions))
    mistakes = mistake_facts(model, predictions)
    is_calibrated = calibration is not None and calibration.verdict == "fine"
    audit = _audit_section(inputs, quality, len(predictions.true), is_calibrated)
    return _assemble_facts(
        inputs,
        quality,
        effects=_effects_section(inputs, [MarkedRow(each.row, each.rows) for each in predictions.worst]),
        calibration=calibration,
        audit=audit,
        mistakes=mistakes,
        causes=sections.collect(
            "Misleading columns",
            find_misleading_columns,
            inputs.uncalibrated_model,
            mistakes,
            None if audit is None else audit.redundancy,
        ),
        thresholds=threshold_facts(predictions),
        curves=sections.collect("Curves", curve_facts, evaluation),
    )


def _audit_section(
    inputs: _ReportInputs, quality: QualityFacts, n: int, is_calibrated: bool
) -> AuditFacts | None:
    audited = inputs.training or inputs.rows
    return inputs.sections.collect(
        "Labels to check",
        audit_facts,
        inputs.model,
        data=audited.data,
        y=audited.y,
        label=audited.label,
        most=inputs.most,
        n=n,
        of_training=inputs.training is not None,
        is_skilled=quality.skill != "none",
        trusted=is_calibrated and is_strong(quality),
    )


def _missing_threshold_reason(predictions: ClassifierPredictions) -> str:
    if len(predictions.classes) != 2:
        return "A single threshold needs exactly two classes."
    return "The model gives no probabilities to compare with a threshold."


def _regression_report_facts(inputs: _ReportInputs) -> ReportFacts:
    sections, rows, model = inputs.sections, inputs.rows, inputs.model
    sections.say("Evaluating the model")
    quality = quality_facts(evaluate(model, rows.data, rows.y, label=rows.label))
    sections.skip("Classes, thresholds and calibration", "The model predicts numbers, not classes.")
    predictions = predict_numbers(model, rows.data, rows.y, rows.label, inputs.most)
    return _assemble_facts(
        inputs,
        quality,
        effects=_effects_section(inputs, [MarkedRow(*each) for each in predictions.worst]),
        numbers=sections.collect("Errors", regression_facts, model, predictions),
    )


def _effects_section(inputs: _ReportInputs, marked: Sequence[MarkedRow]) -> EffectFacts | None:
    """Return the effects of a model with curves or pairs; other linear models have a table of weights."""
    model = inputs.uncalibrated_model
    if not has_curves(getattr(model, "terms", ())):
        return None
    return inputs.sections.collect("Effects", effect_facts, model, inputs.rows.data, marked)


def _assemble_facts(inputs: _ReportInputs, quality: QualityFacts, **facts: Any) -> ReportFacts:
    """Add the facts that every kind of model has to those of its kind."""
    sections, model, data = inputs.sections, inputs.fitted_model, inputs.rows.data
    facts["familiar"] = sections.collect("Unfamiliar rows", unfamiliarity_facts, model, data)
    n_features = min(inputs.most, MAX_FEATURES)
    facts["strongest"] = sections.collect("Strongest features", strongest_facts, model, n_features)
    training_data = None if inputs.training is None else inputs.training.data
    facts["schema"] = sections.collect("Columns", schema_facts, model, data, training_data)
    files = _describe_files(inputs)
    described = model_facts(inputs.model, None if inputs.path is None else files[0].name, files[0].digest)
    labels = inputs.rows.y if inputs.rows.y is not None else inputs.rows.label or inputs.label
    identifiers = find_identifiers(inputs.uncalibrated_model, data, labels, described.rows)
    facts["learning"] = _learning_section(inputs, quality, diagnoses=not identifiers)
    advice_inputs = AdviceInputs(
        described,
        quality,
        facts.get("thresholds") is not None,
        inputs.training is None
        and getattr(inputs.uncalibrated_model, "type_name", "") in ESTIMATOR_FACTORIES,
        "" if is_regression(inputs.model) else compare_command(files, inputs.label, inputs.options),
        identifiers=identifiers,
        **{name: facts.get(name) for name in ADVICE_SECTIONS},
    )
    return ReportFacts(
        title=inputs.report_title,
        summary=summarise(advice_inputs),
        model=described,
        quality=quality,
        reproduce=reproducibility_facts(files, inputs.options),
        left_out=tuple(sections.left_out),
        **facts,
    )


def _learning_section(
    inputs: _ReportInputs, quality: QualityFacts, *, diagnoses: bool
) -> LearningCurveFacts | None:
    if inputs.training is None:
        return None
    rows, sections = inputs.training, inputs.sections
    return sections.collect(
        "Learning curve",
        learning_curve_facts,
        inputs.uncalibrated_model,
        data=rows.data,
        y=rows.y,
        label=rows.label,
        say=sections.say,
        is_imbalanced=quality.is_imbalanced,
        diagnoses=diagnoses,
    )


def _describe_files(inputs: _ReportInputs) -> tuple[FileFact, ...]:
    inputs.sections.say("Computing checksums of the files")
    paths: list[tuple[str, str | None]] = [("model", inputs.path)]
    for role, data in (("data", inputs.rows), ("training", inputs.training)):
        if data is not None:
            paths += [(role, path) for path in data.paths or (None,)]
    return file_facts(paths)
