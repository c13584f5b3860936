"""What a learner of any maker answers, taken as it must be: one answer per row, one column per class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors

Floats = npt.NDArray[np.float64]


def one_per_row(values: Any, n: int, who: str, what: str = "predictions") -> npt.NDArray[Any]:
    """Return predictions [n]; [n, 1] is taken for it, any other shape or number refused."""
    found = _as_array(values)
    if found.shape not in ((n,), (n, 1)):
        raise unfit(who, what, values, f"one for each of the {n:,} rows")
    return found.reshape(n)


def numbers_per_row(values: Any, n: int, who: str, what: str = "predictions") -> Floats:
    """Return numbers [n]."""
    found = one_per_row(values, n, who, what)
    try:
        return found.astype(np.float64)
    except (TypeError, ValueError):
        raise unfit(who, what, found, "numbers") from None


def table_per_row(values: Any, n: int, columns: int, who: str, what: str) -> Floats:
    """Return a table [n, columns] of numbers, any other shape refused."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n, columns):
        raise unfit(who, what, values, f"numbers, {columns:,} for each of the {n:,} rows")
    return found


def _as_array(values: Any) -> npt.NDArray[Any]:
    if hasattr(values, "shape") or hasattr(values, "__array__") or not isinstance(values, list | tuple):
        return np.asarray(values)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def unfit(who: str, what: str, values: Any, must: str) -> errors.DataError:
    """Word the refusal of answers that cannot be judged."""
    of = f" of the shape {np.shape(values)}" if hasattr(values, "shape") else ""
    return errors.DataError(
        f"The {what} of {who} are {errors.told(values, 60)}{of}; they must be {must}. Mend the learner."
    )
