"""Flags within each class: each present with its own probability, or absent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors, priors
from weigh.features import Entries, Part, Tokens, Words
from weigh.features.blocks import Floats, Ints, Longs
from weigh.model.counts import FlagCounts
from weigh.model.factors import Factor, estimate, to_fraction
from weigh.model.flag_weights import MOST_ABSENT, FlagWeights
from weigh.model.outcomes import Curve, Held, Outcomes
from weigh.model.pruning import kept_words, no_words, taken_names
from weigh.model.word_tally import WordTally
from weigh.model.word_weights import Buckets
from weigh.text import counted


@dataclass(frozen=True, eq=False)
class Bernoulli:
    """P(present | class) = (present + a) / (known + a + b), for every flag on its own.

    `prior` holds for all flags, `own` for flags that have a prior of their own.
    """

    part: Part
    counts: FlagCounts
    prior: priors.Prior
    own: Mapping[str, priors.Prior]

    @cached_property
    def _kept(self) -> Longs | None:
        return kept_words(self.part.kind, self.counts.present.table)

    @cached_property
    def names(self) -> Sequence[str]:
        """The flags of the finished model."""
        return taken_names(self.counts.present.names, self._kept)

    @cached_property
    def present(self) -> Any:
        """How often each flag was present, [C, d]."""
        table = self.counts.present.table
        return table if self._kept is None else table[:, self._kept]

    @property
    def is_hashed(self) -> bool:
        """Whether words are told apart by their bucket only."""
        return isinstance(self.counts.present, WordTally) and self.counts.present.hashed

    @property
    def _buckets(self) -> Buckets | None:
        return Buckets.of(self.counts.present.table) if self.is_hashed else None

    @cached_property
    def known(self) -> Any:
        """How often each flag was known, [C, d] or [C, 1]."""
        known = self.counts.known
        return known if known.shape[1] == 1 or self._kept is None else known[:, self._kept]

    def pseudo(self, at: int) -> tuple[Fraction, Fraction]:
        """Return the pseudo-counts of a flag, absent and present."""
        absent, present = priors.concentration(self.own.get(self.names[at], self.prior), (0, 1))
        return absent, present

    @cached_property
    def pseudo_counts(self) -> Floats:
        """The pseudo-counts of every flag, absent and present, as [d, 2]."""
        absent, present = (float(a) for a in priors.concentration(self.prior, (0, 1)))
        pseudo = np.tile(np.array([[absent, present]]), (len(self.names), 1))
        for name in self.own.keys() & set(self.names if self.own else ()):
            at = list(self.names).index(name)
            pseudo[at] = [float(a) for a in self.pseudo(at)]
        return pseudo

    @cached_property
    def probabilities(self) -> Floats:
        """P(present | class) as [C, d]; a class without values is given the whole column's."""
        pseudo = self.pseudo_counts
        on = np.maximum(self.present + pseudo[:, 1], 0.0)
        off = np.maximum(self.known - self.present + pseudo[:, 0], 0.0)
        with np.errstate(invalid="ignore"):
            shares: Floats = np.asarray(on / (on + off))
            if np.isnan(shares).any():
                on = np.maximum(self.present.sum(axis=0) + pseudo[:, 1], 0.0)
                off = np.maximum((self.known - self.present).sum(axis=0) + pseudo[:, 0], 0.0)
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

    def factors(self, block: Entries | Words, row: int, c: int) -> Iterator[Factor]:
        """Yield the probability of each flag's state in class c, with its arithmetic."""
        here, absent = self.weights.states(block, row)
        own = self.weights.own_names(block, row)
        for at in here:
            factor = self._factor(at, c, is_present=True)
            yield replace(factor, feature=own[at]) if at in own else factor
        if len(absent) <= MOST_ABSENT and not self.is_hashed:
            for at in absent:
                yield self._factor(at, c, is_present=False)
        else:
            chance = float(np.exp(self.weights.absent[absent, c].sum()))
            yield Factor(f"{len(absent):,} others", "absent", "", chance)

    def _factor(self, at: int, c: int, *, is_present: bool) -> Factor:
        name, value = self.weights.named(at), self.weights.word(is_present)
        on, total = self._counts(c, at)
        absent, present = self.pseudo(at)
        count, pseudo = (on, present) if is_present else (total - on, absent)
        if min(absent, present) < 0 or not total:
            return Factor(name, value, "", self._share(c, at, is_present)).reduced()
        return estimate(name, value, count, pseudo, total, absent + present)

    def _share(self, c: int, at: int, is_present: bool) -> Fraction:
        """Return a probability that is cut off at zero, or borrowed from the other classes."""
        absent, present = self.pseudo(at)
        each = [self._counts(other, at) for other in range(len(self.present))]
        everywhere = sum((on for on, _ in each), Fraction(0)), sum((total for _, total in each), Fraction(0))
        for on, total in (each[c], everywhere):
            weights = max(Fraction(0), total - on + absent), max(Fraction(0), on + present)
            if any(weights):
                return weights[is_present] / sum(weights)
        return Fraction(1)  # known in no class, the flag says nothing

    def _counts(self, c: int, at: int) -> tuple[Fraction, Fraction]:
        """Return how often a flag was present in class c, and how often known."""
        known = self.known[c, at if self.known.shape[1] > 1 else 0]
        return to_fraction(self.present[c, at].item()), to_fraction(known.item())

    def posterior(self, c: int, column: str = "") -> priors.Beta:
        """Return what is believed of a flag's probability in class c after the counts."""
        at = self._number(column)
        absent, present = priors.posterior_of(self.own.get(self.names[at], self.prior), (0, 1))
        on, total = self._counts(c, at)
        return priors.Beta(present + on, absent + total - on)

    def _number(self, column: str) -> int:
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
        own = {name: priors.averaged(prior) for name, prior in self.own.items()}
        return replace(self, prior=priors.averaged(self.prior), own=own).weights

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw every flag of every row."""
        if self.is_hashed:
            raise no_words(self.part.title)
        drawn = rng.random((len(classes), len(self.names))) < self.probabilities[classes]
        if self.counts.present.fixed:
            return {name: drawn[:, at].astype(np.int64) for at, name in enumerate(self.names)}
        column = np.empty(len(classes), dtype=object)
        for row, present in enumerate(drawn):
            words = [self.names[at] for at in np.flatnonzero(present).tolist()]
            column[row] = words if isinstance(self.part.kind, Tokens) else " ".join(words)
        return {self.part.names[0]: column}

    @property
    def n_shared(self) -> int:
        """Free parameters that all classes share."""
        return 0

    def outcomes(self) -> list[Outcomes]:
        """Return every flag's presence with its probability, and its absence if that tells anything."""
        term = self.weights
        present = Outcomes(
            self.names,
            self.present,
            self.probabilities,
            lambda at: (term.named(at), term.word(True)),
            is_told=False,
            exclusive=False,
        )
        if not term.fixed:
            # That a word is absent is never what a text is known by; that a flag is may well be.
            return [present]
        absent = Outcomes(
            self.names,
            self.known - self.present,
            1.0 - self.probabilities,
            lambda at: (term.named(at), term.word(False)),
            exclusive=False,
        )
        return [present, absent]

    def curves(self) -> list[Curve]:
        """Return no curves."""
        return []

    def held(self) -> Iterator[Held]:
        """Yield the counts, as rows gave them."""
        # Buckets go by their numbers: their names are not what was counted.
        names = range(self.counts.present.table.shape[1]) if self.is_hashed else self.counts.present.names
        yield "count", names, self.counts.present.table
        yield "known", names, self.counts.known

    def known_names(self) -> Iterable[str]:
        """Return the words that training has ever seen, pruned ones too; flags are always known."""
        return () if self.counts.present.fixed or self.is_hashed else self.counts.present.names

    def found(self) -> str:
        """Return what the column holds, in a few words; a flag needs none."""
        if self.is_hashed:
            return f"{len(self.names):,} of {self.counts.present.table.shape[1]:,} buckets used"
        return "" if self.part.kind.gathers else counted(len(self.names), "word")

    @property
    def n_parameters(self) -> int:
        """Free parameters per class."""
        return len(self.names)
