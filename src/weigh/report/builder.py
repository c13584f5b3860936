"""Making a report: what is given is opened, facts are collected, sections that do not apply are named."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from weigh import errors
from weigh.judge import evaluate
from weigh.judge.metrics.predictor import is_regression
from weigh.model import load
from weigh.report.data_checks import audit_facts, find_misleading_columns, unfamiliarity_facts
from weigh.report.facts import OmittedSection, ReportFacts
from weigh.report.learning_curve_facts import ESTIMATOR_FACTORIES, LearningCurveFacts, learning_curve_facts
from weigh.report.measure_facts import check_known_labels
from weigh.report.mistake_facts import ClassifierPredictions, mistake_facts, predict_rows
from weigh.report.model_facts import model_facts, strongest_facts
from weigh.report.probability_facts import calibration_facts, curve_facts, threshold_facts
from weigh.report.quality_facts import QualityFacts, is_strong, quality_facts
from weigh.report.regression_facts import regression_facts
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
from weigh.source import Source
from weigh.source import open as open_file
from weigh.text import truncate

DEFAULT_MISTAKES = 10
MAX_MISTAKES = 50  # mistakes that a page can hold, each with its evidence
MAX_FEATURES = 15  # features of a class that a picture can hold
ADVICE_SECTIONS = ("calibration", "causes", "familiar", "audit", "learning")


@dataclass(frozen=True, eq=False)
class ReportData:
    """Rows with their labels, and the file they come from, if any."""

    data: Any
    y: Any
    label: str | None
    path: str | None


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
    asked: ReportOptions | None = None,
    say: Callable[[str], None] = no_progress,
) -> Report:
    """Make a report on a trained model: what it is, how good it is, where it errs, what to do next.

    Parameters
    ----------
    model : a model or estimator of this library, the path of a model file, or a fitted classifier or
        regressor of scikit-learn, which gets the sections that need no more than its answers
    data : labelled rows that the model was not trained on: the path of a file, a source, or any table
    y : one label per row, or the name of the label column; None takes the model's own
    label : name of the label column, the same as a name given as `y`
    train : the rows that the model was trained on, as `data`, or a pair of rows and labels (X, y); adds
        the audit of their labels and a learning curve
    title : what to call the report
    most : how many mistakes to list (50 at most), and strongest features per class (15 at most)
    file : the file that the model was loaded from, to be named in the report
    asked : options of the command line, which the commands of the report repeat
    say : is called with a line of text before each piece of work, for those who wait

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
    if asked is None:
        asked = ReportOptions((), label, title, None if most == DEFAULT_MISTAKES else most)
    facts = _regression_report_facts if is_regression(model) else _classifier_facts
    return Report(facts(_ReportInputs(model, path, rows, training, title, most, asked, sections)), say)


@dataclass(frozen=True, eq=False)
class _ReportInputs:
    """All that a report is made from."""

    model: Any
    path: str | None
    rows: ReportData
    training: ReportData | None
    title: str | None
    most: int
    asked: ReportOptions
    sections: SectionCollector

    @property
    def fitted_model(self) -> Any:
        """The model itself, where an estimator was given."""
        return getattr(self.model, "model_", self.model)

    @property
    def uncalibrated_model(self) -> Any:
        """The model as it was learned, before it was calibrated."""
        return getattr(self.fitted_model, "uncalibrated", self.fitted_model)

    @property
    def label(self) -> str | None:
        """The column that is predicted."""
        return getattr(self.fitted_model, "label", None) or self.rows.label

    @property
    def name(self) -> str:
        """What the report is called."""
        told = f"How well {self.label} is predicted" if self.label else "A model judged"
        return truncate(self.title or told, 120)


def _split_labels(train: Any) -> tuple[Any, Any]:
    """Rows and labels that were given apart, or rows that hold their labels."""
    if isinstance(train, tuple) and len(train) == 2:
        return train
    return train, None


def _open_data(model: Any, data: Any, y: Any, label: str | None) -> ReportData:
    """Open a file as the model's training file was read; other rows are taken as they are."""
    ours = getattr(model, "model_", model)
    if not isinstance(data, str | os.PathLike):
        path = getattr(data, "path", None) if isinstance(data, Source) else None
        return ReportData(data, y, label, None if path is None else os.fspath(path))
    schema = getattr(ours, "schema", None)
    missing = () if schema is None else schema.missing
    name = (label or getattr(ours, "label", None)) if y is None else None
    source = open_file(data, name, missing=("", *missing))
    return ReportData(source.with_storage(getattr(ours, "storage", {})), y, None, os.fspath(data))


