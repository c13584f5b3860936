"""Spellers as files: all sets end to end in four arrays, and a description; equal spellers, equal bytes."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weigh import _core
from weigh.apps.spelling.chooser import LinearChooser
from weigh.apps.spelling.confusion import ConfusionSets
from weigh.apps.spelling.facts import Facts
from weigh.apps.spelling.promise import Promise
from weigh.apps.spelling.settings import Settings
from weigh.errors import ModelFileError, WeighError
from weigh.features import Names
from weigh.model import store
from weigh.model.loading import SPELLER
from weigh.model.store import Stored, checked_names, damaged

# What a context is, and how words are written; what was learned from others would not be known again.
CONTEXTS = 2
LARGEST = float(np.finfo(np.float32).max)  # of a weight, and so of a base


class Parts(NamedTuple):
    """What a speller consists of."""

    sets: tuple[LinearChooser, ...]
    promise: Promise
    settings: Settings
    facts: Facts


def to_content(parts: Parts) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The description and the arrays that a file holds."""
    meta = {
        "model": SPELLER,
        "contexts": CONTEXTS,
        "unicode": _core.UNICODE_VERSION,
        "sets": [{"words": list(one.words), "features": one.size} for one in parts.sets],
        "promise": parts.promise.to_dict(),
        "settings": parts.settings.to_dict(),
        "facts": parts.facts.to_dict(),
    }
    lengths = _joined([np.diff(one.names.offsets) for one in parts.sets], np.int64)
    return meta, {
        "base": _joined([one.base for one in parts.sets], np.float64),
        "names.text": _joined([one.names.text for one in parts.sets], np.uint8),
        # Most names are short, and a byte each is a quarter of what their weights take.
        "names.lengths": lengths.astype(np.min_scalar_type(int(lengths.max(initial=0)))),
        "weights": _joined([one.table.reshape(-1) for one in parts.sets], np.float32),
    }


def _joined(arrays: Sequence[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *arrays]).astype(dtype, copy=False)


def read(path: str | os.PathLike[str]) -> Parts:
    """What a file holds; nothing in it is executed."""
    stored = store.read(path, check=True)
    _require_speller(stored)
    try:
        sets = _choosers(stored)
        return Parts(
            sets=sets,
            promise=_promise(stored.meta["promise"]),
            settings=Settings(**stored.meta["settings"]),
            facts=_facts(stored.meta["facts"], sets),
        )
    except ModelFileError:
        raise
    except (WeighError, LookupError, TypeError, ValueError, AttributeError, OverflowError) as cause:
        raise damaged(stored.path, f"its description is incomplete or contradictory ({cause})") from cause


def _require_speller(stored: Stored) -> None:
    kind = stored.meta.get("model")
    if kind != SPELLER:
        raise ModelFileError(
            f"{stored.path} holds a model of rows ({kind}), not a speller. "
            f"Open it with weigh.load({stored.path!r}), or give the file of weigh spell learn."
        )
    made = (stored.meta.get("contexts"), stored.meta.get("unicode"))
    if made != (CONTEXTS, _core.UNICODE_VERSION):
        raise ModelFileError(
            f"{stored.path} was made by another version of weigh, which saw other contexts in a text "
            f"({made[0]}, Unicode {made[1]}; this one {CONTEXTS}, {_core.UNICODE_VERSION}). "
            f"Learn the speller again."
        )


def _promise(plain: dict[str, Any]) -> Promise:
    promise = Promise.of(plain)
    if not 0 <= promise.threshold <= 1:
        raise ValueError(f"a threshold of {promise.threshold!r}")
    if not (0 < promise.rate < math.inf and 0 < promise.promised < math.inf):
        raise ValueError(f"a promise of {promise.rate!r} and {promise.promised!r} alarms")
    return promise


def _facts(plain: dict[str, Any], sets: Sequence[LinearChooser]) -> Facts:
    facts = Facts.of(plain)
    if [len(one.examples) for one in facts.sets] != [len(one.words) for one in sets]:
        raise ValueError("facts of other sets")
    rows = [(one.accuracy, one.majority, one.found, one.temperature) for one in facts.sets]
    numbers = [facts.found, *chain.from_iterable(rows)]
    if not all(math.isfinite(number) for number in numbers if number is not None):
        raise ValueError("facts that are no numbers")
    return facts


def _choosers(stored: Stored) -> tuple[LinearChooser, ...]:
    described = stored.meta["sets"]
    words = ConfusionSets(tuple(tuple(map(str, one["words"])) for one in described), SPELLER).sets
    base, weights = stored.arrays["base"], stored.arrays["weights"]
    if base.dtype != np.float64 or weights.dtype != np.float32 or not np.isfinite(weights).all():
        raise ValueError("weights that are no numbers")
    # A word that was never seen has a base of minus infinity.
    if not (np.isneginf(base) | (np.abs(base) <= LARGEST)).all():
        raise ValueError("a base that is no number")
    sizes = [int(one["features"]) for one in described]
    names = _names(stored, sizes)
    bases = _parted(base, [len(one) for one in words])
    if any(np.isneginf(one).all() for one in bases):
        raise ValueError("a set without a word that may be chosen")
    tables = _parted(weights, [len(one) * size for one, size in zip(words, sizes, strict=True)])
    return tuple(
        LinearChooser(*one[:3], one[3].reshape(-1, len(one[0])))
        for one in zip(words, bases, names, tables, strict=True)
    )


def _names(stored: Stored, sizes: list[int]) -> list[Names]:
    text, lengths = stored.arrays["names.text"], stored.arrays["names.lengths"]
    if lengths.dtype.kind != "u" or lengths.dtype.itemsize > 4 or lengths.ndim != 1:
        raise ValueError("lengths of names that are no counts")
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    checked_names(text, offsets, stored.path)
    ends = np.cumsum([0, *sizes])
    _parted(lengths, sizes)
    return [
        Names(text[offsets[begin] : offsets[end]], offsets[begin : end + 1] - offsets[begin])
        for begin, end in pairwise(ends)
    ]


def _parted(array: NDArray[Any], sizes: list[int]) -> list[NDArray[Any]]:
    """An array's parts of these sizes, which must be all of it."""
    if array.ndim != 1 or min(sizes, default=0) < 0 or sum(sizes) != len(array):
        raise ValueError(f"{len(array):,} numbers where {sum(sizes):,} are told")
    return np.split(array, np.cumsum(sizes)[:-1]) if sizes else []
