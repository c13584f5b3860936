"""Parameters as tables: name, meaning, allowed values and default of each; constraints check the values.

The module imports no other library, because `--help` reads it.
"""

from __future__ import annotations

import math
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from weigh import errors
from weigh.advice import Setting, Step

Word = str | None


def check_integer(owner: str, name: str, value: Any, minimum: int) -> int:
    """Return the value as an integer of at least `minimum`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise errors.parameter_error(owner, name, f"a whole number of at least {minimum}", value) from None
    if number < minimum:
        raise errors.parameter_error(owner, name, f"at least {minimum}", value)
    return number


def check_finite(owner: str, name: str, value: Any, must: str) -> float:
    """Return the value as a finite float; `must` describes what is expected."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise errors.parameter_error(owner, name, must, value) from None
    if not math.isfinite(number):
        raise errors.parameter_error(owner, name, must, value)
    return number


def check_level(owner: str, level: float) -> float:
    """Return a confidence level; raises if it is not between 0 and 1."""
    must = "a number between 0 and 1"
    checked = check_finite(owner, "level", level, must)
    if not 0 < checked < 1:
        raise errors.parameter_error(owner, "level", must, level)
    return checked


def join_choices(choices: Iterable[str]) -> str:
    """Return the choices as 'a, b or c'."""
    *others, last = choices
    return f"{', '.join(others)} or {last}" if others else last


class Constraint(ABC):
    """The allowed values of a parameter; `words` are the words among them.

    `by_column` if a mapping may give a value for each column.
    """

    by_column: ClassVar[bool] = False
    words: tuple[Word, ...] = ()

    @property
    @abstractmethod
    def wording(self) -> str:
        """The allowed values, as they follow 'must be'."""

    @property
    def option_wording(self) -> str:
        """The allowed values as they are written on the command line."""
        text = re.sub(r"\b(None|True|False)\b", lambda found: found[1].lower(), self.wording)
        return text.replace("'", "")

    @abstractmethod
    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the value in the form that learners use; raise ParameterError if it is not allowed."""

    def error(self, owner: str, name: str, value: object) -> errors.ParameterError:
        """Return the error for a value of the parameter `name` of `owner`."""
        must = Step("allowed values", self.wording)
        return errors.parameter_error(owner, name, must, value, self.words)


@dataclass(frozen=True)
class Stated(Constraint):
    """A value that is checked where the rows are known; only its description is declared here."""

    description: str

    @property
    def wording(self) -> str:
        """The description."""
        return self.description

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the value."""
        return value


@dataclass(frozen=True)
class Flag(Constraint):
    """True, False or one of `words`."""

    words: tuple[str, ...] = ()

    @property
    def wording(self) -> str:
        """True, False and the words."""
        return join_choices(map(repr, (True, False, *self.words)))

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the value as a bool, or the word."""
        if isinstance(value, str) and value in self.words:
            return value
        if value is True or value is False or type(value).__name__ in ("bool", "bool_"):
            return bool(value)
        raise self.error(owner, name, value)


@dataclass(frozen=True)
class OneOf(Constraint):
    """One of several words; None may be among them."""

    words: tuple[Word, ...]

    @property
    def wording(self) -> str:
        """The words."""
        return join_choices(map(repr, self.words))

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the word."""
        if isinstance(value, str | None) and value in self.words:
            return value
        raise self.error(owner, name, value)


@dataclass(frozen=True)
class WholeNumber(Constraint):
    """A whole number of at least `minimum` and at most `maximum`, or one of `words`."""

    minimum: int
    words: tuple[Word, ...] = ()
    maximum: int | None = None

    @property
    def wording(self) -> str:
        """The limits, and the words."""
        low, high = self.minimum, self.maximum
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        return ", or ".join([f"a whole number {limits}", *map(repr, self.words)])

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the value as an integer, or the word."""
        if isinstance(value, str | None) and value in self.words:
            return value
        if isinstance(value, str) and self.words:
            raise self.error(owner, name, value)
        number = check_integer(owner, name, value, self.minimum)
        if self.maximum is not None and number > self.maximum:
            raise errors.parameter_error(owner, name, f"at most {self.maximum}", value)
        return number


@dataclass(frozen=True)
class RealNumber(Constraint):
    """A finite number above `above` or of at least `minimum`, up to `maximum` or below `below`, or a word."""

    above: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    below: float | None = None
    words: tuple[Word, ...] = ()

    @property
    def wording(self) -> str:
        """The words and the limits."""
        if self.above is not None and self.below is not None:
            limits = f"a number between {self.above:g} and {self.below:g}"
        else:
            limits = f"a number of at least {self.minimum:g}" if self.above is None else ""
            limits = limits or f"a number above {self.above:g}"
            limits += "" if self.maximum is None else f", at most {self.maximum:g}"
        return join_choices([*map(repr, self.words), limits])

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the value as a float, or the word."""
        if (value is None or isinstance(value, str)) and value in self.words:
            return value
        try:
            number = math.nan if isinstance(value, str) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        is_allowed = (
            math.isfinite(number)
            and (self.above is None or number > self.above)
            and (self.minimum is None or number >= self.minimum)
            and (self.maximum is None or number <= self.maximum)
            and (self.below is None or number < self.below)
        )
        if not is_allowed:
            raise self.error(owner, name, value)
        return number


