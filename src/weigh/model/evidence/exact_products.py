"""Worked calculations: the product behind a posterior, in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from weigh import priors
from weigh.model.distributions.weights import format_value
from weigh.priors.exact import normalise_weights
from weigh.text import escape_latex, text_table

MAX_PRODUCT_BITS = 8_000  # bits of a product; a long text's would take minutes to reduce, and no one reads it


@dataclass(frozen=True)
class ClassProduct:
    """One class's product: the prior, then one factor per feature."""

    label: Any
    factors: tuple[Factor, ...]

    @cached_property
    def is_exact(self) -> bool:
        """Whether every factor is a ratio of counts, and their product short enough to write down."""
        return self.n_bits <= MAX_PRODUCT_BITS

    @cached_property
    def n_bits(self) -> float:
        """About how many bits the product has."""
        return sum(_factor_bits(f) for f in self.factors)

    @property
    def numerator(self) -> Fraction:
        """The product of the numerators, not reduced."""
        return math.prod((Fraction(f.numerator) ** f.exponent for f in self.factors), start=Fraction(1))

    @property
    def denominator(self) -> Fraction:
        """The product of the denominators, not reduced."""
        return math.prod((f.denominator**f.exponent for f in self.factors), start=Fraction(1))

    @property
    def log(self) -> float:
        """The logarithm of the product, which never underflows."""
        parts = [f.exponent * (_log(f.numerator) - _log(f.denominator)) for f in self.factors]
        return -math.inf if -math.inf in parts else math.fsum(parts)


def class_posteriors(work: Sequence[ClassProduct]) -> list[Fraction | float]:
    """Return the posterior of each class, exact if every factor is and all together are short enough."""
    if all(each.is_exact for each in work) and sum(each.n_bits for each in work) <= MAX_PRODUCT_BITS:
        products = [each.numerator / each.denominator for each in work]
        total = sum(products)
        return [product / total for product in products] if total else [math.nan] * len(work)
    logs = [each.log for each in work]
    top = max(logs)
    shares = [math.exp(log - top) for log in logs]
    return [share / sum(shares) for share in shares]


def format_products(work: Sequence[ClassProduct], verdict: Any) -> str:
    """Return the calculation as an aligned table, one column per class."""
    lines = [["", *(str(each.label) for each in work)]]
    for at, factor in enumerate(work[0].factors):
        lines.append([_factor_title(factor), *(_format_factor(each.factors[at]) for each in work)])
    lines.append(["product", *(_format_product(each) for each in work)])
    lines.append(["", *(_format_lowest_terms(each) for each in work)])
    lines.append(["posterior", *(_format_probability(p) for p in class_posteriors(work))])
    lines = [line for line in lines if any(line)]
    return f"{text_table(lines, left=len(lines[0]))}\nverdict: {verdict}"


def products_latex(work: Sequence[ClassProduct], verdict: Any) -> str:
    """Return the calculation as LaTeX, one line per class in an align* environment."""
    lines = []
    for each, share in zip(work, class_posteriors(work), strict=True):
        product = r" \times ".join(_latex_factor(f) for f in each.factors)
        result = (
            _latex_fraction(each.numerator, each.denominator) if each.is_exact else f"e^{{{each.log:.6g}}}"
        )
        lines.append(
            rf"{_latex_text(each.label)}:\quad & {product} = {result}, \qquad P = {_latex_number(share)}"
        )
    body = " \\\\\n".join(lines)
    return (
        "\\begin{align*}\n" + body + " \\\\\n" + rf"& \Rightarrow {_latex_text(verdict)}" + "\n\\end{align*}"
    )


def _factor_title(factor: Factor) -> str:
    if not factor.value:
        return f"P({factor.feature})"
    if factor.value.startswith("× "):
        return f"P({factor.feature} | class)^{factor.value.removeprefix('× ')}".removesuffix("^1")
    return f"P({factor.feature}={factor.value} | class)"


def _format_factor(factor: Factor) -> str:
    if isinstance(factor.numerator, float):
        return f"{factor.formula} = {factor.numerator:.6g}".removeprefix(" = ")
    result = f"{format_rational(factor.numerator)}/{format_rational(factor.denominator)}"
    if not factor.formula or factor.formula == result:
        return result
    return f"{factor.formula} = {result}"


def _format_product(each: ClassProduct) -> str:
    if not each.is_exact:
        return f"{math.exp(each.log):.6g}" if each.log > -700 else f"e^{each.log:.6g}"
    text = f"{format_rational(each.numerator)}/{format_rational(each.denominator)}"
    return text if len(text) <= 40 else f"e^{each.log:.6g}"


