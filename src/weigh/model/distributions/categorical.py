"""The categorical distribution of a column within each class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features.blocks import CategoryBlock, Floats, Ints, Level
from weigh.features.kinds import Category, Number
from weigh.features.schema import ColumnGroup
from weigh.immutable import Immutable, read_only
from weigh.model.counts.count_table import CountTable, canonical_order_key, fixed_levels
from weigh.model.distributions.weights import LevelWeights, format_value
from weigh.model.evidence.exact_products import Factor, exact_class_shares, smoothed_ratio, to_fraction
from weigh.model.evidence.strengths import NormalParameters, Outcomes, StatisticTable
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.smoothing import (
    Prior,
    declared_values,
    dirichlet_parameters,
    estimate_probabilities,
    posterior_mean_prior,
    pseudo_count_array,
    pseudo_counts,
    total_pseudo_count,
    unseen_pseudo_count,
)
from weigh.text import format_quantity


@dataclass(frozen=True, eq=False)
class Categorical(Immutable):
    """P(level | class) = (count + pseudo-count) / (total + sum of the pseudo-counts of all levels).

    An unseen level gets the probability of one additional level, a / (n + a (K + 1)); without a prior it
    contributes nothing. A constant column of a named table contributes nothing either, whatever its value.
    """

    part: ColumnGroup
    counts: CountTable
    prior: Prior

    @property
    def name(self) -> str:
        """The column's name."""
        return self.part.names[0]

    @cached_property
    def levels(self) -> list[Level]:
        """The levels seen or declared, in canonical order (bins from left to right)."""
        kind = self.part.kind
        fixed = fixed_levels(kind)
        if fixed is not None:
            return fixed
        declared = (kind.levels or ()) if isinstance(kind, Category) else ()
        seen: set[Any] = {*self.counts.names, *declared, *declared_values(self.prior)}
        return sorted(seen, key=canonical_order_key)

    @property
    def is_constant(self) -> bool:
        """Whether the column of a named table has one level in all rows."""
        return self.part.named and isinstance(self.part.kind, Category) and len(self.levels) == 1

    @cached_property
    @read_only
    def table(self) -> Any:
        """The counts [C, K] in the order of `levels`."""
        index = {level: k for k, level in enumerate(self.levels)}
        table = np.zeros((len(self.counts.table), len(self.levels)), dtype=self.counts.table.dtype)
        table[:, [index[name] for name in self.counts.names]] = self.counts.table
        return table

    @cached_property
    def exact_pseudo_counts(self) -> list[Fraction]:
        """The pseudo-count of each level; the last entry is that of an unseen level."""
        return [*pseudo_counts(self.prior, self.levels), unseen_pseudo_count(self.prior)]

    @cached_property
    @read_only
    def pseudo_counts(self) -> Floats:
        """The pseudo-counts as floats; the last is that of an unseen level."""
        return pseudo_count_array(self.prior, self.levels)

    @cached_property
    @read_only
    def probabilities(self) -> Floats:
        """P(level | class) as [C, K]; a class without values gets the estimate over all classes."""
        pseudo = self.pseudo_counts[:-1]
        p = estimate_probabilities(self.table.astype(np.float64), pseudo)
        is_empty = np.isnan(p).all(axis=1) if p.size else np.zeros(len(p), dtype=bool)
        if is_empty.any():
            total = self.table.sum(axis=0, keepdims=True).astype(np.float64)
            p[is_empty] = estimate_probabilities(total, pseudo)
        return p

    @cached_property
    def weights(self) -> LevelWeights:
        """The log-probabilities, as a term of the score."""
        if self.is_constant:
            zeros = np.zeros((len(self.levels) + 1, len(self.table)))
            return LevelWeights(self.name, self.levels, zeros, is_constant=True)
        log_unseen = np.zeros(len(self.table))
        with np.errstate(divide="ignore", invalid="ignore"):
            log_p = np.log(self.probabilities)
            if self.pseudo_counts[-1] > 0:
                totals = self.table.sum(axis=1) + float(total_pseudo_count(self.prior, self.levels))
                log_unseen = np.log(self.pseudo_counts[-1] / totals)
        # nan: no class has rows or a prior, so the column contributes nothing.
        table = np.nan_to_num(np.vstack([log_p.T, log_unseen]), nan=0.0, neginf=-np.inf)
        return LevelWeights(self.name, self.levels, np.ascontiguousarray(table))

    def linear(self) -> LevelWeights:
        """Return the weights in the order of linear models: declared levels first, as declared."""
        kind, weights = self.part.kind, self.weights
        declared = (kind.levels or ()) if isinstance(kind, Category) else ()
        row_of = {level: k for k, level in enumerate(weights.levels)}
        levels = list(dict.fromkeys([*declared, *weights.levels]))
        return replace(
            weights, levels=levels, table=weights.table[[*(row_of[level] for level in levels), len(levels)]]
        )

    def factors(self, block: CategoryBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield P(level of the row | class c), with the formula."""
        code = int(block.codes[row])
        if code < 0 or self.is_constant:
            return
        level, pseudo = block.levels[code], self.exact_pseudo_counts[:-1]
        counts = [to_fraction(n) for n in self.table[c].tolist()]
        total = sum(counts, Fraction(0))
        value = format_value(level)
        if level not in self.levels:
            unseen, pseudo_total = self.exact_pseudo_counts[-1], sum(self.exact_pseudo_counts, Fraction(0))
            if unseen > 0:
                value = f"{value} (never seen)"
                yield smoothed_ratio(self.name, value, Fraction(0), unseen, total, pseudo_total)
            return
        k = self.levels.index(level)
        if any(a < 0 for a in pseudo) or not total:
            # Clipped at zero or estimated from all classes: the plain ratio does not apply.
            yield Factor(self.name, value, "", self.exact_probabilities(c)[k]).in_lowest_terms()
        else:
            yield smoothed_ratio(self.name, value, counts[k], pseudo[k], total, sum(pseudo, Fraction(0)))

    def exact_probabilities(self, c: int) -> list[Fraction]:
        """Return the probabilities of all levels in class c as fractions."""
        return exact_class_shares(self.table, c, self.exact_pseudo_counts[:-1])

    def posterior(self, c: int, column: str = "") -> Dirichlet:
        """Return the posterior of the level probabilities in class c."""
        prior = dirichlet_parameters(self.prior, self.levels)
        posterior = [b + to_fraction(n) for b, n in zip(prior, self.table[c].tolist(), strict=True)]
        return Dirichlet(dict(zip(self.levels, posterior, strict=True)))

    def predictive(self) -> LevelWeights:
        """Return the posterior predictive term, which uses the posterior mean of the probabilities."""
        return Categorical(self.part, self.counts, posterior_mean_prior(self.prior)).weights

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw a level for each row of the given classes, None if there are neither values nor a prior."""
        drawn = np.empty(len(classes), dtype=object)
        for c in np.unique(classes) if np.isfinite(self.probabilities.sum()) and self.levels else ():
            rows = classes == c
            codes = rng.choice(len(self.levels), size=int(rows.sum()), p=self.probabilities[c])
            drawn[rows] = [self.levels[k] for k in codes]
        return {self.name: drawn}

    @property
    def n_shared_parameters(self) -> int:
        """Number of free parameters shared by all classes."""
        return 0

    def outcomes(self) -> list[Outcomes]:
        """Return the levels with their probabilities."""
        labels = [(self.name, format_value(level)) for level in self.levels]
        return [Outcomes(self.levels, self.table, self.probabilities, labels.__getitem__)]

    def normal_parameters(self) -> list[NormalParameters]:
        """Return an empty list: there are no normal distributions."""
        return []

    def sufficient_statistics(self) -> Iterator[StatisticTable]:
        """Yield the unsmoothed counts."""
        yield "count", self.counts.names, self.counts.table

    def constant_names(self) -> Iterator[str]:
        """Yield the column if it is left out because it is the same in all rows."""
        if self.is_constant:
            yield self.name

    def training_names(self) -> Iterable[Any]:
        """Return the levels seen or declared."""
        return self.levels

    def describe(self) -> str:
        """Return a short description of the content."""
        return format_quantity(len(self.levels), "bin" if isinstance(self.part.kind, Number) else "level")

    @property
    def n_parameters(self) -> int:
        """Number of free parameters per class."""
        return max(0, len(self.levels) - 1)
