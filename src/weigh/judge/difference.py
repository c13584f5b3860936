"""`diff`: what changed between two naive Bayes models."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.judge.verifying.parameters import Move, NumberMove, moves, number_moves, vocabulary
from weigh.model import BayesModel, load
from weigh.text import aligned, amount, counted, cut, html_note, html_table, percent, plain, short, signed

SHOWN = 10
DRAWN = 15
SAME = "The models are the same, byte for byte."
NOTHING_MOVED = "The probabilities are the same."


@dataclass(frozen=True)
class Change:
    """A setting that changed: what, from, to; an empty text stands for 'not there'."""

    what: str
    old: str
    new: str

    def __str__(self) -> str:
        if not self.old or not self.new:
            return f"{self.what}: {'new, ' + self.new if self.new else 'gone, was ' + self.old}"
        return f"{self.what}: {self.old} → {self.new}"


@dataclass(frozen=True)
class ClassChange:
    """Rows of one class in both models; None where it does not exist."""

    label: Any
    old: float | None
    new: float | None


@dataclass(frozen=True)
class Words:
    """Levels or words of a column that appeared and vanished, most frequent first."""

    column: str
    appeared: tuple[Any, ...]
    vanished: tuple[Any, ...]


@dataclass(frozen=True)
class Difference:
    """The result of `diff`.

    `settings` are columns, kinds and priors; `moved` the probabilities, by how far their logarithm
    went; `numbers` means and spreads, by how many old spreads the mean went. `same` says that the
    model files are equal, byte for byte.
    """

    same: bool
    settings: tuple[Change, ...]
    classes: tuple[ClassChange, ...]
    words: tuple[Words, ...]
    moved: tuple[Move, ...]
    numbers: tuple[NumberMove, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "same": self.same,
            "settings": [vars(each) for each in self.settings],
            "classes": [_plain(vars(each)) for each in self.classes],
            "words": [
                {"column": each.column, "appeared": list(each.appeared), "vanished": list(each.vanished)}
                for each in self.words
            ],
            "moved": [_plain(vars(each) | {"nats": each.nats}) for each in self.moved],
            "numbers": [_plain(vars(each) | {"shift": each.shift}) for each in self.numbers],
        }

    def plot(self) -> Any:
        """Return a picture of the probabilities and the means that moved most."""
        from weigh.pictures import bars
        from weigh.pictures.ends import bounded

        moved = [(f"{m.name} in {m.label}", m.nats) for m in self.moved[:DRAWN]]
        means = [(f"{m.name} in {m.label}", m.shift) for m in self.numbers[:DRAWN]]
        if not moved and not means:
            raise errors.Unsupported("No probability and no mean has moved, so there is nothing to draw.")
        rows = [
            {"group": group, "name": name, "value": size}
            for group, found in (("probabilities, in nats", moved), ("means, in old spreads", means))
            for (name, _), size in zip(found, bounded([size for _, size in found]), strict=True)
        ]
        return bars(rows, x="change from the old model to the new", title="What changed most")

    def __str__(self) -> str:
        if self.same:
            return SAME
        parts = [f"{title}:\n{aligned(rows, left, '  ')}" for title, rows, left in self._tables()]
        return "\n\n".join(parts + [NOTHING_MOVED] * self._still)

    def _repr_html_(self) -> str:
        if self.same:
            return html_note(SAME)
        headed = ((t, rows if len(rows[0]) > 1 else [[""], *rows], left) for t, rows, left in self._tables())
        tables = "".join(html_table(*each) for each in headed)
        return f"<div>{tables}{html_note(NOTHING_MOVED) if self._still else ''}</div>"

    @property
    def _still(self) -> bool:
        """Whether nothing but rows changed."""
        return not (self.settings or self.words or self.moved or self.numbers)

    def _tables(self) -> Iterator[tuple[str, list[list[str]], int]]:
        """Yield title, rows and the number of columns flush left of each table."""
        if self.settings:
            yield "Settings", _first([cut(change, 76) for change in self.settings]), 1
        yield "Rows", _class_table(self.classes), 1
        if self.words:
            yield "Values", _first([line for each in self.words for line in _word_lines(each)]), 1
        if self.moved:
            rows = [
                [cut(m.name, 34), cut(m.label, 14), percent(m.old), percent(m.new), signed(m.nats)]
                for m in self.moved[:SHOWN]
            ]
            yield "Probabilities that moved most", [["", "in class", "old", "new", "nats"], *rows], 2
        if self.numbers:
            rows = [_number_cells(each) for each in self.numbers[:SHOWN]]
            head = ["", "in class", "mean", "→", "spread", "→"]
            yield "Numbers that moved most", [head, *rows], 2


def diff(old: Any, new: Any, most: int = 100) -> Difference:
    """What changed from one naive Bayes model to another.

    Parameters
    ----------
    old, new : naive Bayes models, estimators that hold one, or paths of model files
    most : how many of the probabilities and numbers that moved to keep, those that moved most
    """
    if most < 1:
        raise errors.parameter("diff", "most", "at least 1", most)
    before, after = _opened(old), _opened(new)
    first, second = _bayes(before), _bayes(after)
    return Difference(
        before.to_bytes() == after.to_bytes(),
        (*_settings(first, second), *_change("calibration", _calibration(before), _calibration(after))),
        tuple(_classes(first, second)),
        tuple(Words(*found) for found in vocabulary(first, second)),
        moves(first, second, most),
        number_moves(first, second, most),
    )


def _opened(given: Any) -> Any:
    return load(given) if isinstance(given, str | os.PathLike) else getattr(given, "model_", given)


def _bayes(given: Any) -> BayesModel:
    model = getattr(given, "uncalibrated", given)
    if not isinstance(model, BayesModel):
        raise errors.Unsupported(f"diff compares naive Bayes models, got {type(model).__name__}.")
    return model


def _calibration(model: Any) -> str:
    return str(getattr(model, "calibration", ""))


def _settings(old: BayesModel, new: BayesModel) -> Iterator[Change]:
    before, after = _kinds(old), _kinds(new)
    for name in dict.fromkeys([*before, *after]):
        yield from _change(f"column {name!r}", before.get(name, ""), after.get(name, ""))
    yield from _change("label", repr(old.label), repr(new.label))
    yield from _change("missing", repr(list(old.schema.missing)), repr(list(new.schema.missing)))
    yield from _change("prior", _prior(old.prior), _prior(new.prior))
    yield from _change("class_prior", _prior(old.class_prior), _prior(new.class_prior))
    yield from _change("complement", str(old.complement), str(new.complement))


def _change(what: str, old: str, new: str) -> Iterator[Change]:
    if old != new:
        yield Change(what, old, new)


def _kinds(model: BayesModel) -> dict[str, str]:
    pairs = [*zip(model.schema.names, model.schema.kinds, strict=True), *model.schema.made.items()]
    return {name: _kind(kind.to_json()) for name, kind in pairs}


def _kind(data: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in data.items() if key not in ("kind", "unicode"))
    return f"{data['kind']}({settings})" if settings else str(data["kind"])


def _prior(prior: Any) -> str:
    if isinstance(prior, Mapping):
        return "{" + ", ".join(f"{name!r}: {_prior(each)}" for name, each in prior.items()) + "}"
    return str(float(prior)) if hasattr(prior, "numerator") else repr(prior)


def _classes(old: BayesModel, new: BayesModel) -> Iterator[ClassChange]:
    before = dict(zip(old.classes, old.counts.rows.tolist(), strict=True))
    after = dict(zip(new.classes, new.counts.rows.tolist(), strict=True))
    for label in dict.fromkeys([*before, *after]):
        yield ClassChange(label, before.get(label), after.get(label))


def _class_table(classes: Sequence[ClassChange]) -> list[list[str]]:
    rows = [["class", "old", "new", "change"]]
    for each in classes[:SHOWN]:
        change = (each.new or 0) - (each.old or 0)
        told = (
            "new"
            if each.old is None
            else "gone"
            if each.new is None
            else f"{'+' * (change > 0)}{amount(change)}"
        )
        rows.append([cut(each.label, 30), _rows(each.old), _rows(each.new), told if change else "same"])
    if len(classes) > SHOWN:
        rows.append([f"… and {len(classes) - SHOWN:,} more", "", "", ""])
    old, new = (sum(getattr(each, side) or 0 for each in classes) for side in ("old", "new"))
    rows.append(
        ["all", amount(old), amount(new), f"{'+' * (new > old)}{amount(new - old)}" if new != old else "same"]
    )
    return rows


def _rows(number: float | None) -> str:
    return "–" if number is None else amount(number)


def _word_lines(words: Words) -> Iterator[str]:
    for verb, values in (("new", words.appeared), ("gone", words.vanished)):
        if values:
            listed = ", ".join(str(value) for value in values[:8]) + (", …" if len(values) > 8 else "")
            yield cut(f"{words.column}: {counted(len(values), verb, verb)}: {listed}", 76)


def _number_cells(each: NumberMove) -> list[str]:
    means, spreads = (
        (short(each.old_mean), short(each.new_mean)),
        (short(each.old_spread), short(each.new_spread)),
    )
    return [cut(each.name, 28), cut(each.label, 14), *means, *spreads]


def _first(lines: list[str]) -> list[list[str]]:
    """Return the first lines as a table of one column."""
    more = [f"… and {len(lines) - SHOWN:,} more"] * (len(lines) > SHOWN)
    return [[line] for line in lines[:SHOWN] + more]


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: plain(value) for key, value in fields.items()}
