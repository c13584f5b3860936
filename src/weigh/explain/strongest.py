"""The strongest features of a naive Bayes model: what speaks most for each class.

The strength of a value for a class is the evidence it gives when it is seen,

    log P(value | class) − log P(value | all other classes together),

in nats, where the other classes are pooled by their prior probabilities. A number has no single
value to be seen: its strength is the evidence that it gives on average in a row of the class (the
Kullback-Leibler divergence from the other classes' pooled normal curve), and its range is where it
speaks for the class.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.ranges import divergence, speaking_range
from weigh.explain.text import aligned, cut, percent, plain, short, signed
from weigh.features.blocks import Floats
from weigh.model import BayesModel
from weigh.model.bernoulli import Bernoulli
from weigh.model.categorical import Categorical
from weigh.model.multinomial import Multinomial
from weigh.model.normal import Normal
from weigh.model.weights import as_text


@dataclass(frozen=True)
class Strength:
    """One feature that speaks for a class: `nats` of evidence, and the two numbers behind it.

    For a value, `own` and `rest` are its probabilities in the class and in the other classes; for
    a number (`is_number`), the means.
    """

    feature: str
    value: str
    nats: float
    own: float
    rest: float
    is_number: bool = False

    @property
    def name(self) -> str:
        """The feature with its value, for people."""
        if self.is_number:
            return f"{self.feature} {self.value}"
        return f"{self.feature} = {self.value}" if self.value else self.feature

    def to_dict(self) -> dict[str, Any]:
        """The feature for JSON."""
        kind = "number" if self.is_number else "value"
        numbers = {"nats": self.nats, "own": self.own, "rest": self.rest}
        return {"feature": self.feature, "value": self.value, "kind": kind} | {
            key: plain(number) for key, number in numbers.items()
        }


@dataclass(frozen=True)
class Strongest:
    """The strongest features of each class asked for, strongest first."""

    classes: dict[Any, tuple[Strength, ...]]

    def to_dict(self) -> dict[str, Any]:
        """The features by class, for JSON."""
        return {str(label): [each.to_dict() for each in found] for label, found in self.classes.items()}

    def __str__(self) -> str:
        tables = (f"{title}\n{aligned(rows, indent='  ')}".rstrip() for title, rows in self._tables())
        return "\n\n".join(tables)

    def _repr_html_(self) -> str:
        return "".join(_html_table(title, rows) for title, rows in self._tables())

    def _tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        for label, found in self.classes.items():
            rows = [["", "nats", "in class", "in the rest"]]
            for each in found:
                write = _mean if each.is_number else percent
                rows.append([cut(each.name, 40), signed(each.nats), write(each.own), write(each.rest)])
            title = f"What speaks for {label}:"
            yield (title, rows) if found else (f"Nothing speaks for {label}.", [[""]])


def strongest(model: Any, label: Any = None, most: int = 10) -> Strongest:
    """The features that speak most for each class, or for the class `label` only.

    Parameters
    ----------
    model : a naive Bayes model, or an estimator that holds one
    label : a class; None means all
    most : how many features to list per class
    """
    model = getattr(model, "model_", model)
    if not isinstance(model, BayesModel):
        raise errors.Unsupported(
            f"strongest reads a naive Bayes model, got {type(model).__name__}; explain single rows instead."
        )
    if len(model.classes) < 2:
        raise errors.Unsupported("The model has one class only, so nothing speaks for it against others.")
    if most < 1:
        raise errors.parameter("strongest", "most", "at least 1", most)
    if label is not None and label not in model.classes:
        raise errors.LabelError(f"The model has no class {label!r}; it has {errors.listing(model.classes)}.")
    wanted = model.classes if label is None else [label]
    # The complement's own weights say the same in another form; the definition here needs P(value | class).
    model = replace(model, complement=False) if model.complement else model
    return Strongest({each: _of_class(model, model.classes.index(each), most) for each in wanted})


def _of_class(model: BayesModel, c: int, most: int) -> tuple[Strength, ...]:
    shares = np.exp(model.class_belief.logs)
    shares[c] = 0.0
    if not shares.any():
        shares = np.ones(len(shares))
        shares[c] = 0.0
    rest = shares / shares.sum()
    found = [each for part in model.distributions for each in _of_part(part, c, rest, most)]
    found = [each for each in found if each.nats > 0]
    return tuple(sorted(found, key=lambda each: (-each.nats, -each.own, each.name))[:most])


def _of_part(part: Any, c: int, rest: Floats, most: int) -> Iterator[Strength]:
    if isinstance(part, Normal):
        yield from _of_number(part, c, rest)
    elif isinstance(part, Categorical):
        values = [as_text(level) for level in part.levels]
        yield from _of_values(part.probabilities, c, rest, most, lambda at: (part.name, values[at]))
    elif isinstance(part, Bernoulli):
        term = part.weights
        yield from _of_values(part.probabilities, c, rest, most, lambda at: (term.named(at), term.word(True)))
        if term.fixed:
            # That a word is absent is never what a text is known by; that a flag is may well be.
            absent = 1.0 - part.probabilities
            yield from _of_values(absent, c, rest, most, lambda at: (term.named(at), term.word(False)))
    elif isinstance(part, Multinomial):
        words = part.weights
        yield from _of_values(part.probabilities, c, rest, most, lambda at: (words.named(at), ""))


def _of_values(table: Floats, c: int, rest: Floats, most: int, named: Any) -> Iterator[Strength]:
    if not table.size:
        return
    others = rest @ table
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = np.nan_to_num(np.log(table[c]) - np.log(others), nan=0.0, posinf=np.inf, neginf=-np.inf)
    for at in np.lexsort((-table[c], -nats))[:most].tolist():
        feature, value = named(at)
        yield Strength(feature, value, float(nats[at]), float(table[c, at]), float(others[at]))


def _of_number(part: Normal, c: int, rest: Floats) -> Iterator[Strength]:
    if not len(part.weights.mean):
        return
    own = (float(part.mean[c]), float(part.deviation[c]))
    mean = float(rest @ part.mean)
    spread = math.sqrt(float(rest @ (part.deviation**2 + (part.mean - mean) ** 2)))
    pooled = (mean, spread)
    nats = divergence(own, pooled)
    yield Strength(part.part.names[0], speaking_range(own, pooled), nats, own[0], mean, True)


def _html_table(title: str, rows: list[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    return f"<table><caption>{html.escape(title)}</caption><tr>{head}</tr>{body}</table>"


def _mean(number: float) -> str:
    return f"mean {short(number)}"
