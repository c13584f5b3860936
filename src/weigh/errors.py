"""The errors and warnings of weigh, and helpers that word common messages.

Their messages carry advice as data, see `weigh.advice`.

::

    WeighError
    ├── DataError            rows, columns, labels, values         (also a ValueError)
    │   ├── ColumnError      a column is missing, unknown or unsuitable
    │   ├── LabelError       labels are missing or unsuitable
    │   └── Separated        separable classes without a prior: the weights diverge
    ├── ParameterError       a parameter of a learner or a prior   (also a ValueError)
    ├── MergeError           models that cannot be merged          (also a ValueError)
    ├── FileError
    │   ├── SourceError      a data file; carries path and line
    │   ├── ModelFileError   a model file
    │   └── JournalError     a journal is locked, damaged, not a journal, or unreadable
    │       ├── DamagedJournal  bytes of a journal differ from what was written
    │       └── LostPlace    unread records were compacted away; reload the snapshot
    ├── ImpossibleEvidence   every class has probability zero      (also an ArithmeticError)
    └── Unsupported          not defined for this model            (also a TypeError)

    WeighWarning
    ├── AssumedEncoding      a file is not UTF-8, and its encoding was assumed
    ├── CutJournal           an incomplete group at the end of a journal was removed
    ├── DependentColumns     redundant columns make naive Bayes overconfident
    ├── ExactFit             a regression without a prior has as many features as rows
    ├── ExtraColumns         columns that a model was not trained on are ignored
    ├── FlatColumns          a number column is constant within a class
    ├── FrozenScales         later batches are standardised as the first one
    ├── LeakingColumns       whether a column has a value nearly tells the class
    ├── LittleText           too little text to bound the rate of false alarms
    ├── MissingNumbers       a regression treats missing numbers as means or zero
    ├── NotOptimal           a solver stopped before it reached its tolerance
    ├── OddClasses           classes too rare for the folds, or labels that look like measurements
    ├── OddCells             cells of a number column are not numbers and count as missing
    ├── OddSheet             a spreadsheet has several sheets, or columns without a name
    ├── OddValues            the inferred kind of a column may be wrong
    ├── Outliers             numbers far beyond all others of their column
    ├── SeenRows             a model is calibrated or evaluated on its training rows
    ├── SkippedColumns       columns identify the rows and were skipped
    ├── SkippedFiles         files of a folder are not text and were skipped
    ├── StaleCalibration     further training has invalidated a calibration
    ├── SwallowedLines       quoted fields contain lines that look like rows
    ├── TotalsRow            the last row of a file looks like the totals of the others
    ├── UnfilledTable        a joint table has more cells than rows
    ├── UnfoldedJournal      a journal that is too long could not be folded into its snapshot
    ├── UnlabelledRows       rows without a label were left out
    ├── UnknownNoise         too few rows to estimate the noise
    ├── UnitsRow             the row below the header of a file holds units and was left out
    ├── UnlikeScales         the scales of columns differ, and nothing is standardised
    ├── UnusedParameter      a parameter has no effect beside another one
    └── UselessScores        the scores to calibrate are unrelated to the labels
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sized
from itertools import islice

from weigh.advice import Advised, Setting, Step, Text, join, safe_repr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _Item = TypeVar("_Item")


class WeighError(Advised):
    """Base class of the errors that weigh raises."""


class DataError(WeighError, ValueError):
    """The data cannot be used in this form."""


class ColumnError(DataError):
    """A column is missing, unknown, or does not fit its kind."""


class LabelError(DataError):
    """The labels are missing, incomplete or in an unsupported form."""


class Separated(DataError):
    """The classes are linearly separable, so the weights diverge without a prior.

    `features` are the indices of the features whose weights diverge; None means all.
    """

    def __init__(self, message: Text, features: list[int] | None = None, **advice: Any) -> None:
        super().__init__(message, **advice)
        self.features = features


class ParameterError(WeighError, ValueError):
    """A parameter has an invalid value."""


class MergeError(WeighError, ValueError):
    """Two models cannot be merged or subtracted."""


class FileError(WeighError):
    """A file cannot be read or written."""


class SourceError(FileError):
    """A data file cannot be read; `path` and `line` say where."""

    def __init__(
        self, message: Text, path: str | os.PathLike[str] = "", line: int | None = None, **advice: Any
    ) -> None:
        super().__init__(message, **advice)
        self.path = str(path)
        self.line = line

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, with the place in the file."""
        place = {"path": self.path, "line": self.line}
        return super().to_dict() | {name: field for name, field in place.items() if field}