class PairsOfColumns(Constraint):
    """Pairs of columns: "auto", their number, or their names; None means none."""

    wording = "'auto', a number of pairs, a list of pairs of column names, or None"
    option_wording = "auto, a number such as 5, or a*b for the columns a and b, several as a*b|c*d"
    words = ("auto", None)

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the word, the number, or the pairs as a tuple of tuples."""
        if value is None or (isinstance(value, str) and value == "auto"):
            return value
        if hasattr(value, "__index__") and not isinstance(value, bool):
            return check_integer(owner, name, value, 0)
        if isinstance(value, str):
            value = [part.split("*") for part in value.split("|")]
        if not isinstance(value, Iterable):
            raise self.error(owner, name, value)
        pairs = [
            tuple(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else () for pair in value
        ]
        are_pairs = all(len(pair) == 2 and all(isinstance(x, str) for x in pair) for pair in pairs)
        if not are_pairs or any(a == b for a, b in pairs) or len({frozenset(p) for p in pairs}) < len(pairs):
            raise errors.parameter_error(owner, name, "pairs of two different column names, each once", value)
        return tuple(pairs)


SCALES = OneOf(("auto", "unit", None))


class ColumnName(Constraint):
    """The name of a column, or None."""

    wording = "the name of a column, or None"

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the name."""
        if isinstance(value, str | None):
            return value
        raise self.error(owner, name, value)


class Markers(Constraint):
    """Values that mean 'missing'."""

    wording = "strings or numbers"

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the markers as a tuple."""
        from weigh.source.missing import to_markers

        return to_markers(value, owner)


class ClassWeights(Constraint):
    """None, "balanced" or the weight of each class."""

    wording = f"None, 'balanced' or a mapping from class to a number: {errors.WEIGHT_RANGE}"
    option_wording = 'none, balanced or JSON {"class": weight, ...}'
    words = ("balanced",)

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the value."""
        if value is None or (isinstance(value, str) and value in self.words):
            return value
        if not isinstance(value, Mapping):
            raise self.error(owner, name, value)
        for label, weight in value.items():
            number = check_finite(owner, name, weight, self.wording)
            if isinstance(weight, str) or (number and not errors.MIN_WEIGHT <= number <= errors.MAX_WEIGHT):
                raise self.error(owner, name, {label: weight})
        return value


class CountPrior(Constraint):
    """A prior of probabilities that are estimated from counts, for all columns or by column."""

    wording = "a number above zero, None, Beta(a, b) or Dirichlet(b)"
    option_wording = "a number, none, dirichlet:B or beta:A,B"
    by_column = True

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the prior, or the mapping from columns to priors."""
        if isinstance(value, Mapping):
            return {
                column: self.check_one(owner, f"{name}[{column!r}]", prior) for column, prior in value.items()
            }
        return self.check_one(owner, name, value)

    def check_one(self, owner: str, name: str, value: Any) -> Any:
        """Return the prior."""
        from weigh.priors.beta import Beta
        from weigh.priors.dirichlet import Dirichlet
        from weigh.priors.exact import positive_fraction

        if value is None or isinstance(value, Beta | Dirichlet) or positive_fraction(value) is not None:
            return value
        raise self.error(owner, name, value)


class CellPrior(CountPrior):
    """A prior that is the same for all cells of a joint table."""

    wording = "a number above zero, None, or Dirichlet(b) with one b for every cell"
    option_wording = "a number, none or dirichlet:B"
    by_column = False

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the prior."""
        prior = self.check_one(owner, name, value)
        # A Beta, and a Dirichlet that names values, treat them differently.
        if hasattr(prior, "parameters_for") and getattr(prior, "values", True):
            raise self.error(owner, name, value)
        return prior


