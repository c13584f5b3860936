"""The settings of every kind of column, which kinds, `--kind`, `--help` and the reference read."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable, Sequence
from typing import Any

from weigh import errors
from weigh.parameters import (
    SCALES,
    Constraint,
    Flag,
    OneOf,
    Parameter,
    ParameterTable,
    RealNumber,
    WholeNumber,
    check_finite,
    check_integer,
)

MAX_BUCKETS = 2**26
MAX_DEGREE = 100
DATE_PARTS = ("weekday", "month", "day", "hour", "days")


def _is_level(value: Any) -> bool:
    return isinstance(value, str | int | float) and value == value


class ReferenceLevel(Constraint):
    """One of the levels of a category, or None."""

    wording = "one of the levels, or None"

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the level."""
        if value is None or _is_level(value):
            return value
        raise self.error(owner, name, value)


class Levels(Constraint):
    """The levels of a category, or None."""

    wording = "at least one value, all distinct, strings or numbers"
    option_wording = "a|b|c"

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the levels as a tuple."""
        if value is None:
            return None
        levels = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
        if not levels or not all(map(_is_level, levels)) or len(set(levels)) < len(levels):
            raise self.error(owner, name, value)
        return levels


class Bins(Constraint):
    """The number of bins, their cuts, or None."""

    wording = "a whole number of at least 2, the cuts themselves, or None"
    option_wording = "a number such as 16, or cuts such as 0|10|20"

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the number, or the cuts as a tuple."""
        if value is None:
            return None
        if hasattr(value, "__index__") and not hasattr(value, "__len__"):
            if operator.index(value) < 2:
                raise errors.parameter_error(owner, name, "at least 2, or the cuts themselves", value)
            return operator.index(value)
        if not isinstance(value, Iterable):
            raise errors.parameter_error(owner, name, "a whole number, or the cuts themselves", value)
        must = "finite cuts in increasing order"
        cuts = tuple(check_finite(owner, name, cut, must) for cut in value)
        if not cuts or not all(a < b for a, b in itertools.pairwise(cuts)):
            raise errors.parameter_error(owner, name, must, value)
        return cuts


class CurveBins(Bins):
    """The number of cells of a curve, their cuts, or "auto"."""

    wording = "'auto', a whole number of at least 2, or the cuts themselves"
    option_wording = "auto, a number such as 16, or cuts such as 0|10|20"
    words = ("auto",)

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the number, the cuts as a tuple, or the word."""
        if value == "auto" and isinstance(value, str):
            return value
        if value is None or isinstance(value, str):
            raise self.error(owner, name, value)
        return super().check(owner, name, value)


class NgramRange(Constraint):
    """The smallest and the largest length of n-grams."""

    wording = "two numbers, 1 <= low <= high"
    option_wording = "a range such as 1-2"

    def check(self, owner: str, name: str, value: Any) -> tuple[int, int]:
        """Return the two lengths."""
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
            raise self.error(owner, name, value)
        low, high = (check_integer(owner, name, n, 1) for n in value)
        if low > high:
            raise self.error(owner, name, value)
        return low, high


class StopWords(Constraint):
    """Words to leave out, or the name of a list of them."""

    wording = "a list of words, or 'english'"
    option_wording = "english or a|b|c"
    words = ("english",)

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the words, sorted and distinct."""
        if isinstance(value, str) and value in self.words:
            return value
        words = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (None,)
        if not all(isinstance(word, str) for word in words):
            raise self.error(owner, name, value)
        return tuple(sorted(set(words)))


class Buckets(Constraint):
    """A power of two, or None."""

    wording = "a power of two from 2 to 2**26, such as 2**20"
    option_wording = "a power of two, such as 2^20"

    def check(self, owner: str, name: str, value: Any) -> int | None:
        """Return the number."""
        if value is None:
            return None
        number = check_integer(owner, name, value, 2)
        if number & (number - 1) or number > MAX_BUCKETS:
            raise self.error(owner, name, value)
        return number


class DateParts(Constraint):
    """Parts of a date, or None."""

    wording = f"some of {errors.quote_names(DATE_PARTS)}, or None"
    option_wording = "weekday|hour or other parts: month, day, days"

    def check(self, owner: str, name: str, value: Any) -> tuple[str, ...] | None:
        """Return the parts in their usual order."""
        if value is None:
            return None
        parts = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
        if not parts or not all(isinstance(part, str) and part in DATE_PARTS for part in parts):
            raise self.error(owner, name, value)
        return tuple(part for part in DATE_PARTS if part in parts)


class TimeZone(Constraint):
    """A time zone, or None."""

    wording = "the name of a time zone such as 'Europe/Berlin', an offset such as '+02:00', or None"
    option_wording = "a time zone such as Europe/Berlin, or an offset such as +02:00"

    def check(self, owner: str, name: str, value: Any) -> str | None:
        """Return the name or the offset."""
        if value is None or (isinstance(value, str) and re.fullmatch(r"[+-]([01]\d|2[0-3]):[0-5]\d", value)):
            return value
        # Imported here because few models have a time zone.
        import zoneinfo

        try:
            return zoneinfo.ZoneInfo(value).key
        except (OSError, TypeError, ValueError, zoneinfo.ZoneInfoNotFoundError):
            raise self.error(owner, name, value) from None


