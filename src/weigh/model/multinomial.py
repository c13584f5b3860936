"""Counts of words within each class: one multinomial over all words of a part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core, priors
from weigh.features import Entries, Part, Tokens, Words
from weigh.features.blocks import Floats, Ints, Longs, Repeated
from weigh.model.factors import Factor, estimate, exact_shares, to_fraction
from weigh.model.outcomes import Curve, Held, Outcomes
from weigh.model.polya import Polya
from weigh.model.pruning import kept_words, no_words, taken_names
from weigh.model.tally import Tally
from weigh.model.weights import as_text
from weigh.model.word_tally import WordTally
from weigh.model.word_weights import Buckets, WordWeights
from weigh.text import counted


@dataclass(frozen=True, eq=False)
class Multinomial:
    """P(word | class) = (count + pseudo-count) / (all counts + all pseudo-counts).

    A row's words are drawn one after the other, so a word that occurs three times counts three
    times. With `complement`, the weights of a class come from the words of all *other* classes:
    w = −log P(word | other classes), and the class prior plays no part (Rennie et al. 2003).
    """

    part: Part
    counts: Tally | WordTally
    prior: priors.Prior
    rows: Any
    complement: bool = False
    own: Mapping[str, priors.Prior] = field(default_factory=dict)

    @cached_property
    def _kept(self) -> Longs | None:
        return kept_words(self.part.kind, self.counts.table)

    @cached_property
    def words(self) -> Sequence[str]:
        """The words of the finished model."""
        return taken_names(self.counts.names, self._kept)

    @cached_property
    def table(self) -> Any:
        """The counts [C, V] of the kept words."""
        return self.counts.table if self._kept is None else self.counts.table[:, self._kept]

    @cached_property
    def _even(self) -> Fraction | None:
        """The pseudo-count that all words have, if it is one; a million need not be written down."""
        if self.own or isinstance(self.prior, priors.Beta | priors.Dirichlet):
            return None
        return priors.concentration(self.prior, ("",))[0]

    @cached_property
    def pseudo(self) -> Sequence[Fraction]:
        """The pseudo-count of each word."""
        if self._even is not None:
            return Repeated(self._even, len(self.words))
        shares = priors.concentration(self.prior, self.words)
        for name, prior in self.own.items():
            shares[self.words.index(name)] = priors.concentration(prior, (name,))[0]
        return shares

    @cached_property
    def pseudo_counts(self) -> Floats:
        """The pseudo-count of each word, as floats [V]."""
        if self._even is None:
            return np.fromiter(map(float, self.pseudo), np.float64, len(self.words))
        return np.full(len(self.words), float(self._even))

    @cached_property
    def probabilities(self) -> Floats:
        """P(word | class) as [C, V]; a class without words is given all classes' words."""
        pseudo = self.pseudo_counts
        counts = self.table.astype(np.float64)
        if self.complement:
            counts = counts.sum(axis=0) - counts
        shares = priors.estimates(counts, pseudo)
        empty = np.isnan(shares).all(axis=1) if shares.size else np.zeros(len(shares), dtype=bool)
        if empty.any():
            shares[empty] = np.nan_to_num(
                priors.estimates(counts.sum(axis=0, keepdims=True), pseudo), nan=1.0
            )
        return shares

    @cached_property
    def weights(self) -> WordWeights:
        """The logarithms of the probabilities, as weights per occurrence."""
        logs = self._logs()
        return WordWeights(self.part.title, self.words, logs, self.counts.fixed, self._buckets)

    def _logs(self) -> Floats:
        if self._even is not None and not self.complement and self.table.dtype != np.float64:
            totals = self.table.sum(axis=1) + float(self._even) * len(self.words)
            if totals.all():
                return _core.smoothed_log_probabilities(
                    np.ascontiguousarray(self.table), float(self._even), totals
                )
        with np.errstate(divide="ignore"):
            logs = np.ascontiguousarray(np.log(self.probabilities).T)
        return -logs if self.complement else logs

    @property
    def is_hashed(self) -> bool:
        """Whether words are told apart by their bucket only."""
        return isinstance(self.counts, WordTally) and self.counts.hashed

    @property
    def _buckets(self) -> Buckets | None:
        return Buckets.of(self.counts.table) if self.is_hashed else None

    @cached_property
    def _pseudo_total(self) -> Fraction:
        return sum(self.pseudo, Fraction(0)) if self._even is None else self._even * len(self.words)

    def factors(self, block: Entries | Words, row: int, c: int) -> Iterator[Factor]:
        """Yield the probability of each word of the row, to the power of its count."""
        pseudo_total = self._pseudo_total
        total = to_fraction(self.table[c].sum().item())
        is_plain = total + pseudo_total > 0 and (self._even is not None or all(a >= 0 for a in self.pseudo))
        for at, count, name in self.weights.occurrences(block, row):
            n = to_fraction(self.table[c, at].item())
            value = f"× {as_text(count)}"
            if is_plain:
                factor = estimate(name, value, n, self.pseudo[at], total, pseudo_total)
            else:
                # Cut off at zero, or borrowed from the other classes: the plain ratio does not hold.
                factor = Factor(name, value, "", self.exact(c)[at]).reduced()
            if count.is_integer():
                yield replace(factor, power=int(count))
            else:
                yield Factor(name, value, factor.formula, float(factor.probability) ** count)

    def exact(self, c: int) -> list[Fraction]:
        """Return the probabilities of all words in class c as fractions."""
        return exact_shares(self.table, c, self.pseudo)

    @cached_property
    def _before(self) -> list[Fraction]:
        """The Dirichlet parameter of each word before any row."""
        before = priors.posterior_of(self.prior, self.words)
        for name, prior in self.own.items():
            before[self.words.index(name)] = priors.posterior_of(prior, (name,))[0]
        return before

    def posterior(self, c: int, column: str = "") -> priors.Dirichlet:
        """Return what is believed of the word probabilities in class c after the counts."""
        after = [b + to_fraction(n) for b, n in zip(self._before, self.table[c].tolist(), strict=True)]
        words = [self.weights.spelled(at) for at in range(len(self.words))] if self.is_hashed else self.words
        return priors.Dirichlet(dict(zip(words, after, strict=True)))

    def predictive(self) -> Polya:
        """Return the part with the probabilities integrated out: a Dirichlet-multinomial."""
        return Polya(self.weights, np.ascontiguousarray((self.table + np.array(self._before, np.float64)).T))

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw words for every row, as many as rows of its class had on average (Poisson)."""
        if self.is_hashed:
            raise no_words(self.part.title)
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
    def n_shared(self) -> int:
        """Free parameters that all classes share."""
        return 0

    def outcomes(self) -> list[Outcomes]:
        """Return the words with their probabilities."""
        term = self.weights
        return [Outcomes(self.words, self.table, self.probabilities, lambda at: (term.named(at), ""))]

    def curves(self) -> list[Curve]:
        """Return no curves."""
        return []

    def held(self) -> Iterator[Held]:
        """Yield the counts, as rows gave them."""
        # Buckets go by their numbers: their names are not what was counted.
        names = range(self.counts.table.shape[1]) if self.is_hashed else self.counts.names
        yield "count", names, self.counts.table

    def known_names(self) -> Iterable[str]:
        """Return the words that training has ever seen, pruned ones too; columns are always known."""
        return () if self.counts.fixed or self.is_hashed else self.counts.names

    def found(self) -> str:
        """Return what the column holds, in a few words; a count needs none."""
        if self.is_hashed:
            return f"{len(self.words):,} of {self.counts.table.shape[1]:,} buckets used"
        return "" if self.part.kind.gathers else counted(len(self.words), "word")

    @property
    def n_parameters(self) -> int:
        """Free parameters per class."""
        return max(0, len(self.words) - 1)
