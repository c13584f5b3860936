"""The Dirichlet distribution, the prior of the probabilities of several values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh import errors
from weigh.priors import exact
from weigh.priors.beta import Beta
from weigh.priors.display import PriorDisplay, plot_intervals
from weigh.priors.exact import Number
from weigh.text import truncate

Parameters = Number | Sequence[Number] | NDArray[np.generic] | Mapping[Hashable, Number]
Counts = Sequence[Number] | NDArray[np.generic] | Mapping[Hashable, Number]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Dirichlet(PriorDisplay):
    """The distribution of the probabilities of k values, with density proportional to Π p_k^(b_k - 1).

    `b` is one positive number for all values, a sequence with one number per value (the values are then 0, 1,
    ...), or a mapping from value to number. `rest` is the parameter of values that a mapping does not name;
    None means that there are no other values. Parameters are stored exactly, so `mean` and `mode` are exact
    fractions by value.

    >>> posterior = Dirichlet(2).posterior({"high": 1, "medium": 0, "low": 1})
    >>> posterior.mode["high"]
    Fraction(2, 5)
    """

    _given: dict[Hashable, Fraction]
    is_named: bool
    rest: Fraction | None

    def __init__(self, b: Parameters, *, rest: Number | None = 1) -> None:
        if not isinstance(b, Mapping) and rest != 1:
            raise errors.parameter_error("Dirichlet", "rest", "left out where b names no values", rest)
        if isinstance(b, str) or not isinstance(b, Iterable):
            self._set({}, True, _check_positive(b))
            return
        is_named = isinstance(b, Mapping)
        pairs = b.items() if isinstance(b, Mapping) else enumerate(b)
        parameters: dict[Hashable, Fraction] = {value: _check_positive(number) for value, number in pairs}
        if not parameters:
            raise errors.parameter_error("Dirichlet", "b", "a number, or one for each value", b)
        is_open = is_named and rest is not None
        self._set(parameters, is_named, _check_positive(rest, "rest") if is_open else None)

    def _set(self, parameters: dict[Hashable, Fraction], is_named: bool, rest: Fraction | None) -> None:
        object.__setattr__(self, "_given", parameters)
        object.__setattr__(self, "is_named", is_named)
        object.__setattr__(self, "rest", rest)

    @classmethod
    def _from_parameters(
        cls, parameters: dict[Hashable, Fraction], is_named: bool, rest: Fraction | None
    ) -> Dirichlet:
        dirichlet = cls.__new__(cls)
        dirichlet._set(parameters, is_named, rest)
        return dirichlet

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dirichlet) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        if not self._parameters and self.rest is not None:
            return f"Dirichlet({exact.fraction_repr(self.rest)})"
        if not self.is_named:
            return f"Dirichlet([{', '.join(map(exact.fraction_repr, self._parameters.values()))}])"
        pairs = (f"{value!r}: {exact.fraction_repr(b)}" for value, b in self._parameters.items())
        rest = "None" if self.rest is None else exact.fraction_repr(self.rest)
        return f"Dirichlet({{{', '.join(pairs)}}}{'' if rest == '1' else f', rest={rest}'})"

    def __str__(self) -> str:
        by_mode, by_mean = self.equivalents().values()
        return f"{self!r}: by its mode (MAP) {by_mode}; by its mean {by_mean}"

    @property
    def b(self) -> Fraction | tuple[Fraction, ...] | dict[Hashable, Fraction]:
        """The exact parameters in the form in which they were given."""
        if not self._parameters and self.rest is not None:
            return self.rest
        return dict(self._parameters) if self.is_named else tuple(self._parameters.values())

    @property
    def values(self) -> tuple[Hashable, ...]:
        """The values in order; empty if one number for all values was given."""
        return tuple(self._parameters)

    @property
    def mean(self) -> dict[Hashable, Fraction]:
        """The mean probability of each value, b_k / Σ b."""
        return {value: b / self._total for value, b in self._known_parameters.items()}

    @property
    def predictive(self) -> dict[Hashable, Fraction]:
        """The posterior predictive probability of each value: the mean."""
        return self.mean

    @property
    def mode(self) -> dict[Hashable, Fraction]:
        """The mode, (b_k - 1) / Σ (b_m - 1) for each value; a b_k below 1 gives 0.

        Raises Unsupported if the mode is not unique, as for Dirichlet([1, 1, 1]).
        """
        parameters = self._known_parameters
        if len(parameters) == 1:
            return dict.fromkeys(parameters, Fraction(1))
        mode = exact.normalise_weights([b - 1 for b in parameters.values()])
        if mode is None:
            raise errors.Unsupported(
                f"{self!r} has no mode: without a parameter above 1 the maximum is not unique. Use its mean."
            )
        return dict(zip(parameters, mode, strict=True))

    def marginal(self, value: Hashable) -> Beta:
        """Return the marginal distribution of the probability of one value."""
        parameters = self._known_parameters
        if value not in parameters:
            raise errors.DataError(_unknown_value_message(self, value))
        if len(parameters) == 1:
            raise errors.Unsupported(f"{self!r} has one value, whose probability is always 1.")
        return Beta(parameters[value], self._total - parameters[value])

    def interval(self, level: float = 0.95) -> dict[Hashable, tuple[float, float]]:
        """Return the equal-tailed interval of the probability of each value."""
        if len(self._known_parameters) == 1:
            return dict.fromkeys(self._known_parameters, (1.0, 1.0))
        return {value: self.marginal(value).interval(level) for value in self._known_parameters}

    def plot(self) -> Any:
        """Return a chart of the mean probability of each value, with its 95 % interval."""
        intervals = self.interval()
        estimates = ((value, float(mean), intervals[value]) for value, mean in self.mean.items())
        return plot_intervals(truncate(repr(self), 60), estimates, "probability")

    def sample(self, n: int, seed: int = 0) -> NDArray[np.float64]:
        """Draw n rows of probabilities [n, k], with the values in order."""
        alpha = [float(b) for b in self._known_parameters.values()]
        return np.random.default_rng(seed).dirichlet(alpha, size=n)

    def over(self, values: int | Iterable[Hashable]) -> Dirichlet:
        """Return the distribution for exactly these values, or for the values 0, 1, …, k − 1."""
        if isinstance(values, str | bool) or (isinstance(values, int) and values < 1):
            raise errors.parameter_error("over", "values", "a list of values, or how many", values)
        names = list(range(values)) if isinstance(values, int) else list(values)
        if not names or len(set(names)) < len(names):
            raise errors.parameter_error("over", "values", "one or more, each only once", names)
        parameters = dict(zip(names, self.parameters_for(names), strict=True))
        return Dirichlet._from_parameters(parameters, not isinstance(values, int), None)

    def posterior(self, counts: Counts) -> Dirichlet:
        """Return the posterior after observing counts, given in order or by value.

        A value that is not in a mapping has the count 0.
        """
        by_value = counts if isinstance(counts, Mapping) else dict(enumerate(counts))
        seen = {value: _check_count(number) for value, number in by_value.items()}
        if isinstance(counts, Mapping):
            names, is_named = self._merge_values(seen)
        else:
            names, is_named = self.values or tuple(seen), self.is_named and bool(self._parameters)
            if not seen or len(names) != len(seen):
                raise errors.DataError(_wrong_count_message(self, len(seen)))
            seen = dict(zip(names, seen.values(), strict=True))
        prior = zip(names, self.parameters_for(names), strict=True)
        posterior = {value: b + seen.get(value, 0) for value, b in prior}
        return Dirichlet._from_parameters(posterior, is_named, self.rest if is_named else None)

    def parameters_for(self, values: Sequence[Hashable]) -> list[Fraction]:
        """Return the parameter of each of these values; they must match the values of the distribution."""
        if not self.is_named:
            if len(values) != len(self._parameters):
                raise errors.DataError(_wrong_count_message(self, len(values)))
            return list(self._parameters.values())
        present = set(values)
        for name in self._parameters:
            if name not in present:
                raise errors.DataError(
                    f"Dirichlet names the value {name!r}, but the values are "
                    f"{errors.quote_names(values)}.{_hint(name, values)}"
                )
        parameters = [self._parameters.get(value, self.rest) for value in values]
        for value, b in zip(values, parameters, strict=True):
            if b is None:
                raise errors.DataError(_unknown_value_message(self, value))
        return [b for b in parameters if b is not None]

    def with_one_more_each(self) -> Dirichlet:
        """Return the distribution with all parameters increased by 1; its mode is the mean of this one."""
        parameters = {value: b + 1 for value, b in self._parameters.items()}
        rest = None if self.rest is None else self.rest + 1
        return Dirichlet._from_parameters(parameters, self.is_named, rest)

    def equivalents(self) -> dict[str, str]:
        """Return the pseudo-counts, and scikit-learn's alpha, that give the same estimates."""
        b = list(self._parameters.values()) or [self.rest or Fraction(1)]
        return {
            "mode (MAP)": _describe_pseudo_counts([number - 1 for number in b]),
            "mean": _describe_pseudo_counts(b),
        }

    def to_json(self) -> dict[str, object]:
        """Return the exact parameters and their values as plain JSON."""
        if not self._parameters and self.rest is not None:
            return {"kind": "dirichlet", "b": exact.fraction_to_json(self.rest)}
        numbers = [exact.fraction_to_json(b) for b in self._parameters.values()]
        if not self.is_named:
            return {"kind": "dirichlet", "b": numbers}
        values = [_to_json_value(value) for value in self._parameters]
        rest = None if self.rest is None else exact.fraction_to_json(self.rest)
        return {"kind": "dirichlet", "b": numbers, "values": values, "rest": rest}

    @cached_property
    def _total(self) -> Fraction:
        return sum(self._known_parameters.values(), Fraction(0))

    @property
    def _parameters(self) -> dict[Hashable, Fraction]:
        return self._given

    @property
    def _known_parameters(self) -> dict[Hashable, Fraction]:
        if not self._parameters:
            raise errors.Unsupported(
                f"{self!r} does not know its values yet. Name them with .over(values), or give "
                "counts with .posterior(counts)."
            )
        return self._parameters

    @property
    def _key(self) -> tuple[object, ...]:
        # Without names the values are numbered, so their order matters; with names it does not.
        return (self.is_named, frozenset(self._parameters.items()), self.rest)

    def _merge_values(self, seen: Mapping[Hashable, Fraction]) -> tuple[tuple[Hashable, ...], bool]:
        if self.is_named:
            return tuple(dict.fromkeys([*self._parameters, *seen])), True
        if seen.keys() <= self._parameters.keys():
            return self.values, False
        return tuple(seen), True


