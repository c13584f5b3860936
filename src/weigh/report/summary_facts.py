"""The box at the top: what the model is, how good it is, what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from weigh.report.advice import Grounds, advice
from weigh.report.measure_facts import SHARES, MeasureFact
from weigh.report.model_facts import ModelFacts
from weigh.report.quality_facts import QualityFacts
from weigh.text import amount, counted

# Where one class has nearly all rows, accuracy tells little.
TILES = ("accuracy", "roc_area", "log_loss", "r2", "mae", "rmse")
LOPSIDED = ("roc_area", "balanced_accuracy", "log_loss", "accuracy")
MOST_TILES = 3
NOTHING_KNOWN = 0.005  # how near an end of all shares an interval's end says nothing
GUESSES = {
    "accuracy": "always the most frequent class: {}",
    "roc_area": "guessing: {}",
    "balanced_accuracy": "guessing: {}",
    "log_loss": "stating the classes' shares: {}",
    "r2": "predicting the mean: {}",
    "rmse": "predicting the mean: {}",
}


@dataclass(frozen=True)
class Tile:
    """A large number with its name, and small lines below it: its interval, and what guessing would have."""

    name: str
    value: str
    note: str
    guess: str = ""


@dataclass(frozen=True)
class SummaryFacts:
    """What it is, how good it is, what to do next."""

    what: str
    good: str
    next: tuple[str, ...]
    tiles: tuple[Tile, ...]


def summary_facts(grounds: Grounds) -> SummaryFacts:
    """Sum up the other facts."""
    quality = grounds.quality
    good = " ".join(quality.sentences[: 3 if quality.weakest or quality.baseline is None else 2])
    return SummaryFacts(_what(grounds.model), good, advice(grounds), tuple(_tiles(quality)))


def _what(model: ModelFacts) -> str:
    learned = f", learned from {counted(model.rows, 'row')}" if model.rows else ""
    columns = f" of {counted(model.columns, 'column')}" if model.columns and model.rows else ""
    of = f" of {model.label}" if model.label else ""
    kinds = f" into {counted(model.n_classes, 'class', 'classes')}" if model.n_classes else ""
    name = model.kind[:1].upper() + model.kind[1:]
    return f"{name}{of}{kinds}{learned}{columns}. {model.sentence} {model.calibrated}".rstrip()


def _tiles(quality: QualityFacts) -> Iterator[Tile]:
    wanted = LOPSIDED if quality.is_lopsided else TILES
    chosen = [each for name in wanted if (each := quality.measure(name)) is not None][:MOST_TILES]
    for each in chosen:
        guess = GUESSES[each.name].format(each.guess_told) if each.guess is not None else ""
        yield Tile(each.title, each.told[0], _interval(each, quality.level), guess)
    yield Tile("rows judged", amount(quality.n), "")


def _interval(measure: MeasureFact, level: float) -> str:
    if "–" in measure.told[1:] or not is_telling(measure):
        return ""
    return f"{measure.told[1]} to {measure.told[2]} ({100 * level:g} % interval)"


def is_telling(measure: MeasureFact) -> bool:
    """Whether an interval says more than the measure's definition does."""
    is_all = measure.name in SHARES and measure.low <= NOTHING_KNOWN and measure.high >= 1 - NOTHING_KNOWN
    return not is_all and not math.isinf(measure.high) and not math.isinf(measure.low)