class ClassPriors(CountPrior):
    """The prior of the classes: smoothed frequencies, or stated probabilities."""

    wording = "None, a number above zero, a Dirichlet, a mapping from class to probability, or 'uniform'"
    option_wording = 'none, a number, dirichlet:B, uniform or JSON {"class": probability, ...}'
    words = ("uniform",)
    by_column = False

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the value; probabilities are compared with the classes once these are known."""
        if isinstance(value, Mapping) or (isinstance(value, str) and value in self.words):
            return value
        return self.check_one(owner, name, value)


class WeightPriors(Constraint):
    """A prior of weights, for all columns or by column."""

    wording = "a number above zero, None, Normal(s), Laplace(t) or Penalty(l1=a, l2=b)"
    option_wording = "a number, none, normal:S, laplace:T (S, T may be cv) or penalty:l1=A,l2=B[,scale=cv]"
    by_column = True

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the prior, or the mapping from columns to priors; a number s becomes Normal(s)."""
        if not isinstance(value, Mapping):
            return self.check_one(owner, name, value)
        priors = {str(column): self.check_one(owner, name, prior) for column, prior in value.items()}
        if any(prior is not None and prior.is_scale_automatic for prior in priors.values()):
            scales = Setting("scale", "cv"), " and ", Setting("scale", "evidence")
            raise errors.ParameterError(
                (f"{owner}: ", *scales, " choose one scale for all columns."),
                hint="Give one prior for all columns, or a number for every column.",
            )
        return priors

    def check_one(self, owner: str, name: str, value: Any) -> Any:
        """Return the prior; a number s becomes Normal(s)."""
        from weigh.priors.exact import positive_fraction
        from weigh.priors.location_scale import Laplace, Normal
        from weigh.priors.penalty import Penalty

        if value is None or isinstance(value, Normal | Laplace | Penalty):
            return value
        number = positive_fraction(value)
        if number is None:
            raise self.error(owner, name, value)
        return Normal(float(number))


class AutomaticWeightPriors(WeightPriors):
    """A prior of weights, or "auto" for Normal(1) with a scale that the learner may choose."""

    wording = f"'auto', {WeightPriors.wording}"
    option_wording = f"auto, {WeightPriors.option_wording}"
    words = ("auto",)

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the prior, or the mapping from columns to priors; "auto" becomes Normal(1)."""
        is_automatic = isinstance(value, str) and value in self.words
        return super().check(owner, name, 1.0 if is_automatic else value)


class Noise(Constraint):
    """The distribution of the noise, with its scale or without."""

    wording = "'normal', 'laplace', Normal(σ) or Laplace(b)"
    option_wording = "normal, laplace, normal:SIGMA or laplace:B"
    words = ("normal", "laplace")

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the distribution, centred at zero."""
        from weigh.priors.location_scale import Laplace, Normal

        if isinstance(value, str) and value in self.words:
            return value
        if isinstance(value, Normal | Laplace) and not value.is_scale_automatic and value.is_centred:
            return value
        raise self.error(owner, name, value)


@dataclass(frozen=True)
class Parameter:
    """One parameter; `meaning` is a phrase for every interface, `details` are sentences for Python.

    `option` is the option of the command line that sets it. A parameter of one `method` only has no effect
    with another. If it `is_optional`, None means the default, which depends on the method.
    """

    name: str
    meaning: str
    allowed: Constraint
    default: Any
    details: str = ""
    option: str | None = "--set"
    method: str | None = None
    is_optional: bool = False


@dataclass(frozen=True)
class ParameterTable:
    """The parameters of a learner or of a kind of column, in the order of the reference.

    `name` is its name on the command line, `owner` that of its class.
    """

    name: str
    owner: str
    parameters: tuple[Parameter, ...]

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    @cached_property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return list(dict.fromkeys(parameter.name for parameter in self.parameters))

    @cached_property
    def settings(self) -> dict[str, Parameter]:
        """The parameters that --set sets, by name."""
        return {each.name: each for each in self.parameters if each.option == "--set"}

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The defaults by name."""
        return {each.name: each.default for each in self.parameters}

    def for_method(self, method: str) -> ParameterTable:
        """Return the table without the parameters of other methods."""
        kept = tuple(each for each in self.parameters if each.method in (None, method))
        return replace(self, parameters=kept)

    def check(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters in the form that learners use, with the defaults of those not given.

        Raises ParameterError for the first value that is not allowed, and for unknown names.
        """
        for name in values:
            if name not in self.names:
                near = errors.did_you_mean(name, self.names)
                raise errors.ParameterError(
                    f"{self.owner} has no parameter {name!r}; it has {', '.join(self.names)}.{near}"
                )
        return {each.name: self._check_one(each, values) for each in self.parameters}

    def _check_one(self, parameter: Parameter, values: Mapping[str, Any]) -> Any:
        value = values.get(parameter.name, parameter.default)
        if value is None and parameter.is_optional:
            value = parameter.default
        return parameter.allowed.check(self.owner, parameter.name, value)

    def check_value(self, name: str, value: Any) -> Any:
        """Return the value of one parameter in the form that learners use, or raise ParameterError."""
        return self._check_one(next(each for each in self.parameters if each.name == name), {name: value})
