"""What a model keeps of the inputs of its training rows, in one form for the models of all learners.

Naive Bayes has the distributions of its columns. Joint Bayes has cells, from which the counts of each column
follow. All other models keep a summary (`model.input_summary`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import DenseBlock, Floats, NumberBlock
from weigh.features.kinds import Category, Number
from weigh.features.schema import ColumnGroup
from weigh.features.text_kinds import BagOfWordsKind
from weigh.model.base import BaseModel
from weigh.model.counts.count_table import CountTable
from weigh.model.counts.sufficient_statistics import FlagCounts
from weigh.model.distributions.bernoulli import Bernoulli
from weigh.model.distributions.categorical import Categorical
from weigh.model.distributions.word_weights import HashBuckets, VocabularyLookup
from weigh.model.input_summary import InputSummary, NumberCells, WordFrequencies
from weigh.model.joint_bayes import JointModel
from weigh.model.naive_bayes import BayesModel
from weigh.source.chunk import Chunk


@dataclass(frozen=True, eq=False)
class TrainingInputs:
    """Training rows per class, a distribution or summary per column, and the rows of a chunk in this form.

    `encode` returns one block per part. `not_examined` are columns without a part.
    """

    rows: Floats
    parts: Sequence[Any]
    encode: Callable[[Chunk], Sequence[Any]]
    not_examined: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class NumberInput:
    """The numbers of a column in training, as counts of cells."""

    part: ColumnGroup
    cells: NumberCells

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """The mean and the standard deviation, [1] each, of numbers in the middles of the cells."""
        low, high = self.cells.bounds
        share = self.cells.counts / max(1, self.cells.counts.sum())
        middles = low / 2 + high / 2
        # Squares of the largest floats are infinite.
        scale = float(np.abs(middles).max(initial=0.0)) or 1.0
        mean = float(share @ (middles / scale))
        deviation = float(np.sqrt(share @ np.square(middles / scale - mean)))
        return np.array([scale * mean]), np.array([scale * deviation])


@dataclass(frozen=True, eq=False)
class TextCounts:
    """The number of training texts that contain each word, in the form of the counts of naive Bayes."""

    names: Sequence[str]
    frequencies: Any
    is_hashed: bool
    weighting: str = "texts"  # texts are counted, not occurrences
    fixed: bool = False


@dataclass(frozen=True, eq=False)
class TextInput:
    """The words of a column of texts in training."""

    part: ColumnGroup
    counts: TextCounts
    buckets: HashBuckets | None

    @property
    def is_hashed(self) -> bool:
        """Whether words are hashed into buckets."""
        return self.buckets is not None

    @property
    def words(self) -> Sequence[str]:
        """The words, or the names of the buckets."""
        return self.counts.names

    @cached_property
    def weights(self) -> VocabularyLookup:
        """The lookup of words."""
        return VocabularyLookup(self.counts.names, self.buckets)


def read_inputs(model: Any) -> TrainingInputs:
    """Return what a model keeps of its training inputs; raise Unsupported if it is nothing."""
    if isinstance(model, BayesModel):
        if model.stated:
            raise errors.Unsupported("A model from stated numbers has no training rows to compare with.")
        rows = np.asarray(model.counts.rows, dtype=np.float64)
        return TrainingInputs(rows, model.distributions, model.schema.encode)
    if isinstance(model, JointModel):
        return _read_joint_inputs(model)
    if not isinstance(model, BaseModel):
        raise errors.Unsupported(
            f"Unfamiliar rows are found by models of weigh, which keep a summary of their training rows; a "
            f"{type(model).__name__} of another library keeps none."
        )
    summary = None if model.training_rows is None else model.training_rows.inputs
    if summary is None:
        raise errors.Unsupported(
            f"This {type(model).__name__} does not remember what its training rows were like: it was saved "
            f"by an earlier release, or not made from rows. Train it again to find unfamiliar rows."
        )
    return _read_summary(model, summary)


def _read_joint_inputs(model: JointModel) -> TrainingInputs:
    cells = model.counts.parts[0]
    totals = cells.table.sum(axis=0)
    parts = []
    for j, (name, levels) in enumerate(zip(model.table.columns, cells.levels, strict=True)):
        is_known = cells.codes[:, j] >= 0
        counts = np.bincount(cells.codes[is_known, j], totals[is_known], minlength=len(levels))
        group = ColumnGroup(Category(), [name], model.schema.named)
        parts.append(Categorical(group, CountTable(levels, counts[None, :]), 1.0))
    rows = np.array([float(totals.sum())])
    return TrainingInputs(rows, parts, lambda chunk: model.encode(chunk).blocks)


def _read_summary(model: BaseModel, summary: InputSummary) -> TrainingInputs:
    groups = model.schema.column_groups[: len(summary.parts)]
    known = list(zip(groups, summary.parts, strict=True))
    terms = getattr(model, "terms", [None] * len(groups))
    parts = [
        part
        for (group, each), term in zip(known, terms, strict=False)
        for part in _make_parts(group, each, term)
    ]
    without = [g for g, each in known if each is None or (isinstance(each, WordFrequencies) and is_pruned(g))]

    def encode(chunk: Chunk) -> list[Any]:
        blocks = model.schema.encode(chunk)
        pairs = zip(known, blocks, strict=False)
        return [
            column for (group, each), block in pairs if group not in without for column in _split(block, each)
        ]

    names = tuple(name for group in without for name in group.names)
    return TrainingInputs(np.array([float(summary.n)]), parts, encode, names)


def is_pruned(group: ColumnGroup) -> bool:
    """Whether the vocabulary lacks words of the training texts, which cannot be told from new ones."""
    kind = group.kind
    return isinstance(kind, BagOfWordsKind) and (kind.min_count > 1 or kind.max_words is not None)


def _make_parts(group: ColumnGroup, part: Any, term: Any) -> Iterator[Any]:
    """Yield a distribution or summary per column, or one for all flags or words."""
    if isinstance(part, tuple):
        names = group.features if group.kind.shares_block else group.names
        for name, cells in zip(names, part, strict=True):
            yield NumberInput(ColumnGroup(Number(), [name], group.named), cells)
    elif isinstance(part, CountTable):
        yield Categorical(replace(group, kind=Category()), part, 1.0)
    elif isinstance(part, FlagCounts):
        yield Bernoulli(group, part, 1.0, {})
    elif isinstance(part, WordFrequencies) and not is_pruned(group):
        counts = TextCounts(term.names, part.counts[None, :], term.buckets is not None)
        yield TextInput(group, counts, term.buckets)


def _split(block: Any, part: Any) -> Iterator[Any]:
    """Yield the blocks of the parts of a column group."""
    if not isinstance(part, tuple) or isinstance(block, NumberBlock):
        yield block
        return
    matrix = block.matrix if isinstance(block, DenseBlock) else block.rows.to_dense()
    yield from map(NumberBlock, np.ascontiguousarray(matrix.T, dtype=np.float64))
