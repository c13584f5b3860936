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
from weigh.features import Codes, Schema
from weigh.features.blocks import Floats, Level
from weigh.model import store
from weigh.model.bayes_counts import BayesCounts
from weigh.model.class_prior import ClassPrior
from weigh.model.counted import KEPT, Counted, given
from weigh.model.evidence import Evidence, weighed
from weigh.model.joint_counts import count_joint, encode_cells, get_joint, joint_columns
from weigh.model.joint_table import JointTable
from weigh.model.leaving.cells import add_cells
from weigh.model.leaving.left_out import leaving, log_priors
from weigh.model.table import ProbabilityTable
from weigh.model.weights import Contribution
from weigh.model.worked import ClassWork
from weigh.source import Chunk

MOST_CELLS = 100_000  # a table of probabilities with more cells is not written out
TOGETHER = "all columns together"


@dataclass(frozen=True, eq=False, repr=False)
class JointModel(Counted):
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
        priors.check(self.prior, "JointBayes", "prior")
        if isinstance(self.prior, priors.Beta | priors.Dirichlet) and getattr(self.prior, "values", True):
            must = "a number above zero, None, or Dirichlet(b) with one b for every cell"
            raise errors.parameter("JointBayes", "prior", must, self.prior)

    @property
    def levels(self) -> dict[str, list[Level]]:
        """The values that columns are known to have."""
        return dict(zip(self.table.columns, self.table.levels, strict=True))

    @cached_property
    def table(self) -> JointTable:
        """The table of all columns within the classes."""
        pseudo = priors.concentration(self.prior, [0])[0]
        return JointTable(joint_columns(self.schema), self.counts.parts[0], pseudo)

    @cached_property
    def class_belief(self) -> ClassPrior:
        """The classes' prior probabilities."""
        return ClassPrior(self.counts.classes, self.counts.rows, self.class_prior, "JointBayes")

    @property
    def log_prior(self) -> Floats:
        """The logarithm of each class's prior probability."""
        return self.class_belief.logs

    def count(self, chunks: Iterable[Chunk]) -> BayesCounts:
        """Count the rows of some chunks."""
        return reduce(BayesCounts.plus, (count_joint(chunk, self.schema) for chunk in chunks))

    def left_out_chunk(self, chunk: Chunk) -> Floats:
        """Return each row's scores from the model without it, for labelled rows that it has learned."""
        rows = leaving(self.counts, chunk)
        scores = log_priors(self.class_belief, rows)
        add_cells(self.table, encode_cells(chunk, self.schema), rows, scores)
        scores[rows.vanished, rows.classes[rows.vanished]] = -np.inf
        return scores

    def with_counts(self, counts: BayesCounts) -> Self:
        """Return the same model with other counts."""
        return replace(self, counts=counts)

    def with_prior(self, prior: Any = KEPT, class_prior: Any = KEPT) -> JointModel:
        """Return the same counts under other priors; what is not given stays."""
        return replace(self, **given(prior=prior, class_prior=class_prior))

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk in the schema's names."""
        return self.log_prior + self.table.logs(encode_cells(chunk, self.schema))

    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row of a chunk: the columns speak together."""
        columns = encode_cells(chunk, self.schema)
        logs = self.table.logs(columns)
        for row in range(chunk.n_rows):
            text = self.table.text(columns, row)
            found = [Contribution(TOGETHER, text, logs[row])] if text else []
            yield weighed(self.classes, self.log_prior, found, partial(self._work, columns, row))

    def _work(self, columns: Sequence[Codes], row: int) -> list[ClassWork]:
        said = bool(self.table.text(columns, row))
        works = []
        for c, label in enumerate(self.classes):
            factors = [self.table.factor(columns, row, c)] if said else []
            works.append(ClassWork(label, (self.class_belief.factor(c), *factors)))
        return works

    def impossible(self, chunk: Chunk, row: int) -> errors.ImpossibleEvidence:
        """Word the error of a row that no class can have."""
        text = self.table.text(encode_cells(chunk, self.schema), row)
        return errors.ImpossibleEvidence(
            f"Row {chunk.first_row + row:,} has probability 0 in every class: the combination {text} never "
            f"occurred in training, or only in classes with prior probability 0. A prior above 0 (prior=1) "
            f"gives every combination a share."
        )

    def predictive_proba(self, rows: Any) -> Floats:
        """Return posterior-predictive probabilities: parameters integrated out, not estimated."""
        return replace(self, prior=priors.averaged(self.prior)).predict_proba(rows)

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
        if total > MOST_CELLS:
            raise errors.Unsupported(
                f"The table has {spelled(total)} cells; one of at most {MOST_CELLS:,} can be written out. "
                f"Use fewer columns or bins."
            )
        cells: dict[Hashable, Fraction] = {}
        for c, label in enumerate(self.classes):
            for cell, share in self._shares(c):
                cells[(*cell, label)] = share * self.class_belief.exact[c]
        return ProbabilityTable([*self.table.columns, self.label or "class"], cells)

    def _shares(self, c: int) -> Iterator[tuple[tuple[Any, ...], Fraction]]:
        """Yield the probability of every cell in class c."""
        counts, share = self.table.exact(c), self.table.share
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
            "prior": priors.to_json(self.prior),
            "class_prior": self.class_belief.to_json(),
        }
        self.counts.put(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.Stored, schema: Schema) -> JointModel:
        """Return the model that `to_store` described."""
        counts = get_joint(stored, schema)
        class_prior = ClassPrior.from_json(stored.meta["class_prior"], counts.classes)
        return cls(schema, counts, priors.from_json(stored.meta["prior"]), class_prior)


def spelled(number: int) -> str:
    """Return a number of cells for people; very large ones by their power of ten."""
    return f"{number:,}" if number < 10**9 else f"about 10^{int(math.log10(number))}"
