"""A categorical column within each class: P(value | class) from counts and a prior."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import priors
from weigh.features import Category, CategoryBlock, ColumnGroup, Level
from weigh.features.blocks import Floats, Ints
from weigh.features.columns import bin_names
from weigh.features.kinds import Number
from weigh.model.counts.count_table import CountTable, canonical_order_key
from weigh.model.distributions.weights import LevelWeights, format_value
from weigh.model.evidence.exact_products import Factor, exact_class_shares, smoothed_ratio, to_fraction
from weigh.model.evidence.strengths import NormalParameters, Outcomes, StatisticTable
from weigh.text import format_quantity


@dataclass(frozen=True, eq=False)
class Categorical:
    """P(level | class) = (count + pseudo-count) / (total + pseudo-counts of all levels).

    A level never seen in training gets the share that one more level would have had:
    a / (n + a (K + 1)); without a prior it says nothing.
    """

    part: ColumnGroup
    counts: CountTable
    prior: priors.Prior

    @property
    def name(self) -> str:
        """The column's name."""
        return self.part.names[0]

    @cached_property
    def levels(self) -> list[Level]:
        """The levels seen and declared, in canonical order (bins: from the left)."""
        kind = self.part.kind
        if isinstance(kind, Number) and isinstance(kind.bins, tuple):
            return bin_names(kind.bins)
        declared = (kind.levels or ()) if isinstance(kind, Category) else ()
        seen: set[Any] = {*self.counts.names, *declared, *priors.declared_values(self.prior)}
        return sorted(seen, key=canonical_order_key)

    @cached_property
    def table(self) -> Any:
        """The counts [C, K] in the order of `levels`."""
        place = {level: at for at, level in enumerate(self.levels)}
        table = np.zeros((len(self.counts.table), len(self.levels)), dtype=self.counts.table.dtype)
        table[:, [place[name] for name in self.counts.names]] = self.counts.table
        return table

    @cached_property
    def exact_pseudo_counts(self) -> list[Fraction]:
        """The pseudo-count of each level, and last of a level never seen."""
        return [*priors.pseudo_counts(self.prior, self.levels), priors.unseen_pseudo_count(self.prior)]

    @cached_property
    def probabilities(self) -> Floats:
        """P(level | class) as [C, K]; a class without values is given the whole column's."""
        pseudo = np.array([float(a) for a in self.exact_pseudo_counts[:-1]])
        shares = priors.estimate_probabilities(self.table.astype(np.float64), pseudo)
        empty = np.isnan(shares).all(axis=1) if shares.size else np.zeros(len(shares), dtype=bool)
        if empty.any():
            shares[empty] = priors.estimate_probabilities(
                self.table.sum(axis=0, keepdims=True).astype(np.float64), pseudo
            )
        return shares

    @cached_property
    def weights(self) -> LevelWeights:
        """The logarithms of the probabilities, as weights."""
        unseen = float(self.exact_pseudo_counts[-1])
        totals = self.table.sum(axis=1) + float(sum(self.exact_pseudo_counts))
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.probabilities)
            share = np.log(unseen / totals) if unseen > 0 else np.zeros(len(totals))
        # With neither rows nor prior in any class there is nothing to say.
        rows = np.nan_to_num(np.vstack([logs.T, share]), nan=0.0, neginf=-np.inf)
        return LevelWeights(self.name, self.levels, np.ascontiguousarray(rows))

    def factors(self, block: CategoryBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield the probability of the row's level in class c, with its arithmetic."""
        code = int(block.codes[row])
        if code < 0:
            return
        level, pseudo = block.levels[code], self.exact_pseudo_counts[:-1]
        counts = [to_fraction(n) for n in self.table[c].tolist()]
        total = sum(counts, Fraction(0))
        if level not in self.levels:
            if self.exact_pseudo_counts[-1] > 0:
                value, all_pseudo = (
                    f"{format_value(level)} (never seen)",
                    sum(self.exact_pseudo_counts, Fraction(0)),
                )
                yield smoothed_ratio(
                    self.name, value, Fraction(0), self.exact_pseudo_counts[-1], total, all_pseudo
                )
            return
        at = self.levels.index(level)
        if any(a < 0 for a in pseudo) or not total:
            # Cut off at zero, or borrowed from the other classes: the plain ratio does not hold.
            yield Factor(
                self.name, format_value(level), "", self.exact_probabilities(c)[at]
            ).in_lowest_terms()
        else:
            yield smoothed_ratio(
                self.name, format_value(level), counts[at], pseudo[at], total, sum(pseudo, Fraction(0))
            )

    def exact_probabilities(self, c: int) -> list[Fraction]:
        """Return the probabilities of all levels in class c as fractions."""
        return exact_class_shares(self.table, c, self.exact_pseudo_counts[:-1])

    def posterior(self, c: int, column: str = "") -> priors.Dirichlet:
        """Return what is believed of the probabilities in class c after the counts."""
        before = priors.dirichlet_parameters(self.prior, self.levels)
        after = [b + to_fraction(n) for b, n in zip(before, self.table[c].tolist(), strict=True)]
        return priors.Dirichlet(dict(zip(self.levels, after, strict=True)))

    def predictive(self) -> LevelWeights:
        """Return the term with the probabilities integrated out: the posterior mean."""
        return Categorical(self.part, self.counts, priors.posterior_mean_prior(self.prior)).weights

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw a level for every row."""
        drawn = np.empty(len(classes), dtype=object)
        for c in np.unique(classes):
            rows = classes == c
            at = rng.choice(len(self.levels), size=int(rows.sum()), p=self.probabilities[c])
            drawn[rows] = [self.levels[k] for k in at]
        return {self.name: drawn}

    @property
    def n_shared_parameters(self) -> int:
        """Free parameters that all classes share."""
        return 0

    def outcomes(self) -> list[Outcomes]:
        """Return the levels with their probabilities."""
        named = [(self.name, format_value(level)) for level in self.levels]
        return [Outcomes(self.levels, self.table, self.probabilities, named.__getitem__)]

    def normal_parameters(self) -> list[NormalParameters]:
        """Return no curves."""
        return []

    def sufficient_statistics(self) -> Iterator[StatisticTable]:
        """Yield the counts, as rows gave them."""
        yield "count", self.counts.names, self.counts.table

    def training_names(self) -> Iterable[Any]:
        """Return the levels that are known."""
        return self.levels

    def describe(self) -> str:
        """Return what the column holds, in a few words."""
        return format_quantity(len(self.levels), "bin" if isinstance(self.part.kind, Number) else "level")

    @property
    def n_parameters(self) -> int:
        """Free parameters per class."""
        return max(0, len(self.levels) - 1)
