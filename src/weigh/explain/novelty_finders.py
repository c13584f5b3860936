"""Find the rows with values or words that are unusual among the training rows, each finder at its rate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.explain.rarity import (
    MAX_EXACT_EXTENT,
    ClassTails,
    FlagRarity,
    LevelRarity,
    NumberRarity,
    RarityThreshold,
)
from weigh.explain.training_inputs import NumberInput, TextInput, TrainingInputs
from weigh.explain.word_surprise import WordSurprise
from weigh.features.blocks import Floats, NumberBlock
from weigh.features.words import Block, as_sparse_block
from weigh.model.distributions.bernoulli import Bernoulli
from weigh.model.distributions.categorical import Categorical
from weigh.model.distributions.gaussian import Gaussian, GaussianWeights
from weigh.model.distributions.multinomial import Multinomial
from weigh.model.distributions.number_shapes import ShapedNumber
from weigh.model.distributions.weights import format_value
from weigh.text import escape_control_characters, truncate


@dataclass(frozen=True)
class NoveltyReason:
    """Why a row was flagged: the column, its value and the reason.

    `what` is the type of reason: `a value never seen`, `a rare value`, `a rare number`, `a number outside the
    training range`, `a number far from every class` or `unusual words`.
    """

    column: str
    value: str
    why: str
    what: str = "a value never seen"

    def __str__(self) -> str:
        return escape_control_characters(f"{self.column} = {truncate(self.value, 30)}: {self.why}")


MAX_DISTANCE = 1e150  # standard deviations, so that squares are finite
MIN_CLASS_ROWS = 10  # fewer say too little about the standard deviation

Reasons = Iterator[tuple[int, NoveltyReason]]
Finder = Any  # has `rate` and `find(blocks)`


def make_finders(inputs: TrainingInputs, unit: float, rate: float) -> tuple[list[Finder], tuple[str, ...]]:
    """Return what finds unusual rows, and the columns that none of them examines.

    All finders together have the given rate of false alarms; `unit` is the weight of a row.
    """
    rows = inputs.rows / unit
    tables, normals, texts = {}, {}, {}
    not_examined = list(inputs.not_examined)
    for at, part in enumerate(inputs.parts):
        rarity = make_rarity(part, unit)
        if rarity is not None:
            tables[at] = rarity
        elif isinstance(part, Gaussian) and len(part.weights.mean) and rows.max() >= MIN_CLASS_ROWS:
            normals[at] = part
        elif isinstance(part, Bernoulli | TextInput) or (
            isinstance(part, Multinomial) and not part.counts.fixed
        ):
            words = WordSurprise(part, float(rows.sum()), unit)
            if words.has_words:
                texts[at] = words
            else:
                not_examined.extend(part.part.names)
        else:
            not_examined.extend(part.part.names)
    share = rate / max(1, bool(tables) + bool(normals) + len(texts))
    finders: list[Finder] = [TextFinder(at, texts[at], share) for at in texts]
    if normals:
        finders.insert(0, NormalFinder(normals, rows, share))
    if tables:
        finders.insert(0, TableFinder(tables, float(rows.sum()), share))
    return finders, tuple(not_examined)


def make_rarity(part: Any, unit: float) -> LevelRarity | FlagRarity | NumberRarity | None:
    """Return the rarity of a column's values, or None if the model does not keep their counts."""
    if isinstance(part, Categorical):
        return LevelRarity(part, unit)
    if isinstance(part, Bernoulli) and part.counts.present.fixed:
        return FlagRarity(part, unit)
    if isinstance(part, Gaussian | ShapedNumber) and part.counts.grid is not None:
        grid = part.counts.grid
        return NumberRarity.from_grid(part.part.title, grid, unit) if len(grid.cells) else None
    if isinstance(part, NumberInput) and len(part.cells.counts):
        tails = ClassTails(*part.cells.bounds, part.cells.counts.astype(np.float64))
        return NumberRarity(part.part.title, [tails], tails)
    return None