class ModelFileError(FileError):
    """A model file is truncated, damaged, not a model file or of a later version."""


class JournalError(FileError):
    """A journal is locked, damaged or not a journal, or the system cannot read or write it."""


class DamagedJournal(JournalError):
    """The bytes of a journal differ from what was written."""


class LostPlace(JournalError):
    """The records after a position were compacted into a later snapshot, which must be loaded."""


class ImpossibleEvidence(WeighError, ArithmeticError):
    """Every class has probability zero for a row."""


class Unsupported(WeighError, TypeError):
    """The operation is not defined for this model."""


class WeighWarning(Advised, UserWarning):
    """Base class of the warnings that weigh issues."""


class AssumedEncoding(WeighWarning):
    """A text file is not UTF-8 and does not tell its encoding, which was therefore assumed."""


class CutJournal(WeighWarning):
    """An incomplete group at the end of a journal was removed; its records must be appended again."""


class DependentColumns(WeighWarning):
    """Columns are redundant, so naive Bayes counts the same evidence twice."""


class ExactFit(WeighWarning):
    """A regression without a prior has as many features as rows, so it fits them exactly."""


class ExtraColumns(WeighWarning):
    """The rows have columns that the model was not trained on, which are ignored."""


class FlatColumns(WeighWarning):
    """A number column is constant within a class, so any other value decides the class alone."""


class OddClasses(WeighWarning):
    """Classes are rarer than the number of folds, or the labels are numbers that look like measurements."""


class OddCells(WeighWarning):
    """A few cells of a number column are not numbers and count as missing."""


class OddSheet(WeighWarning):
    """A spreadsheet has several sheets with cells, or columns without a name."""


class OddValues(WeighWarning):
    """The inferred kind of a column may be wrong.

    The column has numbers with a few words, or is a category that looks like text.
    """


class Outliers(WeighWarning):
    """Numbers far beyond all others of their column may be errors, or mean missing."""


class SeenRows(WeighWarning):
    """A model is calibrated or evaluated on its training rows, which gives optimistic results."""


class StaleCalibration(WeighWarning):
    """A model learned or forgot rows, so its calibration was dropped."""


class SwallowedLines(WeighWarning):
    """Stray quotes may have joined lines that look like rows into one field."""


class UnusedParameter(WeighWarning):
    """A parameter has no effect beside another one."""


class UselessScores(WeighWarning):
    """A model's scores are unrelated to the labels of the calibration rows."""


class UnlabelledRows(WeighWarning):
    """Rows without a label were left out."""


class UnknownNoise(WeighWarning):
    """There are too few rows to estimate the noise that scales a prior."""


class UnlikeScales(WeighWarning):
    """The scales of the columns are so different that standardising them would change the model."""


class FrozenScales(WeighWarning):
    """Later batches are standardised with the means and standard deviations of the first one."""


class LeakingColumns(WeighWarning):
    """Whether a column has a value nearly tells the class; it may come from the outcome."""


class LittleText(WeighWarning):
    """A text is too short to show that false alarms are as rare as requested."""


class SkippedColumns(WeighWarning):
    """Columns identify the rows, so nothing can be learned from them and they were skipped."""


class SkippedFiles(WeighWarning):
    """Files of a folder are not readable text and were skipped."""


class MissingNumbers(WeighWarning):
    """Numbers are missing, and a regression treats them as the mean of their column or as zero."""


class NotOptimal(WeighWarning):
    """A solver stopped before its optimality certificate reached the tolerance."""


class UnfoldedJournal(WeighWarning):
    """A journal is longer than it should be, because it could not be folded into its snapshot."""


class TotalsRow(WeighWarning):
    """The last row of a file looks like the totals of the other rows."""


class UnitsRow(WeighWarning):
    """The row below the header of a file holds the units of the columns and was left out."""


class UnfilledTable(WeighWarning):
    """A joint table has more cells than there are rows."""


DROP_MISSING_LABELS = Step(
    "drop missing labels",
    "Leave such rows out; of a file, weigh.open(..., drop_missing_labels=True) does that.",
)