_WORD_SETTINGS = (
    Parameter("counts", "count how often words occur, not only whether", Flag(), True),
    Parameter(
        "min_count",
        "leave out words that occur less often",
        WholeNumber(1),
        1,
        "They stay in the counts, but not in the finished model.",
    ),
    Parameter("max_words", "keep only so many words, the most frequent", WholeNumber(1, (None,)), None),
    Parameter(
        "buckets",
        "hash the words into so many buckets, for constant memory",
        Buckets(),
        None,
        "Words in the same bucket share its counts. Not with `min_count` or `max_words`.",
    ),
    Parameter(
        "weighting",
        "value of a word in a text: its count, 1 + ln(count), or either times the idf",
        OneOf(("counts", "log", "tfidf", "log-tfidf")),
        "counts",
        "The idf of a word that d of n training texts contain is 1 + ln((1 + n) / (1 + d)).",
    ),
    Parameter(
        "norm",
        "divide the values of a text by their sum, or by the root of the sum of squares",
        OneOf((None, "l1", "l2")),
        None,
        "With a norm or a weighting, `min_count` and `max_words` count texts, not occurrences.",
    ),
)

CATEGORY = ParameterTable(
    "category",
    "Category",
    (
        Parameter("levels", "possible values; by default those in the rows", Levels(), None),
        Parameter("against", "reference level, without a weight in linear models", ReferenceLevel(), None),
    ),
)
SHAPES = OneOf((None, "auto", "normal", "log-normal", "zero-inflated", "histogram"))
NUMBER = ParameterTable(
    "number",
    "Number",
    (
        Parameter(
            "spread",
            "standard deviation of each class, of all together, or this number",
            RealNumber(above=0, words=(None, "own", "shared")),
            None,
        ),
        Parameter(
            "floor",
            "smallest standard deviation of a class, as a fraction of the whole column's",
            RealNumber(minimum=0),
            0.01,
        ),
        Parameter(
            "bins",
            "histogram instead of a normal density",
            Bins(),
            None,
            "A number of bins is cut at quantiles of the first rows, so that they are equally filled.",
        ),
        Parameter(
            "scale",
            "standardise the number for linear models; auto: unless its values are 0 and 1",
            SCALES,
            None,
            "None leaves it to the learner.",
        ),
        Parameter(
            "shape",
            "distribution within a class, for naive Bayes",
            SHAPES,
            None,
            'By default "auto" for tables with column names and "normal" for bare arrays.',
        ),
    ),
)
DATE = ParameterTable(
    "date",
    "Date",
    (
        Parameter(
            "order",
            "order of day, month and year in dates such as 01/02/2024",
            OneOf((None, "ymd", "dmy", "mdy")),
            None,
            "By default it follows from the first rows. Dates with the year first or the name of the month "
            "are read in any case.",
        ),
        Parameter(
            "zone",
            "time zone of the parts",
            TimeZone(),
            None,
            "Times with an offset are converted to it. By default it is the offset of the times in the first "
            "rows if all have the same, and otherwise times are used as written.",
        ),
        Parameter(
            "parts",
            "parts to learn from",
            DateParts(),
            None,
            "By default those that vary in the first rows and do not repeat each other.",
        ),
        Parameter("bins", "histogram of the days, as of a number", Bins(), None),
        Parameter(
            "curve", "let the effect of the days be a curve, in logistic and linear regression", Flag(), False
        ),
    ),
)
CURVE = ParameterTable(
    "curve",
    "Curve",
    (
        Parameter(
            "bins",
            "number of cells, or their cuts",
            CurveBins(),
            "auto",
            "Cells are cut at quantiles; frequent values get cells of their own. By default there are up to "
            "128, fewer for few rows and for many columns.",
        ),
        Parameter(
            "smooth",
            "precision of the differences between neighbouring cells, beside a straight line",
            RealNumber(minimum=1e-6, maximum=1e9, words=("auto",)),
            "auto",
            '"auto" chooses it by marginal likelihood. The larger it is, the straighter is the curve.',
        ),
        Parameter("monotone", "let the curve only rise or only fall", OneOf((None, "up", "down")), None),
    ),
)
PRODUCTS = ParameterTable(
    "products",
    "Products",
    (
        Parameter(
            "degree", "largest number of factors; not for naive Bayes", WholeNumber(1, maximum=MAX_DEGREE), 2
        ),
        Parameter("powers", "also powers of one column, such as x²", Flag(), True),
    ),
)
TEXT = ParameterTable(
    "text",
    "Text",
    (
        *_WORD_SETTINGS,
        Parameter("ngrams", "lengths of the word sequences to count", NgramRange(), (1, 1)),
        Parameter(
            "chars",
            "use characters instead of words, or characters within words",
            Flag(("words",)),
            False,
            "`ngrams` is then the range of lengths, for example (3, 5).",
        ),
        Parameter("min_length", "leave out shorter words", WholeNumber(1), 2),
        Parameter("lowercase", "ignore capitals", Flag(), True),
        Parameter("strip_accents", "turn é into e", Flag(), False),
        Parameter("stop_words", "words to leave out, before n-grams are formed", StopWords(), ()),
    ),
)
TOKENS = ParameterTable("tokens", "Tokens", _WORD_SETTINGS)

KINDS = {table.name: table for table in (CATEGORY, NUMBER, CURVE, DATE, PRODUCTS, TEXT, TOKENS)}
