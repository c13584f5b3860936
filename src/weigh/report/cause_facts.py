"""Columns that mislead naive Bayes: numbers far from a bell curve, and columns that repeat each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weigh.learn.dependence import dependent_columns
from weigh.learn.flatness import flat_columns
from weigh.model.normal import Normal
from weigh.report.mistake_facts import MistakeFacts
from weigh.source import rows as rows_of
from weigh.text import counted, cut

EXTREME = 30.0  # nats from one number: odds of a million million to one
NAMED = 4
NAME = 60


@dataclass(frozen=True)
class CauseFacts:
    """Columns by what is wrong with them, and `lines` on what to do about it.

    `extreme` are number columns that add very many nats in a mistake listed, `constant` those that never
    vary within some class, `repeated` pairs of columns of which the second repeats the first.
    """

    extreme: tuple[str, ...]
    constant: tuple[str, ...]
    repeated: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]


def cause_facts(model: Any, data: Any, labels: Any, mistakes: MistakeFacts) -> CauseFacts:
    """Look for such columns; models that are no naive Bayes have none."""
    if not hasattr(model, "distributions"):
        return CauseFacts((), (), (), ())
    constant = tuple(each.column for each in flat_columns(model))
    most = _most(mistakes, {part.part.names[0] for part in model.distributions if isinstance(part, Normal)})
    extreme = tuple(name for name in most if name not in constant)
    repeated = tuple(_repeated(model, data, labels))
    lines = (*_constant_line(constant), *_extreme_line(extreme, most), *_repeated_line(repeated))
    return CauseFacts(extreme, constant, repeated, lines)


def _most(mistakes: MistakeFacts, columns: set[str]) -> dict[str, float]:
    """The most nats that each column adds for the verdict of a mistake, where they are very many."""
    found: dict[str, float] = {}
    for reason in (reason for row in mistakes.rows for reason in row.reasons):
        if reason.column in columns and reason.amount > EXTREME:
            found[reason.column] = max(found.get(reason.column, 0.0), reason.amount)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _repeated(model: Any, data: Any, labels: Any) -> Iterator[tuple[str, str]]:
    if model.schema.is_wide:
        return
    source = rows_of(data, labels, missing=model.schema.missing).stored(model.storage)
    for chunk in model.schema.chunks(source):
        yield from ((pair.first, pair.second) for pair in dependent_columns(model.schema, chunk))
        return


def _constant_line(names: Sequence[str]) -> Iterator[str]:
    if names:
        do = "does" if len(names) == 1 else "do"
        yield (
            f"{_listed(names)} {do} not vary at all in some class, so that any other value there decides "
            f"alone: learn with {_kind(names, 'number:spread=shared')} or {_kind(names, 'skip')}."
        )


def _extreme_line(names: Sequence[str], most: dict[str, float]) -> Iterator[str]:
    if names:
        adds = "add" if len(names) > 1 else "adds"
        yield (
            f"In its worst mistakes {_listed(names)} {adds} up to {most[names[0]]:,.0f} nats (7 are already "
            f"odds of 1,000 to 1), because the numbers do not follow a bell curve: learn with "
            f"{_kind(names, 'number:bins=16')}."
        )


def _repeated_line(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    if pairs:
        told = ", ".join(f"{cut(second, NAME)} repeats {cut(first, NAME)}" for first, second in pairs[:NAMED])
        more = f" and {counted(len(pairs) - NAMED, 'more pair')}" if len(pairs) > NAMED else ""
        yield (
            f"The same evidence is counted twice, since {told}{more}: learn with "
            f"{_kind([pairs[0][1]], 'skip')}."
        )


def _kind(names: Sequence[str], kind: str) -> str:
    column = cut(names[0], NAME) if len(names) == 1 else "COLUMN"
    return f"--kind {column}={kind}"


def _listed(names: Sequence[str]) -> str:
    told = [cut(name, NAME) for name in names[:NAMED]]
    if len(names) > NAMED:
        return f"{', '.join(told)} and {len(names) - NAMED} more columns"
    return " and ".join([", ".join(told[:-1]), told[-1]] if told[1:] else told)
