"""Independent Bernoulli distributions of flags, or of word occurrences, within each class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Ints, Longs, Mask, SparseBlock
from weigh.features.schema import ColumnGroup
from weigh.features.words import TextBlock
from weigh.immutable import Immutable, read_only
from weigh.model.counts.count_table import (
    WordCountTable,
    hashed_sampling_error,
    select_names,
    select_vocabulary,
)
from weigh.model.counts.sufficient_statistics import FlagCounts
from weigh.model.distributions.word_weights import MAX_LISTED_ABSENT, FlagWeights, HashBuckets, words_column
from weigh.model.evidence.exact_products import Factor, smoothed_ratio, to_fraction
from weigh.model.evidence.strengths import NormalParameters, Outcomes, StatisticTable
from weigh.priors.beta import Beta
from weigh.priors.smoothing import Prior, dirichlet_parameters, posterior_mean_prior, pseudo_counts
from weigh.text import format_quantity

ROUNDING_ERROR = 1e-12  # relative to the number of rows


def is_zero_count(count: Any, total: Any) -> Mask:
    """Return whether counts are zero; a difference of fractional weights may leave a rounding error."""
    return np.asarray(count <= ROUNDING_ERROR * total)


@dataclass(frozen=True, eq=False)
class Bernoulli(Immutable):
    """P(present | class) = (present + a) / (known + a + b), for each flag independently.

    `prior` applies to all flags except those in `priors_by_name`. Flags of a named table that are the same in
    all rows contribute nothing.
    """

    part: ColumnGroup
    counts: FlagCounts
    prior: Prior
    priors_by_name: Mapping[str, Prior]

    @cached_property
    def _vocabulary_indices(self) -> Longs | None:
        return select_vocabulary(self.part.kind, self.counts.present.table)

    @cached_property
    def names(self) -> Sequence[str]:
        """The flags, or the words in the vocabulary."""
        return select_names(self.counts.present.names, self._vocabulary_indices)

    @cached_property
    @read_only
    def present_counts(self) -> Any:
        """How often each flag was present [C, d]."""
        table = self.counts.present.table
        return table if self._vocabulary_indices is None else table[:, self._vocabulary_indices]

    @property
    def leaves_out_constants(self) -> bool:
        """Whether constant flags are left out: those of a named table, but not words."""
        return self.part.named and self.counts.present.fixed

    @cached_property
    @read_only
    def is_constant(self) -> Mask:
        """Which flags are left out because they are the same in all rows [d]."""
        present, known = self.present_counts.sum(axis=0), self.known_counts.sum(axis=0)
        return is_zero_count(present, known) | is_zero_count(known - present, known)

    @property
    def is_hashed(self) -> bool:
        """Whether words are hashed into buckets."""
        return isinstance(self.counts.present, WordCountTable) and self.counts.present.is_hashed

    @property
    def _buckets(self) -> HashBuckets | None:
        return HashBuckets.from_counts(self.counts.present.table) if self.is_hashed else None

    @cached_property
    @read_only
    def known_counts(self) -> Any:
        """How often each flag was known [C, d], or [C, 1] if it is the same for all flags."""
        known = self.counts.known
        if known.shape[1] == 1 or self._vocabulary_indices is None:
            return known
        return known[:, self._vocabulary_indices]

    def flag_pseudo_counts(self, j: int) -> tuple[Fraction, Fraction]:
        """Return the pseudo-counts of flag j: absent, present."""
        absent, present = pseudo_counts(self.priors_by_name.get(self.names[j], self.prior), (0, 1))
        return absent, present

    @cached_property
    @read_only
    def pseudo_counts(self) -> Floats:
        """The pseudo-counts of all flags [d, 2]: absent, present."""
        absent, present = (float(a) for a in pseudo_counts(self.prior, (0, 1)))
        pseudo = np.tile(np.array([[absent, present]]), (len(self.names), 1))
        for name in self.priors_by_name.keys() & set(self.names if self.priors_by_name else ()):
            j = list(self.names).index(name)
            pseudo[j] = [float(a) for a in self.flag_pseudo_counts(j)]
        return pseudo

    @property
    def probabilities(self) -> Floats:
        """P(present | class) as [C, d]; a class without values gets the estimate over all classes."""
        return np.asarray(self._state_probabilities[1])

    @cached_property
    @read_only
    def _state_probabilities(self) -> Floats:
        """P(absent | class) and P(present | class) as [2, C, d]; 1 − P would round small ones to zero."""
        pseudo = self.pseudo_counts.T[:, None]
        counts = np.stack([self.known_counts - self.present_counts, self.present_counts])
        weights = np.maximum(counts + pseudo, 0.0)
        with np.errstate(invalid="ignore"):
            p = np.asarray(weights / weights.sum(axis=0))
            if np.isnan(p).any():
                weights = np.maximum(counts.sum(axis=1, keepdims=True) + pseudo, 0.0)
                p = np.where(np.isnan(p), weights / weights.sum(axis=0), p)
        return p

    @cached_property
    def weights(self) -> FlagWeights:
        """The log-probabilities of presence and absence, as a term of the score."""
        with np.errstate(divide="ignore"):
            logs = np.log(self._state_probabilities)
        absent, present = (
            np.ascontiguousarray(np.nan_to_num(log, nan=0.0, neginf=-np.inf).T) for log in logs
        )
        constant = np.flatnonzero(self.is_constant) if self.leaves_out_constants else None
        if constant is not None:
            present[constant] = absent[constant] = 0.0
        fixed = self.counts.present.fixed
        return FlagWeights(self.part.title, self.names, present, absent, fixed, self._buckets, constant)

    def factors(self, block: SparseBlock | TextBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield P(state | class c) of each flag of the row, with the formula."""
        present, absent = self.weights.listed_states(block, row)
        row_names = self.weights.row_names(block, row)
        for j in present:
            factor = self._factor(j, c, is_present=True)
            yield replace(factor, feature=row_names[j]) if j in row_names else factor
        if len(absent) <= MAX_LISTED_ABSENT and not self.is_hashed:
            for j in absent.tolist():
                yield self._factor(j, c, is_present=False)
        else:
            probability = float(np.exp(self.weights.absent[absent, c].sum()))
            yield Factor(f"{len(absent):,} others", "absent", "", probability)

    def _factor(self, j: int, c: int, *, is_present: bool) -> Factor:
        name, value = self.weights.display_name(j), self.weights.format_state(is_present)
        n_present, n_known = self._flag_counts(c, j)
        absent, present = self.flag_pseudo_counts(j)
        n_absent = max(Fraction(0), n_known - n_present)  # sums of weights are rounded
        count, pseudo = (n_present, present) if is_present else (n_absent, absent)
        if min(absent, present) < 0 or not n_known:
            return Factor(name, value, "", self._exact_probability(c, j, is_present)).in_lowest_terms()
        return smoothed_ratio(name, value, count, pseudo, n_known, absent + present)

    def _exact_probability(self, c: int, j: int, is_present: bool) -> Fraction:
        """Return a probability with counts clipped at zero, or from all classes if class c has none."""
        absent, present = self.flag_pseudo_counts(j)
        by_class = [self._flag_counts(k, j) for k in range(len(self.present_counts))]
        overall = sum((n for n, _ in by_class), Fraction(0)), sum((n for _, n in by_class), Fraction(0))
        for n_present, n_known in (by_class[c], overall):
            weights = max(Fraction(0), n_known - n_present + absent), max(Fraction(0), n_present + present)
            if any(weights):
                return weights[is_present] / sum(weights)
        return Fraction(1)  # a flag that is known in no class contributes nothing

    def _flag_counts(self, c: int, j: int) -> tuple[Fraction, Fraction]:
        """Return how often flag j was present in class c, and how often it was known."""
        known = self.known_counts[c, j if self.known_counts.shape[1] > 1 else 0]
        return to_fraction(self.present_counts[c, j].item()), to_fraction(known.item())

    def posterior(self, c: int, column: str = "") -> Beta:
        """Return the posterior of a flag's probability in class c."""
        j = self._flag_index(column)
        prior = self.priors_by_name.get(self.names[j], self.prior)
        absent, present = dirichlet_parameters(prior, (0, 1))
        n_present, n_known = self._flag_counts(c, j)
        return Beta(present + n_present, absent + n_known - n_present)

    def _flag_index(self, column: str) -> int:
        word = column.removeprefix(f"{self.part.title}: ")
        names = list(self.names)
        if word in names:
            return names.index(word)
        raise errors.Unsupported(
            f"Column {self.part.title!r} has a separate probability for each word. Name a word, as in "
            f"posterior('{self.part.title}: word', label)."
        )

    def predictive(self) -> FlagWeights:
        """Return the posterior predictive term, which uses the posterior mean of each probability."""
        by_name = {name: posterior_mean_prior(prior) for name, prior in self.priors_by_name.items()}
        return replace(self, prior=posterior_mean_prior(self.prior), priors_by_name=by_name).weights

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw all flags for rows of the given classes."""
        if self.is_hashed:
            raise hashed_sampling_error(self.part.title)
        drawn = rng.random((len(classes), len(self.names))) < self.probabilities[classes]
        if self.counts.present.fixed:
            return {name: drawn[:, j].astype(np.int64) for j, name in enumerate(self.names)}
        return words_column(self.part, self.names, drawn)

    @property
    def n_shared_parameters(self) -> int:
        """Number of free parameters shared by all classes."""
        return 0

    def outcomes(self) -> list[Outcomes]:
        """Return presence as outcomes, and for columns also absence, with their probabilities."""
        term = self.weights
        present = Outcomes(
            self.names,
            self.present_counts,
            self.probabilities,
            lambda j: (term.display_name(j), term.format_state(True)),
            shows_value=False,
            exclusive=False,
        )
        if not term.fixed:
            # The absence of a single word is never characteristic of a text; that of a flag may be.
            return [present]
        absent = Outcomes(
            self.names,
            self.known_counts - self.present_counts,
            1.0 - self.probabilities,
            lambda j: (term.display_name(j), term.format_state(False)),
            exclusive=False,
        )
        return [present, absent]

    def normal_parameters(self) -> list[NormalParameters]:
        """Return an empty list: there are no normal distributions."""
        return []

    def sufficient_statistics(self) -> Iterator[StatisticTable]:
        """Yield the unsmoothed counts."""
        # Buckets are identified by number: several words may share one.
        names = range(self.counts.present.table.shape[1]) if self.is_hashed else self.counts.present.names
        yield "count", names, self.counts.present.table
        yield "known", names, self.counts.known

    def constant_names(self) -> Iterator[str]:
        """Yield the flags that are left out because they are the same in all rows."""
        if self.leaves_out_constants:
            yield from (self.names[j] for j in np.flatnonzero(self.is_constant).tolist())

    def training_names(self) -> Iterable[str]:
        """Return all words seen in training, including pruned ones; nothing for columns or buckets."""
        return () if self.counts.present.fixed or self.is_hashed else self.counts.present.names

    def describe(self) -> str:
        """Return a short description of the content; empty for flags."""
        if self.is_hashed:
            return f"{len(self.names):,} of {self.counts.present.table.shape[1]:,} buckets used"
        return "" if self.part.kind.shares_block else format_quantity(len(self.names), "word")

    @property
    def n_parameters(self) -> int:
        """Number of free parameters per class."""
        return len(self.names) - (int(self.is_constant.sum()) if self.leaves_out_constants else 0)