def _format_lowest_terms(each: ClassProduct) -> str:
    if not each.is_exact or not each.numerator:
        return ""
    share = each.numerator / each.denominator
    text = f"= {share} = {float(share):.6g}"
    return text if len(text) <= 40 else ""


def _format_probability(share: Fraction | float) -> str:
    if isinstance(share, float) or len(str(share)) > 24:
        return f"{float(share):.6g}"
    return f"{share} = {float(share):.6g}"


def _factor_bits(factor: Factor) -> float:
    """Return about how many bits a factor adds to a product; a density adds no end of them."""
    if isinstance(factor.numerator, float):
        return math.inf
    parts = (factor.numerator, factor.denominator)
    return factor.exponent * sum(
        part.numerator.bit_length() + part.denominator.bit_length() for part in parts
    )


def _log(number: Fraction | float) -> float:
    if not number:
        return -math.inf
    if isinstance(number, Fraction):
        return math.log(number.numerator) - math.log(number.denominator)
    return math.log(number)


def _latex_factor(factor: Factor) -> str:
    power = "" if factor.exponent == 1 else f"^{{{factor.exponent}}}"
    if isinstance(factor.numerator, float):
        return f"{factor.numerator:.4g}{power}"
    fraction = _latex_fraction(factor.numerator, factor.denominator)
    return rf"\left({fraction}\right){power}" if power else fraction


def _latex_fraction(above: Fraction | float, below: Fraction) -> str:
    return rf"\frac{{{format_rational(Fraction(above))}}}{{{format_rational(below)}}}"


def _latex_number(share: Fraction | float) -> str:
    if isinstance(share, float):
        return f"{share:.4g}"
    return _latex_fraction(Fraction(share.numerator), Fraction(share.denominator))


def _latex_text(value: object) -> str:
    return rf"\text{{{escape_latex(value)}}}"


@dataclass(frozen=True)
class Factor:
    """One probability P(feature = value | class) = above / below, not reduced.

    A density, or anything else that is no ratio of counts, is a float over one.
    """

    feature: str
    value: str
    formula: str
    numerator: Fraction | float
    denominator: Fraction = Fraction(1)
    exponent: int = 1

    @property
    def probability(self) -> Fraction | float:
        """The factor as one number."""
        return (self.numerator / self.denominator) ** self.exponent

    def in_lowest_terms(self) -> Factor:
        """Return the factor without its history: in lowest terms, without a formula."""
        if isinstance(self.numerator, float):
            return self
        share = self.numerator / self.denominator
        return replace(
            self, formula="", numerator=Fraction(share.numerator), denominator=Fraction(share.denominator)
        )


def smoothed_ratio(
    feature: str, value: str, count: Fraction, pseudo: Fraction, total: Fraction, pseudo_total: Fraction
) -> Factor:
    """Return the factor (count + pseudo) / (total + pseudo_total)."""
    text = format_ratio(count, pseudo, total, pseudo_total)
    return Factor(feature, value, text, count + pseudo, total + pseudo_total)


def exact_class_shares(table: Any, c: int, pseudo: Sequence[Fraction]) -> list[Fraction]:
    """Return the probabilities of all columns of a table in class c as fractions.

    A class that has neither counts nor pseudo-counts is given those of all classes together.
    """
    own = normalise_weights([to_fraction(n) + a for n, a in zip(table[c].tolist(), pseudo, strict=True)])
    return own or priors.exact_estimates([to_fraction(n) for n in table.sum(axis=0).tolist()], pseudo)


def to_fraction(count: float) -> Fraction:
    """Return a count as an exact fraction, a float by its decimal text."""
    return Fraction(str(count)) if isinstance(count, float) else Fraction(count)


def format_ratio(count: Fraction, pseudo: Fraction, total: Fraction, pseudo_total: Fraction) -> str:
    """Return an estimate's arithmetic, such as (1 + 1) / (3 + 2)."""
    if not pseudo and not pseudo_total:
        return f"{format_rational(count)}/{format_rational(total)}"
    above = f"({format_rational(count)} + {format_rational(pseudo)})"
    return f"{above} / ({format_rational(total)} + {format_rational(pseudo_total)})".replace("+ -", "− ")


def format_rational(number: Fraction) -> str:
    """Return a rational number as an integer, a short decimal or a fraction."""
    if number.denominator == 1:
        return str(number.numerator)
    if Fraction(str(float(number))) == number:
        return format_value(float(number))
    return str(number)
