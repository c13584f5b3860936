"""Worked calculations: the products of probabilities behind a posterior, in exact fractions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from weigh.model.distributions.weights import format_value
from weigh.priors.exact import normalise_weights
from weigh.priors.smoothing import exact_estimates
from weigh.text import escape_control_characters, escape_latex, text_table

MAX_PRODUCT_BITS = 8_000  # the product of a long text would take minutes to reduce
RATIO = re.compile(r"(?P<over>\([^()]*\)) / (?P<under>\([^()]*\))")  # of counts with their pseudo-counts


@dataclass(frozen=True)
class ClassProduct:
    """The product of one class: the prior, then one factor per feature."""

    label: Any
    factors: tuple[Factor, ...]

    @cached_property
    def is_exact(self) -> bool:
        """Whether every factor is a fraction and the product has at most `MAX_PRODUCT_BITS` bits."""
        return self.n_bits <= MAX_PRODUCT_BITS

    @cached_property
    def n_bits(self) -> float:
        """The approximate number of bits of the product."""
        return sum(_factor_bits(f) for f in self.factors)

    @property
    def numerator(self) -> Fraction:
        """The product of the numerators, not in lowest terms."""
        return math.prod((Fraction(f.numerator) ** f.exponent for f in self.factors), start=Fraction(1))

    @property
    def denominator(self) -> Fraction:
        """The product of the denominators, not in lowest terms."""
        return math.prod((f.denominator**f.exponent for f in self.factors), start=Fraction(1))

    @property
    def log(self) -> float:
        """The logarithm of the product, which does not underflow."""
        parts = [f.exponent * (_log(f.numerator) - _log(f.denominator)) for f in self.factors]
        return -math.inf if -math.inf in parts else math.fsum(parts)


def class_posteriors(products: Sequence[ClassProduct]) -> list[Fraction | float]:
    """Return the posterior of each class, exact if all products are exact and short enough together."""
    if all(p.is_exact for p in products) and sum(p.n_bits for p in products) <= MAX_PRODUCT_BITS:
        fractions = [p.numerator / p.denominator for p in products]
        total = sum(fractions)
        return [fraction / total for fraction in fractions] if total else [math.nan] * len(products)
    logs = [p.log for p in products]
    top = max(logs)
    weights = [math.exp(log - top) for log in logs]
    return [weight / sum(weights) for weight in weights]


def format_products(products: Sequence[ClassProduct], verdict: Any) -> str:
    """Return the calculation as an aligned table, one column per class."""
    lines = [["", *(str(p.label) for p in products)]]
    for i, factor in enumerate(products[0].factors):
        lines.append([_factor_title(factor), *(_format_factor(p.factors[i]) for p in products)])
    lines.append(["product", *map(_format_product, products)])
    lines.append(["", *map(_format_lowest_terms, products)])
    lines.append(["posterior", *map(_format_probability, class_posteriors(products))])
    lines = [line for line in lines if any(line)]
    return f"{text_table(lines, left=len(lines[0]))}\nverdict: {escape_control_characters(str(verdict))}"


def products_latex(products: Sequence[ClassProduct], verdict: Any) -> str:
    """Return the calculation as LaTeX, in an align* environment with the steps of each class.

    The steps are the factors by name, their fractions before and after the pseudo-counts are added, the
    product, the product in lowest terms, and the posterior.
    """
    lines = []
    for p, posterior in zip(products, class_posteriors(products), strict=True):
        names = r" \cdot ".join(_latex_factor_name(factor, p.label) for factor in p.factors)
        lines.append(rf"\text{{{escape_latex(p.label)}:}}\quad & {names}")
        steps = [
            r" \cdot ".join(map(_latex_formula, p.factors)),
            r" \cdot ".join(map(_latex_factor, p.factors)),
        ]
        steps += _latex_product(p)
        lines += [f"& = {step}" for at, step in enumerate(steps) if step not in steps[:at]]
        lines.append(rf"& P({_latex_text(p.label)} \mid \text{{row}}) = {_latex_number(posterior)}")
    body = " \\\\\n".join(lines)
    return (
        "\\begin{align*}\n" + body + " \\\\\n" + rf"& \Rightarrow {_latex_text(verdict)}" + "\n\\end{align*}"
    )


def _latex_factor_name(factor: Factor, label: Any) -> str:
    """Return P(feature = value | label) with the names of the factor; a word has its count as exponent."""
    if not factor.value:
        return f"P({_latex_text(label if factor.feature == 'class' else factor.feature)})"
    condition = rf"\mid {_latex_text(label)}"
    if factor.value.startswith("× "):
        power = "" if factor.exponent == 1 else f"^{{{factor.exponent}}}"
        return rf"P({_latex_text(factor.feature)} {condition}){power}"
    return rf"P({_latex_text(factor.feature)} = {_latex_text(factor.value)} {condition})"


def _latex_formula(factor: Factor) -> str:
    """Return the ratio of counts and pseudo-counts, or the fraction if it has none."""
    ratio = RATIO.fullmatch(factor.formula)
    if ratio is None:
        is_density = isinstance(factor.numerator, float) and factor.formula
        return _latex_text(factor.formula) if is_density else _latex_factor(factor)
    over, under = (part[1:-1].replace("−", "-") for part in (ratio["over"], ratio["under"]))
    power = "" if factor.exponent == 1 else f"^{{{factor.exponent}}}"
    fraction = rf"\frac{{{over}}}{{{under}}}"
    return rf"\left({fraction}\right){power}" if power else fraction


def _latex_product(product: ClassProduct) -> list[str]:
    """Return the product, and the product in lowest terms."""
    if not product.is_exact:
        return [f"e^{{{product.log:.6g}}}"]
    numerator, denominator = product.numerator, product.denominator
    return [_latex_fraction(numerator, denominator), _latex_number(numerator / denominator)]


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


def _format_product(product: ClassProduct) -> str:
    if not product.is_exact:
        return f"{math.exp(product.log):.6g}" if product.log > -700 else f"e^{product.log:.6g}"
    text = f"{format_rational(product.numerator)}/{format_rational(product.denominator)}"
    return text if len(text) <= 40 else f"e^{product.log:.6g}"


def _format_lowest_terms(product: ClassProduct) -> str:
    if not product.is_exact or not product.numerator:
        return ""
    fraction = product.numerator / product.denominator
    text = f"= {fraction} = {float(fraction):.6g}"
    return text if len(text) <= 40 else ""


def _format_probability(p: Fraction | float) -> str:
    if isinstance(p, float) or len(str(p)) > 24:
        return f"{float(p):.6g}"
    return f"{p} = {float(p):.6g}"


def _factor_bits(factor: Factor) -> float:
    """Return the approximate number of bits of a factor; infinite for a float."""
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


def _latex_fraction(numerator: Fraction | float, denominator: Fraction) -> str:
    return rf"\frac{{{format_rational(Fraction(numerator))}}}{{{format_rational(denominator)}}}"


def _latex_number(number: Fraction | float) -> str:
    if isinstance(number, float):
        return f"{number:.4g}"
    return _latex_fraction(Fraction(number.numerator), Fraction(number.denominator))


def _latex_text(value: object) -> str:
    return rf"\text{{{escape_latex(value)}}}"


@dataclass(frozen=True)
class Factor:
    """P(feature = value | class) = (numerator / denominator)^exponent, not in lowest terms.

    A density, or any other number that is not a ratio of counts, is a float with the denominator 1.
    """

    feature: str
    value: str
    formula: str
    numerator: Fraction | float
    denominator: Fraction = Fraction(1)
    exponent: int = 1

    @property
    def probability(self) -> Fraction | float:
        """The value of the factor."""
        return (self.numerator / self.denominator) ** self.exponent

    def in_lowest_terms(self) -> Factor:
        """Return the factor in lowest terms, without its formula."""
        if isinstance(self.numerator, float):
            return self
        numerator, denominator = map(Fraction, (self.numerator / self.denominator).as_integer_ratio())
        return replace(self, formula="", numerator=numerator, denominator=denominator)


def smoothed_ratio(
    feature: str, value: str, count: Fraction, pseudo: Fraction, total: Fraction, pseudo_total: Fraction
) -> Factor:
    """Return the factor (count + pseudo) / (total + pseudo_total)."""
    text = format_ratio(count, pseudo, total, pseudo_total)
    return Factor(feature, value, text, count + pseudo, total + pseudo_total)


def exact_class_shares(table: Any, c: int, pseudo: Sequence[Fraction]) -> list[Fraction]:
    """Return the probabilities of all columns of a count table [C, K] in class c as fractions.

    A class with neither counts nor pseudo-counts gets the probabilities of all classes together.
    """
    smoothed = [to_fraction(n) + a for n, a in zip(table[c].tolist(), pseudo, strict=True)]
    return normalise_weights(smoothed) or exact_estimates(
        [to_fraction(n) for n in table.sum(axis=0).tolist()], pseudo
    )


def to_fraction(count: float) -> Fraction:
    """Return a count as an exact fraction; a float is read by its decimal text."""
    return Fraction(str(count)) if isinstance(count, float) else Fraction(count)


def format_ratio(count: Fraction, pseudo: Fraction, total: Fraction, pseudo_total: Fraction) -> str:
    """Format a smoothed ratio, such as (1 + 1) / (3 + 2)."""
    if not pseudo and not pseudo_total:
        return f"{format_rational(count)}/{format_rational(total)}"
    numerator = f"({format_rational(count)} + {format_rational(pseudo)})"
    return f"{numerator} / ({format_rational(total)} + {format_rational(pseudo_total)})".replace("+ -", "− ")


def format_rational(number: Fraction) -> str:
    """Format a rational number as an integer, a short decimal or a fraction."""
    if number.denominator == 1:
        return str(number.numerator)
    if Fraction(str(float(number))) == number:
        return format_value(float(number))
    return str(number)
