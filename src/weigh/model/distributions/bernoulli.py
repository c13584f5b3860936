"""Flags within each class: each present with its own probability, or absent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors, priors
from weigh.features import ColumnGroup, SparseBlock, TextBlock, Tokens
from weigh.features.blocks import Floats, Ints, Longs
from weigh.model.counts.count_table import (
    WordCountTable,
    hashed_sampling_error,
    select_names,
    select_vocabulary,
)
from weigh.model.counts.sufficient_statistics import FlagCounts
from weigh.model.distributions.word_weights import MAX_LISTED_ABSENT, FlagWeights, HashBuckets
from weigh.model.evidence.exact_products import Factor, smoothed_ratio, to_fraction
from weigh.model.evidence.strengths import NormalParameters, Outcomes, StatisticTable
from weigh.text import format_quantity


@dataclass(frozen=True, eq=False)
class Bernoulli:
    """P(present | class) = (present + a) / (known + a + b), for every flag on its own.

    `prior` holds for all flags, `own` for flags that have a prior of their own.
    """

    part: ColumnGroup
    counts: FlagCounts
    prior: priors.Prior
    priors_by_name: Mapping[str, priors.Prior]

    @cached_property
    def _vocabulary_indices(self) -> Longs | None:
        return select_vocabulary(self.part.kind, self.counts.present.table)

    @cached_property
    def names(self) -> Sequence[str]:
        """The flags of the finished model."""
        return select_names(self.counts.present.names, self._vocabulary_indices)

    @cached_property
    def present_counts(self) -> Any:
        """How often each flag was present, [C, d]."""
        table = self.counts.present.table
        return table if self._vocabulary_indices is None else table[:, self._vocabulary_indices]

    @property
    def is_hashed(self) -> bool:
        """Whether words are told apart by their bucket only."""
        return isinstance(self.counts.present, WordCountTable) and self.counts.present.is_hashed

    @property
    def _buckets(self) -> HashBuckets | None:
        return HashBuckets.from_counts(self.counts.present.table) if self.is_hashed else None

    @cached_property
    def known_counts(self) -> Any:
        """How often each flag was known, [C, d] or [C, 1]."""
        known = self.counts.known
        return (
            known
            if known.shape[1] == 1 or self._vocabulary_indices is None
            else known[:, self._vocabulary_indices]
        )

    def flag_pseudo_counts(self, at: int) -> tuple[Fraction, Fraction]:
        """Return the pseudo-counts of a flag, absent and present."""
        absent, present = priors.pseudo_counts(self.priors_by_name.get(self.names[at], self.prior), (0, 1))
        return absent, present

    @cached_property
    def pseudo_counts(self) -> Floats:
        """The pseudo-counts of every flag, absent and present, as [d, 2]."""
        absent, present = (float(a) for a in priors.pseudo_counts(self.prior, (0, 1)))
        pseudo = np.tile(np.array([[absent, present]]), (len(self.names), 1))
        for name in self.priors_by_name.keys() & set(self.names if self.priors_by_name else ()):
            at = list(self.names).index(name)
            pseudo[at] = [float(a) for a in self.flag_pseudo_counts(at)]
        return pseudo

    @cached_property
    def probabilities(self) -> Floats:
        """P(present | class) as [C, d]; a class without values is given the whole column's."""
        pseudo = self.pseudo_counts
        on = np.maximum(self.present_counts + pseudo[:, 1], 0.0)
        off = np.maximum(self.known_counts - self.present_counts + pseudo[:, 0], 0.0)
        with np.errstate(invalid="ignore"):
            shares: Floats = np.asarray(on / (on + off))
            if np.isnan(shares).any():
                on = np.maximum(self.present_counts.sum(axis=0) + pseudo[:, 1], 0.0)
                off = np.maximum((self.known_counts - self.present_counts).sum(axis=0) + pseudo[:, 0], 0.0)
                shares = np.where(np.isnan(shares), on / (on + off), shares)
        return shares

    @cached_property
    def weights(self) -> FlagWeights:
        """The logarithms of the probabilities, as weights of presence and absence."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities), np.log1p(-self.probabilities)
        present, absent = (
            np.ascontiguousarray(np.nan_to_num(log, nan=0.0, neginf=-np.inf).T) for log in logs
        )
        fixed = self.counts.present.fixed
        return FlagWeights(self.part.title, self.names, present, absent, fixed, self._buckets)

    def factors(self, block: SparseBlock | TextBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield the probability of each flag's state in class c, with its arithmetic."""
        here, absent = self.weights.flag_states(block, row)
        own = self.weights.row_names(block, row)
        for at in here:
            factor = self._factor(at, c, is_present=True)
            yield replace(factor, feature=own[at]) if at in own else factor
        if len(absent) <= MAX_LISTED_ABSENT and not self.is_hashed:
            for at in absent:
                yield self._factor(at, c, is_present=False)
        else:
            chance = float(np.exp(self.weights.absent[absent, c].sum()))
            yield Factor(f"{len(absent):,} others", "absent", "", chance)

    def _factor(self, at: int, c: int, *, is_present: bool) -> Factor:
        name, value = self.weights.display_name(at), self.weights.format_state(is_present)
        on, total = self._flag_counts(c, at)
        absent, present = self.flag_pseudo_counts(at)
        count, pseudo = (on, present) if is_present else (total - on, absent)
        if min(absent, present) < 0 or not total:
            return Factor(name, value, "", self._exact_probability(c, at, is_present)).in_lowest_terms()
        return smoothed_ratio(name, value, count, pseudo, total, absent + present)

    def _exact_probability(self, c: int, at: int, is_present: bool) -> Fraction:
        """Return a probability that is cut off at zero, or borrowed from the other classes."""
        absent, present = self.flag_pseudo_counts(at)
        each = [self._flag_counts(other, at) for other in range(len(self.present_counts))]
        everywhere = sum((on for on, _ in each), Fraction(0)), sum((total for _, total in each), Fraction(0))
        for on, total in (each[c], everywhere):
            weights = max(Fraction(0), total - on + absent), max(Fraction(0), on + present)
            if any(weights):
                return weights[is_present] / sum(weights)
        return Fraction(1)  # known in no class, the flag says nothing

    def _flag_counts(self, c: int, at: int) -> tuple[Fraction, Fraction]:
        """Return how often a flag was present in class c, and how often known."""
        known = self.known_counts[c, at if self.known_counts.shape[1] > 1 else 0]
        return to_fraction(self.present_counts[c, at].item()), to_fraction(known.item())

    def posterior(self, c: int, column: str = "") -> priors.Beta:
        """Return what is believed of a flag's probability in class c after the counts."""
        at = self._flag_index(column)
        absent, present = priors.dirichlet_parameters(
            self.priors_by_name.get(self.names[at], self.prior), (0, 1)
        )
        on, total = self._flag_counts(c, at)
        return priors.Beta(present + on, absent + total - on)

    def _flag_index(self, column: str) -> int:
        word = column.removeprefix(f"{self.part.title}: ")
        names = list(self.names)
        if word in names:
            return names.index(word)
        raise errors.Unsupported(
            f"Column {self.part.title!r} has a probability for every word of its own. Ask for one of them, "
            f"such as posterior('{self.part.title}: word', label)."
        )

    def predictive(self) -> FlagWeights:
        """Return the term with the probabilities integrated out: the posterior mean."""
        own = {name: priors.posterior_mean_prior(prior) for name, prior in self.priors_by_name.items()}
        return replace(self, prior=priors.posterior_mean_prior(self.prior), priors_by_name=own).weights

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw every flag of every row."""
        if self.is_hashed:
            raise hashed_sampling_error(self.part.title)
        drawn = rng.random((len(classes), len(self.names))) < self.probabilities[classes]
        if self.counts.present.fixed:
            return {name: drawn[:, at].astype(np.int64) for at, name in enumerate(self.names)}
        column = np.empty(len(classes), dtype=object)
        for row, present in enumerate(drawn):
            words = [self.names[at] for at in np.flatnonzero(present).tolist()]
            column[row] = words if isinstance(self.part.kind, Tokens) else " ".join(words)
        return {self.part.names[0]: column}

    @property
    def n_shared_parameters(self) -> int:
        """Free parameters that all classes share."""
        return 0

    def outcomes(self) -> list[Outcomes]:
        """Return every flag's presence with its probability, and its absence if that tells anything."""
        term = self.weights
        present = Outcomes(
            self.names,
            self.present_counts,
            self.probabilities,
            lambda at: (term.display_name(at), term.format_state(True)),
            shows_value=False,
            exclusive=False,
        )
        if not term.fixed:
            # That a word is absent is never what a text is known by; that a flag is may well be.
            return [present]
        absent = Outcomes(
            self.names,
            self.known_counts - self.present_counts,
            1.0 - self.probabilities,
            lambda at: (term.display_name(at), term.format_state(False)),
            exclusive=False,
        )
        return [present, absent]

    def normal_parameters(self) -> list[NormalParameters]:
        """Return no curves."""
        return []

    def sufficient_statistics(self) -> Iterator[StatisticTable]:
        """Yield the counts, as rows gave them."""
        # Buckets go by their numbers: their names are not what was counted.
        names = range(self.counts.present.table.shape[1]) if self.is_hashed else self.counts.present.names
        yield "count", names, self.counts.present.table
        yield "known", names, self.counts.known

    def training_names(self) -> Iterable[str]:
        """Return the words that training has ever seen, pruned ones too; flags are always known."""
        return () if self.counts.present.fixed or self.is_hashed else self.counts.present.names

    def describe(self) -> str:
        """Return what the column holds, in a few words; a flag needs none."""
        if self.is_hashed:
            return f"{len(self.names):,} of {self.counts.present.table.shape[1]:,} buckets used"
        return "" if self.part.kind.shares_block else format_quantity(len(self.names), "word")

    @property
    def n_parameters(self) -> int:
        """Free parameters per class."""
        return len(self.names)
