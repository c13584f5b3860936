"""Where a number speaks for one of two normal curves."""

from __future__ import annotations

import math

from weigh.model.outcomes import Curve
from weigh.text import short

NEVER = 3.0  # so many spreads from both means, an end of a range is practically never met


def divergence(own: Curve, rest: Curve) -> float:
    """The evidence, in nats, that a value drawn from `own` gives on average against `rest`."""
    shift, ratio = (own[0] - rest[0]) / rest[1], own[1] / rest[1]
    return 0.5 * (ratio * ratio + shift * shift - 1.0) - math.log(ratio)


def speaking_range(own: Curve, rest: Curve) -> str:
    """The values that are likelier under `own` than under `rest`, in words.

    With z = (x − mean) / spread of `own`, p = ratio of the spreads and q = difference of the means
    in spreads of `rest`, the log ratio of the densities is ½(p² − 1) z² + pq z + ½q² − log p.
    """
    (mean, spread), (other, width) = own, rest
    p, q = spread / width, (mean - other) / width
    terms = (0.5 * (p * p - 1.0), p * q, 0.5 * q * q - math.log(p))
    low = min(-NEVER, (other - NEVER * width - mean) / spread)
    high = max(NEVER, (other + NEVER * width - mean) / spread)
    ends = [z for z in _roots(*terms) if low < z < high]
    first = (low + ends[0]) / 2 if ends else 0.0
    speaks_first = terms[0] * first * first + terms[1] * first + terms[2] > 0
    return _words([short(mean + spread * z) for z in ends], speaks_first)


def _roots(a: float, b: float, c: float) -> list[float]:
    """The places where a z² + b z + c changes its sign, in order."""
    inner = b * b - 4.0 * a * c
    if inner <= 0.0:
        return []
    # The usual formula loses all digits of one root when a is next to nothing.
    half = -0.5 * (b + math.copysign(math.sqrt(inner), b))
    found = [c / half] if a == 0.0 else [c / half, half / a] if half else []
    return sorted(found)


def _words(ends: list[str], speaks_first: bool) -> str:
    if not ends:
        return "anywhere" if speaks_first else "nowhere"
    if len(ends) == 1:
        return f"< {ends[0]}" if speaks_first else f"> {ends[0]}"
    between = f"{ends[0]} to {ends[1]}"
    return f"outside {between}" if speaks_first else between
