"""The joint (non-naive) Bayes model: one table of all columns together, per class."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial, reduce
from typing import Any, ClassVar, Self

import numpy as np

from weigh import errors, priors
from weigh.features import CategoryBlock, Schema
from weigh.features.blocks import Floats, Level
from weigh.model.count_model import UNCHANGED, CountModel, explicit_settings
from weigh.model.counts.bayes_counts import BayesCounts
from weigh.model.counts.joint_counts import count_joint_chunk, encode_cells, joint_columns, read_joint_counts
from weigh.model.distributions.joint_table import JointTable
from weigh.model.distributions.prior_settings import ClassPrior
from weigh.model.distributions.weights import Contribution
from weigh.model.evidence.evidence import Evidence, build_evidence
from weigh.model.evidence.exact_products import ClassProduct
from weigh.model.file import store
from weigh.model.leave_one_out.scoring import add_joint_table, left_out_rows, log_class_priors
from weigh.model.probability_table import ProbabilityTable
from weigh.source import Chunk

MAX_TABLE_CELLS = 100_000  # a table of probabilities with more cells is not written out
JOINT_FEATURE = "all columns together"


@dataclass(frozen=True, eq=False, repr=False)
class JointModel(CountModel):
    """score(class) = log P(class) + log P(all columns together | class), from exact counts.

    Nothing is taken as independent; in exchange every combination of values needs rows of its
    own. `prior` is the pseudo-count of every cell of the table: a number, None (maximum
    likelihood) or `Dirichlet(b)` (maximum a posteriori, b − 1 per cell).
    """

    type_name: ClassVar[str] = "joint-bayes"
    title: ClassVar[str] = "joint model"

    schema: Schema
    counts: BayesCounts
    prior: priors.Prior = 1.0
    class_prior: Any = None

    def __post_init__(self) -> None:
        joint_columns(self.schema)
        priors.check_prior(self.prior, "JointBayes", "prior")
        if isinstance(self.prior, priors.Beta | priors.Dirichlet) and getattr(self.prior, "values", True):
            must = "a number above zero, None, or Dirichlet(b) with one b for every cell"
            raise errors.parameter_error("JointBayes", "prior", must, self.prior)

    @property
    def levels(self) -> dict[str, list[Level]]:
        """The values that columns are known to have."""
        return dict(zip(self.table.columns, self.table.levels, strict=True))

    @cached_property
    def table(self) -> JointTable:
        """The table of all columns within the classes."""
        pseudo = priors.pseudo_counts(self.prior, [0])[0]
        return JointTable(joint_columns(self.schema), self.counts.parts[0], pseudo)

    @cached_property
    def class_distribution(self) -> ClassPrior:
        """The classes' prior probabilities."""
        return ClassPrior(self.counts.classes, self.counts.rows, self.class_prior, "JointBayes")

    @property
    def log_prior(self) -> Floats:
        """The logarithm of each class's prior probability."""
        return self.class_distribution.log_probabilities

    def count(self, chunks: Iterable[Chunk]) -> BayesCounts:
        """Count the rows of some chunks."""
        return reduce(BayesCounts.plus, (count_joint_chunk(chunk, self.schema) for chunk in chunks))

    def leave_one_out_chunk(self, chunk: Chunk) -> Floats:
        """Return each row's scores from the model without it, for labelled rows that it has learned."""
        rows = left_out_rows(self.counts, chunk)
        scores = log_class_priors(self.class_distribution, rows)
        add_joint_table(self.table, encode_cells(chunk, self.schema), rows, scores)
        scores[rows.leaves_class_empty, rows.classes[rows.leaves_class_empty]] = -np.inf
        return scores

    def with_counts(self, counts: BayesCounts) -> Self:
        """Return the same model with other counts."""
        return replace(self, counts=counts)

    def with_prior(self, prior: Any = UNCHANGED, class_prior: Any = UNCHANGED) -> JointModel:
        """Return the same counts under other priors; what is not given stays."""
        return replace(self, **explicit_settings(prior=prior, class_prior=class_prior))

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk in the schema's names."""
        return self.log_prior + self.table.log_probabilities(encode_cells(chunk, self.schema))

    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row of a chunk: the columns speak together."""
        columns = encode_cells(chunk, self.schema)
        logs = self.table.log_probabilities(columns)
        for row in range(chunk.n_rows):
            text = self.table.describe_row(columns, row)
            found = [Contribution(JOINT_FEATURE, text, logs[row])] if text else []
            yield build_evidence(
                self.classes, self.log_prior, found, partial(self._class_products, columns, row)
            )

    def _class_products(self, columns: Sequence[CategoryBlock], row: int) -> list[ClassProduct]:
        said = bool(self.table.describe_row(columns, row))
        works = []
        for c, label in enumerate(self.classes):
            factors = [self.table.factor(columns, row, c)] if said else []
            works.append(ClassProduct(label, (self.class_distribution.factor(c), *factors)))
        return works

    def impossible_row_error(self, chunk: Chunk, row: int) -> errors.ImpossibleEvidence:
        """Word the error of a row that no class can have."""
        text = self.table.describe_row(encode_cells(chunk, self.schema), row)
        return errors.ImpossibleEvidence(
            f"Row {chunk.first_row + row:,} has probability 0 in every class: the combination {text} never "
            f"occurred in training, or only in classes with prior probability 0. A prior above 0 (prior=1) "
            f"gives every combination a share."
        )

    def predictive_proba(self, rows: Any) -> Floats:
        """Return posterior-predictive probabilities: parameters integrated out, not estimated."""
        return replace(self, prior=priors.posterior_mean_prior(self.prior)).predict_proba(rows)

    def linear(self) -> Any:
        """Refuse: a table of all combinations is no linear function of the columns."""
        raise errors.Unsupported(
            "A joint table is not a linear function of its columns, so there is no linear model that decides "
            "alike. Train NaiveBayes and ask its model."
        )

    def sample(self, n: int, seed: int = 0) -> dict[str, Any]:
        """Draw n rows from the model, class first, then all columns together; a dict of columns."""
        rng = np.random.default_rng(seed)
        codes = rng.choice(len(self.classes), size=n, p=np.exp(self.log_prior)).astype(np.int32)
        return self.table.sample(rng, codes) | {self.label or "class": self.labels[codes]}

    @property
    def n_cells(self) -> int:
        """Cells of the table per class: the product of the numbers of levels."""
        return self.table.n_cells

    @property
    def n_parameters(self) -> int:
        """Free parameters: all cells of every class but one, and the class prior."""
        return len(self.classes) * (self.n_cells - 1) + len(self.classes) - 1

    @property
    def n_parameters_naive(self) -> int:
        """Free parameters that naive Bayes would have for the same columns."""
        each = sum(size - 1 for size in self.table.sizes)
        return len(self.classes) * each + len(self.classes) - 1

    def to_table(self) -> ProbabilityTable:
        """Return P(columns, class) as a table that answers any question about them, exactly.

        Rows that lacked a value in training fill no cell of it.
        """
        total = self.n_cells * len(self.classes)
        if total > MAX_TABLE_CELLS:
            raise errors.Unsupported(
                f"The table has {format_cell_count(total)} cells; one of at most {MAX_TABLE_CELLS:,} can be written out. "
                f"Use fewer columns or bins."
            )
        cells: dict[Hashable, Fraction] = {}
        for c, label in enumerate(self.classes):
            for cell, share in self._cell_probabilities(c):
                cells[(*cell, label)] = share * self.class_distribution.exact_probabilities[c]
        return ProbabilityTable([*self.table.columns, self.label or "class"], cells)

    def _cell_probabilities(self, c: int) -> Iterator[tuple[tuple[Any, ...], Fraction]]:
        """Yield the probability of every cell in class c."""
        counts, share = self.table.exact_cell_counts(c), self.table.nonnegative_pseudo_count
        total = sum(counts.values(), Fraction(0)) + share * self.n_cells
        if not total:
            raise errors.Unsupported("Without a complete row or a prior a table has no probabilities.")
        for codes in itertools.product(*map(range, self.table.sizes)):
            cell = tuple(levels[k] for levels, k in zip(self.table.levels, codes, strict=True))
            yield cell, (counts.get(codes, Fraction(0)) + share) / total

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds."""
        arrays: dict[str, Any] = {}
        meta: dict[str, Any] = {
            "schema": self.schema.to_json(),
            "prior": priors.prior_to_json(self.prior),
            "class_prior": self.class_distribution.to_json(),
        }
        self.counts.write_arrays(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> JointModel:
        """Return the model that `to_store` described."""
        counts = read_joint_counts(stored, schema)
        class_prior = ClassPrior.from_json(stored.meta["class_prior"], counts.classes)
        return cls(schema, counts, priors.prior_from_json(stored.meta["prior"]), class_prior)


def format_cell_count(number: int) -> str:
    """Return a number of cells for people; very large ones by their power of ten."""
    return f"{number:,}" if number < 10**9 else f"about 10^{int(math.log10(number))}"
