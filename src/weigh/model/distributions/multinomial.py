"""The multinomial distribution of word counts within each class, and its posterior predictive."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import _core
from weigh.features.blocks import ConstantSequence, Floats, Ints, Longs, SparseBlock
from weigh.features.schema import ColumnGroup
from weigh.features.words import TextBlock
from weigh.immutable import Immutable, read_only
from weigh.model.counts.count_table import (
    CountTable,
    WordCountTable,
    hashed_sampling_error,
    select_names,
    select_vocabulary,
    weighted_words_error,
)
from weigh.model.distributions.weights import Contribution, format_value
from weigh.model.distributions.word_weights import HashBuckets, WordWeights, words_column
from weigh.model.evidence.exact_products import Factor, exact_class_shares, smoothed_ratio, to_fraction
from weigh.model.evidence.strengths import NormalParameters, Outcomes, StatisticTable
from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.smoothing import Prior, dirichlet_parameters, estimate_probabilities, pseudo_counts
from weigh.text import format_quantity

if TYPE_CHECKING:
    from weigh.features.term_weighting import TermWeighting
    from weigh.model.counts.weighted_words import WeightedWordTable


@dataclass(frozen=True, eq=False)
class Multinomial(Immutable):
    """P(word | class) = (count + pseudo-count) / (sum of counts + sum of pseudo-counts).

    Each occurrence of a word contributes its weight. The counts of weighted words are sums of their values,
    and a word contributes its weight times its value. With `complement`, the weights of a class come from all
    *other* classes, w = −log P(word | other classes), and the class prior is ignored (Rennie et al. 2003).
    """

    part: ColumnGroup
    counts: CountTable | WordCountTable | WeightedWordTable
    prior: Prior
    rows: Any
    complement: bool = False
    priors_by_name: Mapping[str, Prior] = field(default_factory=dict)

    @cached_property
    def _vocabulary_indices(self) -> Longs | None:
        return select_vocabulary(self.part.kind, self.counts.frequencies)

    @cached_property
    def words(self) -> Sequence[str]:
        """The words in the vocabulary."""
        return select_names(self.counts.names, self._vocabulary_indices)

    @cached_property
    @read_only
    def table(self) -> Any:
        """The counts [C, V] of the words in the vocabulary."""
        table, indices = self.counts.table, self._vocabulary_indices
        return table if indices is None else table[:, indices]

    @cached_property
    def _uniform_pseudo_count(self) -> Fraction | None:
        """The pseudo-count common to all words, or None; avoids a list of a million fractions."""
        if self.priors_by_name or isinstance(self.prior, Beta | Dirichlet):
            return None
        return pseudo_counts(self.prior, ("",))[0]

    @cached_property
    def exact_pseudo_counts(self) -> Sequence[Fraction]:
        """The pseudo-count of each word."""
        if self._uniform_pseudo_count is not None:
            return ConstantSequence(self._uniform_pseudo_count, len(self.words))
        pseudo = pseudo_counts(self.prior, self.words)
        for name, prior in self.priors_by_name.items():
            pseudo[self.words.index(name)] = pseudo_counts(prior, (name,))[0]
        return pseudo

    @cached_property
    @read_only
    def pseudo_counts(self) -> Floats:
        """The pseudo-count of each word as floats [V]."""
        if self._uniform_pseudo_count is None:
            return np.fromiter(map(float, self.exact_pseudo_counts), np.float64, len(self.words))
        return np.full(len(self.words), float(self._uniform_pseudo_count))

    @cached_property
    @read_only
    def probabilities(self) -> Floats:
        """P(word | class) as [C, V]; a class without words gets the estimate over all classes."""
        pseudo = self.pseudo_counts
        counts = self.table.astype(np.float64)
        if self.complement:
            counts = counts.sum(axis=0) - counts
        p = estimate_probabilities(counts, pseudo)
        is_empty = np.isnan(p).all(axis=1) if p.size else np.zeros(len(p), dtype=bool)
        if is_empty.any():
            overall = estimate_probabilities(counts.sum(axis=0, keepdims=True), pseudo)
            p[is_empty] = np.nan_to_num(overall, nan=1.0)
        return p

    @cached_property
    def weights(self) -> WordWeights:
        """The log-probabilities per occurrence, as a term of the score."""
        logs = self._log_weights()
        return WordWeights(
            self.part.title, self.words, logs, self.counts.fixed, self._buckets, self._weighting
        )

    @property
    def _weighting(self) -> TermWeighting | None:
        """The weighting of the words in the vocabulary."""
        weighting, kept = self.counts.weighting, self._vocabulary_indices
        if weighting is None or weighting.documents is None or kept is None:
            return weighting
        return replace(weighting, documents=weighting.documents[kept])

    def _log_weights(self) -> Floats:
        if self._uniform_pseudo_count is not None and not self.complement and self.table.dtype != np.float64:
            pseudo = float(self._uniform_pseudo_count)
            totals = self.table.sum(axis=1) + pseudo * len(self.words)
            if totals.all():
                return _core.smoothed_log_probabilities(np.ascontiguousarray(self.table), pseudo, totals)
        with np.errstate(divide="ignore"):
            logs = np.ascontiguousarray(np.log(self.probabilities).T)
        return -logs if self.complement else logs

    @property
    def is_hashed(self) -> bool:
        """Whether words are hashed into buckets."""
        return not isinstance(self.counts, CountTable) and self.counts.is_hashed

    @property
    def _buckets(self) -> HashBuckets | None:
        return HashBuckets.from_counts(self.counts.table) if self.is_hashed else None

    @cached_property
    def _pseudo_total(self) -> Fraction:
        if self._uniform_pseudo_count is None:
            return sum(self.exact_pseudo_counts, Fraction(0))
        return self._uniform_pseudo_count * len(self.words)

    def factors(self, block: SparseBlock | TextBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield P(word | class c) to the power of its count, with the formula, for each word of the row."""
        if self._weighting is not None:
            yield from self._weighted_factors(block, row, c)
            return
        pseudo_total = self._pseudo_total
        total = to_fraction(self.table[c].sum().item())
        is_plain_ratio = total + pseudo_total > 0 and (
            self._uniform_pseudo_count is not None or all(a >= 0 for a in self.exact_pseudo_counts)
        )
        for j, count, name in self.weights.occurrences(block, row):
            n = to_fraction(self.table[c, j].item())
            value = f"× {format_value(count)}"
            if is_plain_ratio:
                factor = smoothed_ratio(name, value, n, self.exact_pseudo_counts[j], total, pseudo_total)
            else:
                # Clipped at zero or estimated from all classes: the plain ratio does not apply.
                factor = Factor(name, value, "", self.exact_probabilities(c)[j]).in_lowest_terms()
            if count.is_integer():
                yield replace(factor, exponent=int(count))
            else:
                yield Factor(name, value, factor.formula, float(factor.probability) ** count)

    def _weighted_factors(self, block: SparseBlock | TextBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield P(word | class c) to the power of its value, which is rounded like the sums of values."""
        sums, pseudo = f"{self.table[c].sum():.6g}", f"{float(self._pseudo_total):.6g}"
        for j, value, name in self.weights.occurrences(block, row):
            ratio = f"(({self.table[c, j]:.6g} + {self.pseudo_counts[j]:g}) / ({sums} + {pseudo}))"
            probability = float(self.probabilities[c, j]) ** value
            yield Factor(name, f"× {value:.4g}", f"{ratio}^{value:.4g}", probability)

    def exact_probabilities(self, c: int) -> list[Fraction]:
        """Return the probabilities of all words in class c as fractions."""
        return exact_class_shares(self.table, c, self.exact_pseudo_counts)

    @cached_property
    def _prior_concentration(self) -> list[Fraction]:
        """The prior Dirichlet parameter of each word."""
        alpha = dirichlet_parameters(self.prior, self.words)
        for name, prior in self.priors_by_name.items():
            alpha[self.words.index(name)] = dirichlet_parameters(prior, (name,))[0]
        return alpha

    def posterior(self, c: int, column: str = "") -> Dirichlet:
        """Return the posterior of the word probabilities in class c."""
        self._require_counts("their probabilities have no posterior")
        counts = map(to_fraction, self.table[c].tolist())
        alpha = [a + n for a, n in zip(self._prior_concentration, counts, strict=True)]
        words: Iterable[str] = self.words
        if self.is_hashed:
            words = [self.weights.bucket_word(j) for j in range(len(self.words))]
        return Dirichlet(dict(zip(words, alpha, strict=True)))

    def predictive(self) -> DirichletMultinomial:
        """Return the posterior predictive term, a Dirichlet-multinomial."""
        self._require_counts("there is no posterior predictive distribution")
        alpha = self.table + np.array(self._prior_concentration, np.float64)
        return DirichletMultinomial(self.weights, np.ascontiguousarray(alpha.T))

    def _require_counts(self, purpose: str) -> None:
        if self.counts.weighting is not None:
            raise weighted_words_error(self.part.title, purpose)

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw words for each row; their number is Poisson with the mean of the class."""
        self._require_counts("no texts can be sampled from the model")
        if self.is_hashed:
            raise hashed_sampling_error(self.part.title)
        drawn = np.zeros((len(classes), len(self.words)), dtype=np.int64)
        for c in np.unique(classes):
            mean = float(self.table[c].sum()) / max(float(self.rows[c]), 1.0)
            for row in np.flatnonzero(classes == c).tolist():
                drawn[row] = rng.multinomial(rng.poisson(mean), self.probabilities[c])
        if self.counts.fixed:
            return {name: drawn[:, j] for j, name in enumerate(self.words)}
        return words_column(self.part, self.words, drawn)

    @property
    def n_shared_parameters(self) -> int:
        """Number of free parameters shared by all classes."""
        return 0

    def outcomes(self) -> list[Outcomes]:
        """Return the words with their probabilities."""
        term = self.weights
        return [Outcomes(self.words, self.table, self.probabilities, lambda j: (term.display_name(j), ""))]

    def normal_parameters(self) -> list[NormalParameters]:
        """Return an empty list: there are no normal distributions."""
        return []

    def sufficient_statistics(self) -> Iterator[StatisticTable]:
        """Yield the unsmoothed counts."""
        # Buckets are identified by number: several words may share one.
        names = range(self.counts.table.shape[1]) if self.is_hashed else self.counts.names
        if isinstance(self.counts, CountTable | WordCountTable):
            yield "count", names, self.counts.table
        else:
            yield "sum of values", names, self.counts.sums
            yield "texts", names, self.counts.frequencies
            yield "all texts", [""], self.counts.known[None, :]

    def constant_names(self) -> Iterator[str]:
        """Yield nothing: the words of a row have a distribution together."""
        yield from ()

    def training_names(self) -> Iterable[str]:
        """Return all words seen in training, including pruned ones; nothing for columns or buckets."""
        return () if self.counts.fixed or self.is_hashed else self.counts.names

    def describe(self) -> str:
        """Return a short description of the content; empty for count columns."""
        if self.is_hashed:
            return f"{len(self.words):,} of {self.counts.table.shape[1]:,} buckets used"
        return "" if self.part.kind.shares_block else format_quantity(len(self.words), "word")

    @property
    def n_parameters(self) -> int:
        """Number of free parameters per class."""
        return max(0, len(self.words) - 1)


_log_gamma = np.frompyfunc(math.lgamma, 1, 1)


@dataclass(frozen=True, eq=False)
class DirichletMultinomial(Immutable):
    """log P(row | class) = Σ_w [lnΓ(α_w + x_w) − lnΓ(α_w)] − [lnΓ(A + n) − lnΓ(A)].

    α_w is the prior parameter plus the count of word w in the class, A = Σ α_w, and n the number of words in
    the row. Repeated occurrences of a word count less than the first (burstiness).
    """

    word_weights: WordWeights
    alpha: Floats

    @cached_property
    def _total(self) -> Floats:
        return np.asarray(self.alpha.sum(axis=0))

    def add(self, block: SparseBlock | TextBlock, scores: Floats) -> None:
        """Add the log-probability of each row to its scores."""
        for row in range(block.n_rows):
            for contribution in self.contributions(block, row):
                scores[row] += contribution.logs

    def contributions(self, block: SparseBlock | TextBlock, row: int) -> Iterator[Contribution]:
        """Yield the contribution of each word; the length term is divided in proportion to the counts."""
        occurrences = self.word_weights.occurrences(block, row)
        n = sum(count for _, count, _ in occurrences)
        if not n:
            return
        length_term = _log_rising_factorial(self._total, n)
        for j, count, name in occurrences:
            logs = _log_rising_factorial(self.alpha[j], count) - length_term * (count / n)
            yield Contribution(name, f"× {format_value(count)}", logs)


def _log_rising_factorial(alpha: Floats, count: float) -> Floats:
    """Return lnΓ(alpha + count) − lnΓ(alpha)."""
    with np.errstate(divide="ignore"):
        log_gamma_alpha = np.where(alpha > 0, _log_gamma(np.maximum(alpha, 1e-300)), np.inf)
        return np.asarray(_log_gamma(alpha + count) - log_gamma_alpha, dtype=np.float64)
