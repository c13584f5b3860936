"""Crossings of learning curves: the number of training rows at which one learner overtakes another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weigh.judge.metrics.confidence_intervals import quantile_interval
from weigh.judge.metrics.learning_curve_laws import BOOTSTRAP_DRAWS, BOOTSTRAP_SEED, PowerLaw
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.paired_tests import FoldCorrection
from weigh.result import Facts
from weigh.text import format_count, truncate

MAX_EXTRAPOLATION = 100.0  # largest extrapolated size, as a multiple of the largest measured one
EXTRAPOLATION_STEPS = 401


@dataclass(frozen=True)
class Crossing(Facts):
    """The number of rows up to which `small` has the smaller validation loss, and beyond which `large` has.

    `kind` is "measured" if each of the two is significantly better at some measured size, `small` before
    `large`; "extrapolated" if their fitted laws cross beyond the measured sizes, up to 100 times the largest;
    "unsure" if the measured means cross but only one of the two is ever significantly better; otherwise
    "none". `rows` is interpolated in log n between measured sizes. Its limits `low` and `high` come from
    paired draws of the folds' errors, corrected for their overlap, and stay within the range of sizes.
    `share` is the fraction of draws that cross. Without a crossing, `large` is the learner that is
    significantly better at the largest size; both are None if neither is.
    """

    pair: tuple[str, str]
    kind: str
    small: str | None = None
    large: str | None = None
    rows: float = math.nan
    low: float = math.nan
    high: float = math.nan
    share: float = math.nan

    def __str__(self) -> str:
        first, second = (truncate(name, 24) for name in self.pair)
        if self.large is None:
            return f"{first} and {second}: no significant difference at the largest size."
        large = truncate(self.large, 24)
        other = second if self.large == self.pair[0] else first
        if self.kind == "none":
            return f"{large} is significantly better than {other} at the largest size; no crossing was found."
        span = f"{_format_rows(self.rows)} rows ({_format_rows(self.low)} to {_format_rows(self.high)})"
        if self.kind == "measured":
            return f"{large} overtakes {other} at about {span}."
        if self.kind == "unsure":
            return f"{large} may overtake {other} at about {span}, but not significantly."
        return f"{large} is predicted to overtake {other} at about {span}, by extrapolation."


def _format_rows(number: float) -> str:
    return "never" if math.isinf(number) else format_count(float(round(number)))


@dataclass(frozen=True, eq=False)
class CurveLosses:
    """A learner's validation losses [folds, sizes] and its power law, or the reason why it has none."""

    name: str
    losses: Floats
    law: PowerLaw | str


def find_crossing(
    first: CurveLosses, second: CurveLosses, sizes: Sequence[int], correction: FoldCorrection
) -> Crossing:
    """Return the crossing of two learning curves measured on the same folds."""
    pair = (first.name, second.name)
    with np.errstate(invalid="ignore"):
        advantage = second.losses - first.losses
    if not np.isfinite(advantage).all():
        return Crossing(pair, "none")
    mean, low, high, _ = correction.mean_intervals(advantage)
    significant_sign = np.where(low > 0, 1, np.where(high < 0, -1, 0))
    draws = mean + correction.draw_errors(advantage, BOOTSTRAP_DRAWS, BOOTSTRAP_SEED)
    log_sizes, level = np.log(sizes), correction.level
    span = _last_sign_change(significant_sign)
    if span is not None:
        return _interpolate_crossing(pair, "measured", span, mean, draws, log_sizes, level)
    if isinstance(first.law, PowerLaw) and isinstance(second.law, PowerLaw):
        crossing = _extrapolate_crossing(pair, first.law, second.law, sizes[-1])
        if crossing is not None:
            return crossing
    if significant_sign.any() and _last_sign_change(np.sign(mean)) is not None:
        span = (0, len(sizes) - 1)
        return _interpolate_crossing(pair, "unsure", span, mean, draws, log_sizes, level)
    leader = {1: first.name, -1: second.name, 0: None}[int(significant_sign[-1])]
    return Crossing(pair, "none", large=leader)