def quote_names(names: Iterable[object], max_names: int = 8) -> str:
    """List the first few names, quoted, for a message."""
    # A sparse matrix may have millions of columns, whose names are not stored.
    names = names if isinstance(names, Sized) else list(names)
    quoted = ", ".join(safe_repr(name) for name in islice(names, max_names))
    more = f" and {len(names) - max_names:,} more" if len(names) > max_names else ""
    return quoted + more if quoted else "none"


def closest(name: object, choices: Iterable[object]) -> str:
    """Return the choice that a name may have meant, or an empty string.

    Differences of case, surrounding blanks and Unicode form come first, then the closest spelling.
    """
    import difflib
    from unicodedata import normalize

    def simplify(text: str) -> str:
        return normalize("NFKC", text).strip().casefold()

    if not isinstance(name, str):
        return ""
    texts = {simplify(choice): choice for choice in choices if isinstance(choice, str)}
    matches = difflib.get_close_matches(simplify(name), texts, n=1)
    return texts[matches[0]] if matches else ""


def did_you_mean(name: object, choices: Iterable[object]) -> str:
    """Return a suggestion of the closest choice to append to a message, or an empty string."""
    match = closest(name, choices)
    return f" Did you mean {match!r}?" if match else ""


def find_named(
    items: Mapping[str, _Item], name: object, problem: str, kind: type[WeighError] = ParameterError
) -> _Item:
    """Return the item with this name, or raise an error of this kind.

    Its message is the problem, such as "There is no curve of 'x'; there are", and the names that exist.
    """
    if isinstance(name, str) and name in items:
        return items[name]
    raise kind(f"{problem} {quote_names(items)}.", suggestion=closest(name, items))


def parameter_error(
    owner: str, name: str, must: Text, got: object, choices: Iterable[object] = ()
) -> ParameterError:
    """Return the error for an invalid parameter: its owner, its name, what it must be and what it is.

    One of the `choices` is suggested if its spelling is close.
    """
    return ParameterError(
        join(Setting(name, owner=owner), " must be ", must, f", got {one_line_repr(got)}."),
        parameter=name,
        value=got if isinstance(got, str | int | float) else one_line_repr(got),
        suggestion=closest(got, choices),
    )


def first_line(error: BaseException) -> str:
    """Return the first line of another library's message, without its full stop; its type if it is empty."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


_BLANKS = dict.fromkeys((0xA0, 0x2009, 0x202F), " ")


def one_line_repr(value: object, max_length: int = 160) -> str:
    """Return the repr of a value on one line, truncated when long."""
    # Escapes of the blanks within numbers, as in '1\\xa0234', hide what the user sees.
    shown = value.translate(_BLANKS) if isinstance(value, str) else value
    text = " ".join(safe_repr(shown).split())
    return text if len(text) <= max_length else f"{text[:max_length]}…"


MAX_SUGGESTIONS = 10_000  # names compared with an unknown one


def unknown_column_error(name: str, columns: Iterable[str], where: str, parameter: str = "") -> ColumnError:
    """Return the error for a column that does not exist; `parameter` is the one that names it."""
    columns = columns if isinstance(columns, Sized) else list(columns)
    return ColumnError(
        f"{where} has no column {one_line_repr(name)}; it has {quote_names(columns)}.",
        parameter=parameter,
        value=name,
        suggestion=closest(name, islice(columns, MAX_SUGGESTIONS)),
    )


MIN_WEIGHT, MAX_WEIGHT = 1e-50, 1e50  # of a row or class, so that sums of weights times squares stay finite
WEIGHT_RANGE = f"0, or from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}"


def weight_range_error(subject: str, weight: float) -> DataError:
    """Return the error for a weight that is too large or too small; `subject` says whose weight it is."""
    advice = "Divide them by their mean." if weight > MAX_WEIGHT else "Give weight 0 to what must not count."
    return DataError(f"{subject} is {weight:.6g}; weights must be {WEIGHT_RANGE}. {advice}")


def zero_weights_error() -> DataError:
    """Return the error for rows that all have weight zero."""
    return DataError("All weights are zero, so no row counts. Give one row at least a weight above zero.")


def multiple_labels_error(what: str) -> LabelError:
    """Return the error for more than one label per row."""
    return LabelError(
        f"The labels are {what}, several per row; a classifier learns one.",
        hint=(
            "Train one model per label",
            Step(
                "one model per label",
                ": {name: weigh.NaiveBayes().fit(X, [name in each for each in labels]) for name in ...}.",
            ),
        ),
    )
