"""A categorical column within each class: P(value | class) from counts and a prior."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import priors
from weigh.features import Category, Codes, Level, Part
from weigh.features.blocks import Floats, Ints
from weigh.features.columns import bin_names
from weigh.features.kinds import Number
from weigh.model.factors import Factor, estimate, exact_shares, to_fraction
from weigh.model.outcomes import Curve, Held, Outcomes
from weigh.model.tally import Tally, name_key
from weigh.model.weights import LevelWeights, as_text
from weigh.text import counted


@dataclass(frozen=True, eq=False)
class Categorical:
    """P(level | class) = (count + pseudo-count) / (total + pseudo-counts of all levels).

    A level never seen in training gets the share that one more level would have had:
    a / (n + a (K + 1)); without a prior it says nothing.
    """

    part: Part
    counts: Tally
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
        seen: set[Any] = {*self.counts.names, *declared, *priors.declared(self.prior)}
        return sorted(seen, key=name_key)

    @cached_property
    def table(self) -> Any:
        """The counts [C, K] in the order of `levels`."""
        place = {level: at for at, level in enumerate(self.levels)}
        table = np.zeros((len(self.counts.table), len(self.levels)), dtype=self.counts.table.dtype)
        table[:, [place[name] for name in self.counts.names]] = self.counts.table
        return table

    @cached_property
    def pseudo(self) -> list[Fraction]:
        """The pseudo-count of each level, and last of a level never seen."""
        return [*priors.concentration(self.prior, self.levels), priors.unseen(self.prior)]

    @cached_property
    def probabilities(self) -> Floats:
        """P(level | class) as [C, K]; a class without values is given the whole column's."""
        pseudo = np.array([float(a) for a in self.pseudo[:-1]])
        shares = priors.estimates(self.table.astype(np.float64), pseudo)
        empty = np.isnan(shares).all(axis=1) if shares.size else np.zeros(len(shares), dtype=bool)
        if empty.any():
            shares[empty] = priors.estimates(self.table.sum(axis=0, keepdims=True).astype(np.float64), pseudo)
        return shares

    @cached_property
    def weights(self) -> LevelWeights:
        """The logarithms of the probabilities, as weights."""
        unseen = float(self.pseudo[-1])
        totals = self.table.sum(axis=1) + float(sum(self.pseudo))
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.probabilities)
            share = np.log(unseen / totals) if unseen > 0 else np.zeros(len(totals))
        # With neither rows nor prior in any class there is nothing to say.
        rows = np.nan_to_num(np.vstack([logs.T, share]), nan=0.0, neginf=-np.inf)
        return LevelWeights(self.name, self.levels, np.ascontiguousarray(rows))

    def factors(self, block: Codes, row: int, c: int) -> Iterator[Factor]:
        """Yield the probability of the row's level in class c, with its arithmetic."""
        code = int(block.codes[row])
        if code < 0:
            return
        level, pseudo = block.levels[code], self.pseudo[:-1]
        counts = [to_fraction(n) for n in self.table[c].tolist()]
        total = sum(counts, Fraction(0))
        if level not in self.levels:
            if self.pseudo[-1] > 0:
                value, all_pseudo = f"{as_text(level)} (never seen)", sum(self.pseudo, Fraction(0))
                yield estimate(self.name, value, Fraction(0), self.pseudo[-1], total, all_pseudo)
            return
        at = self.levels.index(level)
        if any(a < 0 for a in pseudo) or not total:
            # Cut off at zero, or borrowed from the other classes: the plain ratio does not hold.
            yield Factor(self.name, as_text(level), "", self.exact(c)[at]).reduced()
        else:
            yield estimate(self.name, as_text(level), counts[at], pseudo[at], total, sum(pseudo, Fraction(0)))

    def exact(self, c: int) -> list[Fraction]:
        """Return the probabilities of all levels in class c as fractions."""
        return exact_shares(self.table, c, self.pseudo[:-1])

    def posterior(self, c: int, column: str = "") -> priors.Dirichlet:
        """Return what is believed of the probabilities in class c after the counts."""
        before = priors.posterior_of(self.prior, self.levels)
        after = [b + to_fraction(n) for b, n in zip(before, self.table[c].tolist(), strict=True)]
        return priors.Dirichlet(dict(zip(self.levels, after, strict=True)))

    def predictive(self) -> LevelWeights:
        """Return the term with the probabilities integrated out: the posterior mean."""
        return Categorical(self.part, self.counts, priors.averaged(self.prior)).weights

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw a level for every row."""
        drawn = np.empty(len(classes), dtype=object)
        for c in np.unique(classes):
            rows = classes == c
            at = rng.choice(len(self.levels), size=int(rows.sum()), p=self.probabilities[c])
            drawn[rows] = [self.levels[k] for k in at]
        return {self.name: drawn}

    @property
    def n_shared(self) -> int:
        """Free parameters that all classes share."""
        return 0

    def outcomes(self) -> list[Outcomes]:
        """Return the levels with their probabilities."""
        named = [(self.name, as_text(level)) for level in self.levels]
        return [Outcomes(self.levels, self.table, self.probabilities, named.__getitem__)]

    def curves(self) -> list[Curve]:
        """Return no curves."""
        return []

    def held(self) -> Iterator[Held]:
        """Yield the counts, as rows gave them."""
        yield "count", self.counts.names, self.counts.table

    def known_names(self) -> Iterable[Any]:
        """Return the levels that are known."""
        return self.levels

    def found(self) -> str:
        """Return what the column holds, in a few words."""
        return counted(len(self.levels), "bin" if isinstance(self.part.kind, Number) else "level")

    @property
    def n_parameters(self) -> int:
        """Free parameters per class."""
        return max(0, len(self.levels) - 1)