class ProportionalDirichlet(Dirichlet):
    """The Dirichlet whose pseudo-counts are proportional to counts and sum to `strength`.

    The exact parameters are computed when they are needed: most uses need the pseudo-counts as floats only.
    """

    _names: tuple[Hashable, ...]
    _counts: NDArray[Any]
    _strength: int

    def __init__(self, values: Sequence[Hashable], counts: NDArray[Any], strength: int) -> None:
        self._set({}, True, None)
        object.__setattr__(self, "_names", tuple(values))
        object.__setattr__(self, "_counts", counts)
        object.__setattr__(self, "_strength", strength)

    @property
    def values(self) -> tuple[Hashable, ...]:
        """The values in order."""
        return self._names

    @cached_property
    def _parameters(self) -> dict[Hashable, Fraction]:
        counts = [Fraction(float(count)) for count in self._counts]
        total = sum(counts, Fraction(0))
        return {
            value: 1 + self._strength * count / total
            for value, count in zip(self.values, counts, strict=True)
        }

    def pseudo_counts_for(self, values: Sequence[Hashable]) -> NDArray[np.float64]:
        """Return the pseudo-counts of values, rounded to floats."""
        if self._counts.dtype.kind == "f":
            return np.array([float(b - 1) for b in self.parameters_for(values)])
        # Quotients of integers are rounded correctly, like those of fractions.
        shares = self._strength * self._counts.astype(np.float64) / float(self._counts.sum())
        places = {value: place for place, value in enumerate(self._names)}
        return np.asarray(shares[[places[value] for value in values]])


