"""Rows whose labels the model contradicts: candidates for a second look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weigh.explain import Unfamiliar, unfamiliar
from weigh.judge import Audit, audit
from weigh.judge.label_audit import SuspectRow
from weigh.learn.diagnostics import find_dependent_columns, find_zero_variance_columns
from weigh.model.count_model import CountModel
from weigh.model.distributions.gaussian import Gaussian
from weigh.report.facts import ZERO_BASED_NOTE, format_share
from weigh.report.mistake_facts import MistakeFacts
from weigh.source import rows as rows_of
from weigh.text import format_quantity, format_signed, truncate

MAX_AUDIT_LABEL_LENGTH = 120
MAX_AUDIT_REASONS = 3
MAX_WRONG_LABEL_SHARE = 0.05  # share of labels up to which it is believed that they are wrong
NO_SKILL_SENTENCE = "The model is not surely better than guessing, so it has no ground to doubt any label."


@dataclass(frozen=True)
class DoubtfulLabel:
    """A row whose label is doubtful: what it is labelled, what the model says, how sure it is, and why."""

    row: int
    label: str
    verdict: str
    sure: str
    reasons: str


@dataclass(frozen=True)
class AuditFacts:
    """The rows most at odds with the model.

    `of_training` tells whether they were given as training rows, `whose` what they are, `left_out` whether
    each was judged by the model without it.
    """

    of_training: bool
    whose: str
    left_out: bool
    sentence: str
    advice: str
    rows: tuple[DoubtfulLabel, ...]


def audit_facts(
    model: Any,
    data: Any,
    y: Any,
    label: str | None,
    most: int,
    n: int,
    of_training: bool,
    is_skilled: bool,
    trusted: bool,
) -> AuditFacts:
    """Look for wrong labels among the rows a model was trained on, or among n others.

    Which labels are wrong rather than hard is told only of a `trusted` model, one that is good and means its
    probabilities, and only where they are few; others doubt where they do not know. A model that is not
    `is_skilled`, no better than guessing, has no ground to doubt any label, so none are listed.
    """
    is_known = of_training or _is_training_data(model, data, label if y is None else y, n)
    found = audit(model, data, y, label=label, most=most, seen=None if is_known else False)
    rows = tuple(_doubtful_label(each) for each in found.rows) if is_skilled else ()
    tells = trusted and found.wrong is not None and found.wrong <= MAX_WRONG_LABEL_SHARE * found.n
    told = _audit_sentence(found, tells) if is_skilled else NO_SKILL_SENTENCE
    sentence = f"{_evaluation_note(found, of_training)}{told}"
    advice = _audit_advice(found, of_training, tells)
    return AuditFacts(of_training, _describe_rows(found, of_training), found.left_out, sentence, advice, rows)


def _describe_rows(found: Audit, of_training: bool) -> str:
    if not of_training:
        return "rows of this report"
    return "training rows" if found.left_out else "rows given as training rows"


def _evaluation_note(found: Audit, of_training: bool) -> str:
    if found.left_out:
        return "The model has learned these rows; each was judged as if it had not. "
    if of_training and found.has_seen is False:
        return "The rows given as training rows are not those that the model has learned. "
    return ""


def _is_training_data(model: Any, data: Any, y: Any, n: int) -> bool:
    """Whether these are the very rows that were counted: as many, and taking them away leaves nothing."""
    ours = getattr(model, "model_", model)
    ours = getattr(ours, "uncalibrated", ours)
    if not isinstance(ours, CountModel) or not ours.has_rows:
        return False
    return n == float(ours.counts.rows.sum()) and ours.has_learned(data, y) is True


def _audit_sentence(found: Audit, tells: bool) -> str:
    if not found.at_odds:
        return "No label contradicts what the model says."
    say = "contradicts" if found.at_odds == 1 else "contradict"
    told = f"{format_quantity(found.at_odds, 'row')} of {found.n:,} {say} what the model says"
    if found.wrong is not None and found.wrong > MAX_WRONG_LABEL_SHARE * found.n:
        many = format_share(found.wrong / found.n)
        return (
            f"{told}, and {many} of all rows strongly: so many speak of a model that misfits rather than of "
            f"wrong labels."
        )
    if not tells:
        return f"{told}: the model or the label is wrong there."
    look = "looks" if found.wrong == 1 else "look"
    return f"{told}; of these, {format_quantity(found.wrong or 0, 'label')} {look} wrong rather than hard."


def _audit_advice(found: Audit, of_training: bool, tells: bool) -> str:
    if found.left_out and not of_training:
        return "It has learned these very rows, so the figures flatter it: judge it on rows it has not seen."
    if not of_training or not tells or not found.wrong:
        return ""
    many = format_quantity(found.wrong, "label")
    return f"Look at the labels of the {_describe_rows(found, of_training)} that it doubts most: {many} may be wrong."


def _doubtful_label(found: SuspectRow) -> DoubtfulLabel:
    reasons = ", ".join(
        f"{truncate(row.title, 40)} ({format_signed(row.nats, 1)})"
        for row in found.reasons[:MAX_AUDIT_REASONS]
    )
    sure = (
        f"by {found.lead:.4g} points"
        if found.said_probability is None
        else format_share(found.said_probability)
    )
    return DoubtfulLabel(
        found.row,
        truncate(found.label, MAX_AUDIT_LABEL_LENGTH),
        truncate(found.said, MAX_AUDIT_LABEL_LENGTH),
        sure,
        reasons,
    )


MAX_UNFAMILIAR_ROWS = 20
MAX_COLUMN_LENGTH = 120


@dataclass(frozen=True)
class UnfamiliarRowFact:
    """A flagged row with its reasons."""

    row: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class ShiftedColumn:
    """A column that is distributed otherwise than in training."""

    column: str
    before: str
    now: str
    effect: float
    p: float


@dataclass(frozen=True)
class UnfamiliarityFacts:
    """How many rows are strange, the first of them, and the columns that have shifted."""

    n: int
    strange: int
    tested: int
    sentence: str
    rows: tuple[UnfamiliarRowFact, ...]
    columns: tuple[ShiftedColumn, ...]

    @property
    def rows_title(self) -> str:
        """What the list of rows is called."""
        if self.strange == 1:
            return "The row that is odd"
        which = "All" if len(self.rows) == self.strange else "The first"
        return f"{which} {len(self.rows)} rows that are odd"


def unfamiliarity_facts(model: Any, data: Any) -> UnfamiliarityFacts:
    """Compare rows with what the model has seen in training."""
    found = unfamiliar(model, data)
    rows = tuple(
        UnfamiliarRowFact(
            each.row, tuple(truncate(reason, 2 * MAX_COLUMN_LENGTH) for reason in each.reasons[:5])
        )
        for each in found.rows[:MAX_UNFAMILIAR_ROWS]
    )
    columns = tuple(
        ShiftedColumn(
            truncate(c.column, MAX_COLUMN_LENGTH),
            truncate(c.before, MAX_COLUMN_LENGTH),
            truncate(c.now, MAX_COLUMN_LENGTH),
            c.effect,
            c.p,
        )
        for c in found.shifted
    )
    part = format_share(len(found.rows) / found.n_rows)
    flagged = f"{format_quantity(len(found.rows), 'row')} of {found.n_rows:,} ({part})"
    if not found.columns:
        columns_told = "there are too few rows to test the columns"
    elif not columns:
        columns_told = f"no column of {len(found.columns):,} is distributed notably otherwise"
    else:
        columns_told = f"{format_quantity(len(columns), 'column')} of {len(found.columns):,} notably shifted"
    sentence = f"{flagged} unlike the training rows{_format_kinds(found)}; {columns_told}."
    sentence += f" {ZERO_BASED_NOTE}" if rows else ""
    return UnfamiliarityFacts(found.n_rows, len(found.rows), len(found.columns), sentence, rows, columns)


def _format_kinds(found: Unfamiliar) -> str:
    told = " and ".join(f"{n:,} with {what}" for what, n in found.kinds.items())
    return f", {told}" if told else ""


EXTREME_EVIDENCE = 30.0  # nats from one number: odds of a million million to one
MAX_LISTED_COLUMNS = 4
MAX_CAUSE_COLUMN_LENGTH = 60


@dataclass(frozen=True)
class MisleadingColumns:
    """Columns by what is wrong with them, and `lines` on what to do about it.

    `extreme` are number columns that add very many nats in a mistake listed, `constant` those that never
    vary within some class, `repeated` pairs of columns of which the second repeats the first.
    """

    extreme: tuple[str, ...]
    constant: tuple[str, ...]
    repeated: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]


def find_misleading_columns(model: Any, data: Any, labels: Any, mistakes: MistakeFacts) -> MisleadingColumns:
    """Look for such columns; models that are no naive Bayes have none."""
    if not hasattr(model, "distributions"):
        return MisleadingColumns((), (), (), ())
    constant = tuple(each.column for each in find_zero_variance_columns(model))
    most = _extreme_evidence(
        mistakes, {part.part.names[0] for part in model.distributions if isinstance(part, Gaussian)}
    )
    extreme = tuple(name for name in most if name not in constant)
    repeated = tuple(_redundant_pairs(model, data, labels))
    lines = (*_constant_advice(constant), *_extreme_advice(extreme, most), *_redundant_advice(repeated))
    return MisleadingColumns(extreme, constant, repeated, lines)


def _extreme_evidence(mistakes: MistakeFacts, columns: set[str]) -> dict[str, float]:
    """The most nats that each column adds for the verdict of a mistake, where they are very many."""
    found: dict[str, float] = {}
    for reason in (reason for row in mistakes.rows for reason in row.reasons):
        if reason.column in columns and reason.amount > EXTREME_EVIDENCE:
            found[reason.column] = max(found.get(reason.column, 0.0), reason.amount)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _redundant_pairs(model: Any, data: Any, labels: Any) -> Iterator[tuple[str, str]]:
    if model.schema.accepts_sparse:
        return
    source = rows_of(data, labels, missing=model.schema.missing).with_storage(model.storage)
    for chunk in model.schema.chunks(source):
        yield from ((pair.first, pair.second) for pair in find_dependent_columns(model.schema, chunk))
        return


def _constant_advice(names: Sequence[str]) -> Iterator[str]:
    if names:
        do = "does" if len(names) == 1 else "do"
        yield (
            f"{_list_columns(names)} {do} not vary at all in some class, so that any other value there decides "
            f"alone: learn with {_kind_option(names, 'number:spread=shared')} or {_kind_option(names, 'skip')}."
        )


def _extreme_advice(names: Sequence[str], most: dict[str, float]) -> Iterator[str]:
    if names:
        adds = "add" if len(names) > 1 else "adds"
        yield (
            f"In its worst mistakes {_list_columns(names)} {adds} up to {most[names[0]]:,.0f} nats (7 are already "
            f"odds of 1,000 to 1), because the numbers do not follow a bell curve: learn with "
            f"{_kind_option(names, 'number:bins=16')}."
        )


def _redundant_advice(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    if pairs:
        told = ", ".join(
            f"{truncate(second, MAX_CAUSE_COLUMN_LENGTH)} repeats {truncate(first, MAX_CAUSE_COLUMN_LENGTH)}"
            for first, second in pairs[:MAX_LISTED_COLUMNS]
        )
        more = (
            f" and {format_quantity(len(pairs) - MAX_LISTED_COLUMNS, 'more pair')}"
            if len(pairs) > MAX_LISTED_COLUMNS
            else ""
        )
        yield (
            f"The same evidence is counted twice, since {told}{more}: learn with "
            f"{_kind_option([pairs[0][1]], 'skip')}."
        )


def _kind_option(names: Sequence[str], kind: str) -> str:
    column = truncate(names[0], MAX_CAUSE_COLUMN_LENGTH) if len(names) == 1 else "COLUMN"
    return f"--kind {column}={kind}"


def _list_columns(names: Sequence[str]) -> str:
    told = [truncate(name, MAX_CAUSE_COLUMN_LENGTH) for name in names[:MAX_LISTED_COLUMNS]]
    if len(names) > MAX_LISTED_COLUMNS:
        return f"{', '.join(told)} and {len(names) - MAX_LISTED_COLUMNS} more columns"
    return " and ".join([", ".join(told[:-1]), told[-1]] if told[1:] else told)
