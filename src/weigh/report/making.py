"""Making a report: what is given is opened, facts are collected, sections that do not apply are named."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.judge import evaluate
from weigh.judge.measures.subject import is_regression
from weigh.model import load
from weigh.report.advice import Grounds
from weigh.report.answers import Answers, answered
from weigh.report.audit_facts import audit_facts
from weigh.report.calibration_facts import calibration_facts
from weigh.report.cause_facts import cause_facts
from weigh.report.curve_facts import curve_facts
from weigh.report.doubts import refuse_strangers
from weigh.report.facts import Facts
from weigh.report.familiar_facts import familiar_facts
from weigh.report.learning_facts import LEARNERS, LearningFacts, learning_facts
from weigh.report.mistake_facts import mistake_facts
from weigh.report.model_facts import model_facts
from weigh.report.number_facts import number_facts
from weigh.report.quality_facts import QualityFacts, is_strong, quality_facts
from weigh.report.report import Report, silent
from weigh.report.reproduce_facts import Asked, FileFact, compare_command, file_facts, reproduce_facts
from weigh.report.schema_facts import schema_facts
from weigh.report.sections import Sections
from weigh.report.strongest_facts import strongest_facts
from weigh.report.summary_facts import summary_facts
from weigh.report.threshold_facts import threshold_facts
from weigh.source import Source
from weigh.source import open as open_file
from weigh.text import cut

MOST = 10
BOUND = 50  # mistakes that a page can hold, each with its evidence
FEATURES = 15  # features of a class that a picture can hold
ADVISING = ("calibration", "causes", "familiar", "audit", "learning")


@dataclass(frozen=True, eq=False)
class Given:
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
    most: int = MOST,
    file: str | os.PathLike[str] | None = None,
    asked: Asked | None = None,
    say: Callable[[str], None] = silent,
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
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= BOUND:
        raise errors.parameter("report_on", "most", f"a whole number from 1 to {BOUND}", most)
    if isinstance(model, str | os.PathLike):
        model, file = load(model), model
    path = None if file is None else os.fspath(file)
    if isinstance(y, str):
        y, label = None, y
    rows = _given(model, data, y, label)
    training = None if train is None else _given(model, *_pair(train), label)
    sections = Sections(say)
    if asked is None:
        asked = Asked((), label, title, None if most == MOST else most)
    facts = _numbers if is_regression(model) else _classes
    return Report(facts(_Making(model, path, rows, training, title, most, asked, sections)), say)


@dataclass(frozen=True, eq=False)
class _Making:
    """All that a report is made from."""

    model: Any
    path: str | None
    rows: Given
    training: Given | None
    title: str | None
    most: int
    asked: Asked
    sections: Sections

    @property
    def ours(self) -> Any:
        """The model itself, where an estimator was given."""
        return getattr(self.model, "model_", self.model)

    @property
    def learned(self) -> Any:
        """The model as it was learned, before it was calibrated."""
        return getattr(self.ours, "uncalibrated", self.ours)

    @property
    def label(self) -> str | None:
        """The column that is predicted."""
        return getattr(self.ours, "label", None) or self.rows.label

    @property
    def name(self) -> str:
        """What the report is called."""
        told = f"How well {self.label} is predicted" if self.label else "A model judged"
        return cut(self.title or told, 120)


def _pair(train: Any) -> tuple[Any, Any]:
    """Rows and labels that were given apart, or rows that hold their labels."""
    if isinstance(train, tuple) and len(train) == 2:
        return train
    return train, None


def _given(model: Any, data: Any, y: Any, label: str | None) -> Given:
    """Open a file as the model's training file was read; other rows are taken as they are."""
    ours = getattr(model, "model_", model)
    if not isinstance(data, str | os.PathLike):
        path = getattr(data, "path", None) if isinstance(data, Source) else None
        return Given(data, y, label, None if path is None else os.fspath(path))
    schema = getattr(ours, "schema", None)
    missing = () if schema is None else schema.missing
    name = (label or getattr(ours, "label", None)) if y is None else None
    source = open_file(data, name, missing=("", *missing))
    return Given(source.stored(getattr(ours, "storage", {})), y, None, os.fspath(data))