def _check_positive(value: object, name: str = "b") -> Fraction:
    number = exact.positive_fraction(value)
    if number is None:
        rule = "a positive, finite number, or one for each value" if name == "b" else "positive"
        raise errors.parameter_error("Dirichlet", name, rule, value)
    return number


def _check_count(value: object) -> Fraction:
    number = exact.nonnegative_fraction(value)
    if number is None:
        raise errors.parameter_error("posterior", "counts", "counts of zero or more", value)
    return number


def _unknown_value_message(dirichlet: Dirichlet, value: Hashable) -> str:
    values = dirichlet.values
    return f"Dirichlet has no value {value!r}; it has {errors.quote_names(values)}.{_hint(value, values)}"


def _hint(value: Hashable, values: Iterable[Hashable]) -> str:
    return errors.did_you_mean(str(value), [name for name in values if isinstance(name, str)])


def _wrong_count_message(dirichlet: Dirichlet, n_given: int) -> str:
    expected = f"{len(dirichlet.values):,}" if dirichlet.values else "one or more"
    return f"Dirichlet has {expected} values, in order, but {n_given:,} were given."


def _describe_pseudo_counts(numbers: Sequence[Fraction]) -> str:
    first = exact.format_fraction(numbers[0])
    if any(number != numbers[0] for number in numbers):
        listed = ", ".join(exact.format_fraction(number) for number in numbers[:8])
        return f"pseudo-counts of {listed}{', ...' if len(numbers) > 8 else ''}"
    if numbers[0] < 0:
        return f"a pseudo-count of {first} per value, which no alpha of scikit-learn can express"
    return f"a pseudo-count of {first} per value, scikit-learn's alpha={first}"


def _to_json_value(value: Hashable) -> str | int | float | bool | None:
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or (isinstance(plain, str | int | float) and plain == plain):
        return plain
    raise errors.parameter_error("Dirichlet", "value", "a string, number, boolean or None to be saved", value)
