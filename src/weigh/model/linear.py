"""Linear models: one weight per feature and class, and the storage of their terms in model files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from weigh import _core, errors
from weigh.advice import Setting
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import DenseBlock, Floats
from weigh.features.curves import Curve, Pair
from weigh.features.kinds import Flag, Kind
from weigh.features.names import join_names
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.immutable import read_only
from weigh.model.base import BaseModel, ClassWeightNames, EncodedRows, Model, weight_table
from weigh.model.counts.count_table import read_levels
from weigh.model.distributions.curve_weights import CurveWeights, PairAxis, PairWeights
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
    unknown_words,
)
from weigh.model.evidence.evidence import Evidence, build_evidence
from weigh.model.evidence.exact_products import ClassProduct
from weigh.model.file import store
from weigh.model.file.store import Name
from weigh.model.fit import OnlineSettings
from weigh.model.training_rows import TrainingRows
from weigh.result import Table
from weigh.source.sparse_rows import SparseRows

if TYPE_CHECKING:
    from weigh.features.term_weighting import TermWeighting
    from weigh.model.inference import RobustErrors


class LinearPredictor(BaseModel):
    """A model whose outputs are base + Σ weight(feature) · feature; missing values contribute nothing."""

    schema: Schema
    base: Floats
    terms: Sequence[ScoreTerm]

    @property
    def levels(self) -> dict[str, list[Any]]:
        """The known levels of each categorical column."""
        return {term.name: term.known_levels() for term in self.terms if isinstance(term, LevelWeights)}

    @cached_property
    def _features(self) -> list[LinearFeatures]:
        return [term.features() for term in self.terms]

    @cached_property
    def feature_names(self) -> Sequence[str]:
        """The names of the features, in the order of `coef`, each created on access."""
        return join_names([part.names for part in self._features])

    @property
    def features(self) -> list[str]:
        """The names of the features, in the order of `coef`."""
        return list(self.feature_names)

    def coefficients(self) -> tuple[Floats, Floats]:
        """Return the weights [features, outputs] and the intercepts [outputs]."""
        offsets = np.sum([part.offset for part in self._features], axis=0)
        return np.concatenate([part.coef for part in self._features]), np.asarray(self.base + offsets)

    def linear_predictor(self, rows: EncodedRows) -> Floats:
        """Return the outputs [rows, outputs]."""
        self._warn_missing_numbers(rows)
        outputs = np.tile(self.base, (rows.n_rows, 1))
        for term, block in zip(self.terms, rows.blocks, strict=True):
            term.add(block, outputs)
        return outputs

    def _warn_missing_numbers(self, rows: EncodedRows) -> None:
        """Warn of missing numbers of a named table whose mean is not known, because none was in training."""
        blocks = [block for block in rows.blocks if isinstance(block, DenseBlock)]
        n_missing = sum(block.count_missing() for block in blocks) if self.schema.named else 0
        if n_missing:
            counts = "1 number is missing in the rows to predict and counts"
            if n_missing > 1:
                counts = f"{n_missing:,} numbers are missing in the rows to predict and count"
            warn(
                errors.MissingNumbers(
                    f"{counts} as zero, because these columns had no missing number in training.",
                    hint="Fill such cells in first, for example with the column's mean.",
                ),
                [name for block in blocks for name in block.names],
            )

    def unknown_words(self, rows: EncodedRows, row: int) -> list[str]:
        """Return the words in the texts of a row that the model does not know."""
        return unknown_words(self.terms, rows.blocks, row)

    def robust_errors(
        self, data: Any, y: Any, weights: Any, method: str | None, groups: Any
    ) -> RobustErrors | None:
        """Return standard errors from the training rows for `summary`; None if it was given none of them."""
        if all(each is None for each in (data, y, weights, method, groups)):
            return None
        # Imported here because predictions need no standard errors.
        from weigh.model.robust_errors import RowsForErrors, robust_errors

        return robust_errors(self, method, RowsForErrors(data, y, weights, groups))

    def contributions(self, rows: EncodedRows) -> Iterator[list[Contribution]]:
        """Yield each row's contributions of its features."""
        for row in range(rows.n_rows):
            blocks = [block.row(row) for block in rows.blocks]
            pairs = zip(self.terms, blocks, strict=True)
            yield [contribution for term, block in pairs for contribution in term.contributions(block, 0)]


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(Model, LinearPredictor):
    """score(class) = base(class) + Σ weight(feature, class) · feature.

    A category is one 0/1 feature per level, a flag is one feature; missing values contribute nothing. For two
    classes `coef` and `intercept` are the difference of the second class and the first, so a positive score
    favours the second; the first wins a tie.
    """

    type_name: ClassVar[str] = "linear"

    schema: Schema
    class_list: list[Any]
    base: Floats
    terms: Sequence[ScoreTerm]
    training_rows: TrainingRows | None = field(default=None, kw_only=True)

    @property
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""
        return self.class_list

    @property
    def log_prior(self) -> Floats:
        """The base scores, to which each row's contributions are added."""
        return self.base

    @property
    def is_generative(self) -> bool:
        """Linear scores are not joint log-probabilities."""
        return False

    @cached_property
    @read_only
    def coef(self) -> Floats:
        """The weights: [features] for two classes, else [classes, features]."""
        return self._class_difference(self.coefficients()[0].T)

    @cached_property
    @read_only
    def intercept(self) -> Floats:
        """The score when all features are zero: a number for two classes, else one per class."""
        return self._class_difference(self.coefficients()[1])

    def _class_difference(self, by_class: Floats) -> Floats:
        if len(self.class_list) != 2:
            return np.asarray(by_class)
        with np.errstate(invalid="ignore"):
            difference = np.asarray(by_class[1] - by_class[0])
        if not np.isfinite(difference).all():
            raise errors.Unsupported(
                "A probability of zero has no finite weight.",
                hint=("Train with a prior above 0 (", Setting("prior", 1), ")."),
            )
        return difference

    def display_tables(self) -> Iterator[Table]:
        """Yield the tables of the model's HTML display: classes, columns and the largest weights."""
        yield from super().display_tables()
        try:
            weights, names = self.coef.ravel(), self.feature_names
        except errors.Unsupported:
            return  # zero probabilities and voted perceptrons have no finite weights
        if len(self.class_list) == 2:
            yield weight_table(f"Largest weights: positive for {self.class_list[-1]}", names, weights)
        else:
            yield weight_table("Largest weights", ClassWeightNames(names, self.class_list), weights)

    def linear(self) -> LinearModel:
        """Return the model itself, which is already linear."""
        return self

    def irrelevant(self, tolerance: float = 1e-12) -> list[str]:
        """Return the features whose weights are equal for all classes."""
        spread = np.abs(self.coef) if self.coef.ndim == 1 else np.ptp(self.coef, axis=0)
        return [self.feature_names[j] for j in np.flatnonzero(spread <= tolerance).tolist()]

    def score_rows(self, rows: EncodedRows) -> Floats:
        """Return the scores [rows, classes]."""
        return self.linear_predictor(rows)

    def explain_rows(self, rows: EncodedRows, scores: Floats) -> Iterator[Evidence]:
        """Yield the evidence for each row."""
        verdicts = self.best(scores).tolist()
        for contributions, verdict in zip(self.contributions(rows), verdicts, strict=True):
            yield self.make_evidence(contributions, verdict)

    def make_evidence(self, contributions: Sequence[Contribution], verdict: int) -> Evidence:
        """Return the evidence for a row's verdict from the contributions of its features."""
        return build_evidence(
            self.class_list, self.base, contributions, refuse_exact_products, verdict=verdict
        )

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of a model file: JSON metadata and arrays."""
        arrays: dict[str, Any] = {"base": self.base}
        meta: dict[str, Any] = {"schema": self.schema.to_json()}
        store.write_names(arrays, meta, "classes", self.class_list)
        write_terms(self.terms, arrays, meta)
        if self.training_rows is not None:
            self.training_rows.write_arrays(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> LinearModel:
        """Read a model that `to_store` described."""
        classes = store.read_distinct_names(stored, "classes")
        base = read_floats(stored, "base", len(classes))
        terms, rows = read_terms(stored, schema, len(classes)), TrainingRows.read_arrays(stored, schema)
        return cls(schema, classes, base, terms, training_rows=rows)


def refuse_exact_products() -> list[ClassProduct]:
    """Raise Unsupported: a linear model has no calculation in exact fractions."""
    raise errors.Unsupported(
        "A linear model has weights, not counts, so there is no calculation in exact fractions."
    )


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


def standardisation_of(terms: Sequence[Any]) -> tuple[Floats, Floats]:
    """Return the centres and units with which the features of the terms were standardised."""
    centres, units = [np.empty(0)], [np.empty(0)]
    for term in terms:
        centre, unit = (term.centre, term.unit) if isinstance(term, ScaledWeights) else (0.0, 1.0)
        size = len(term.features().names)
        centres.append(np.full(size, centre))
        units.append(np.full(size, unit))
    return np.concatenate(centres), np.concatenate(units)


def design_rows(terms: Sequence[TrainableTerm], blocks: Sequence[Any], n_rows: int) -> SparseRows:
    """Return the design matrix [n_rows, features] of encoded rows."""
    builder, n_features = _core.CsrBuilder(n_rows), 0
    for term, block in zip(terms, blocks, strict=True):
        term.append_rows(builder, block, n_features)
        n_features += len(term.features().names)
    return SparseRows(*builder.build(), n_features)
