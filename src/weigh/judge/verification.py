"""`verify`: does a model hold what its data say? Counted again, compared number by number."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.text import aligned, counted, cut
from weigh.judge.recount import KNOWN, SQUARES, SUM, Cell, Count, Recount
from weigh.model import BayesModel, load
from weigh.model.bernoulli import Bernoulli
from weigh.model.counts import FlagCounts, NumberCounts
from weigh.model.normal import Normal
from weigh.source import Source
from weigh.source import rows as rows_of

SHOWN = 20
ROUNDING = 1e-9


@dataclass(frozen=True)
class Mismatch:
    """A number of the model that the data do not give."""

    what: str
    model: str
    data: str

    def __str__(self) -> str:
        return f"{cut(self.what, 48)}: the model has {self.model}, the data give {self.data}"


@dataclass(frozen=True)
class Check:
    """One thing that was compared: how many numbers, and which of them differ."""

    name: str
    compared: int
    differing: tuple[Mismatch, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return not self.differing

    def to_dict(self) -> dict[str, Any]:
        """The check for JSON."""
        return {
            "name": self.name,
            "ok": self.ok,
            "compared": self.compared,
            "differing": [vars(each) for each in self.differing],
        }


@dataclass(frozen=True)
class Verification:
    """The result of `verify`; `ok` says whether all checks agree."""

    n_rows: int
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether all checks agree."""
        return all(check.ok for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {"ok": self.ok, "n_rows": self.n_rows, "checks": [check.to_dict() for check in self.checks]}

    def __str__(self) -> str:
        bad = [check for check in self.checks if not check.ok]
        told = f"{len(bad):,} of {counted(len(self.checks), 'check')} failed" if bad else "everything agrees"
        good = [check for check in self.checks if check.ok]
        rows = [["checked", "numbers", "result"]]
        rows += [[cut(c.name, 44), f"{c.compared:,}", f"{len(c.differing):,} differ"] for c in bad[:SHOWN]]
        rows += [[cut(c.name, 44), f"{c.compared:,}", "agree"] for c in good[:SHOWN]]
        lines = [f"Counted {counted(self.n_rows, 'row')} again: {told}.", "", aligned(rows, indent="  ")]
        hidden = len(self.checks) - len(rows) + 1
        lines += [f"  … and {hidden:,} more"] if hidden else []
        worst = [mismatch for check in bad for mismatch in check.differing]
        if worst:
            lines += ["", *(f"  {mismatch}" for mismatch in worst[:SHOWN])]
            lines += [f"  … and {len(worst) - SHOWN:,} more"] if len(worst) > SHOWN else []
        return "\n".join(lines)


def verify(model: Any, data: Any, y: Any = None) -> Verification:
    """Count the training rows again with separate, plain code and compare with the model exactly.

    Classes, rows, levels, words, flags and the exact sums of numbers must agree to the last digit
    (with fractional weights: to rounding), and the model's probabilities must sum to one. A model
    given by its path is also compared with the digest in its file.

    Parameters
    ----------
    model : a naive Bayes model, an estimator that holds one, or the path of a model file
    data : the rows the model was trained on, of any storage, or a source
    y : one label per row or the label column's name; None takes the model's label column
    """
    checks = []
    if isinstance(model, str | os.PathLike):
        model = load(model, check=True)
        checks.append(Check("the file's digest", 1))
    model = getattr(model, "model_", model)
    _refuse(model)
    source = _labelled(model, data, y)
    recount = Recount(model.schema).read(source)
    checks += [
        _compare("rows of each class", _class_rows(model), dict(recount.classes), ""),
        *_parts(model, recount),
        *_sums_to_one(model, source),
    ]
    return Verification(recount.n_rows, tuple(checks))


def _refuse(model: Any) -> None:
    if not isinstance(model, BayesModel):
        raise errors.Unsupported(
            f"verify counts naive Bayes models again, got {type(model).__name__}, which has no counts to compare."
        )
    if model.stated:
        raise errors.Unsupported("A model from stated numbers has no rows that could be counted again.")


def _labelled(model: BayesModel, data: Any, y: Any) -> Source:
    if y is None and isinstance(data, Source) and (data.label or data.prefix(1).labels is not None):
        return data
    label = model.label if y is None else y
    if label is None:
        raise errors.LabelError("The rows have no labels to count by. Give y: one label per row, or its column.")
    return rows_of(data, label, missing=model.schema.missing)


def _class_rows(model: BayesModel) -> dict[Any, Count]:
    return dict(zip(model.classes, map(_exact, model.counts.rows.tolist()), strict=True))


def _parts(model: BayesModel, recount: Recount) -> Iterator[Check]:
    for part, counts, again in zip(model.schema.parts, model.counts.parts, recount.parts, strict=True):
        mine = dict(_cells(counts, model.classes))
        if isinstance(counts, FlagCounts) and counts.known.shape[1] == 1:
            again = _known_once(again, part.names[0])
        yield _compare(f"{part.title} ({part.kind.name})", mine, again, part.title)


def _known_once(again: dict[Cell, Count], first: str) -> dict[Cell, Count]:
    """The counts with one 'known' for all flags, as a model has it while no cell is missing."""
    kept = {cell: n for cell, n in again.items() if cell[0] != KNOWN or cell[2] in ("", first)}
    return {(what, c, "" if what == KNOWN else name): n for (what, c, name), n in kept.items()}


def _cells(counts: Any, classes: list[Any]) -> Iterator[tuple[Cell, Count]]:
    """The model's counts in the form of a recount."""
    if isinstance(counts, NumberCounts):
        for c, n in zip(classes, counts.known.tolist(), strict=True):
            yield (KNOWN, c, ""), _exact(n)
        for what, total in ((SUM, counts.first), (SQUARES, counts.second)):
            integers, exponent = total.integers()
            for c, value in zip(classes, integers, strict=True):
                yield (what, c, ""), value * Fraction(2) ** exponent
        return
    tally = counts.present if isinstance(counts, FlagCounts) else counts
    yield from _table_cells("count", classes, tally.names, tally.table)
    if isinstance(counts, FlagCounts):
        names = tally.names if counts.known.shape[1] > 1 else [""]
        yield from _table_cells(KNOWN, classes, names, counts.known)


def _table_cells(what: str, classes: list[Any], names: Iterable[Any], table: Any) -> Iterator[tuple[Cell, Count]]:
    named = list(names)
    for c, row in zip(classes, table.tolist(), strict=True):
        for name, n in zip(named, row, strict=True):
            if n:
                yield (what, c, name), _exact(n)


def _exact(count: float) -> Count:
    return count if isinstance(count, int) else Fraction(count)


def _compare(name: str, model: dict[Any, Count], data: dict[Any, Count], title: str) -> Check:
    keys = list(dict.fromkeys([*model, *(key for key, n in data.items() if n)]))
    differing = [
        Mismatch(_told(key, title), _number(model.get(key, 0)), _number(data.get(key, 0)))
        for key in keys
        if not _same(model.get(key, 0), data.get(key, 0))
    ]
    return Check(name, len(keys), tuple(differing))


def _same(model: Count, data: Count) -> bool:
    if model == data:
        return True
    # Only fractional weights may round: whole counts and sums of floats are exact.
    is_fractional = isinstance(data, Fraction) and data.denominator & (data.denominator - 1) == 0
    return is_fractional and isinstance(model, Fraction) and abs(model - data) <= ROUNDING * abs(data) / 2**20


def _told(key: Any, title: str) -> str:
    if not isinstance(key, tuple):
        return f"class {key!r}"
    what, label, name = key
    named = title if not name or name == title else f"{title}={name!r}"
    return f"{what} of {named} in class {label!r}"


def _number(count: Count) -> str:
    return f"{count:,}" if count == int(count) and abs(count) < 10**15 else repr(float(count))


def _sums_to_one(model: BayesModel, source: Source) -> Iterator[Check]:
    yield _ones("class probabilities sum to 1", [float(sum(model.class_belief.exact))])
    totals: list[float] = []
    for part in model.distributions:
        if isinstance(part, Normal):
            continue
        shares = part.probabilities
        if isinstance(part, Bernoulli):
            totals += [1.0 if 0.0 <= p <= 1.0 else p for p in shares.ravel().tolist()]
        elif part.table.any() and shares.shape[1]:
            totals += shares.sum(axis=1).tolist()
    yield _ones("probabilities within classes sum to 1", totals)
    first = next(iter(model.schema.chunks(source))).slice(0, 1000)
    yield _ones("posteriors of the first rows sum to 1", np.exp(model.log_proba(first)).sum(axis=1).tolist())


def _ones(name: str, totals: list[float]) -> Check:
    wrong = [Mismatch(name, repr(total), "1") for total in totals if not abs(total - 1.0) <= ROUNDING]
    return Check(name, len(totals), tuple(wrong))
