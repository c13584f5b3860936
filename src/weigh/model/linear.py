"""Linear models: one weight per feature and class, whoever found them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from weigh import _core, errors
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.features.text_kinds import MAX_BUCKETS
from weigh.model.base import BaseModel, DisplayTable, Model, name_weights_by_class, weight_table
from weigh.model.distributions.weights import (
    Contribution,
    LevelWeights,
    LinearFeatures,
    NumberWeights,
    ScaledWeights,
)
from weigh.model.distributions.word_weights import (
    FlagWeights,
    GridWeights,
    HashBuckets,
    ValueWeights,
    WordWeights,
)
from weigh.model.evidence.evidence import Evidence, build_evidence
from weigh.model.evidence.exact_products import ClassProduct
from weigh.model.file import store
from weigh.source import Chunk


class LinearPredictor(BaseModel):
    """A model whose results are base + Σ weight(feature) · feature; missing values add nothing."""

    schema: Schema
    base: Floats
    terms: Sequence[ScoreTerm]

    @property
    def levels(self) -> dict[str, list[Any]]:
        """The values that columns of categories are known to have."""
        return {term.name: term.known_levels() for term in self.terms if isinstance(term, LevelWeights)}

    @cached_property
    def _features(self) -> list[LinearFeatures]:
        return [term.features() for term in self.terms]

    @property
    def features(self) -> list[str]:
        """The names of the features, in the order of `coef`."""
        return [name for each in self._features for name in each.names]

    def table(self) -> tuple[Floats, Floats]:
        """Return the weights [features, results], and the results when all features are zero."""
        offsets = np.sum([each.offset for each in self._features], axis=0)
        return np.concatenate([each.coef for each in self._features]), np.asarray(self.base + offsets)

    def linear_predictor(self, chunk: Chunk) -> Floats:
        """Return the results [rows, results] of a chunk in the schema's names."""
        blocks: list[Any] = self.schema.encode(chunk)
        found = np.tile(self.base, (chunk.n_rows, 1))
        for term, block in zip(self.terms, blocks, strict=True):
            term.add(block, found)
        return found

    def contributions(self, chunk: Chunk) -> Iterator[list[Contribution]]:
        """Yield what each feature of a row adds, row by row."""
        whole = self.schema.encode(chunk)
        for row in range(chunk.n_rows):
            blocks: list[Any] = [block.row(row) for block in whole]
            pairs = zip(self.terms, blocks, strict=True)
            yield [found for term, block in pairs for found in term.contributions(block, 0)]


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(Model, LinearPredictor):
    """score(class) = base(class) + Σ weight(feature, class) · feature.

    A category is one feature per level (0 or 1), a flag one feature; missing values add nothing.
    For two classes `coef` and `intercept` are those of the second class against the first, so a
    positive score speaks for the second; a tie goes to the first.
    """

    type_name: ClassVar[str] = "linear"

    schema: Schema
    class_list: list[Any]
    base: Floats
    terms: Sequence[ScoreTerm]

    @property
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""
        return self.class_list

    @property
    def log_prior(self) -> Floats:
        """What every row's scores start from."""
        return self.base

    @property
    def is_generative(self) -> bool:
        """Linear scores are not joint probabilities."""
        return False

    @cached_property
    def coef(self) -> Floats:
        """The weights: [features] for two classes, else [classes, features]."""
        return self._class_difference(self.table()[0].T)

    @cached_property
    def intercept(self) -> Floats:
        """The score when all features are zero: a number for two classes, else one per class."""
        return self._class_difference(self.table()[1])

    def _class_difference(self, table: Floats) -> Floats:
        if len(self.class_list) != 2:
            return np.asarray(table)
        with np.errstate(invalid="ignore"):
            difference = np.asarray(table[1] - table[0])
        if not np.isfinite(difference).all():
            raise errors.Unsupported(
                "A probability of zero has no finite weight. Train with a prior above 0 (prior=1)."
            )
        return difference

    def display_tables(self) -> Iterator[DisplayTable]:
        """Yield what the model is as small tables: of two classes, positive weights speak for the second."""
        yield from super().display_tables()
        try:
            weights, names = self.coef.ravel(), self.features
        except errors.Unsupported:
            # Zero probabilities, and votes, have no weights to show.
            return
        many = len(self.class_list) != 2
        title = "Heaviest weights" + ("" if many else f": positive for {self.class_list[-1]}")
        yield weight_table(
            title, list(name_weights_by_class(names, self.class_list)) if many else names, weights
        )

    def linear(self) -> LinearModel:
        """Return the model itself, which is linear."""
        return self

    def irrelevant(self, tolerance: float = 1e-12) -> list[str]:
        """Return the features whose weight is zero: they speak for no class."""
        spread = np.abs(self.coef) if self.coef.ndim == 1 else np.ptp(self.coef, axis=0)
        return [name for name, w in zip(self.features, spread, strict=True) if w <= tolerance]

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk in the schema's names."""
        return self.linear_predictor(chunk)

    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row of a chunk."""
        verdicts = self.best(self.score_chunk(chunk)).tolist()
        for found, verdict in zip(self.contributions(chunk), verdicts, strict=True):
            yield self.make_evidence(found, verdict)

    def make_evidence(self, found: Sequence[Contribution], verdict: int) -> Evidence:
        """Return the evidence for a row's verdict from what its features add."""
        return build_evidence(self.class_list, self.base, found, refuse_exact_products, verdict=verdict)

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds."""
        arrays: dict[str, Any] = {"base": self.base}
        meta: dict[str, Any] = {"schema": self.schema.to_json()}
        store.write_names(arrays, meta, "classes", self.class_list)
        write_terms(self.terms, arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> LinearModel:
        """Return the model that `to_store` described."""
        classes = store.read_distinct_names(stored, "classes")
        base = read_floats(stored, "base", len(classes))
        return cls(schema, classes, base, read_terms(stored, schema, len(classes)))


def refuse_exact_products() -> list[ClassProduct]:
    """Refuse to work out fractions."""
    raise errors.Unsupported("A linear model keeps weights, not counts: there are no fractions to work out.")


# Terms whose weights were learned one by one, so that others can be put in their place.
TrainableTerm = LevelWeights | ScaledWeights | WordWeights
ScoreTerm = TrainableTerm | FlagWeights | NumberWeights
WORD_TERM_TYPES = {kind.__name__: kind for kind in (WordWeights, ValueWeights, GridWeights)}


def write_terms(terms: Sequence[ScoreTerm], arrays: dict[str, Any], meta: dict[str, Any]) -> None:
    """Add the terms of a model to what its file will hold."""
    for at, term in enumerate(terms):
        _write_term(term, arrays, meta, f"part{at}")


def read_terms(stored: store.FileContent, schema: Schema, classes: int) -> list[ScoreTerm]:
    """Return the terms that `put_terms` added."""
    return [
        _read_term(
            stored, f"part{at}", part.title, part.features if part.kind.shares_block else None, classes
        )
        for at, part in enumerate(schema.column_groups)
    ]


def read_trainable_terms(
    stored: store.FileContent, schema: Schema, results: int, base: Floats, owner: str
) -> list[TrainableTerm]:
    """Return the terms of a model whose weights were learned one by one, all of them finite."""
    found = read_terms(stored, schema, results)
    terms = [term for term in found if isinstance(term, TrainableTerm)]
    if len(terms) < len(found):
        raise store.damaged_file_error(stored.path, f"it has weights that no {owner} learns")
    if not all(np.isfinite(table).all() for table in (base, *(term.features().coef for term in terms))):
        raise store.damaged_file_error(stored.path, "its weights are not all finite")
    return terms


def _write_term(term: ScoreTerm, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
    meta[f"{key}.type"] = type(term).__name__
    if isinstance(term, ScaledWeights):
        arrays[f"{key}.table"] = term.table
        meta[f"{key}.centre"], meta[f"{key}.unit"] = term.centre, term.unit
        return
    if isinstance(term, NumberWeights):
        arrays[f"{key}.slope"], arrays[f"{key}.offset"] = term.slope, term.offset
        return
    if isinstance(term, LevelWeights):
        store.write_names(arrays, meta, f"{key}.names", term.levels)
        if term.reference_level is not None:
            meta[f"{key}.against"] = term.reference_level
    elif not term.fixed:
        store.write_names(arrays, meta, f"{key}.names", term.names)
        if term.buckets is not None:
            meta[f"{key}.buckets"], arrays[f"{key}.used"] = term.buckets.n_buckets, term.buckets.used
    if isinstance(term, FlagWeights):
        arrays[f"{key}.present"], arrays[f"{key}.absent"] = term.present, term.absent
    else:
        arrays[f"{key}.table"] = term.table


def _read_term(stored: store.FileContent, key: str, title: str, columns: Any, classes: int) -> ScoreTerm:
    kind = stored.meta.get(f"{key}.type")
    if kind == "NumberWeights":
        return NumberWeights(
            title, read_floats(stored, f"{key}.slope", classes), read_floats(stored, f"{key}.offset", classes)
        )
    if kind == "ScaledWeights":
        centre, unit = (float(stored.meta[f"{key}.{name}"]) for name in ("centre", "unit"))
        if not (np.isfinite(centre) and np.isfinite(unit) and unit > 0):
            raise store.damaged_file_error(stored.path, f"its part {key!r} has an impossible scale")
        return ScaledWeights(title, read_floats(stored, f"{key}.table", 1, classes), centre, unit)
    buckets = _read_buckets(stored, key)
    get_names = store.read_distinct_names if buckets is None else store.read_names
    names: Any = columns if columns is not None else get_names(stored, f"{key}.names")
    fixed = columns is not None
    if buckets is not None and len(buckets.used) != len(names):
        raise store.damaged_file_error(stored.path, f"its part {key!r} has more buckets than names")
    if kind == "LevelWeights":
        table = read_floats(stored, f"{key}.table", len(names) + 1, classes)
        return LevelWeights(title, names, table, stored.meta.get(f"{key}.against"))
    if kind == "FlagWeights":
        present, absent = (
            read_floats(stored, f"{key}.{state}", len(names), classes) for state in ("present", "absent")
        )
        return FlagWeights(title, names, present, absent, fixed, buckets)
    if kind in WORD_TERM_TYPES:
        return WORD_TERM_TYPES[kind](
            title, names, read_floats(stored, f"{key}.table", len(names), classes), fixed, buckets
        )
    raise store.damaged_file_error(stored.path, f"its part {key!r} is of an unknown type")


def _read_buckets(stored: store.FileContent, key: str) -> HashBuckets | None:
    number, used = stored.meta.get(f"{key}.buckets"), stored.arrays.get(f"{key}.used")
    if number is None:
        return None
    whole = isinstance(number, int) and 1 < number <= MAX_BUCKETS and not number & (number - 1)
    fits = used is not None and used.dtype == np.int64 and used.ndim == 1
    if not whole or used is None or not fits or (np.diff(used, prepend=-1, append=number) <= 0).any():
        raise store.damaged_file_error(stored.path, f"its buckets {key!r} are not in order")
    return HashBuckets(number, used)


def read_floats(stored: store.FileContent, name: str, *shape: int) -> Floats:
    """Return a table of numbers of a stated shape."""
    array = stored.arrays.get(name)
    if array is None or array.dtype != np.float64 or array.shape != shape or not (array < np.inf).all():
        raise store.damaged_file_error(stored.path, f"its table {name!r} is missing or of the wrong shape")
    return array


def dense_rows(terms: Sequence[TrainableTerm], blocks: Sequence[Any], n: int) -> Floats:
    """Return the features [n, features] of n rows, as their weights were learned."""
    assembly, first = _core.CsrBuilder(n), 0
    for term, block in zip(terms, blocks, strict=True):
        term.append_rows(assembly, block, first)
        first += len(term.features().names)
    indptr, indices, values = assembly.build()
    dense = np.zeros((n, first))
    dense[np.repeat(np.arange(n), np.diff(indptr)), indices] = values
    return dense
