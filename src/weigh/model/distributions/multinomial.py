"""Counts of words within each class: one multinomial over all words of a part."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core, priors
from weigh.features import ColumnGroup, SparseBlock, TextBlock, Tokens
from weigh.features.blocks import ConstantSequence, Floats, Ints, Longs
from weigh.model.counts.count_table import (
    CountTable,
    WordCountTable,
    hashed_sampling_error,
    select_names,
    select_vocabulary,
)
from weigh.model.distributions.weights import Contribution, format_value
from weigh.model.distributions.word_weights import HashBuckets, WordWeights
from weigh.model.evidence.exact_products import Factor, exact_class_shares, smoothed_ratio, to_fraction
from weigh.model.evidence.strengths import NormalParameters, Outcomes, StatisticTable
from weigh.text import format_quantity


@dataclass(frozen=True, eq=False)
class Multinomial:
    """P(word | class) = (count + pseudo-count) / (all counts + all pseudo-counts).

    A row's words are drawn one after the other, so a word that occurs three times counts three
    times. With `complement`, the weights of a class come from the words of all *other* classes:
    w = −log P(word | other classes), and the class prior plays no part (Rennie et al. 2003).
    """

    part: ColumnGroup
    counts: CountTable | WordCountTable
    prior: priors.Prior
    rows: Any
    complement: bool = False
    priors_by_name: Mapping[str, priors.Prior] = field(default_factory=dict)

    @cached_property
    def _vocabulary_indices(self) -> Longs | None:
        return select_vocabulary(self.part.kind, self.counts.table)

    @cached_property
    def words(self) -> Sequence[str]:
        """The words of the finished model."""
        return select_names(self.counts.names, self._vocabulary_indices)

    @cached_property
    def table(self) -> Any:
        """The counts [C, V] of the kept words."""
        return (
            self.counts.table
            if self._vocabulary_indices is None
            else self.counts.table[:, self._vocabulary_indices]
        )

    @cached_property
    def _uniform_pseudo_count(self) -> Fraction | None:
        """The pseudo-count that all words have, if it is one; a million need not be written down."""
        if self.priors_by_name or isinstance(self.prior, priors.Beta | priors.Dirichlet):
            return None
        return priors.pseudo_counts(self.prior, ("",))[0]

    @cached_property
    def exact_pseudo_counts(self) -> Sequence[Fraction]:
        """The pseudo-count of each word."""
        if self._uniform_pseudo_count is not None:
            return ConstantSequence(self._uniform_pseudo_count, len(self.words))
        shares = priors.pseudo_counts(self.prior, self.words)
        for name, prior in self.priors_by_name.items():
            shares[self.words.index(name)] = priors.pseudo_counts(prior, (name,))[0]
        return shares

    @cached_property
    def pseudo_counts(self) -> Floats:
        """The pseudo-count of each word, as floats [V]."""
        if self._uniform_pseudo_count is None:
            return np.fromiter(map(float, self.exact_pseudo_counts), np.float64, len(self.words))
        return np.full(len(self.words), float(self._uniform_pseudo_count))

    @cached_property
    def probabilities(self) -> Floats:
        """P(word | class) as [C, V]; a class without words is given all classes' words."""
        pseudo = self.pseudo_counts
        counts = self.table.astype(np.float64)
        if self.complement:
            counts = counts.sum(axis=0) - counts
        shares = priors.estimate_probabilities(counts, pseudo)
        empty = np.isnan(shares).all(axis=1) if shares.size else np.zeros(len(shares), dtype=bool)
        if empty.any():
            shares[empty] = np.nan_to_num(
                priors.estimate_probabilities(counts.sum(axis=0, keepdims=True), pseudo), nan=1.0
            )
        return shares

    @cached_property
    def weights(self) -> WordWeights:
        """The logarithms of the probabilities, as weights per occurrence."""
        logs = self._log_weights()
        return WordWeights(self.part.title, self.words, logs, self.counts.fixed, self._buckets)

    def _log_weights(self) -> Floats:
        if self._uniform_pseudo_count is not None and not self.complement and self.table.dtype != np.float64:
            totals = self.table.sum(axis=1) + float(self._uniform_pseudo_count) * len(self.words)
            if totals.all():
                return _core.smoothed_log_probabilities(
                    np.ascontiguousarray(self.table), float(self._uniform_pseudo_count), totals
                )
        with np.errstate(divide="ignore"):
            logs = np.ascontiguousarray(np.log(self.probabilities).T)
        return -logs if self.complement else logs

    @property
    def is_hashed(self) -> bool:
        """Whether words are told apart by their bucket only."""
        return isinstance(self.counts, WordCountTable) and self.counts.is_hashed

    @property
    def _buckets(self) -> HashBuckets | None:
        return HashBuckets.from_counts(self.counts.table) if self.is_hashed else None

    @cached_property
    def _pseudo_total(self) -> Fraction:
        return (
            sum(self.exact_pseudo_counts, Fraction(0))
            if self._uniform_pseudo_count is None
            else self._uniform_pseudo_count * len(self.words)
        )

    def factors(self, block: SparseBlock | TextBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield the probability of each word of the row, to the power of its count."""
        pseudo_total = self._pseudo_total
        total = to_fraction(self.table[c].sum().item())
        is_plain = total + pseudo_total > 0 and (
            self._uniform_pseudo_count is not None or all(a >= 0 for a in self.exact_pseudo_counts)
        )
        for at, count, name in self.weights.occurrences(block, row):
            n = to_fraction(self.table[c, at].item())
            value = f"× {format_value(count)}"
            if is_plain:
                factor = smoothed_ratio(name, value, n, self.exact_pseudo_counts[at], total, pseudo_total)
            else:
                # Cut off at zero, or borrowed from the other classes: the plain ratio does not hold.
                factor = Factor(name, value, "", self.exact_probabilities(c)[at]).in_lowest_terms()
            if count.is_integer():
                yield replace(factor, exponent=int(count))
            else:
                yield Factor(name, value, factor.formula, float(factor.probability) ** count)

    def exact_probabilities(self, c: int) -> list[Fraction]:
        """Return the probabilities of all words in class c as fractions."""
        return exact_class_shares(self.table, c, self.exact_pseudo_counts)

    @cached_property
    def _prior_concentration(self) -> list[Fraction]:
        """The Dirichlet parameter of each word before any row."""
        before = priors.dirichlet_parameters(self.prior, self.words)
        for name, prior in self.priors_by_name.items():
            before[self.words.index(name)] = priors.dirichlet_parameters(prior, (name,))[0]
        return before

    def posterior(self, c: int, column: str = "") -> priors.Dirichlet:
        """Return what is believed of the word probabilities in class c after the counts."""
        after = [
            b + to_fraction(n) for b, n in zip(self._prior_concentration, self.table[c].tolist(), strict=True)
        ]
        words = (
            [self.weights.bucket_word(at) for at in range(len(self.words))] if self.is_hashed else self.words
        )
        return priors.Dirichlet(dict(zip(words, after, strict=True)))

    def predictive(self) -> DirichletMultinomial:
        """Return the part with the probabilities integrated out: a Dirichlet-multinomial."""
        return DirichletMultinomial(
            self.weights,
            np.ascontiguousarray((self.table + np.array(self._prior_concentration, np.float64)).T),
        )

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw words for every row, as many as rows of its class had on average (Poisson)."""
        if self.is_hashed:
            raise hashed_sampling_error(self.part.title)
        drawn = np.zeros((len(classes), len(self.words)), dtype=np.int64)
        for c in np.unique(classes):
            mean = float(self.table[c].sum()) / max(float(self.rows[c]), 1.0)
            for row in np.flatnonzero(classes == c).tolist():
                drawn[row] = rng.multinomial(rng.poisson(mean), self.probabilities[c])
        if self.counts.fixed:
            return {name: drawn[:, at] for at, name in enumerate(self.words)}
        column = np.empty(len(classes), dtype=object)
        for row, counts in enumerate(drawn):
            words = [w for at in np.flatnonzero(counts).tolist() for w in [self.words[at]] * int(counts[at])]
            column[row] = words if isinstance(self.part.kind, Tokens) else " ".join(words)
        return {self.part.names[0]: column}

    @property
    def n_shared_parameters(self) -> int:
        """Free parameters that all classes share."""
        return 0

    def outcomes(self) -> list[Outcomes]:
        """Return the words with their probabilities."""
        term = self.weights
        return [Outcomes(self.words, self.table, self.probabilities, lambda at: (term.display_name(at), ""))]

    def normal_parameters(self) -> list[NormalParameters]:
        """Return no curves."""
        return []

    def sufficient_statistics(self) -> Iterator[StatisticTable]:
        """Yield the counts, as rows gave them."""
        # Buckets go by their numbers: their names are not what was counted.
        names = range(self.counts.table.shape[1]) if self.is_hashed else self.counts.names
        yield "count", names, self.counts.table

    def training_names(self) -> Iterable[str]:
        """Return the words that training has ever seen, pruned ones too; columns are always known."""
        return () if self.counts.fixed or self.is_hashed else self.counts.names

    def describe(self) -> str:
        """Return what the column holds, in a few words; a count needs none."""
        if self.is_hashed:
            return f"{len(self.words):,} of {self.counts.table.shape[1]:,} buckets used"
        return "" if self.part.kind.shares_block else format_quantity(len(self.words), "word")

    @property
    def n_parameters(self) -> int:
        """Free parameters per class."""
        return max(0, len(self.words) - 1)


_log_gamma = np.frompyfunc(math.lgamma, 1, 1)


@dataclass(frozen=True, eq=False)
class DirichletMultinomial:
    """log P(row | class) = Σ_w [lnΓ(α_w + x_w) − lnΓ(α_w)] − [lnΓ(A + n) − lnΓ(A)].

    α_w is the prior's parameter plus the count of word w in the class, A their sum, n the row's
    number of words. A second occurrence of a word surprises less than the first.
    """

    word_weights: WordWeights
    alpha: Floats

    @cached_property
    def _total(self) -> Floats:
        return np.asarray(self.alpha.sum(axis=0))

    def add(self, block: SparseBlock | TextBlock, scores: Floats) -> None:
        """Add every row's log-probability to its scores."""
        for row in range(block.n_rows):
            for found in self.contributions(block, row):
                scores[row] += found.logs

    def contributions(self, block: SparseBlock | TextBlock, row: int) -> Iterator[Contribution]:
        """Yield what each word adds; the row's length is shared out among them."""
        found = self.word_weights.occurrences(block, row)
        n = sum(count for _, count, _ in found)
        if not n:
            return
        length = _log_rising_factorial(self._total, n)
        for at, count, name in found:
            logs = _log_rising_factorial(self.alpha[at], count) - length * (count / n)
            yield Contribution(name, f"× {format_value(count)}", logs)


def _log_rising_factorial(alpha: Floats, count: float) -> Floats:
    """Return lnΓ(alpha + count) − lnΓ(alpha)."""
    with np.errstate(divide="ignore"):
        gain = _log_gamma(alpha + count) - np.where(alpha > 0, _log_gamma(np.maximum(alpha, 1e-300)), np.inf)
    return np.asarray(gain, dtype=np.float64)
