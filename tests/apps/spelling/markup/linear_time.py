"""Measuring whether masking takes linear time."""

from __future__ import annotations

import time

from weigh.apps.spelling.markup.prose import mask_text


def takes_linear_time(unit: bytes, name: str, size: int = 1 << 13) -> bool:
    """Return whether eight times the text takes far less than the 64 times of a quadratic algorithm.

    Tries up to three times, because garbage collection may disturb a measurement.
    """
    short, long = (b"x" + unit * (n_bytes // len(unit)) for n_bytes in (size, 8 * size))
    timings = ((_seconds(short, name), _seconds(long, name)) for _ in range(3))
    return any(after < 24 * max(before, 0.01) for before, after in timings)


def _seconds(text: bytes, name: str) -> float:
    start = time.process_time()
    mask_text(text, name)
    return time.process_time() - start
