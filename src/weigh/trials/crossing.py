"""Where one learner overtakes another as the training rows grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weigh.judge.metrics.losses import Floats
from weigh.text import format_count, to_json_value, truncate
from weigh.trials.power_law import BOOTSTRAP_DRAWS, BOOTSTRAP_SEED, PowerLaw
from weigh.trials.resampled_t_test import FoldCorrection

MAX_EXTRAPOLATION = 100.0  # times the rows there are: how far laws are trusted to tell
EXTRAPOLATION_STEPS = 401


@dataclass(frozen=True)
class Crossing:
    """The size up to which `small` has the smaller validation loss, and beyond which `large` has.

    `kind` is "measured" where each of the two is surely ahead at some measured size, `small` before `large`;
    "extrapolated" where the fitted laws of both say so, beyond the measured sizes, up to 100 times the
    largest; "unsure" where the measured means change places but only one of the two is ever surely ahead;
    else "none". A measured size is interpolated between measured ones in log n. Limits come from draws of
    the folds' errors, corrected for their overlap and paired between the two learners; they are kept within
    the sizes in question. `share` is the share of draws in which they cross. Without a crossing `large` is
    the learner that is surely ahead at the largest size, and both are None where none is.
    """

    pair: tuple[str, str]
    kind: str
    small: str | None = None
    large: str | None = None
    rows: float = math.nan
    low: float = math.nan
    high: float = math.nan
    share: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """The crossing for JSON."""
        numbers = {"rows": self.rows, "low": self.low, "high": self.high, "share": self.share}
        names = {"pair": list(self.pair), "kind": self.kind, "small": self.small, "large": self.large}
        return names | {name: to_json_value(value) for name, value in numbers.items()}

    def __str__(self) -> str:
        first, second = (truncate(name, 24) for name in self.pair)
        if self.large is None:
            return f"{first} and {second}: neither is ahead beyond chance at the largest size."
        large = truncate(self.large, 24)
        other = second if self.large == self.pair[0] else first
        if self.kind == "none":
            return f"{large} is ahead of {other} at the largest size, and no crossing is in sight."
        span = f"{_format_rows(self.rows)} rows ({_format_rows(self.low)} to {_format_rows(self.high)})"
        if self.kind == "measured":
            return f"{large} overtakes {other} at about {span}."
        if self.kind == "unsure":
            return f"{large} may overtake {other} at about {span}: not beyond chance."
        return f"{large} would overtake {other} at about {span}, by their laws."


def _format_rows(number: float) -> str:
    return "never" if math.isinf(number) else format_count(float(round(number)))


@dataclass(frozen=True, eq=False)
class CurveLosses:
    """A learner's name, its validation losses [folds, sizes], and its law, if it has one."""

    name: str
    losses: Floats
    law: PowerLaw | str


def find_crossing(
    first: CurveLosses, second: CurveLosses, sizes: Sequence[int], corrected: FoldCorrection
) -> Crossing:
    """Return where one of two learners on the same folds overtakes the other."""
    pair = (first.name, second.name)
    with np.errstate(invalid="ignore"):
        ahead = second.losses - first.losses
    if not np.isfinite(ahead).all():
        return Crossing(pair, "none")
    mean, low, high, _ = corrected.mean_intervals(ahead)
    sure = np.where(low > 0, 1, np.where(high < 0, -1, 0))
    drawn = mean + corrected.draw_errors(ahead, BOOTSTRAP_DRAWS, BOOTSTRAP_SEED)
    logs = np.log(sizes)
    span = _last_sign_change(sure)
    if span is not None:
        return _interpolate_crossing(pair, "measured", span, mean, drawn, logs, corrected.level)
    if isinstance(first.law, PowerLaw) and isinstance(second.law, PowerLaw):
        found = _extrapolate_crossing(pair, first.law, second.law, sizes[-1])
        if found is not None:
            return found
    span = _last_sign_change(np.sign(mean)) if sure.any() else None
    if span is not None:
        return _interpolate_crossing(pair, "unsure", (0, len(sizes) - 1), mean, drawn, logs, corrected.level)
    leader = {1: first.name, -1: second.name, 0: None}[int(sure[-1])]
    return Crossing(pair, "none", large=leader)


def _last_sign_change(signs: Any) -> tuple[int, int] | None:
    """Return the last two places, none but zeros between them, at which signs are opposite."""
    changes = [(int(i), int(j)) for i, j in pairwise(np.flatnonzero(signs)) if signs[i] != signs[j]]
    return changes[-1] if changes else None


def _interpolate_crossing(
    pair: tuple[str, str],
    kind: str,
    span: tuple[int, int],
    mean: Floats,
    drawn: Floats,
    logs: Floats,
    level: float,
) -> Crossing:
    """Return the last change of the mean difference between two sizes, and that of its draws."""
    start, stop = span
    part = slice(start, stop + 1)
    # Who is ahead at the end of the span was behind before the last change.
    sign = -1 if mean[stop] > 0 else 1
    at = _last_zero_crossing(sign * mean[None, part], logs[part])
    places = _last_zero_crossing(sign * drawn[:, part], logs[part])
    share = float(np.mean((sign * drawn[:, start] > 0) & (sign * drawn[:, stop] <= 0)))
    return _make_crossing(pair, kind, sign, float(at[0]), places, level, share)


def _last_zero_crossing(ahead: Floats, logs: Floats) -> Floats:
    """Return where, in log n, each of some differences [k, sizes] falls below zero for good.

    Those below zero from the start give the first size, and those still above at the end the last.
    """
    before = (ahead[:, :-1] > 0) & (ahead[:, 1:] <= 0)
    last = before.shape[1] - 1 - np.argmax(before[:, ::-1], axis=1)
    rows = np.arange(len(ahead))
    left, right = ahead[rows, last], ahead[rows, last + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        place = logs[last] + (logs[last + 1] - logs[last]) * left / (left - right)
    place = np.where(before.any(axis=1), place, logs[0])
    return np.asarray(np.where(ahead[:, -1] > 0, logs[-1], place))


def _extrapolate_crossing(
    pair: tuple[str, str], first: PowerLaw, second: PowerLaw, last: int
) -> Crossing | None:
    """Return where two laws cross beyond the measured sizes, if most of their draws do."""
    logs = np.log(last) + np.linspace(0.0, math.log(MAX_EXTRAPOLATION), EXTRAPOLATION_STEPS)
    ahead = (second.values(np.exp(logs)) - first.values(np.exp(logs)))[None, :]
    sign = 1 if ahead[0, 0] > 0 else -1
    if sign * ahead[0, -1] >= 0:
        return None
    at = float(_last_zero_crossing(sign * ahead, logs)[0])
    drawn = sign * (second.bootstrap_losses(np.exp(logs)) - first.bootstrap_losses(np.exp(logs)))
    crosses = (drawn[:, 0] > 0) & (drawn[:, -1] <= 0)
    if crosses.mean() < 0.5:
        return None
    places = np.where(drawn[:, -1] > 0, np.inf, _last_zero_crossing(drawn, logs))
    return _make_crossing(pair, "extrapolated", sign, at, places, first.level, float(crosses.mean()))


def _make_crossing(
    pair: tuple[str, str], kind: str, sign: int, at: float, places: Floats, level: float, share: float
) -> Crossing:
    tail = (1.0 - level) / 2.0
    low, high = np.exp(np.quantile(places, [tail, 1.0 - tail], method="nearest"))
    small, large = pair if sign > 0 else pair[::-1]
    return Crossing(pair, kind, small, large, math.exp(at), float(low), float(high), share)
