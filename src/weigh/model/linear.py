"""Linear models: one weight per feature and class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from weigh import _core, errors
from weigh.advice import Setting
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import DenseBlock, Floats
from weigh.features.names import join_names
from weigh.features.schema import Schema
from weigh.immutable import read_only
from weigh.model.base import BaseModel, ClassWeightNames, EncodedRows, Model, weight_table
from weigh.model.distributions.weights import Contribution, LevelWeights, LinearFeatures, ScaledWeights
from weigh.model.distributions.word_weights import unknown_words
from weigh.model.evidence.evidence import Evidence, build_evidence
from weigh.model.evidence.exact_products import ClassProduct
from weigh.model.file import store
from weigh.model.file.terms import ScoreTerm, TrainableTerm, read_floats, read_terms, write_terms
from weigh.model.training_rows import TrainingRows
from weigh.result import Table
from weigh.source.sparse_rows import SparseRows

if TYPE_CHECKING:
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
