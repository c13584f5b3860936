"""Write the terms of linear models to model files, and read them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.features.curves import Curve, Pair
from weigh.features.kinds import Flag, Kind
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.model.counts.count_table import read_levels
from weigh.model.distributions.curve_weights import CurveWeights, PairAxis, PairWeights
from weigh.model.distributions.weights import LevelWeights, NumberWeights, ScaledWeights
from weigh.model.distributions.word_weights import (
    FlagWeights,
    GridWeights,
    HashBuckets,
    ValueWeights,
    WordWeights,
)
from weigh.model.file import store
from weigh.model.file.store import Name
from weigh.model.fit import OnlineSettings

if TYPE_CHECKING:
    from weigh.features.term_weighting import TermWeighting

# Terms with freely trained weights, which `with_weights` can replace.
TrainableTerm = LevelWeights | ScaledWeights | WordWeights | CurveWeights | PairWeights
ScoreTerm = TrainableTerm | FlagWeights | NumberWeights
WORD_TERM_TYPES = {kind.__name__: kind for kind in (WordWeights, ValueWeights, GridWeights)}


def write_terms(terms: Sequence[ScoreTerm], arrays: dict[str, Any], meta: dict[str, Any]) -> None:
    """Add the terms of a model to the content of its file."""
    for i, term in enumerate(terms):
        _write_term(term, arrays, meta, f"part{i}")


def read_terms(stored: store.FileContent, schema: Schema, n_outputs: int) -> list[ScoreTerm]:
    """Read the terms that `write_terms` added."""
    return [_read_term(stored, f"part{i}", group, n_outputs) for i, group in enumerate(schema.column_groups)]


def read_trainable_terms(
    stored: store.FileContent, schema: Schema, n_outputs: int, base: Floats, owner: str
) -> list[TrainableTerm]:
    """Read terms and check that their weights are trainable and finite; `owner` names the model."""
    all_terms = read_terms(stored, schema, n_outputs)
    terms = [term for term in all_terms if isinstance(term, TrainableTerm)]
    if len(terms) < len(all_terms):
        raise store.damaged_file_error(stored.path, f"it has weights of a type that no {owner} has")
    if not all(np.isfinite(table).all() for table in (base, *(term.features().coef for term in terms))):
        raise store.damaged_file_error(stored.path, "its weights are not all finite")
    return terms


def _write_term(term: ScoreTerm, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
    meta[f"{key}.type"] = type(term).__name__
    if isinstance(term, CurveWeights | PairWeights):
        _write_cells(term, arrays, meta, key)
        return
    if isinstance(term, ScaledWeights):
        arrays[f"{key}.table"] = term.table
        meta[f"{key}.centre"], meta[f"{key}.unit"] = term.centre, term.unit
        return
    if isinstance(term, NumberWeights):
        arrays[f"{key}.slope"], arrays[f"{key}.offset"] = term.slope, term.offset
        if term.centre:
            meta[f"{key}.centre"] = term.centre
        return
    if isinstance(term, LevelWeights):
        store.write_names(arrays, meta, f"{key}.names", term.levels)
        if term.reference_level is not None:
            meta[f"{key}.against"] = term.reference_level
    elif not term.fixed:
        store.write_names(arrays, meta, f"{key}.names", term.names)
        if term.buckets is not None:
            meta[f"{key}.buckets"], arrays[f"{key}.used"] = term.buckets.n_buckets, term.buckets.used
        if term.weighting is not None:
            _write_weighting(term.weighting, arrays, meta, key)
    if isinstance(term, FlagWeights):
        arrays[f"{key}.present"], arrays[f"{key}.absent"] = term.present, term.absent
    else:
        arrays[f"{key}.table"] = term.table


def _read_term(stored: store.FileContent, key: str, group: ColumnGroup, n_outputs: int) -> ScoreTerm:
    title, term_type = group.title, str(stored.meta.get(f"{key}.type"))
    if term_type not in _term_types(group.kind):
        raise store.damaged_file_error(stored.path, f"its part {key!r} has no weights of a {group.kind.name}")
    if term_type == "CurveWeights":
        return _read_curve(stored, key, group, n_outputs)
    if term_type == "PairWeights":
        return _read_pair(stored, key, group, n_outputs)
    if term_type == "NumberWeights":
        slope, offset = (read_floats(stored, f"{key}.{name}", n_outputs) for name in ("slope", "offset"))
        centre = float(stored.meta.get(f"{key}.centre", 0.0))
        if not np.isfinite(centre):
            raise store.damaged_file_error(stored.path, f"its part {key!r} has an invalid centre")
        return NumberWeights(title, slope, offset, centre)
    if term_type == "ScaledWeights":
        centre, unit = (float(stored.meta[f"{key}.{name}"]) for name in ("centre", "unit"))
        if not (np.isfinite(centre) and np.isfinite(unit) and unit > 0):
            raise store.damaged_file_error(stored.path, f"its part {key!r} has an invalid scale")
        return ScaledWeights(title, read_floats(stored, f"{key}.table", 1, n_outputs), centre, unit)
    if term_type == "LevelWeights":
        levels = read_levels(stored, f"{key}.names", group.kind)
        table = read_floats(stored, f"{key}.table", len(levels) + 1, n_outputs)
        reference_level = stored.meta.get(f"{key}.against")
        if not isinstance(reference_level, Name | None) or reference_level in levels:
            raise store.damaged_file_error(stored.path, f"its part {key!r} has an invalid reference level")
        return LevelWeights(title, levels, table, reference_level)
    names, fixed, buckets = _read_vocabulary(stored, key, group)
    if term_type == "FlagWeights":
        present, absent = (
            read_floats(stored, f"{key}.{state}", len(names), n_outputs) for state in ("present", "absent")
        )
        return FlagWeights(title, names, present, absent, fixed, buckets)
    table = read_floats(stored, f"{key}.table", len(names), n_outputs)
    weighting = _read_weighting(stored, key, group.kind, len(names))
    return WORD_TERM_TYPES[term_type](title, names, table, fixed, buckets, weighting)


def _write_weighting(
    weighting: TermWeighting, arrays: dict[str, Any], meta: dict[str, Any], key: str
) -> None:
    if weighting.documents is not None:
        arrays[f"{key}.documents"], meta[f"{key}.n_documents"] = weighting.documents, weighting.n_documents
    if weighting.normalises_first:
        meta[f"{key}.normalises_first"] = True


def _read_weighting(stored: store.FileContent, key: str, kind: Kind, n_words: int) -> TermWeighting | None:
    """Read the document frequencies of weighted words; the kind has the other settings."""
    if not isinstance(kind, BagOfWordsKind) or not kind.is_weighted:
        return None
    # Imported here because few models have weighted words.
    from weigh.features.term_weighting import TermWeighting

    normalises_first = stored.meta.get(f"{key}.normalises_first", False) is True
    if not kind.uses_idf:
        return TermWeighting(kind.takes_logs, kind.norm, normalises_first=normalises_first)
    documents = store.read_array(stored, f"{key}.documents", (n_words,), [np.int64, np.float64])
    n_documents = stored.meta.get(f"{key}.n_documents")
    if not isinstance(n_documents, int | float) or not ((documents >= 0) & (documents <= n_documents)).all():
        raise store.damaged_file_error(stored.path, f"its part {key!r} has impossible document frequencies")
    return TermWeighting(kind.takes_logs, kind.norm, documents, n_documents, normalises_first)


def _write_cells(
    term: CurveWeights | PairWeights, arrays: dict[str, Any], meta: dict[str, Any], key: str
) -> None:
    """Add a curve or a pair to the content of a file, as plain named arrays."""
    arrays |= {f"{key}.{name}": getattr(term, name) for name in ("table", "counts", "strengths")}
    if term.errors is not None:
        arrays[f"{key}.errors"] = term.errors
    if isinstance(term, CurveWeights):
        arrays |= {f"{key}.{name}": getattr(term, name) for name in ("cuts", "positions", "limits")}
        return
    for side, axis in (("left", term.left), ("right", term.right)):
        if axis.cuts is not None:
            arrays[f"{key}.{side}.cuts"] = axis.cuts
        elif axis.groups is not None:
            store.write_names(arrays, meta, f"{key}.{side}.levels", axis.levels)
            arrays[f"{key}.{side}.groups"] = axis.groups


def _read_curve(stored: store.FileContent, key: str, group: ColumnGroup, n_outputs: int) -> CurveWeights:
    cuts = _read_cuts(stored, f"{key}.cuts")
    n_cells = len(cuts) + 1
    table, counts, strengths, spreads = _read_heights(stored, key, n_cells + 1, n_outputs, 3)
    positions, limits = (
        read_floats(stored, f"{key}.{n}", k) for n, k in (("positions", n_cells), ("limits", 2))
    )
    if not (np.isfinite(positions).all() and np.isfinite(limits).all()):
        raise store.damaged_file_error(stored.path, f"its curve {key!r} has positions that are not finite")
    return CurveWeights(group.title, cuts, table, counts, positions, limits, strengths, spreads)


def _read_pair(stored: store.FileContent, key: str, group: ColumnGroup, n_outputs: int) -> PairWeights:
    sides = zip(("left", "right"), group.names, getattr(group.kind, "numbers", ()), strict=True)
    left, right = (_read_axis(stored, f"{key}.{side}", name, number) for side, name, number in sides)
    n_cells = left.n_cells * right.n_cells
    table, counts, strengths, spreads = _read_heights(stored, key, n_cells, n_outputs, 1)
    return PairWeights(left, right, table, counts, strengths, spreads)


def _read_axis(stored: store.FileContent, key: str, name: str, is_number: bool) -> PairAxis:
    if is_number:
        return PairAxis(name, _read_cuts(stored, f"{key}.cuts"))
    levels = store.read_distinct_names(stored, f"{key}.levels")
    groups = store.read_array(stored, f"{key}.groups", (len(levels),), [np.int32])
    if sorted(set(groups.tolist())) != list(range(int(groups.max(initial=-1)) + 1)):
        raise store.damaged_file_error(stored.path, f"its groups {key!r} are not numbered from 0 on")
    return PairAxis(name, None, levels, groups)


def _read_cuts(stored: store.FileContent, name: str) -> Floats:
    cuts = store.read_array(stored, name, (None,), [np.float64])
    if not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
        raise store.damaged_file_error(stored.path, f"its cuts {name!r} do not increase")
    return cuts


def _read_heights(
    stored: store.FileContent, key: str, n_cells: int, n_outputs: int, n_strengths: int
) -> tuple[Floats, Floats, Floats, Floats | None]:
    """Read the heights of cells, their counts, the strengths of the prior and the standard deviations."""
    table = read_floats(stored, f"{key}.table", n_cells, n_outputs)
    counts = read_floats(stored, f"{key}.counts", n_cells)
    strengths = read_floats(stored, f"{key}.strengths", n_strengths)
    has_errors = f"{key}.errors" in stored.arrays
    spreads = read_floats(stored, f"{key}.errors", n_cells, n_outputs) if has_errors else None
    numbers = [counts, strengths, *([] if spreads is None else [spreads])]
    if not all((array >= 0).all() for array in numbers):
        raise store.damaged_file_error(stored.path, f"its part {key!r} has negative counts or strengths")
    return table, counts, strengths, spreads


def _term_types(kind: Kind) -> Collection[str]:
    """Return the types of terms that take the blocks of a kind."""
    if isinstance(kind, Curve):
        return ("CurveWeights",)
    if isinstance(kind, Pair):
        return ("PairWeights",)
    if isinstance(kind, Flag) or (isinstance(kind, BagOfWordsKind) and not kind.counts):
        return ("FlagWeights", *WORD_TERM_TYPES)
    if kind.shares_block or isinstance(kind, BagOfWordsKind):
        return WORD_TERM_TYPES
    return ("NumberWeights", "ScaledWeights") if kind.family == "normal" else ("LevelWeights",)


def _read_vocabulary(
    stored: store.FileContent, key: str, group: ColumnGroup
) -> tuple[Sequence[str], bool, HashBuckets | None]:
    """Read the names of a term, whether they are columns of the schema, and the hash buckets."""
    if not isinstance(group.kind, BagOfWordsKind):
        return group.features, True, None
    buckets = _read_buckets(stored, key, group.kind.buckets)
    read_names = store.read_distinct_names if buckets is None else store.read_names
    names: Any = read_names(stored, f"{key}.names")
    if not all(isinstance(name, str) for name in names):
        raise store.damaged_file_error(stored.path, f"its part {key!r} has words that are not strings")
    if buckets is not None and len(buckets.used) != len(names):
        raise store.damaged_file_error(
            stored.path, f"its part {key!r} has different numbers of buckets and names"
        )
    return names, False, buckets


def _read_buckets(stored: store.FileContent, key: str, n_buckets: int | None) -> HashBuckets | None:
    if stored.meta.get(f"{key}.buckets") != n_buckets:
        raise store.damaged_file_error(stored.path, f"its buckets {key!r} are not those of its column")
    if n_buckets is None:
        return None
    used = store.read_array(stored, f"{key}.used", (None,), [np.int64])
    if (np.diff(used, prepend=-1, append=n_buckets) <= 0).any():
        raise store.damaged_file_error(stored.path, f"its buckets {key!r} are invalid")
    return HashBuckets(n_buckets, used)


def read_online_settings(stored: store.FileContent, classes: Sequence[Any]) -> OnlineSettings | None:
    """Read the settings of online training from a model file; None if it has none."""
    if "online" not in stored.meta:
        return None
    settings = OnlineSettings.from_dict(stored.meta["online"])
    if isinstance(settings.class_weight, tuple) and len(settings.class_weight) != len(classes):
        raise store.damaged_file_error(stored.path, "it does not have one class weight per class")
    return settings


def read_floats(stored: store.FileContent, name: str, *shape: int) -> Floats:
    """Read an array of floats and check its shape; log-probabilities may be −∞."""
    array = store.read_array(stored, name, shape, [np.float64])
    if not (array < np.inf).all():
        raise store.damaged_file_error(stored.path, f"its table {name!r} holds numbers that are not finite")
    return array
