"""The likelihood, prior and posterior of two parameters of a naive Bayes model, from its counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.surface_result import ModeLocation, Surface
from weigh.features.blocks import Floats
from weigh.model.distributions.bernoulli import Bernoulli
from weigh.model.distributions.categorical import Categorical
from weigh.model.distributions.gaussian import Gaussian
from weigh.model.distributions.number_shapes import ShapedNumber
from weigh.model.distributions.weights import format_value
from weigh.model.evidence.exact_products import to_fraction
from weigh.model.naive_bayes import BayesModel
from weigh.text import truncate

REACH = 4.0  # standard errors on either side of a mean or a standard deviation


@dataclass(frozen=True)
class Share:
    """P(value | class): `count` of `total` rows, and the pseudo-counts of the value and of all values.

    The probabilities of one `distribution` (column and class) sum to 1.
    """

    name: str
    distribution: tuple[int, int]
    count: Fraction
    total: Fraction
    pseudo: Fraction
    pseudo_total: Fraction


@dataclass(frozen=True)
class Moment:
    """The mean (0) or the standard deviation (1) of the `n` numbers of a column in a class."""

    name: str
    distribution: tuple[int, int]
    order: int
    n: float
    mean: float
    deviation: float


def bayes_surface(model: BayesModel, names: tuple[Any, Any], cells: int) -> Surface:
    """Return the surface over two parameters, with the others at the values that are best for each point.

    The likelihood is that of the rows that were learned, Σ log P(class) + log P(columns | class). A prior of
    pseudo-counts a has a density proportional to Π p^a, whose mode the model has as its estimate.
    """
    if model.stated or model.complement:
        raise errors.Unsupported(
            "surface needs counts of rows, and likelihoods that are products of probabilities."
        )
    parameters = {each.name: each for each in _parameters(model)}
    pair = _choose(parameters, names)
    axes = [_axis(each, cells) for each in pair]
    tops: dict[str, ModeLocation] = {}
    logs = {}
    for part in ("likelihood", "prior", "posterior"):
        if part != "likelihood" and not any(
            isinstance(each, Share) and each.pseudo_total > 0 for each in pair
        ):
            continue
        logs[part] = _log_surface(pair, axes, part)
        top = tuple(_top(each, part) for each in pair)
        if None not in top:
            tops[part] = tuple(value for value in top if value is not None)
    title = f"Naive Bayes of {truncate(model.label or 'y', 24)}"
    return Surface(title, (pair[0].name, pair[1].name), axes[0], axes[1], logs, tops)


def _parameters(model: BayesModel) -> Iterator[Share | Moment]:
    """Yield the parameters of categories, flags and numbers, column by column and class by class."""
    for at, part in enumerate(model.distributions):
        if isinstance(part, Categorical):
            yield from _level_shares(at, part, model.classes)
        elif isinstance(part, Bernoulli):
            yield from _flag_shares(at, part, model.classes)
        elif isinstance(part, Gaussian | ShapedNumber):
            yield from _moments(at, part.normal, model.classes)


def _level_shares(at: int, part: Categorical, classes: list[Any]) -> Iterator[Share]:
    pseudo = part.exact_pseudo_counts[:-1]
    for k, level in reversed(list(enumerate(part.levels))):
        for c, label in enumerate(classes):
            counts = [to_fraction(n) for n in part.table[c].tolist()]
            name = f"P({part.name}={format_value(level)} | {label})"
            total = sum(counts, Fraction(0))
            yield Share(name, (at, c), counts[k], total, pseudo[k], sum(pseudo, Fraction(0)))


def _flag_shares(at: int, part: Bernoulli, classes: list[Any]) -> Iterator[Share]:
    known = np.broadcast_to(part.known_counts, part.present_counts.shape)
    for j, flag in enumerate(part.names):
        absent, present = part.flag_pseudo_counts(j)
        for c, label in enumerate(classes):
            count, total = (to_fraction(table[c, j].item()) for table in (part.present_counts, known))
            # Flags of one block are different columns.
            distribution = at, -1 - c - len(classes) * j
            yield Share(f"P({flag}=1 | {label})", distribution, count, total, present, absent + present)


def _moments(at: int, part: Gaussian, classes: list[Any]) -> Iterator[Moment]:
    for c, label in enumerate(classes):
        n, (mean, residual, deviation) = float(part.counts.known[c]), part.sample_moments[c].tolist()
        if n > 1 and deviation > 0:
            for order, word in enumerate(("mean", "standard deviation")):
                name = f"{word} of {part.part.title} | {label}"
                yield Moment(name, (at, c), order, n, mean + residual, deviation)


def _choose(parameters: dict[str, Share | Moment], names: tuple[Any, Any]) -> list[Any]:
    for name in names:
        if name is not None and name not in parameters:
            raise errors.unknown_column_error(str(name), list(parameters), "The list of parameters")
    unused = [name for name in parameters if name not in names]
    pair = [name if name is not None else unused.pop(0) if unused else None for name in names]
    if None in pair or pair[0] == pair[1]:
        raise errors.Unsupported(
            "surface needs two different parameters of categories, flags or numbers; the model has "
            f"{errors.quote_names(list(parameters))}."
        )
    return [parameters[str(name)] for name in pair]


def _axis(parameter: Share | Moment, cells: int) -> Floats:
    if isinstance(parameter, Share):
        return np.asarray((np.arange(cells) + 0.5) / cells)
    reach = REACH / np.sqrt(parameter.n)
    if parameter.order:
        return np.linspace(parameter.deviation / (1 + reach), parameter.deviation * (1 + reach), cells)
    ends = parameter.mean + reach * parameter.deviation * np.array([-1, 1])
    return np.linspace(ends[0], ends[1], cells)


def _log_surface(pair: list[Any], axes: list[Floats], part: str) -> Floats:
    """Return the logarithms [y, x] of one part, up to a constant."""
    x, y = np.meshgrid(*axes)
    first, second = pair
    if first.distribution != second.distribution:
        return np.asarray(_log_one(first, x, part) + _log_one(second, y, part))
    if isinstance(first, Share):
        return _log_simplex(first, second, x, y, part)
    mean, deviation = (x, y) if second.order else (y, x)
    return _log_normal(first, mean, deviation) if part != "prior" else np.zeros_like(x)


def _weights(share: Share, part: str) -> tuple[float, float]:
    """Return the exponents of p and of 1 − p."""
    a = share.count * (part != "prior") + share.pseudo * (part != "likelihood")
    n = share.total * (part != "prior") + share.pseudo_total * (part != "likelihood")
    return float(a), float(n - a)


def _log_one(parameter: Share | Moment, at: Floats, part: str) -> Floats:
    if isinstance(parameter, Share):
        present, absent = _weights(parameter, part)
        return np.asarray(present * np.log(at) + absent * np.log1p(-at))
    if part == "prior":
        return np.zeros_like(at)
    mean, deviation = (parameter.mean, at) if parameter.order else (at, parameter.deviation)
    return _log_normal(parameter, mean, deviation)


def _log_simplex(first: Share, second: Share, x: Floats, y: Floats, part: str) -> Floats:
    """Return the logarithms for two values of one column; −∞ where their probabilities exceed 1."""
    (a, rest), (b, _) = _weights(first, part), _weights(second, part)
    with np.errstate(divide="ignore", invalid="ignore"):
        remaining = np.where(rest - b > 0, (rest - b) * np.log(np.maximum(1 - x - y, 0.0)), 0.0)
        logs = a * np.log(x) + b * np.log(y) + remaining
    return np.where(x + y <= 1, logs, -np.inf)


def _log_normal(moment: Moment, mean: Any, deviation: Any) -> Floats:
    scatter = moment.deviation**2 + (moment.mean - mean) ** 2
    return np.asarray(-moment.n * (np.log(deviation) + scatter / (2 * deviation**2)))


def _top(parameter: Share | Moment, part: str) -> Fraction | float | None:
    """Return the parameter at the maximum, or None if there is no unique one."""
    if isinstance(parameter, Moment):
        return None if part == "prior" else parameter.deviation if parameter.order else parameter.mean
    count = parameter.count * (part != "prior") + parameter.pseudo * (part != "likelihood")
    total = parameter.total * (part != "prior") + parameter.pseudo_total * (part != "likelihood")
    return count / total if total else None
