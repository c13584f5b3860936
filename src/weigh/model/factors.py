"""Factors: the probabilities behind a score, with the arithmetic that gave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from weigh import priors
from weigh.model.weights import as_text
from weigh.priors.exact import shares


@dataclass(frozen=True)
class Factor:
    """One probability P(feature = value | class) = above / below, not reduced.

    A density, or anything else that is no ratio of counts, is a float over one.
    """

    feature: str
    value: str
    formula: str
    above: Fraction | float
    below: Fraction = Fraction(1)
    power: int = 1

    @property
    def probability(self) -> Fraction | float:
        """The factor as one number."""
        return (self.above / self.below) ** self.power

    def reduced(self) -> Factor:
        """Return the factor without its history: in lowest terms, without a formula."""
        if isinstance(self.above, float):
            return self
        share = self.above / self.below
        return replace(self, formula="", above=Fraction(share.numerator), below=Fraction(share.denominator))


def estimate(
    feature: str, value: str, count: Fraction, pseudo: Fraction, total: Fraction, pseudo_total: Fraction
) -> Factor:
    """Return the factor (count + pseudo) / (total + pseudo_total)."""
    text = ratio_text(count, pseudo, total, pseudo_total)
    return Factor(feature, value, text, count + pseudo, total + pseudo_total)


def exact_shares(table: Any, c: int, pseudo: Sequence[Fraction]) -> list[Fraction]:
    """Return the probabilities of all columns of a table in class c as fractions.

    A class that has neither counts nor pseudo-counts is given those of all classes together.
    """
    own = shares([to_fraction(n) + a for n, a in zip(table[c].tolist(), pseudo, strict=True)])
    return own or priors.exact_estimates([to_fraction(n) for n in table.sum(axis=0).tolist()], pseudo)


def to_fraction(count: float) -> Fraction:
    """Return a count as an exact fraction, a float by its decimal text."""
    return Fraction(str(count)) if isinstance(count, float) else Fraction(count)


def ratio_text(count: Fraction, pseudo: Fraction, total: Fraction, pseudo_total: Fraction) -> str:
    """Return an estimate's arithmetic, such as (1 + 1) / (3 + 2)."""
    if not pseudo and not pseudo_total:
        return f"{number_text(count)}/{number_text(total)}"
    above = f"({number_text(count)} + {number_text(pseudo)})"
    return f"{above} / ({number_text(total)} + {number_text(pseudo_total)})".replace("+ -", "− ")


def number_text(number: Fraction) -> str:
    """Return a rational number as an integer, a short decimal or a fraction."""
    if number.denominator == 1:
        return str(number.numerator)
    if Fraction(str(float(number))) == number:
        return as_text(float(number))
    return str(number)
