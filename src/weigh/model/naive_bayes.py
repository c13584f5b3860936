"""The naive Bayes model: scores from counts and priors, sampling, and the choice of distributions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.features.blocks import Floats, Level
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.words import Block
from weigh.model.base import EncodedRows
from weigh.model.count_model import UNCHANGED, CountModel, explicit_settings
from weigh.model.counts.bayes_counts import BayesCounts, count_rows
from weigh.model.counts.count_table import CountArray
from weigh.model.distributions.bernoulli import Bernoulli
from weigh.model.distributions.categorical import Categorical
from weigh.model.distributions.gaussian import Gaussian
from weigh.model.distributions.multinomial import Multinomial
from weigh.model.distributions.number_shapes import ShapedNumber, make_number_distribution, shape_choice
from weigh.model.distributions.prior_settings import (
    ClassPrior,
    PriorSpec,
    check_priors_fit_columns,
    column_priors_from_json,
    column_priors_to_json,
    part_prior,
)
from weigh.model.distributions.shape_choice import ShapeChoice
from weigh.model.distributions.word_weights import unknown_words
from weigh.model.evidence.exact_products import ClassProduct
from weigh.model.evidence.strengths import strength_tables
from weigh.model.file import store
from weigh.parameters import CountPrior
from weigh.result import Table
from weigh.source.chunk import Chunk

# Imports inside methods keep what predictions do not need out of the start of a program.
if TYPE_CHECKING:
    from weigh.model.evidence.evidence import Evidence
    from weigh.model.linear import LinearModel

MAX_STRENGTH_TABLES = 6  # with more classes the HTML display omits the strongest features


@dataclass(frozen=True, eq=False, repr=False)
class BayesModel(CountModel):
    """score(class) = log P(class) + Σ log P(column's value | class), from exact counts.

    `prior` smooths the columns (a mapping sets it per column; columns without an entry get 1), `class_prior`
    the classes. Neither is stored in the counts, so `with_prior` changes both without refitting.
    `stated` marks a model from stated parameters, which has no rows to merge or forget.
    """

    type_name: ClassVar[str] = "naive-bayes"
    learner: ClassVar[str] = "NaiveBayes"
    title: ClassVar[str] = "naive Bayes model"

    schema: Schema
    counts: BayesCounts
    prior: PriorSpec = 1.0
    class_prior: Any = None
    complement: bool = False
    stated: bool = False
    # The shapes of the numbers if they are kept from other counts; not part of the file.
    shapes: tuple[ShapeChoice | None, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        CountPrior().check("NaiveBayes", "prior", self.prior)
        if self.stated and self.prior is not None:
            must = "None for a model from stated numbers, which has no counts to smooth"
            raise errors.parameter_error("NaiveBayes", "prior", must, self.prior)
        check_priors_fit_columns(self.schema.column_groups, self.prior, self.complement)

    @classmethod
    def from_parameters(
        cls,
        *,
        class_prior: Mapping[Any, Any] | str,
        columns: Mapping[str, Mapping[Any, Any]],
        kinds: Mapping[str, Any] | None = None,
        label: str | None = None,
    ) -> BayesModel:
        """Return a model with stated parameters instead of counted rows.

        `columns` maps column and class to parameters: {value: probability} for a category, one
        probability for a flag, (mean, standard deviation) for a number. Words have {word: probability}
        with `kinds={column: "count"}` (one column per word), "text" or "tokens". Floats are read by
        their decimal text, so 0.1 is exactly one tenth.

        >>> animals = BayesModel.from_parameters(
        ...     class_prior={"Horse": 0.05, "Dog": 0.95},
        ...     columns={"speed": {"Horse": (11.5, 1.0), "Dog": (5, 1.0)}},
        ... )
        >>> animals.predict({"speed": 9.0})
        array(['Horse'], dtype='<U5')
        """
        from weigh.model.counts.specification import counts_from_parameters

        schema, counts, checked = counts_from_parameters(columns, class_prior, kinds, label)
        return cls(schema, counts, None, checked, stated=True)

    @classmethod
    def from_counts(
        cls,
        *,
        columns: Any,
        class_counts: Mapping[Any, Any] | None = None,
        prior: PriorSpec = 1.0,
        class_prior: Any = None,
        kinds: Any = None,
        label: str | None = None,
    ) -> BayesModel:
        """Return the model of stated counts, equal to one fitted to rows with these counts.

        `columns` is {column: {class: {value: count}}}, with (present, known) for a flag. In place of
        {class: {value: count}} it takes a pandas or polars frame with one row per class, such as
        ``pandas.crosstab(rows["class"], rows["column"])``, which may also be `columns` itself. Words need
        `kinds={column: "count"}`, "text" or "tokens"; one kind is that of all columns. `class_counts` is the
        number of rows per class; by default it is taken from the first column.
        """
        from weigh.model.counts.specification import counts_from_tables

        schema, counts = counts_from_tables(columns, class_counts, kinds, label)
        model = cls(schema, counts, prior, class_prior)
        model.class_distribution.check()
        return model

    @property
    def is_generative(self) -> bool:
        """Whether scores are joint log-probabilities; complement scores and scores of values are not."""
        kinds = (part.kind for part in self.schema.column_groups)
        return not self.complement and not any(getattr(kind, "is_weighted", False) for kind in kinds)

    @cached_property
    def class_distribution(self) -> ClassPrior:
        """The prior distribution of the classes."""
        return ClassPrior(self.counts.classes, self.counts.rows, self.class_prior)

    @cached_property
    def log_prior(self) -> Floats:
        """The log prior probability of each class; zero with `complement`, which uses no prior."""
        if self.complement and len(self.classes) > 1:
            return np.zeros(len(self.classes))
        return self.class_distribution.log_probabilities

    @property
    def levels(self) -> dict[str, list[Level]]:
        """The known levels of each categorical column."""
        return {
            column.name: column.levels for column in self.distributions if isinstance(column, Categorical)
        }

    @cached_property
    def distributions(self) -> list[Distribution]:
        """The distribution of each column group within the classes."""
        groups = self.schema.column_groups
        shapes = [None] * len(groups) if self.shapes is None else self.shapes
        return [
            make_number_distribution(group, counts, shape)
            if group.kind.family == "normal"
            else make_distribution(group, counts, self.prior, self.counts.rows, self.complement)
            for group, counts, shape in zip(groups, self.counts.parts, shapes, strict=True)
        ]

    @cached_property
    def terms(self) -> list[Any]:
        """The additive terms of the scores, one per column group."""
        return [distribution.weights for distribution in self.distributions]

    @cached_property
    def leave_one_out_terms(self) -> list[Any]:
        """The additive terms of leave-one-out scores, one per column group."""
        from weigh.model.leave_one_out.scoring import leave_one_out_terms

        return list(leave_one_out_terms(self.distributions))

    def score_rows(self, rows: EncodedRows) -> Floats:
        """Return the scores [rows, classes]."""
        scores = np.tile(self.log_prior, (rows.n_rows, 1))
        for term, block in zip(self.terms, rows.blocks, strict=True):
            term.add(block, scores)
        return scores

    def unknown_words(self, rows: EncodedRows, row: int) -> list[str]:
        """Return the words in the texts of a row that the model does not know."""
        return unknown_words((d.weights for d in self.distributions), rows.blocks, row)

    def explain_rows(self, rows: EncodedRows, scores: Floats) -> Iterator[Evidence]:
        """Yield the evidence for each row."""
        from weigh.model.evidence.evidence import build_evidence

        for row in range(rows.n_rows):
            # The evidence refers to its blocks; single rows keep it from holding the whole chunk in memory.
            blocks = [block.row(row) for block in rows.blocks]
            pairs = zip(self.terms, blocks, strict=True)
            contributions = [c for term, block in pairs for c in term.contributions(block, 0)]
            class_products = partial(self._class_products, blocks)
            yield build_evidence(self.classes, self.log_prior, contributions, class_products)

    def _class_products(self, blocks: Sequence[Block]) -> list[ClassProduct]:
        if self.complement:
            raise errors.Unsupported(
                "Complement scores are not products of probabilities, so there is no calculation to show.",
                hint=("Train with ", Setting("complement", False), "."),
            )
        return [self._class_product(blocks, c) for c in range(len(self.classes))]

    def _class_product(self, blocks: Sequence[Block], c: int) -> ClassProduct:
        pairs: Any = zip(self.distributions, blocks, strict=True)
        factors = [f for distribution, block in pairs for f in distribution.factors(block, 0, c)]
        factors = [self.class_distribution.factor(c), *factors]
        if self.stated:
            factors = [factor.in_lowest_terms() for factor in factors]
        return ClassProduct(self.classes[c], tuple(factors))

    def impossible_row_error(self, rows: EncodedRows, row: int) -> errors.ImpossibleEvidence:
        """Return the error for a row with probability zero in every class, with the columns responsible."""
        pairs = zip(self.terms, rows.blocks, strict=True)
        contributions = [c for term, block in pairs for c in term.contributions(block, row)]
        causes = []
        for c, label in enumerate(self.classes):
            names = [f"{x.feature}={x.value}" for x in contributions if np.isneginf(x.logs[c])]
            causes.append(f"{label!r} by {errors.quote_names(names)}" if names else f"{label!r} by its prior")
        return errors.ImpossibleEvidence(
            f"Row {rows.row_number(row):,} has probability 0 in every class, ruled out as follows: "
            f"{'; '.join(causes[:8])}. These values never occurred in these classes in training.",
            hint=("A prior above 0 (", Setting("prior", 1), ") gives them a positive probability."),
        )

    def display_tables(self) -> Iterator[Table]:
        """Yield the tables of the HTML display: classes, columns and the strongest features per class."""
        yield from super().display_tables()
        if 2 <= len(self.classes) <= MAX_STRENGTH_TABLES and not self.complement:
            yield from strength_tables(
                self.distributions, self.class_distribution.log_probabilities, self.classes
            )

    def with_prior(self, prior: Any = UNCHANGED, class_prior: Any = UNCHANGED) -> BayesModel:
        """Return the model with the same counts and other priors; omitted priors stay the same."""
        return replace(self, **explicit_settings(prior=prior, class_prior=class_prior))

    def count(self, chunks: Iterable[Chunk]) -> BayesCounts:
        """Count the rows of one or more chunks."""
        return count_rows(chunks, self.schema)

    def leave_one_out_chunk(self, chunk: Chunk) -> Floats:
        """Return each row's leave-one-out scores [rows, classes]; the rows are labelled and were learned."""
        from weigh.model.leave_one_out.scoring import leave_one_out_scores

        return leave_one_out_scores(self, chunk)

    def with_counts(self, counts: BayesCounts) -> Self:
        """Return the same model with other counts."""
        return replace(self, counts=counts, shapes=None)

    def with_fewer_counts(self, counts: BayesCounts) -> Self:
        """Return the same model without some rows; the numbers keep the shapes that they have here."""
        return replace(self, counts=counts, shapes=tuple(map(shape_choice, self.distributions)))

    @property
    def has_rows(self) -> bool:
        """Whether the counts come from rows rather than from stated parameters."""
        return not self.stated

    def linear(self) -> LinearModel:
        """Return the linear model that makes the same decisions, if there is one (B12)."""
        from weigh.model.linear import LinearModel

        terms = [
            d.weights if isinstance(d, Bernoulli | Multinomial) else d.linear() for d in self.distributions
        ]
        return LinearModel(self.schema, list(self.classes), self.log_prior, terms)

    def sample(self, n: int, seed: int = 0) -> dict[str, Any]:
        """Draw n rows as a dict of columns: first the class, then each column given the class."""
        return next(self.samples(n, seed, n))

    def samples(self, n: int, seed: int = 0, size: int = 10_000) -> Iterator[dict[str, Any]]:
        """Draw n rows in batches of at most `size`, in bounded memory."""
        return sample_rows(self, n, seed, size)

    def posterior(self, column: str, label: Any) -> Any:
        """Return the posterior of a column's parameters in one class: mean, mode, interval.

        It is a `Dirichlet` for a category, a `Beta` for a flag, and a `NormalPosterior` for a number. With
        `Text(counts=False)`, a word is named "column: word".
        """
        if self.stated:
            raise errors.Unsupported("Stated numbers are taken as certain, so they have no posterior.")
        c = self._class_index(label)
        for distribution in self.distributions:
            part = distribution.part
            if column in part.names or column.startswith(f"{part.title}: "):
                return distribution.posterior(c, column)
        names = self.schema.feature_columns if self.schema.dates else self.schema.names
        raise errors.unknown_column_error(column, names, "The model")

    def _class_index(self, label: Any) -> int:
        if label not in self.classes:
            raise errors.LabelError(
                f"The model has no class {label!r}; it has {errors.quote_names(self.classes)}."
            )
        return self.classes.index(label)

    def predictive(self) -> BayesModel:
        """Return the model with its parameters integrated out; stated parameters stay as they are."""
        if self.complement:
            raise errors.Unsupported(
                "Complement scores are not probabilities of rows, so their parameters cannot be integrated "
                "out.",
                hint=("Train with ", Setting("complement", False), "."),
            )
        return self if self.stated else self._predictive

    @cached_property
    def _predictive(self) -> BayesModel:
        from weigh.model.predictive import PredictiveBayesModel

        return PredictiveBayesModel(
            self.schema, self.counts, self.prior, self.class_prior, shapes=self.shapes
        )

    @property
    def n_parameters(self) -> int:
        """The number of free parameters of all columns in all classes, and of the class prior."""
        per_class = sum(distribution.n_parameters for distribution in self.distributions)
        shared = sum(distribution.n_shared_parameters for distribution in self.distributions)
        return len(self.classes) * per_class + shared + len(self.classes) - 1

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of a model file: JSON metadata and arrays."""
        arrays: dict[str, Any] = {}
        meta: dict[str, Any] = {
            "schema": self.schema.to_json(),
            "prior": column_priors_to_json(self.prior),
            "class_prior": self.class_distribution.to_json(),
            "complement": self.complement,
            "stated": self.stated,
        }
        self.counts.write_arrays(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> BayesModel:
        """Read a model that `to_store` described."""
        meta = stored.meta
        counts = BayesCounts.read_arrays(stored, schema)
        class_prior = ClassPrior.from_json(meta["class_prior"], counts.classes)
        return cls(
            schema,
            counts,
            column_priors_from_json(meta["prior"]),
            class_prior,
            bool(meta["complement"]),
            bool(meta["stated"]),
        )


def sample_rows(model: BayesModel, n: int, seed: int, size: int) -> Iterator[dict[str, Any]]:
    """Yield n sampled rows as dicts of columns, at most `size` rows at a time."""
    for name, value in (("n", n), ("size", size)):
        if not isinstance(value, int) or value < 1:
            raise errors.parameter_error("sample", name, "a whole number of at least 1", value)
    if model.stated and any(part.kind.family == "multinomial" for part in model.schema.column_groups):
        raise errors.Unsupported(
            "The number of words per row was not stated, so rows cannot be sampled. Fit the model to rows, "
            "or use BayesModel.from_counts."
        )
    rng = np.random.default_rng(seed)
    for start in range(0, n, size):
        yield _sample_batch(model, rng, min(size, n - start))


def _sample_batch(model: BayesModel, rng: np.random.Generator, n: int) -> dict[str, Any]:
    class_probabilities = np.exp(model.class_distribution.log_probabilities)
    codes = rng.choice(len(model.classes), size=n, p=class_probabilities).astype(np.int32)
    columns: dict[str, Any] = {}
    for distribution in model.distributions:
        columns |= distribution.sample(rng, codes)
    return columns | {model.label or "class": model.labels[codes]}


Distribution = Categorical | Multinomial | Bernoulli | Gaussian | ShapedNumber


def make_distribution(
    part: ColumnGroup, counts: Any, priors: PriorSpec, rows: CountArray, complement: bool
) -> Distribution:
    """Return the distribution of a column group from its counts and the priors of all columns."""
    prior, priors_by_name = part_prior(priors, part)
    if part.kind.family == "normal":
        return make_number_distribution(part, counts)
    if part.kind.family == "bernoulli":
        return Bernoulli(part, counts, prior, priors_by_name)
    if part.kind.family == "multinomial":
        return Multinomial(part, counts, prior, rows, complement, priors_by_name)
    return Categorical(part, counts, prior)
