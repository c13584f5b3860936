"""Worked calculations: the product behind a posterior, in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from weigh.model.factors import Factor, number_text
from weigh.text import aligned, latex

LONGEST = 8_000  # bits of a product; a long text's would take minutes to reduce, and no one reads it


@dataclass(frozen=True)
class ClassWork:
    """One class's product: the prior, then one factor per feature."""

    label: Any
    factors: tuple[Factor, ...]

    @cached_property
    def is_exact(self) -> bool:
        """Whether every factor is a ratio of counts, and their product short enough to write down."""
        return self.bits <= LONGEST

    @cached_property
    def bits(self) -> float:
        """About how many bits the product has."""
        return sum(_bits(f) for f in self.factors)

    @property
    def above(self) -> Fraction:
        """The product of the numerators, not reduced."""
        return math.prod((Fraction(f.above) ** f.power for f in self.factors), start=Fraction(1))

    @property
    def below(self) -> Fraction:
        """The product of the denominators, not reduced."""
        return math.prod((f.below**f.power for f in self.factors), start=Fraction(1))

    @property
    def log(self) -> float:
        """The logarithm of the product, which never underflows."""
        parts = [f.power * (_log(f.above) - _log(f.below)) for f in self.factors]
        return -math.inf if -math.inf in parts else math.fsum(parts)


def posteriors(work: Sequence[ClassWork]) -> list[Fraction | float]:
    """Return the posterior of each class, exact if every factor is and all together are short enough."""
    if all(each.is_exact for each in work) and sum(each.bits for each in work) <= LONGEST:
        products = [each.above / each.below for each in work]
        total = sum(products)
        return [product / total for product in products] if total else [math.nan] * len(work)
    logs = [each.log for each in work]
    top = max(logs)
    shares = [math.exp(log - top) for log in logs]
    return [share / sum(shares) for share in shares]


def worked_text(work: Sequence[ClassWork], verdict: Any) -> str:
    """Return the calculation as an aligned table, one column per class."""
    lines = [["", *(str(each.label) for each in work)]]
    for at, factor in enumerate(work[0].factors):
        lines.append([_title(factor), *(_cell(each.factors[at]) for each in work)])
    lines.append(["product", *(_product(each) for each in work)])
    lines.append(["", *(_lowest(each) for each in work)])
    lines.append(["posterior", *(_share(p) for p in posteriors(work))])
    lines = [line for line in lines if any(line)]
    return f"{aligned(lines, left=len(lines[0]))}\nverdict: {verdict}"


def worked_latex(work: Sequence[ClassWork], verdict: Any) -> str:
    """Return the calculation as LaTeX, one line per class in an align* environment."""
    lines = []
    for each, share in zip(work, posteriors(work), strict=True):
        product = r" \times ".join(_latex_factor(f) for f in each.factors)
        result = _latex_fraction(each.above, each.below) if each.is_exact else f"e^{{{each.log:.6g}}}"
        lines.append(
            rf"{_latex_text(each.label)}:\quad & {product} = {result}, \qquad P = {_latex_number(share)}"
        )
    body = " \\\\\n".join(lines)
    return (
        "\\begin{align*}\n" + body + " \\\\\n" + rf"& \Rightarrow {_latex_text(verdict)}" + "\n\\end{align*}"
    )


def _title(factor: Factor) -> str:
    if not factor.value:
        return f"P({factor.feature})"
    if factor.value.startswith("× "):
        return f"P({factor.feature} | class)^{factor.value.removeprefix('× ')}".removesuffix("^1")
    return f"P({factor.feature}={factor.value} | class)"


def _cell(factor: Factor) -> str:
    if isinstance(factor.above, float):
        return f"{factor.formula} = {factor.above:.6g}".removeprefix(" = ")
    result = f"{number_text(factor.above)}/{number_text(factor.below)}"
    if not factor.formula or factor.formula == result:
        return result
    return f"{factor.formula} = {result}"


def _product(each: ClassWork) -> str:
    if not each.is_exact:
        return f"{math.exp(each.log):.6g}" if each.log > -700 else f"e^{each.log:.6g}"
    text = f"{number_text(each.above)}/{number_text(each.below)}"
    return text if len(text) <= 40 else f"e^{each.log:.6g}"


def _lowest(each: ClassWork) -> str:
    if not each.is_exact or not each.above:
        return ""
    share = each.above / each.below
    text = f"= {share} = {float(share):.6g}"
    return text if len(text) <= 40 else ""


def _share(share: Fraction | float) -> str:
    if isinstance(share, float) or len(str(share)) > 24:
        return f"{float(share):.6g}"
    return f"{share} = {float(share):.6g}"


def _bits(factor: Factor) -> float:
    """Return about how many bits a factor adds to a product; a density adds no end of them."""
    if isinstance(factor.above, float):
        return math.inf
    parts = (factor.above, factor.below)
    return factor.power * sum(part.numerator.bit_length() + part.denominator.bit_length() for part in parts)


def _log(number: Fraction | float) -> float:
    if not number:
        return -math.inf
    if isinstance(number, Fraction):
        return math.log(number.numerator) - math.log(number.denominator)
    return math.log(number)


def _latex_factor(factor: Factor) -> str:
    power = "" if factor.power == 1 else f"^{{{factor.power}}}"
    if isinstance(factor.above, float):
        return f"{factor.above:.4g}{power}"
    fraction = _latex_fraction(factor.above, factor.below)
    return rf"\left({fraction}\right){power}" if power else fraction


def _latex_fraction(above: Fraction | float, below: Fraction) -> str:
    return rf"\frac{{{number_text(Fraction(above))}}}{{{number_text(below)}}}"


def _latex_number(share: Fraction | float) -> str:
    if isinstance(share, float):
        return f"{share:.4g}"
    return _latex_fraction(Fraction(share.numerator), Fraction(share.denominator))


def _latex_text(value: object) -> str:
    return rf"\text{{{latex(value)}}}"
