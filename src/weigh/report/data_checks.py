"""Facts about the data: doubtful labels, unfamiliar rows and shifted columns, and misleading columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.explain.distribution_shift import ColumnShift
from weigh.explain.novelty_detection import FALSE_ALARM_RATE, Unfamiliar, format_rate, unfamiliar
from weigh.features.columns import encode_column
from weigh.features.inference.identifiers import is_nearly_distinct
from weigh.features.kinds import Category
from weigh.judge.label_audit import Audit, SuspectRow, audit
from weigh.judge.redundancy_check import RedundancyCheck
from weigh.learn.diagnostics import find_zero_variance_columns
from weigh.model.count_model import CountModel
from weigh.model.distributions.gaussian import Gaussian
from weigh.report.facts import ZERO_BASED_NOTE, format_share
from weigh.report.mistake_facts import MistakeFacts
from weigh.report.redundancy_advice import redundancy_advice
from weigh.source.memory.table import rows as rows_of
from weigh.text import format_quantity, format_signed, truncate

MAX_AUDIT_LABEL_LENGTH = 120
MAX_AUDIT_REASONS = 3
MAX_WRONG_LABEL_SHARE = 0.05  # with more suspect labels than this, the model is to blame
NO_SKILL_SENTENCE = (
    "The model is not significantly better than the baseline, so it is no evidence against any label."
)


@dataclass(frozen=True)
class DoubtfulLabel:
    """A row with a doubtful label: its label, the prediction, the confidence, and the strongest reasons."""

    row: int
    label: str
    verdict: str
    sure: str
    reasons: str


@dataclass(frozen=True)
class AuditFacts:
    """The rows whose labels the model contradicts most.

    `of_training` says whether they were passed as training rows, `whose` describes them, and `left_out` says
    whether each was predicted by the model without it (leave-one-out). `redundancy` says which features
    repeat others, and whether the model predicts better without them.
    """

    of_training: bool
    whose: str
    left_out: bool
    sentence: str
    advice: str
    rows: tuple[DoubtfulLabel, ...]
    redundancy: RedundancyCheck | None = None


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
    """Find doubtful labels among the training rows of a model, or among n other rows.

    Labels are called wrong, rather than hard to predict, only if they are few and the model is `trusted`:
    good and calibrated. A model that is not `is_skilled`, no better than the baseline, is no evidence
    against any label, so none are listed.
    """
    is_known = of_training or _is_training_data(model, data, label if y is None else y, n)
    result = audit(model, data, y, label=label, most=most, seen=None if is_known else False)
    rows = tuple(_doubtful_label(each) for each in result.rows) if is_skilled else ()
    finds_wrong = trusted and result.wrong is not None and result.wrong <= MAX_WRONG_LABEL_SHARE * result.n
    summary = _audit_sentence(result, finds_wrong) if is_skilled else NO_SKILL_SENTENCE
    sentence = f"{_evaluation_note(result, of_training)}{summary}"
    advice = _audit_advice(result, of_training, finds_wrong)
    whose = _describe_rows(result, of_training)
    return AuditFacts(of_training, whose, result.left_out, sentence, advice, rows, result.redundancy)


def _describe_rows(result: Audit, of_training: bool) -> str:
    if not of_training:
        return "rows of this report"
    return "training rows" if result.left_out else "rows passed as training rows"


def _evaluation_note(result: Audit, of_training: bool) -> str:
    if result.left_out:
        return "The model was trained on these rows; each was predicted by the model without it. "
    if of_training and result.has_seen is False:
        return "The model was not trained on the rows passed as training rows. "
    return ""


def _is_training_data(model: Any, data: Any, y: Any, n: int) -> bool:
    """Return whether a count model was trained on exactly these n rows: subtracting them leaves nothing."""
    fitted = getattr(model, "model_", model)
    fitted = getattr(fitted, "uncalibrated", fitted)
    if not isinstance(fitted, CountModel) or not fitted.has_rows:
        return False
    return n == float(fitted.counts.rows.sum()) and fitted.has_learned(data, y) is True


def _audit_sentence(result: Audit, finds_wrong: bool) -> str:
    if not result.at_odds:
        return "The model contradicts no label."
    contradicted = f"The model contradicts the labels of {result.at_odds:,} of {result.n:,} rows"
    if result.wrong is not None and result.wrong > MAX_WRONG_LABEL_SHARE * result.n:
        share = format_share(result.wrong / result.n)
        return (
            f"{contradicted}, strongly for {share} of all rows: so many suggest a poor fit of the model "
            f"rather than wrong labels."
        )
    if not finds_wrong:
        return f"{contradicted}: either the prediction or the label is wrong there."
    n_wrong = result.wrong or 0
    look = "1 label looks" if n_wrong == 1 else f"{n_wrong:,} labels look"
    return f"{contradicted}; {look} wrong rather than hard to predict."


def _audit_advice(result: Audit, of_training: bool, finds_wrong: bool) -> str:
    if not of_training or not finds_wrong or not result.wrong:
        return ""
    rows, labels = _describe_rows(result, of_training), format_quantity(result.wrong, "label")
    return f"Check the most doubtful labels of the {rows}: {labels} may be wrong."


def _doubtful_label(suspect: SuspectRow) -> DoubtfulLabel:
    reasons = ", ".join(
        f"{truncate(row.title, 40)} ({format_signed(row.nats, 1)})"
        for row in suspect.reasons[:MAX_AUDIT_REASONS]
    )
    if suspect.said_probability is None:
        confidence = f"by {suspect.lead:.4g} points"
    else:
        confidence = format_share(suspect.said_probability)
    return DoubtfulLabel(
        suspect.row,
        truncate(suspect.label, MAX_AUDIT_LABEL_LENGTH),
        truncate(suspect.said, MAX_AUDIT_LABEL_LENGTH),
        confidence,
        reasons,
    )


MAX_UNFAMILIAR_ROWS = 20
MAX_COLUMN_LENGTH = 120


@dataclass(frozen=True)
class UnfamiliarRowFact:
    """An unfamiliar row with its reasons."""

    row: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class UnfamiliarityFacts:
    """The number of unfamiliar rows, the first of them, and the columns that have shifted."""

    n: int
    strange: int
    tested: int
    sentence: str
    rows: tuple[UnfamiliarRowFact, ...]
    columns: tuple[ColumnShift, ...]
    false_alarm_rate: float | None = FALSE_ALARM_RATE

    @property
    def rows_title(self) -> str:
        """The title of the list of rows."""
        if self.strange == 1:
            return "The unfamiliar row"
        which = "All" if len(self.rows) == self.strange else "The first"
        return f"{which} {len(self.rows)} unfamiliar rows"


def unfamiliarity_facts(model: Any, data: Any) -> UnfamiliarityFacts:
    """Compare rows with the training rows of the model."""
    result = unfamiliar(model, data)
    rows = tuple(
        UnfamiliarRowFact(
            each.row, tuple(truncate(reason, 2 * MAX_COLUMN_LENGTH) for reason in each.reasons[:5])
        )
        for each in result.rows[:MAX_UNFAMILIAR_ROWS]
    )
    columns = tuple(
        replace(
            c,
            column=truncate(c.column, MAX_COLUMN_LENGTH),
            before=truncate(c.before, MAX_COLUMN_LENGTH),
            now=truncate(c.now, MAX_COLUMN_LENGTH),
        )
        for c in result.shifted
    )
    n_strange, n_columns = len(result.rows), len(result.columns)
    share = format_share(n_strange / result.n_rows)
    if not n_columns:
        shifts = "there are too few rows to test the columns"
    elif not columns:
        shifts = f"none of the {format_quantity(n_columns, 'column')} has shifted notably"
    else:
        shifts = f"{len(columns):,} of {format_quantity(n_columns, 'column')} shifted notably"
    are = "differs" if n_strange == 1 else "differ"
    sentence = (
        f"{n_strange:,} of {format_quantity(result.n_rows, 'row')} ({share}) {are} from the training "
        f"rows{_format_kinds(result)}; {shifts}. {_format_false_alarms(result)}"
        if result.is_examined
        else f"{result.headline} {shifts[:1].upper()}{shifts[1:]}."
    )
    sentence += f" {ZERO_BASED_NOTE}" if rows else ""
    rate = result.false_alarm_rate
    return UnfamiliarityFacts(result.n_rows, n_strange, n_columns, sentence, rows, columns, rate)


def _format_false_alarms(result: Unfamiliar) -> str:
    without = f" Not examined: {result.format_unexamined_columns()}." if result.not_examined else ""
    if result.false_alarm_rate is None:
        return f"How many are flagged by chance is not known for weighted training rows.{without}"
    rate = format_rate(result.false_alarm_rate)
    return f"Of rows like the training rows, {rate} are flagged by chance.{without}"


def _format_kinds(result: Unfamiliar) -> str:
    kinds = " and ".join(f"{n:,} with {kind}" for kind, n in result.kinds.items())
    return f", {kinds}" if kinds else ""


def find_identifiers(model: Any, data: Any, labels: Any, n_training_rows: float | None) -> tuple[str, ...]:
    """Return the categories of a model that identify rows: nearly all values of their rows are distinct."""
    schema = getattr(model, "schema", None)
    if schema is None or not schema.named:
        return ()
    pairs = zip(schema.names, schema.kinds, strict=True)
    names = [name for name, kind in pairs if isinstance(kind, Category)]
    if not names:
        return ()
    source = rows_of(data, labels, missing=schema.missing).with_storage(model.storage)
    rows = schema.first_rows(source)
    levels = getattr(model, "levels", {})

    def is_identifier(name: str) -> bool:
        codes = encode_column(rows.columns[name], name)[0]
        known = codes[codes >= 0]
        n_training = int(n_training_rows or 0)
        return is_nearly_distinct(len(np.unique(known)), len(known)) or is_nearly_distinct(
            len(levels.get(name, ())), n_training
        )

    return tuple(filter(is_identifier, names))


def identifier_advice(names: Sequence[str]) -> Iterator[str]:
    """Yield the advice to skip columns that identify rows."""
    if names:
        look, them = ("looks like an ID", "it") if len(names) == 1 else ("look like IDs", "them")
        yield f"{_list_columns(names)} {look}: skip {them} ({_kind_option(names, 'skip')})."


EXTREME_EVIDENCE = 30.0  # nats from one number: odds of 10¹³ to 1
MAX_LISTED_COLUMNS = 4
MAX_CAUSE_COLUMN_LENGTH = 60


@dataclass(frozen=True)
class MisleadingColumns:
    """Columns that mislead naive Bayes, by problem, and `lines` with advice.

    `extreme` are number columns that contribute very many nats to a listed mistake, `constant` are columns
    with zero variance in some class, and `repeated` are pairs whose second column repeats the first.
    """

    extreme: tuple[str, ...]
    constant: tuple[str, ...]
    repeated: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]


def find_misleading_columns(
    model: Any, mistakes: MistakeFacts, redundancy: RedundancyCheck | None
) -> MisleadingColumns:
    """Find misleading columns; models other than naive Bayes have none."""
    if not hasattr(model, "distributions"):
        return MisleadingColumns((), (), (), ())
    constant = tuple(each.column for each in find_zero_variance_columns(model))
    max_nats = _extreme_evidence(
        mistakes, {part.part.names[0] for part in model.distributions if isinstance(part, Gaussian)}
    )
    extreme = tuple(name for name in max_nats if name not in constant)
    features = () if redundancy is None else redundancy.features
    repeated = tuple((each.repeats, name) for each in features for name in each.features)
    advice = redundancy_advice(redundancy)
    lines = (*_constant_advice(constant), *_extreme_advice(extreme, max_nats), *advice)
    return MisleadingColumns(extreme, constant, repeated, lines)


def _extreme_evidence(mistakes: MistakeFacts, columns: set[str]) -> dict[str, float]:
    """Return the largest contribution, in nats, of each column with extreme evidence in a mistake."""
    max_nats: dict[str, float] = {}
    for reason in (reason for row in mistakes.rows for reason in row.reasons):
        if reason.column in columns and reason.amount > EXTREME_EVIDENCE:
            max_nats[reason.column] = max(max_nats.get(reason.column, 0.0), reason.amount)
    return dict(sorted(max_nats.items(), key=lambda item: -item[1]))


def _constant_advice(names: Sequence[str]) -> Iterator[str]:
    if names:
        have = "has" if len(names) == 1 else "have"
        shared, skip = _kind_option(names, "number:spread=shared"), _kind_option(names, "skip")
        yield (
            f"{_list_columns(names)} {have} zero variance in some class, so that any other value decides "
            f"alone: train with {shared} or {skip}."
        )


def _extreme_advice(names: Sequence[str], max_nats: dict[str, float]) -> Iterator[str]:
    if names:
        contribute = "contribute" if len(names) > 1 else "contributes"
        yield (
            f"In the worst mistakes {_list_columns(names)} {contribute} up to {max_nats[names[0]]:,.0f} nats "
            f"(7 are already odds of 1,000 to 1), because the numbers are not normally distributed: train "
            f"with {_kind_option(names, 'number:shape=histogram')}."
        )


def _kind_option(names: Sequence[str], kind: str) -> str:
    column = truncate(names[0], MAX_CAUSE_COLUMN_LENGTH) if len(names) == 1 else "COLUMN"
    return f"--kind {column}={kind}"


def _list_columns(names: Sequence[str]) -> str:
    shown = [truncate(name, MAX_CAUSE_COLUMN_LENGTH) for name in names[:MAX_LISTED_COLUMNS]]
    if len(names) > MAX_LISTED_COLUMNS:
        return f"{', '.join(shown)} and {len(names) - MAX_LISTED_COLUMNS} more columns"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)