def _last_sign_change(signs: Any) -> tuple[int, int] | None:
    """Return the last two indices with opposite signs and only zeros between them."""
    changes = [(int(i), int(j)) for i, j in pairwise(np.flatnonzero(signs)) if signs[i] != signs[j]]
    return changes[-1] if changes else None


def _interpolate_crossing(
    pair: tuple[str, str],
    kind: str,
    span: tuple[int, int],
    mean: Floats,
    draws: Floats,
    log_sizes: Floats,
    level: float,
) -> Crossing:
    """Return the last zero crossing of the mean advantage within a span of sizes, with limits from draws."""
    start, stop = span
    part = slice(start, stop + 1)
    # The sign makes the advantage positive before the crossing and negative at the end of the span.
    sign = -1 if mean[stop] > 0 else 1
    log_rows = _last_zero_crossing(sign * mean[None, part], log_sizes[part])
    drawn_log_rows = _last_zero_crossing(sign * draws[:, part], log_sizes[part])
    share = float(np.mean((sign * draws[:, start] > 0) & (sign * draws[:, stop] <= 0)))
    return _make_crossing(pair, kind, sign, float(log_rows[0]), drawn_log_rows, level, share)


def _last_zero_crossing(advantages: Floats, log_sizes: Floats) -> Floats:
    """Return the log n [k] at which advantages [k, sizes] last change from positive to negative.

    The result is the first size if there is no such change, and the last size if the advantage ends positive.
    """
    is_change = (advantages[:, :-1] > 0) & (advantages[:, 1:] <= 0)
    last = is_change.shape[1] - 1 - np.argmax(is_change[:, ::-1], axis=1)
    rows = np.arange(len(advantages))
    left, right = advantages[rows, last], advantages[rows, last + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        log_rows = log_sizes[last] + (log_sizes[last + 1] - log_sizes[last]) * left / (left - right)
    log_rows = np.where(is_change.any(axis=1), log_rows, log_sizes[0])
    return np.asarray(np.where(advantages[:, -1] > 0, log_sizes[-1], log_rows))


def _extrapolate_crossing(
    pair: tuple[str, str], first: PowerLaw, second: PowerLaw, last_size: int
) -> Crossing | None:
    """Return the crossing of two laws beyond the measured sizes, if at least half of their draws cross."""
    log_sizes = np.log(last_size) + np.linspace(0.0, math.log(MAX_EXTRAPOLATION), EXTRAPOLATION_STEPS)
    sizes = np.exp(log_sizes)
    advantage = (second.values(sizes) - first.values(sizes))[None, :]
    sign = 1 if advantage[0, 0] > 0 else -1
    if sign * advantage[0, -1] >= 0:
        return None
    log_rows = float(_last_zero_crossing(sign * advantage, log_sizes)[0])
    draws = sign * (second.bootstrap_losses(sizes) - first.bootstrap_losses(sizes))
    crosses = (draws[:, 0] > 0) & (draws[:, -1] <= 0)
    if crosses.mean() < 0.5:
        return None
    drawn_log_rows = np.where(draws[:, -1] > 0, np.inf, _last_zero_crossing(draws, log_sizes))
    share = float(crosses.mean())
    return _make_crossing(pair, "extrapolated", sign, log_rows, drawn_log_rows, first.level, share)


def _make_crossing(
    pair: tuple[str, str],
    kind: str,
    sign: int,
    log_rows: float,
    drawn_log_rows: Floats,
    level: float,
    share: float,
) -> Crossing:
    low, high = np.exp(quantile_interval(drawn_log_rows, level, "nearest")).tolist()
    small, large = pair if sign > 0 else pair[::-1]
    return Crossing(pair, kind, small, large, math.exp(log_rows), low, high, share)
