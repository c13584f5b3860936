"""The joint (non-naive) Bayes model: the full joint table of all columns within each class."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial, reduce
from typing import Any, ClassVar, Self

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.features.blocks import CategoryBlock, Floats, Level
from weigh.features.schema import Schema
from weigh.model.base import EncodedRows
from weigh.model.count_model import UNCHANGED, CountModel, explicit_settings
from weigh.model.counts.bayes_counts import BayesCounts
from weigh.model.counts.joint_counts import count_joint_chunk, encode_cells, joint_columns, read_joint_counts
from weigh.model.distributions.joint_table import JointTable
from weigh.model.distributions.prior_settings import ClassPrior
from weigh.model.distributions.weights import Contribution
from weigh.model.evidence.evidence import Evidence, build_evidence
from weigh.model.evidence.exact_products import ClassProduct
from weigh.model.file import store
from weigh.model.leave_one_out.joint_table import add_joint_table
from weigh.model.leave_one_out.scoring import left_out_rows, log_class_priors
from weigh.model.probability_table import ProbabilityTable
from weigh.parameters import CellPrior
from weigh.priors.smoothing import (
    Prior,
    posterior_mean_prior,
    prior_from_json,
    prior_to_json,
    pseudo_counts,
)
from weigh.source.chunk import Chunk

MAX_TABLE_CELLS = 100_000  # of a `ProbabilityTable`
JOINT_FEATURE = "all columns together"


@dataclass(frozen=True, eq=False, repr=False)
class JointModel(CountModel):
    """score(class) = log P(class) + log P(all columns | class), from exact counts.

    The columns are not assumed to be independent, so every combination of values needs its own rows. `prior`
    is the pseudo-count of every cell of the table: a number, None (maximum likelihood) or `Dirichlet(b)`
    (maximum a posteriori, b − 1 per cell).
    """

    type_name: ClassVar[str] = "joint-bayes"
    learner: ClassVar[str] = "JointBayes"
    title: ClassVar[str] = "joint model"

    schema: Schema
    counts: BayesCounts
    prior: Prior = 1.0
    class_prior: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        joint_columns(self.schema)
        CellPrior().check("JointBayes", "prior", self.prior)

    @property
    def levels(self) -> dict[str, list[Level]]:
        """The known levels of each column."""
        return dict(zip(self.table.columns, self.table.levels, strict=True))

    @cached_property
    def table(self) -> JointTable:
        """The joint table of the columns within each class."""
        pseudo_count = pseudo_counts(self.prior, [0])[0]
        return JointTable(joint_columns(self.schema), self.counts.parts[0], pseudo_count)

    @cached_property
    def class_distribution(self) -> ClassPrior:
        """The prior distribution of the classes."""
        return ClassPrior(self.counts.classes, self.counts.rows, self.class_prior, "JointBayes")

    @property
    def log_prior(self) -> Floats:
        """The log prior probability of each class."""
        return self.class_distribution.log_probabilities

    def count(self, chunks: Iterable[Chunk]) -> BayesCounts:
        """Count the rows of one or more chunks."""
        return reduce(BayesCounts.plus, (count_joint_chunk(chunk, self.schema) for chunk in chunks))

    def leave_one_out_chunk(self, chunk: Chunk) -> Floats:
        """Return each row's leave-one-out scores [rows, classes]; the rows are labelled and were learned."""
        rows = left_out_rows(self.counts, chunk)
        scores = log_class_priors(self.class_distribution, rows)
        add_joint_table(self.table, encode_cells(chunk, self.schema), rows, scores)
        scores[rows.leaves_class_empty, rows.classes[rows.leaves_class_empty]] = -np.inf
        return scores

    def with_counts(self, counts: BayesCounts) -> Self:
        """Return the same model with other counts."""
        return replace(self, counts=counts)

    def with_prior(self, prior: Any = UNCHANGED, class_prior: Any = UNCHANGED) -> JointModel:
        """Return the model with the same counts and other priors; omitted priors stay the same."""
        return replace(self, **explicit_settings(prior=prior, class_prior=class_prior))

    def encode(self, chunk: Chunk) -> EncodedRows:
        """Encode the rows of a chunk as the cells of the table."""
        return EncodedRows(encode_cells(chunk, self.schema), chunk.n_rows, chunk.row_number)

    def score_rows(self, rows: EncodedRows) -> Floats:
        """Return the scores [rows, classes]."""
        return self.log_prior + self.table.log_probabilities(rows.blocks)

    def explain_rows(self, rows: EncodedRows, scores: Floats) -> Iterator[Evidence]:
        """Yield the evidence for each row: one contribution of all columns together."""
        for row, logs in enumerate(self.table.log_probabilities(rows.blocks)):
            # The evidence refers to its columns; single rows keep it from holding the whole chunk in memory.
            columns = [block.row(row) for block in rows.blocks]
            text = self.table.describe_row(columns, 0)
            contributions = [Contribution(JOINT_FEATURE, text, logs)] if text else []
            class_products = partial(self._class_products, columns)
            yield build_evidence(self.classes, self.log_prior, contributions, class_products)

    def _class_products(self, columns: Sequence[CategoryBlock]) -> list[ClassProduct]:
        has_values = bool(self.table.describe_row(columns, 0))
        products = []
        for c, label in enumerate(self.classes):
            factors = [self.table.factor(columns, c)] if has_values else []
            products.append(ClassProduct(label, (self.class_distribution.factor(c), *factors)))
        return products

    def impossible_row_error(self, rows: EncodedRows, row: int) -> errors.ImpossibleEvidence:
        """Return the error for a row with probability zero in every class."""
        text = self.table.describe_row(rows.blocks, row)
        return errors.ImpossibleEvidence(
            f"Row {rows.row_number(row):,} has probability 0 in every class: the combination {text} never "
            "occurred in training, or only in classes with prior probability 0.",
            hint=(
                "A prior above 0 (",
                Setting("prior", 1),
                ") gives every combination a positive probability.",
            ),
        )

    def predictive(self) -> JointModel:
        """Return the model whose cells and classes have the posterior means of their probabilities."""
        class_prior = posterior_mean_prior(self.class_prior)
        return replace(self, prior=posterior_mean_prior(self.prior), class_prior=class_prior)

    def linear(self) -> Any:
        """Raise Unsupported: a joint table is not a linear function of the columns."""
        raise errors.Unsupported(
            "A joint table is not a linear function of its columns, so no linear model makes the same "
            "decisions. Train NaiveBayes and use its model_.linear()."
        )

    def sample(self, n: int, seed: int = 0) -> dict[str, Any]:
        """Draw n rows as a dict of columns: first the class, then all columns jointly."""
        rng = np.random.default_rng(seed)
        codes = rng.choice(len(self.classes), size=n, p=np.exp(self.log_prior)).astype(np.int32)
        return self.table.sample(rng, codes) | {self.label or "class": self.labels[codes]}

    @property
    def n_cells(self) -> int:
        """The number of cells per class: the product of the numbers of levels."""
        return self.table.n_cells

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: cells − 1 per class, and classes − 1 of the class prior."""
        return len(self.classes) * (self.n_cells - 1) + len(self.classes) - 1

    @property
    def n_parameters_naive(self) -> int:
        """The number of free parameters that naive Bayes would have for the same columns."""
        per_class = sum(size - 1 for size in self.table.sizes)
        return len(self.classes) * per_class + len(self.classes) - 1

    def to_table(self) -> ProbabilityTable:
        """Return P(columns, class) as an exact probability table.

        Training rows with missing values are not counted in any cell.
        """
        total = self.n_cells * len(self.classes)
        if total > MAX_TABLE_CELLS:
            raise errors.Unsupported(
                f"The table has {format_cell_count(total)} cells; a probability table can have at most "
                f"{MAX_TABLE_CELLS:,}. Use fewer columns or bins."
            )
        cells: dict[Hashable, Fraction] = {}
        for c, label in enumerate(self.classes):
            for cell, p in self._cell_probabilities(c):
                cells[(*cell, label)] = p * self.class_distribution.exact_probabilities[c]
        return ProbabilityTable([*self.table.columns, self.label or "class"], cells)

    def _cell_probabilities(self, c: int) -> Iterator[tuple[tuple[Any, ...], Fraction]]:
        """Yield every cell of class c with its probability."""
        counts, pseudo_count = self.table.exact_cell_counts(c), self.table.nonnegative_pseudo_count
        total = sum(counts.values(), Fraction(0)) + pseudo_count * self.n_cells
        if not total:
            raise errors.Unsupported(
                f"Class {self.classes[c]!r} has no row without missing values, so its table has no "
                "probabilities.",
                hint=("Train with a prior above 0 (", Setting("prior", 1), ")."),
            )
        for codes in itertools.product(*map(range, self.table.sizes)):
            cell = tuple(levels[k] for levels, k in zip(self.table.levels, codes, strict=True))
            yield cell, (counts.get(codes, Fraction(0)) + pseudo_count) / total

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of a model file: JSON metadata and arrays."""
        arrays: dict[str, Any] = {}
        meta: dict[str, Any] = {
            "schema": self.schema.to_json(),
            "prior": prior_to_json(self.prior),
            "class_prior": self.class_distribution.to_json(),
        }
        self.counts.write_arrays(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> JointModel:
        """Read a model that `to_store` described."""
        counts = read_joint_counts(stored, schema)
        class_prior = ClassPrior.from_json(stored.meta["class_prior"], counts.classes)
        return cls(schema, counts, prior_from_json(stored.meta["prior"]), class_prior)


def format_cell_count(number: int) -> str:
    """Format a number of cells; very large ones as a power of ten."""
    return f"{number:,}" if number < 10**9 else f"about 10^{int(math.log10(number))}"
