"""Which numbers a linear learner standardises, and warnings about those it does not.

`scale="auto"` standardises the numbers of a table with column names, unless the prior was stated in the units
of the user. The resolved scale is "auto" (numbers except columns of 0 and 1), "unit" (all numbers) or None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.deduplicated_warnings import Origin, warn
from weigh.features.kinds import Value, number_matrix
from weigh.features.schema import Schema
from weigh.features.validation import MAX_MAGNITUDE
from weigh.source.base import Source

# The standard deviation of the logarithms of the features' spreads that best predicts, on half of 48 real
# tables, whether standardising improves the accuracy; docs/architecture.md has the figures of the other half.
MAX_PERCEPTRON_VARIATION = 1.3
MAX_REGRESSION_VARIATION = 1.7
MAX_SAMPLE_ROWS = 1_000
MAX_SAMPLE_CELLS = 20_000  # wide tables have fewer rows in the sample, for speed
MIN_WIDE_ROWS = 200  # their standard deviations have errors of 5 %, far below the limits above
MIN_SAMPLE_ROWS = 2
INDICATOR_SPREAD = 0.5  # the largest standard deviation of a level, flag or word


def resolve_perceptron_scale(scale: str | None, source: Source) -> str | None:
    """Return the scale of a perceptron, which depends on the units of all numbers."""
    return scale if scale != "auto" or has_column_names(source) else None


def resolve_regression_scale(
    scale: str | None, source: Source, prior: object, *, is_online: bool = False
) -> str | None:
    """Return the scale of a regression with the prior as the user gave it.

    A prior of stated numbers refers to the units of the user. Without a prior, scaling does not change the
    minimum, but online learning approaches it faster.
    """
    if scale != "auto":
        return scale
    is_scaled = has_column_names(source) and not states_numbers(prior) and (prior is not None or is_online)
    return scale if is_scaled else None


def centres_missing_numbers(scale: str | None, prior: object) -> bool:
    """Whether missing numbers of a named table count as the mean of their column, instead of as zero.

    This takes standardised numbers, which would change the units of a prior of stated numbers.
    """
    return scale == "auto" and not states_numbers(prior)


def has_column_names(source: Source) -> bool:
    """Whether a source is a table with names of its own; a frame made from an array only numbers them."""
    return source.named and any(name != str(j) for j, name in enumerate(source.names))


def states_numbers(prior: object) -> bool:
    """Whether a prior is a distribution with numbers in the units of the user, for some column at least."""
    if isinstance(prior, Mapping):
        return any(states_numbers(each) for each in prior.values())
    return getattr(prior, "is_scale_automatic", True) is False


def warn_unlike_perceptron_scales(schema: Schema, source: Source) -> None:
    """Warn of unlike scales, which let the columns of the largest numbers dominate the updates."""
    effect = "the perceptron learns mostly from the former"
    _warn_unlike_scales(schema, source, MAX_PERCEPTRON_VARIATION, effect)


def warn_unlike_regression_scales(schema: Schema, source: Source) -> None:
    """Warn of unlike scales, which let a prior restrict the weights unequally."""
    effect = "the prior restricts the weight of the former hardly, and that of the latter strongly"
    _warn_unlike_scales(schema, source, MAX_REGRESSION_VARIATION, effect)


def _warn_unlike_scales(schema: Schema, source: Source, max_variation: float, effect: str) -> None:
    """Warn if the logarithms of the spreads vary more than `max_variation`."""
    spreads = sample_spreads(schema, source)
    if len(spreads) < 2 or np.log(list(spreads.values())).std() <= max_variation:
        return
    largest, smallest = (choose(spreads, key=lambda name: spreads[name]) for choose in (max, min))
    ratio = spreads[largest] / spreads[smallest]
    warn(
        errors.UnlikeScales(
            f"The values of {_describe(largest)} spread {ratio:,.3g} times as widely as those of "
            f"{_describe(smallest)} (standard deviations {spreads[largest]:,.4g} and "
            f"{spreads[smallest]:,.4g}), so {effect}.",
            hint=("Try ", Setting("scale", "unit"), "."),
        ),
        [name for name in (largest, smallest) if name is not None],
    )


def warn_frozen_scales(names: Sequence[str], origin: Origin) -> None:
    """Warn that these numbers of all later batches are standardised as those of the first one."""
    if names:
        warn(
            errors.FrozenScales(
                "Numbers are standardised with the means and standard deviations of the first batch; later "
                "batches do not change them.",
                hint=(
                    "Begin with a batch that is typical of all rows, or give ",
                    Setting("scale", None),
                    ".",
                ),
            ),
            names,
            origin,
        )


def _describe(name: str | None) -> str:
    return "flags and levels" if name is None else f"column {name!r}"


def sample_spreads(schema: Schema, source: Source) -> dict[str | None, float]:
    """Return the standard deviations of the numbers that are not standardised, in a sample of the rows.

    The key None stands for flags, levels, words and columns of 0 and 1. Sparse matrices have no spreads:
    rare features spread little whatever their units.
    """
    n_rows = max(MIN_WIDE_ROWS, MAX_SAMPLE_CELLS // max(len(schema.names), 1))
    chunk = schema.first_rows(source).slice(0, min(n_rows, MAX_SAMPLE_ROWS))
    if chunk.sparse is not None or chunk.n_rows < MIN_SAMPLE_ROWS:
        return {}
    pairs = zip(schema.names, schema.kinds, strict=True)
    names = [name for name, kind in pairs if isinstance(kind, Value) and name in chunk.columns]
    matrix = number_matrix(chunk.columns, names, schema.missing) if names else np.zeros((chunk.n_rows, 0))
    # Larger numbers are an error, raised when the rows are read.
    matrix = np.where(np.abs(matrix) <= MAX_MAGNITUDE, matrix, np.nan)
    is_binary = ((matrix == 0) | (matrix == 1) | np.isnan(matrix)).all(axis=0)
    spreads: dict[str | None, float] = {}
    if is_binary.any() or len(names) < len(schema.names):
        spreads[None] = INDICATOR_SPREAD
    known = ~np.isnan(matrix)
    n_known = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, matrix, 0.0).sum(axis=0) / n_known
    deviations = np.where(known, matrix - means, 0.0)
    stds = np.sqrt((deviations**2).sum(axis=0) / n_known)
    # The standard deviation of a constant may be a rounding error.
    varies = np.where(known, matrix, -np.inf).max(axis=0) > np.where(known, matrix, np.inf).min(axis=0)
    for at in np.flatnonzero(~is_binary & varies & (stds > 0)).tolist():
        spreads[names[at]] = float(stds[at])
    return spreads
