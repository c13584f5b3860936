"""Whether masking takes time in proportion to a text."""

from __future__ import annotations

import time

from weigh.apps.spelling.markup.prose import mask_text


def is_in_proportion(unit: bytes, name: str, size: int = 1 << 13) -> bool:
    """Tell whether eight times so much of a unit takes far less than the 64 times of quadratic work.

    It is tried up to three times: a try may meet a collection of garbage.
    """
    short, long = (b"x" + unit * (many // len(unit)) for many in (size, 8 * size))
    tries = ((_seconds(short, name), _seconds(long, name)) for _ in range(3))
    return any(after < 24 * max(before, 0.01) for before, after in tries)


def _seconds(text: bytes, name: str) -> float:
    start = time.process_time()
    mask_text(text, name)
    return time.process_time() - start
