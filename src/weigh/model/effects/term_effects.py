"""The effects of all terms of a model, strongest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model.base import EncodedRows
from weigh.model.distributions.curve_weights import CurveWeights, PairWeights
from weigh.model.effects.builders import OmittedTerm, Outputs, make_builder
from weigh.model.effects.effect import TermEffect
from weigh.result import Table
from weigh.text import format_float, truncate, use_minus_sign

MAX_DISPLAYED = 10
MAX_CLASS_NAME = 40


def has_curves(terms: Iterable[Any]) -> bool:
    """Whether some term is a curve or a surface."""
    return any(isinstance(term, CurveWeights | PairWeights) for term in terms)


def term_effects(
    model: Any, rows: Iterable[EncodedRows] = (), *, with_errors: bool = True
) -> tuple[list[TermEffect], list[OmittedTerm]]:
    """Return the effects of a model's terms, strongest first, and the terms without one.

    With `rows`, the effects count these instead of the training rows. `with_errors` False leaves out the
    standard deviations that would have to be computed.
    """
    groups, words = model.schema.column_groups, model.schema.flag_words
    pairs = enumerate(zip(model.terms, groups, strict=True))
    builders = [make_builder(index, term, group, words) for index, (term, group) in pairs]
    for encoded in rows:
        for builder, block in zip(builders, encoded.blocks, strict=True):
            builder.observe(block)
    outputs = _outputs_of(model.base.size)
    deviations = _feature_deviations(model) if with_errors else [None] * len(builders)
    effects: list[TermEffect] = []
    omitted: list[OmittedTerm] = []
    for builder, sd in zip(builders, deviations, strict=True):
        for built in builder.build(replace(outputs, sd=sd)):
            if isinstance(built, OmittedTerm):
                omitted.append(built)
            elif not np.isfinite(built.heights).all():
                omitted.append(OmittedTerm(built.name, "a probability of zero"))
            else:
                effects.append(built)
    return sorted(effects, key=lambda effect: -effect.importance), omitted


def _outputs_of(n_scores: int) -> Outputs:
    """Return how scores become outputs: the difference of two classes, or relative to the mean of more."""
    if n_scores == 1:
        return Outputs(np.asarray, np.asarray)
    if n_scores == 2:
        return Outputs(_difference, lambda errors: np.sqrt((errors**2).sum(axis=1, keepdims=True)))
    return Outputs(lambda heights: heights - heights.mean(axis=1, keepdims=True), np.asarray)


def _difference(heights: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # −∞ − −∞
        return np.asarray(heights[:, 1:] - heights[:, :1])


def _feature_deviations(model: Any) -> list[Floats | None]:
    """Return the standard deviations of the features of each term; None if the model has no posterior."""
    widths = [len(term.features().names) for term in model.terms]
    try:
        sd = model.posterior.sd if hasattr(model, "posterior_source") else np.zeros(0)
    except errors.WeighError:
        sd = np.zeros(0)
    if len(sd) != sum(widths):
        return [None] * len(widths)
    return list(np.split(sd, np.cumsum(widths)[:-1]))


def effect_table(model: Any) -> Table:
    """Return a short table of the strongest effects, with bars of their importance."""
    effects, _ = term_effects(model, with_errors=False)
    rows = [["effect", "shape", "importance"]]
    for effect in effects[:MAX_DISPLAYED]:
        rows.append([effect.name, effect.describe(effect.main_output), format_float(effect.importance)])
    bars = [effect.importance for effect in effects[:MAX_DISPLAYED]]
    n_hidden = max(0, len(effects) - MAX_DISPLAYED)
    caption = f"Strongest effects on {output_name(model)}"
    return Table(rows, 2, caption, widths=(30, 40), bars=bars, n_hidden=n_hidden)


def format_extent(effect: TermEffect) -> str:
    """Format the least and the greatest height of an effect."""
    low, high = map(format_height, effect.extent)
    return f"{low} to {high}"


def format_height(height: float) -> str:
    """Format a height with its sign and two digits, or as a whole number from 100 on."""
    text = f"{height:+,.0f}" if abs(height) >= 100 else f"{height:+.2g}"
    return use_minus_sign(text) if height else "0"


def output_name(model: Any) -> str:
    """Name the outputs of a model: the log-odds or the score of a class, the scores, or the prediction."""
    classes = getattr(model, "classes", None)
    if classes is None:
        return str(model.label or "the prediction")
    if len(classes) != 2:
        return "the scores of the classes"
    what = "log-odds" if model.type_name == "logistic" else "score"
    return f"the {what} of {truncate(classes[1], MAX_CLASS_NAME)}"
