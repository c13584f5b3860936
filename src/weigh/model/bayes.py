"""The naive Bayes model: counts, priors, and the scores that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np

from weigh import errors
from weigh.features import Block, Schema
from weigh.features.blocks import Floats, Level
from weigh.model import column_priors, store
from weigh.model.bayes_counts import BayesCounts
from weigh.model.categorical import Categorical
from weigh.model.class_prior import ClassPrior
from weigh.model.column_priors import PriorSpec
from weigh.model.counted import KEPT, Counted, given
from weigh.model.counters import count_rows
from weigh.model.decision import normalised
from weigh.model.display import Told
from weigh.model.distributions import Distribution, distributed
from weigh.model.drawing import drawn_rows
from weigh.model.evidence import Evidence, weighed
from weigh.model.impossible import ruled_out
from weigh.model.leaving import left_out
from weigh.model.linear import LinearModel
from weigh.model.normal import Normal
from weigh.model.stated import read_counts, read_parameters
from weigh.model.strengths import strength_tables
from weigh.model.worked import ClassWork
from weigh.source import Chunk

SHOWN_CLASSES = 6  # whose features the display lists


@dataclass(frozen=True, eq=False, repr=False)
class BayesModel(Counted):
    """score(class) = log P(class) + Σ log P(column's value | class), from exact counts.

    `prior` smooths every column (or, as a mapping, each its own way; columns not named get 1),
    `class_prior` the classes. Neither is in the counts: `with_prior` changes both at no cost.
    `stated` marks a model made from stated numbers, which has no rows to merge or forget.
    """

    type_name: ClassVar[str] = "naive-bayes"
    title: ClassVar[str] = "naive Bayes model"

    schema: Schema
    counts: BayesCounts
    prior: PriorSpec = 1.0
    class_prior: Any = None
    complement: bool = False
    stated: bool = False

    def __post_init__(self) -> None:
        column_priors.check(self.prior, self.schema.parts)
        others = [part.title for part in self.schema.parts if part.kind.family != "multinomial"]
        if self.complement and others:
            raise errors.ParameterError(
                "NaiveBayes: complement must be False unless all columns are counts or text; the column "
                f"{others[0]!r} is not."
            )
        if self.stated and self.prior is not None:
            must = "None for a model from stated numbers, which has no counts to smooth"
            raise errors.parameter("NaiveBayes", "prior", must, self.prior)
        if self.complement and column_priors.least(self.prior, self.schema.parts) <= 0:
            must = "above 0 with complement=True, and each parameter of a Dirichlet, rest too, above 1"
            raise errors.parameter("NaiveBayes", "prior", must, self.prior)

    @classmethod
    def from_parameters(
        cls,
        *,
        class_prior: Mapping[Any, Any] | str,
        columns: Mapping[str, Mapping[Any, Any]],
        kinds: Mapping[str, Any] | None = None,
        label: str | None = None,
    ) -> BayesModel:
        """Return the model that follows from stated probabilities, means and spreads; no rows needed.

        `columns` says for every column and class what holds there: {value: probability} for a
        category, one probability for a flag, (mean, spread) for a number. Words are {word:
        probability} under `kinds={column: "count"}` (one column per word), "text" or "tokens".
        Floats are read by their decimal text, so that 0.1 is one tenth.

        >>> animals = BayesModel.from_parameters(
        ...     class_prior={"Horse": 0.05, "Dog": 0.95},
        ...     columns={"speed": {"Horse": (11.5, 1.0), "Dog": (5, 1.0)}},
        ... )
        >>> animals.predict({"speed": 9.0})
        array(['Horse'], dtype='<U5')
        """
        schema, counts, checked = read_parameters(columns, class_prior, kinds, label)
        return cls(schema, counts, None, checked, stated=True)

    @classmethod
    def from_counts(
        cls,
        *,
        columns: Mapping[str, Mapping[Any, Any]],
        class_counts: Mapping[Any, Any] | None = None,
        prior: PriorSpec = 1.0,
        class_prior: Any = None,
        kinds: Mapping[str, Any] | None = None,
        label: str | None = None,
    ) -> BayesModel:
        """Return the model of tables of counts, the same as if their rows had been learned.

        `columns` holds {column: {class: {value: count}}}, or (present, known) for a flag; words are
        counted under `kinds={column: "count"}`, "text" or "tokens". The number of rows per class is
        that of the first column, unless `class_counts` gives it.
        """
        schema, counts = read_counts(columns, class_counts, kinds, label)
        model = cls(schema, counts, prior, class_prior)
        model.class_belief.check()
        return model

    @property
    def generative(self) -> bool:
        """Whether scores are joint log-probabilities; the complement's are not."""
        return not self.complement

    @cached_property
    def class_belief(self) -> ClassPrior:
        """The classes' prior probabilities."""
        return ClassPrior(self.counts.classes, self.counts.rows, self.class_prior)

    @cached_property
    def log_prior(self) -> Floats:
        """The logarithm of each class's prior probability; the complement uses none."""
        if self.complement and len(self.classes) > 1:
            return np.zeros(len(self.classes))
        return self.class_belief.logs

    @property
    def levels(self) -> dict[str, list[Level]]:
        """The values that columns of categories are known to have."""
        return {each.name: each.levels for each in self.distributions if isinstance(each, Categorical)}

    @cached_property
    def distributions(self) -> list[Distribution]:
        """What each part is distributed like within the classes."""
        pairs = zip(self.schema.parts, self.counts.parts, strict=True)
        return [distributed(*pair, self.prior, self.counts.rows, self.complement) for pair in pairs]

    @cached_property
    def terms(self) -> list[Any]:
        """What each part adds to the scores."""
        return [each.weights for each in self.distributions]

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk in the schema's names."""
        return self._score(self.schema.encode(chunk), self.terms)

    def _score(self, blocks: Sequence[Block], terms: Sequence[Any]) -> Floats:
        n = blocks[0].n_rows if blocks else 0
        scores = np.empty((n, len(self.classes)))
        scores[:] = self.log_prior
        for term, block in zip(terms, blocks, strict=True):
            term.add(block, scores)
        return scores

    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row of a chunk."""
        whole = self.schema.encode(chunk)
        for row in range(chunk.n_rows):
            # A row by itself: evidence that is kept must not keep the whole chunk.
            blocks = [block.row(row) for block in whole]
            pairs = zip(self.terms, blocks, strict=True)
            found = [c for term, block in pairs for c in term.contributions(block, 0)]
            yield weighed(self.classes, self.log_prior, found, partial(self._work, blocks))

    def _work(self, blocks: Sequence[Block]) -> list[ClassWork]:
        if self.complement:
            raise errors.Unsupported(
                "The complement's scores are not a product of probabilities, so there is no such product to "
                "work out. Train with complement=False."
            )
        return [self._class_work(blocks, c) for c in range(len(self.classes))]

    def _class_work(self, blocks: Sequence[Block], c: int) -> ClassWork:
        pairs: Any = zip(self.distributions, blocks, strict=True)
        factors = [f for each, block in pairs for f in each.factors(block, 0, c)]
        factors = [self.class_belief.factor(c), *factors]
        if self.stated:
            factors = [factor.reduced() for factor in factors]
        return ClassWork(self.classes[c], tuple(factors))

    def impossible(self, chunk: Chunk, row: int) -> errors.ImpossibleEvidence:
        """Word the error of a row that no class can have, naming the columns that rule each out."""
        return ruled_out(self, chunk, row)

    def tables(self) -> Iterator[Told]:
        """Yield what the model is as small tables: classes, columns, and what speaks most for each class."""
        yield from super().tables()
        if 2 <= len(self.classes) <= SHOWN_CLASSES and not self.complement:
            yield from strength_tables(self.distributions, self.class_belief.logs, self.classes)

    def with_prior(self, prior: Any = KEPT, class_prior: Any = KEPT) -> BayesModel:
        """Return the same counts under other priors; what is not given stays."""
        return replace(self, **given(prior=prior, class_prior=class_prior))

    def count(self, chunks: Iterable[Chunk]) -> BayesCounts:
        """Count the rows of some chunks."""
        return count_rows(chunks, self.schema)

    def left_out_chunk(self, chunk: Chunk) -> Floats:
        """Return each row's scores from the model without it, for labelled rows that it has learned."""
        return left_out.scores(self, chunk)

    def with_counts(self, counts: BayesCounts) -> Self:
        """Return the same model with other counts."""
        return replace(self, counts=counts)

    @property
    def has_rows(self) -> bool:
        """Whether the counts are those of rows, and not stated numbers."""
        return not self.stated

    def linear(self) -> LinearModel:
        """Return the linear function that decides alike, where there is one (B12)."""
        terms = [each.linear() if isinstance(each, Normal) else each.weights for each in self.distributions]
        return LinearModel(self.schema, list(self.classes), self.log_prior, terms)

    def sample(self, n: int, seed: int = 0) -> dict[str, Any]:
        """Draw n rows from the model, class first, then each column; a dict of columns."""
        return next(self.samples(n, seed, n))

    def samples(self, n: int, seed: int = 0, size: int = 10_000) -> Iterator[dict[str, Any]]:
        """Draw n rows, at most `size` at a time: as many as wanted, in bounded memory."""
        return drawn_rows(self, n, seed, size)

    def posterior(self, column: str, label: Any) -> Any:
        """Return what is believed of a column's parameters in one class: mean, mode, interval.

        A category gives a `Dirichlet`, a flag a `Beta`, a number its mean and spread. A word of a text
        whose words are flags is asked for as "column: word".
        """
        if self.stated:
            raise errors.Unsupported(
                "Stated numbers are taken as certain: there is no doubt about them to show."
            )
        c = self._class_number(label)
        for each in self.distributions:
            if column in each.part.names or column.startswith(f"{each.part.title}: "):
                return each.posterior(c, column)
        raise errors.unknown_column(column, self.schema.names, "The model")

    def _class_number(self, label: Any) -> int:
        if label not in self.classes:
            raise errors.LabelError(
                f"The model has no class {label!r}; it has {errors.listing(self.classes)}."
            )
        return self.classes.index(label)

    def predictive_proba(self, rows: Any) -> Floats:
        """Return posterior-predictive probabilities: parameters integrated out, not estimated."""
        if self.stated:
            return self.predict_proba(rows)
        terms = [each.predictive() for each in self.distributions]
        scored = [self._score(self.schema.encode(chunk), terms) for chunk in self.chunks(rows)]
        return np.exp(normalised(np.concatenate(scored)))

    @property
    def n_parameters(self) -> int:
        """Free parameters: those of every column in every class, and of the class prior."""
        each = sum(part.n_parameters for part in self.distributions)
        shared = sum(part.n_shared for part in self.distributions)
        return len(self.classes) * each + shared + len(self.classes) - 1

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds."""
        arrays: dict[str, Any] = {}
        meta: dict[str, Any] = {
            "schema": self.schema.to_json(),
            "prior": column_priors.to_json(self.prior),
            "class_prior": self.class_belief.to_json(),
            "complement": self.complement,
            "stated": self.stated,
        }
        self.counts.put(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.Stored, schema: Schema) -> BayesModel:
        """Return the model that `to_store` described."""
        meta = stored.meta
        counts = BayesCounts.get(stored, schema)
        class_prior = ClassPrior.from_json(meta["class_prior"], counts.classes)
        return cls(
            schema,
            counts,
            column_priors.from_json(meta["prior"]),
            class_prior,
            bool(meta["complement"]),
            bool(meta["stated"]),
        )
