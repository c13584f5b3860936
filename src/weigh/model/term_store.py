"""The terms of a linear model in its file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.features.text_kinds import MOST_BUCKETS
from weigh.model import store
from weigh.model.flag_weights import FlagWeights
from weigh.model.weights import LevelWeights, NumberWeights, ScaledWeights
from weigh.model.word_weights import Buckets, GridWeights, ValueWeights, WordWeights

# Terms whose weights were learned one by one, so that others can be put in their place.
Learned = LevelWeights | ScaledWeights | WordWeights
Weights = Learned | FlagWeights | NumberWeights
VALUED = {kind.__name__: kind for kind in (WordWeights, ValueWeights, GridWeights)}


def put_terms(terms: Sequence[Weights], arrays: dict[str, Any], meta: dict[str, Any]) -> None:
    """Add the terms of a model to what its file will hold."""
    for at, term in enumerate(terms):
        _put_term(term, arrays, meta, f"part{at}")


def get_terms(stored: store.Stored, schema: Schema, classes: int) -> list[Weights]:
    """Return the terms that `put_terms` added."""
    return [
        _get_term(stored, f"part{at}", part.title, part.features if part.kind.gathers else None, classes)
        for at, part in enumerate(schema.parts)
    ]


def get_learned(
    stored: store.Stored, schema: Schema, results: int, base: Floats, owner: str
) -> list[Learned]:
    """Return the terms of a model whose weights were learned one by one, all of them finite."""
    found = get_terms(stored, schema, results)
    terms = [term for term in found if isinstance(term, Learned)]
    if len(terms) < len(found):
        raise store.damaged(stored.path, f"it has weights that no {owner} learns")
    if not all(np.isfinite(table).all() for table in (base, *(term.features().coef for term in terms))):
        raise store.damaged(stored.path, "its weights are not all finite")
    return terms


def _put_term(term: Weights, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
    meta[f"{key}.type"] = type(term).__name__
    if isinstance(term, ScaledWeights):
        arrays[f"{key}.table"] = term.table
        meta[f"{key}.centre"], meta[f"{key}.unit"] = term.centre, term.unit
        return
    if isinstance(term, NumberWeights):
        arrays[f"{key}.slope"], arrays[f"{key}.offset"] = term.slope, term.offset
        return
    if isinstance(term, LevelWeights):
        store.put_names(arrays, meta, f"{key}.names", term.levels)
        if term.against is not None:
            meta[f"{key}.against"] = term.against
    elif not term.fixed:
        store.put_names(arrays, meta, f"{key}.names", term.names)
        if term.buckets is not None:
            meta[f"{key}.buckets"], arrays[f"{key}.used"] = term.buckets.number, term.buckets.used
    if isinstance(term, FlagWeights):
        arrays[f"{key}.present"], arrays[f"{key}.absent"] = term.present, term.absent
    else:
        arrays[f"{key}.table"] = term.table


def _get_term(stored: store.Stored, key: str, title: str, columns: Any, classes: int) -> Weights:
    kind = stored.meta.get(f"{key}.type")
    if kind == "NumberWeights":
        return NumberWeights(
            title, get_floats(stored, f"{key}.slope", classes), get_floats(stored, f"{key}.offset", classes)
        )
    if kind == "ScaledWeights":
        centre, unit = (float(stored.meta[f"{key}.{name}"]) for name in ("centre", "unit"))
        if not (np.isfinite(centre) and np.isfinite(unit) and unit > 0):
            raise store.damaged(stored.path, f"its part {key!r} has an impossible scale")
        return ScaledWeights(title, get_floats(stored, f"{key}.table", 1, classes), centre, unit)
    buckets = _get_buckets(stored, key)
    get_names = store.get_distinct if buckets is None else store.get_names
    names: Any = columns if columns is not None else get_names(stored, f"{key}.names")
    fixed = columns is not None
    if buckets is not None and len(buckets.used) != len(names):
        raise store.damaged(stored.path, f"its part {key!r} has more buckets than names")
    if kind == "LevelWeights":
        table = get_floats(stored, f"{key}.table", len(names) + 1, classes)
        return LevelWeights(title, names, table, stored.meta.get(f"{key}.against"))
    if kind == "FlagWeights":
        present, absent = (
            get_floats(stored, f"{key}.{state}", len(names), classes) for state in ("present", "absent")
        )
        return FlagWeights(title, names, present, absent, fixed, buckets)
    if kind in VALUED:
        return VALUED[kind](
            title, names, get_floats(stored, f"{key}.table", len(names), classes), fixed, buckets
        )
    raise store.damaged(stored.path, f"its part {key!r} is of an unknown type")


def _get_buckets(stored: store.Stored, key: str) -> Buckets | None:
    number, used = stored.meta.get(f"{key}.buckets"), stored.arrays.get(f"{key}.used")
    if number is None:
        return None
    whole = isinstance(number, int) and 1 < number <= MOST_BUCKETS and not number & (number - 1)
    fits = used is not None and used.dtype == np.int64 and used.ndim == 1
    if not whole or used is None or not fits or (np.diff(used, prepend=-1, append=number) <= 0).any():
        raise store.damaged(stored.path, f"its buckets {key!r} are not in order")
    return Buckets(number, used)


def get_floats(stored: store.Stored, name: str, *shape: int) -> Floats:
    """Return a table of numbers of a stated shape."""
    array = stored.arrays.get(name)
    if array is None or array.dtype != np.float64 or array.shape != shape or not (array < np.inf).all():
        raise store.damaged(stored.path, f"its table {name!r} is missing or of the wrong shape")
    return array
