"""Everything weigh can refuse or warn of, and the sentences it says.

The tree::

    WeighError
    ├── DataError            rows, columns, labels, values         (also a ValueError)
    │   ├── ColumnError      a column is missing, unknown or unfit
    │   ├── LabelError       labels are missing or unfit
    │   └── Separated        weights without a prior would grow for ever
    ├── ParameterError       a parameter of a learner or a prior   (also a ValueError)
    ├── MergeError           models that cannot be added           (also a ValueError)
    ├── FileError
    │   ├── SourceError      a data file; carries path and line
    │   ├── ModelFileError   a model file
    │   └── JournalError     a journal: locked, damaged, foreign, refused by the system
    │       └── LostPlace    records that a reader has not read yet are folded; load the snapshot again
    ├── ImpossibleEvidence   every class has probability zero      (also an ArithmeticError)
    └── Unsupported          the maths does not allow it           (also a TypeError)

    WeighWarning
    ├── CutJournal           the end of a journal that was not whole, and is gone
    ├── DependentColumns     columns that repeat each other make naive Bayes over-sure
    ├── FlatColumns          numbers that are all equal within a class
    ├── LittleText           text too short to show how rare false alarms are
    ├── MissingNumbers       numbers that a regression takes for zero
    ├── NotOptimal           a solver that stopped before its proof
    ├── OddClasses           classes too rare for the folds of a trial, or numbers taken for classes
    ├── OddValues            a column of numbers but for a word that may mean "missing"
    ├── SeenRows             a model calibrated or judged on the very rows it was trained on
    ├── SkippedFiles         files of a folder that are no text, and were left out
    ├── StaleCalibration     learning on has made a calibration void
    ├── SwallowedLines       lines that look like rows within quoted fields
    ├── UnfilledTable        a joint table with more cells than rows
    ├── UnknownNoise         noise that too few rows cannot tell
    ├── UnlikeScales         a column so large that a perceptron hears little of the others
    └── UselessScores        scores that tell nothing of the labels they are calibrated by
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class WeighError(Exception):
    """Base of every error raised on purpose."""


class DataError(WeighError, ValueError):
    """The rows given cannot be used as they are."""


class ColumnError(DataError):
    """A column is missing, unknown, or does not fit its kind."""


class LabelError(DataError):
    """The labels are missing, incomplete or of a form that is not supported."""


class Separated(DataError):
    """A plane parts the classes, so that without a prior weights grow for ever.

    `features` are the numbers of those whose weights grow; None means all.
    """

    def __init__(self, message: str, features: list[int] | None = None) -> None:
        super().__init__(message)
        self.features = features


class ParameterError(WeighError, ValueError):
    """A parameter has a value that its owner cannot use."""


class MergeError(WeighError, ValueError):
    """Two models cannot be added or subtracted."""


class FileError(WeighError):
    """A file cannot be read or written."""


class SourceError(FileError):
    """A data file cannot be read; `path` and `line` say where."""

    def __init__(self, message: str, path: str | Path = "", line: int | None = None) -> None:
        super().__init__(message)
        self.path = str(path)
        self.line = line


class ModelFileError(FileError):
    """A model file is cut short, damaged, foreign or of a later version."""


class JournalError(FileError):
    """A journal is locked, damaged or foreign, or the system refuses to read or write it."""


class LostPlace(JournalError):
    """The records after a position are not in the journal but in a later snapshot, which has to be loaded."""


class ImpossibleEvidence(WeighError, ArithmeticError):
    """Every class has probability zero for a row."""


class Unsupported(WeighError, TypeError):
    """The question has no answer for this model."""


class WeighWarning(UserWarning):
    """Base of every warning given on purpose."""


class CutJournal(WeighWarning):
    """The end of a journal was not whole and was cut; what it held has to be given again."""


class DependentColumns(WeighWarning):
    """Columns repeat each other, so naive Bayes counts the same evidence twice."""


class FlatColumns(WeighWarning):
    """Numbers do not vary within a class, so that any other number there decides alone."""


class OddClasses(WeighWarning):
    """Classes are rarer than the folds of a trial, or are numbers that are likely to measure something."""


class OddValues(WeighWarning):
    """A column holds numbers but for a few words, and was therefore taken for a category."""


class SeenRows(WeighWarning):
    """A model is calibrated or judged on the very rows that it has learned, which flatters it."""


class StaleCalibration(WeighWarning):
    """A model learned or forgot rows, so that its calibration was dropped."""


class SwallowedLines(WeighWarning):
    """Quotes that may not be meant as such join lines that look like rows."""


class UselessScores(WeighWarning):
    """The scores of a model say nothing of the labels of the rows it is calibrated on."""


class UnknownNoise(WeighWarning):
    """The rows cannot tell how large the noise is that a prior is weighed against."""


class UnlikeScales(WeighWarning):
    """A column's numbers are so large that a perceptron hears little of the others."""


class LittleText(WeighWarning):
    """A text is too short to show that false alarms are as rare as was asked for."""


class SkippedFiles(WeighWarning):
    """Files of a folder are no text that can be read, and were left out."""


class MissingNumbers(WeighWarning):
    """Numbers are missing, and a regression takes them for zero."""


class NotOptimal(WeighWarning):
    """A solver stopped before it could prove that its weights are optimal."""


class UnfilledTable(WeighWarning):
    """A joint table has too few rows for its cells."""


def quote_names(names: Iterable[object], most: int = 8) -> str:
    """Quote names for a sentence, the first few of them."""
    quoted = [repr(name) for name in names]
    if len(quoted) > most:
        return ", ".join(quoted[:most]) + f" and {len(quoted) - most:,} more"
    return ", ".join(quoted) if quoted else "none"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the nearest known name, as the end of a sentence, or nothing."""
    import difflib

    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def parameter_error(owner: str, name: str, must: str, got: object) -> ParameterError:
    """Word a refusal of a parameter: which, of whom, must be, got."""
    return ParameterError(f"{owner}: {name} must be {must}, got {one_line_repr(got)}.")


def one_line_repr(value: object, most: int = 160) -> str:
    """Write a value on one line, however long it is."""
    text = " ".join(repr(value).split())
    return text if len(text) <= most else f"{text[:most]}…"


def unknown_column_error(name: str, known: Iterable[str], where: str) -> ColumnError:
    """Word the refusal of a column that does not exist."""
    known = list(known)
    return ColumnError(
        f"{where} has no column {one_line_repr(name)}; it has {quote_names(known)}.{did_you_mean(name, known)}"
    )


def multiple_labels_error(what: str) -> LabelError:
    """Word the refusal of more than one label per row."""
    return LabelError(
        f"The labels are {what}, several per row; a classifier learns one. Train one model per label: "
        f"{{name: weigh.NaiveBayes().fit(X, [name in each for each in labels]) for name in ...}}."
    )