def _classifier_facts(making: _ReportInputs) -> ReportFacts:
    """The facts of a classifier."""
    do, rows, model = making.sections, making.rows, making.model
    do.say("Judging the model")
    found: Any = evaluate(model, rows.data, rows.y, label=rows.label)
    check_known_labels(found)
    quality = quality_facts(found)
    do.say("Looking for its worst mistakes")
    answers = predict_rows(model, rows.data, rows.y, rows.label, making.most)
    calibration = do.collect("Calibration", calibration_facts, found, model)
    if answers.second_probability is None:
        do.skip("Decision threshold", _missing_threshold_reason(answers))
    doubted = making.training or rows
    labels = doubted.data, doubted.y, doubted.label, making.most, len(answers.true)
    mistakes = mistake_facts(model, answers)
    trusted = calibration is not None and calibration.verdict == "fine" and is_strong(quality)
    how = making.training is not None, quality.skill != "none", trusted
    own = rows.label or making.label if rows.y is None else rows.y
    return _assemble_facts(
        making,
        quality,
        calibration=calibration,
        audit=do.collect("Labels to check", audit_facts, model, *labels, *how),
        mistakes=mistakes,
        causes=do.collect(
            "Columns that mislead",
            find_misleading_columns,
            making.uncalibrated_model,
            rows.data,
            own,
            mistakes,
        ),
        thresholds=threshold_facts(answers),
        curves=do.collect("Curves", curve_facts, found),
    )


def _missing_threshold_reason(answers: ClassifierPredictions) -> str:
    if len(answers.classes) != 2:
        return "Only two classes are told apart by one threshold."
    return "The model gives no probabilities to compare with a threshold."


def _regression_report_facts(making: _ReportInputs) -> ReportFacts:
    """The facts of a regression."""
    do, rows, model = making.sections, making.rows, making.model
    do.say("Judging the model")
    quality = quality_facts(evaluate(model, rows.data, rows.y, label=rows.label))
    do.skip("Classes, thresholds and calibration", "The model predicts numbers, which have no classes.")
    numbers = do.collect("Errors", regression_facts, model, rows.data, rows.y, rows.label, making.most)
    return _assemble_facts(making, quality, numbers=numbers)


def _assemble_facts(making: _ReportInputs, quality: QualityFacts, **sections: Any) -> ReportFacts:
    """All facts: those of the kind of model with those that every model has."""
    do, ours, data = making.sections, making.fitted_model, making.rows.data
    sections["familiar"] = do.collect("Unfamiliar rows", unfamiliarity_facts, ours, data)
    sections["strongest"] = do.collect(
        "Strongest features", strongest_facts, ours, min(making.most, MAX_FEATURES)
    )
    learned = None if making.training is None else making.training.data
    sections["schema"] = do.collect("Columns", schema_facts, ours, data, learned)
    sections["learning"] = _learning_section(making, quality)
    files = _describe_files(making)
    model = model_facts(making.model, None if making.path is None else files[0].name, files[0].digest)
    grounds = AdviceInputs(
        model,
        quality,
        sections.get("thresholds") is not None,
        making.training is None
        and getattr(making.uncalibrated_model, "type_name", "") in ESTIMATOR_FACTORIES,
        "" if is_regression(making.model) else compare_command(files, making.label, making.asked),
        **{name: sections.get(name) for name in ADVICE_SECTIONS},
    )
    return ReportFacts(
        title=making.name,
        summary=summarise(grounds),
        model=model,
        quality=quality,
        reproduce=reproducibility_facts(files, making.asked),
        left_out=tuple(do.left_out),
        **sections,
    )


def _learning_section(making: _ReportInputs, quality: QualityFacts) -> LearningCurveFacts | None:
    if making.training is None:
        return None
    rows = making.training
    do = making.sections
    given = rows.data, rows.y, rows.label, do.say, quality.is_imbalanced
    return do.collect("Learning curve", learning_curve_facts, making.uncalibrated_model, *given)


def _describe_files(making: _ReportInputs) -> tuple[FileFact, ...]:
    making.sections.say("Taking digests of the files")
    given = [("model", making.path), ("data", making.rows.path)]
    given += [] if making.training is None else [("training", making.training.path)]
    return file_facts(given)


# What is wrong with the rows themselves is refused, never passed over.
INPUT_ERRORS = (errors.ColumnError, errors.LabelError, errors.FileError)
# Why a kind of model has no such section, in words for those who read the page.
OMISSION_REASONS = {
    "Calibration": "The model gives no probabilities that could be compared with what came true.",
    "Unfamiliar rows": "Only naive Bayes models know their training rows well enough to tell what is new.",
    "Strongest features": "The model does not weigh features one by one.",
    "Columns": "The model does not tell which columns it was trained on.",
    "Curves": "There is nothing to rank rows by, or all rows are of one class.",
}
TOO_FEW_ROWS_REASONS = {
    "Learning curve": "The rows given for training, or those of a class, are too few to be learned in parts.",
}

SectionFacts = TypeVar("SectionFacts")
ProgressCallback = Callable[[str], None]


@dataclass
class SectionCollector:
    """Tries sections one by one, says what it is doing, and notes those that do not apply."""

    say: ProgressCallback
    left_out: list[OmittedSection] = field(default_factory=list)

    def collect(
        self, title: str, work: Callable[..., SectionFacts | None], *given: Any
    ) -> SectionFacts | None:
        """Return a section's facts, or None where model or rows do not allow it, with the reason noted."""
        self.say(title)
        try:
            found = work(*given)
        except INPUT_ERRORS:
            raise
        except errors.WeighError as refusal:
            told = TOO_FEW_ROWS_REASONS if isinstance(refusal, errors.DataError) else OMISSION_REASONS
            self.skip(title, told.get(title, str(refusal)))
            return None
        if found is None:
            self.skip(title, OMISSION_REASONS[title])
        return found

    def skip(self, title: str, why: str) -> None:
        """Note a section that is left out."""
        self.left_out.append(OmittedSection(title, why))