class TableFinder:
    """Finds rare categories, flags and numbers."""

    def __init__(self, columns: dict[int, Any], n_rows: float, rate: float) -> None:
        self._columns = columns
        training = [column.training for column in columns.values()]
        self._threshold = RarityThreshold(training, n_rows, rate)
        self.rate = self._threshold.rate

    def find(self, blocks: Sequence[Block]) -> Reasons:
        """Yield the rows with rare values."""
        for at, column in self._columns.items():
            block: Any = blocks[at]
            if isinstance(column, FlagRarity):
                yield from self._find_flags(column, as_sparse_block(block))
                continue
            for row in np.flatnonzero(self._threshold.is_rare(column.scores(block))).tolist():
                reason = column.reason(block, row)
                yield row, NoveltyReason(column.name, column.value(block, row), reason.why, reason.what)

    def _find_flags(self, column: FlagRarity, block: Any) -> Reasons:
        for row, flags in column.rare_flags(block, self._threshold).items():
            for flag, value in flags:
                reason = column.reason(flag, value)
                yield row, NoveltyReason(column.names[flag], str(value), reason.why, reason.what)


class NormalFinder:
    """Finds rows far from every class, in numbers of which only means and standard deviations are kept.

    The mean of z² over the rows of a class is 1 in each of k columns, so by Markov's inequality at most a
    share r of them have Σ z² ≥ k / r, whatever their distribution. A new row has no part in mean and
    standard deviation, so with few rows and heavy tails its z² is larger: if P(|x| > t) falls like 1 / t, as
    for Cauchy's distribution, z² exceeds T with a probability of about 1 / √(n T). Then k columns keep the
    rate r if T ≥ k² / (n r²). The larger limit is used. All rows of a class with fewer than `MIN_CLASS_ROWS`
    may be flagged.
    """

    def __init__(self, columns: dict[int, Gaussian], rows: Floats, rate: float) -> None:
        self._columns = columns
        rates = np.maximum(rate, 1 / (rows + 1))
        k = len(columns)
        self._limits = np.maximum(k / rates, k**2 / ((rows + 1) * rates**2))
        self.rate = float(np.where(rows < MIN_CLASS_ROWS, 1.0, rates) @ rows / rows.sum())

    def find(self, blocks: Sequence[Block]) -> Reasons:
        """Yield the rows far from every class, with the farthest column."""
        squares: list[Floats] = []
        for at, part in self._columns.items():
            block = blocks[at]
            assert isinstance(block, NumberBlock)
            z = _standardise(block.values, part.weights)
            squares.append(np.minimum(np.nan_to_num(np.abs(z), nan=0.0), MAX_DISTANCE) ** 2)
        distance = np.sum(squares, axis=0)
        excess = distance / self._limits
        nearest = excess.argmin(axis=1)
        for row in np.flatnonzero(excess.min(axis=1) >= 1.0).tolist():
            z2 = [float(square[row, nearest[row]]) for square in squares]
            at = list(self._columns)[int(np.argmax(z2))]
            why = f"{math.sqrt(max(z2)):,.1f} standard deviations from the nearest class"
            number: Any = blocks[at]
            value = format_value(float(number.values[row]))
            name = self._columns[at].part.title
            yield row, NoveltyReason(name, value, why, "a number far from every class")


def _standardise(values: Floats, term: GaussianWeights) -> Floats:
    """Return the distance of numbers from the mean of each class, in standard deviations [rows, classes]."""
    # Differences of the largest floats are infinite.
    scale = (
        0.25 if float(np.abs(values).max(initial=0.0, where=~np.isnan(values))) > MAX_EXACT_EXTENT else 1.0
    )
    centred = (scale * values[:, None] - scale * term.mean) - scale * term.mean_residual
    with np.errstate(over="ignore"):
        return np.asarray(centred / (scale * term.deviation))


class TextFinder:
    """Finds texts with surprising words."""

    def __init__(self, at: int, words: WordSurprise, rate: float) -> None:
        self._at, self._words, self.rate = at, words, rate

    def find(self, blocks: Sequence[Block]) -> Reasons:
        """Yield the texts with surprising words."""
        block: Any = blocks[self._at]
        for row, value, why in self._words.find(block, self.rate):
            yield row, NoveltyReason(self._words.name, value, why, "unusual words")