def _classes(making: _Making) -> Facts:
    """The facts of a classifier."""
    do, rows, model = making.sections, making.rows, making.model
    do.say("Judging the model")
    found: Any = evaluate(model, rows.data, rows.y, label=rows.label)
    refuse_strangers(found)
    quality = quality_facts(found)
    do.say("Looking for its worst mistakes")
    answers = answered(model, rows.data, rows.y, rows.label, making.most)
    calibration = do.collect("Calibration", calibration_facts, found, model)
    if answers.second is None:
        do.skip("Decision threshold", _no_threshold(answers))
    doubted = making.training or rows
    labels = doubted.data, doubted.y, doubted.label, making.most, len(answers.true)
    mistakes = mistake_facts(model, answers)
    trusted = calibration is not None and calibration.verdict == "fine" and is_strong(quality)
    how = making.training is not None, quality.skill != "none", trusted
    own = rows.label or making.label if rows.y is None else rows.y
    return _together(
        making,
        quality,
        calibration=calibration,
        audit=do.collect("Labels to check", audit_facts, model, *labels, *how),
        mistakes=mistakes,
        causes=do.collect("Columns that mislead", cause_facts, making.learned, rows.data, own, mistakes),
        thresholds=threshold_facts(answers),
        curves=do.collect("Curves", curve_facts, found),
    )


def _no_threshold(answers: Answers) -> str:
    if len(answers.classes) != 2:
        return "Only two classes are told apart by one threshold."
    return "The model gives no probabilities to compare with a threshold."


def _numbers(making: _Making) -> Facts:
    """The facts of a regression."""
    do, rows, model = making.sections, making.rows, making.model
    do.say("Judging the model")
    quality = quality_facts(evaluate(model, rows.data, rows.y, label=rows.label))
    do.skip("Classes, thresholds and calibration", "The model predicts numbers, which have no classes.")
    numbers = do.collect("Errors", number_facts, model, rows.data, rows.y, rows.label, making.most)
    return _together(making, quality, numbers=numbers)


def _together(making: _Making, quality: QualityFacts, **sections: Any) -> Facts:
    """All facts: those of the kind of model with those that every model has."""
    do, ours, data = making.sections, making.ours, making.rows.data
    sections["familiar"] = do.collect("Unfamiliar rows", familiar_facts, ours, data)
    sections["strongest"] = do.collect(
        "Strongest features", strongest_facts, ours, min(making.most, FEATURES)
    )
    learned = None if making.training is None else making.training.data
    sections["schema"] = do.collect("Columns", schema_facts, ours, data, learned)
    sections["learning"] = _learning(making, quality)
    files = _files(making)
    model = model_facts(making.model, None if making.path is None else files[0].name, files[0].digest)
    grounds = Grounds(
        model,
        quality,
        sections.get("thresholds") is not None,
        making.training is None and getattr(making.learned, "type_name", "") in LEARNERS,
        "" if is_regression(making.model) else compare_command(files, making.label, making.asked),
        **{name: sections.get(name) for name in ADVISING},
    )
    return Facts(
        title=making.name,
        summary=summary_facts(grounds),
        model=model,
        quality=quality,
        reproduce=reproduce_facts(files, making.asked),
        left_out=tuple(do.left_out),
        **sections,
    )


def _learning(making: _Making, quality: QualityFacts) -> LearningFacts | None:
    if making.training is None:
        return None
    rows = making.training
    do = making.sections
    given = rows.data, rows.y, rows.label, do.say, quality.is_lopsided
    return do.collect("Learning curve", learning_facts, making.learned, *given)


def _files(making: _Making) -> tuple[FileFact, ...]:
    making.sections.say("Taking digests of the files")
    given = [("model", making.path), ("data", making.rows.path)]
    given += [] if making.training is None else [("training", making.training.path)]
    return file_facts(given)
