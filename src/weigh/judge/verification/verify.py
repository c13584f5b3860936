"""`verify`: recompute a model's counts or certificate from its training rows, and compare."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.verification.additive_checks import check_additive_fit
from weigh.judge.verification.checks import (
    Check,
    RowChecks,
    Unchecked,
    check_class_counts,
    check_joint_table,
    check_naive_bayes,
    check_sums_to_one,
    check_threshold,
)
from weigh.judge.verification.online_checks import check_online_logistic
from weigh.judge.verification.optimality_checks import check_optimality
from weigh.judge.verification.perceptron_checks import check_perceptron
from weigh.judge.verification.recount import Recount
from weigh.model.calibrated import CalibratedModel
from weigh.model.file.loading import load
from weigh.model.joint_bayes import JointModel
from weigh.model.logistic import LogisticModel
from weigh.model.naive_bayes import BayesModel
from weigh.model.perceptron import PerceptronModel
from weigh.model.regression import RegressionModel
from weigh.model.threshold import ThresholdModel
from weigh.result import Section, Table, TabularResult
from weigh.source.base import Source
from weigh.source.memory.table import rows as rows_of
from weigh.text import format_quantity

MAX_LISTED_CHECKS = 20
MAX_LISTED_MISMATCHES = 4
UNVERIFIED_CALIBRATION = Unchecked(
    "calibration",
    "The model was checked without its calibration, which may come from other rows; weigh.evaluate measures "
    "how well it is calibrated.",
)

OTHER_COLUMNS = Unchecked(
    "other columns",
    "The model does not store which other columns were candidates: whether one of them has a better cut was "
    "not checked.",
)


@dataclass(frozen=True, repr=False)
class Verification(TabularResult):
    """The result of `verify`: `ok` says whether all checks pass.

    `unchecked` names what could not be checked, and `notes` say why, or how a check was made.
    """

    n_rows: int
    checks: tuple[Check, ...]
    done: str = "Counted"
    notes: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    _json = ("ok", "n_rows", "checks", "unchecked", "notes")
    _frames = ("checks",)

    @property
    def ok(self) -> bool:
        """Whether all checks pass."""
        return all(check.ok for check in self.checks)

    def with_unchecked(self, unchecked: Iterable[Unchecked]) -> Verification:
        """Return the result with what could not be checked, and why."""
        parts = list(unchecked)
        what = (*self.unchecked, *(part.what for part in parts if part.what))
        return replace(self, unchecked=what, notes=(*self.notes, *(part.why for part in parts)))

    def plot(self) -> Any:
        """Plot the share of numbers that agree for each check, failed checks first."""
        from weigh.pictures import stacked_bar_chart

        shown = sorted(self.checks, key=lambda check: check.ok)[:MAX_LISTED_CHECKS]
        rows = []
        for check in shown:
            wrong = len(check.differing) / max(check.compared, len(check.differing), 1)
            rows += [
                {"name": check.name, "part": "agree", "value": 1.0 - wrong},
                {"name": check.name, "part": "differ", "value": wrong},
            ]
        return stacked_bar_chart(rows, x="share of the numbers compared", title=self.headline)

    def sections(self) -> Iterator[Section]:
        """Yield the checks, the first mismatches of each failed check and the notes."""
        yield Section("checks", [self._check_table()])
        for check in self._failed_checks[:MAX_LISTED_CHECKS]:
            rows = ([mismatch.what, mismatch.model, mismatch.data] for mismatch in check.differing)
            header = [check.name, "model", "data"]
            table = Table([header, *rows], indent="  ", widths=(44,), most=MAX_LISTED_MISMATCHES)
            yield Section("differing", [table])
        yield from (Section("notes", [note]) for note in self.notes)

    @property
    def _failed_checks(self) -> list[Check]:
        return [check for check in self.checks if not check.ok]

    @property
    def headline(self) -> str:
        """The number of rows and of failed checks."""
        n_failed, n_checks = len(self._failed_checks), format_quantity(len(self.checks), "check")
        outcome = f"{n_failed:,} of {n_checks} failed" if n_failed else "everything agrees"
        if self.unchecked:
            outcome = "all checks agree" if not n_failed else outcome
            outcome += f"; not checked: {', '.join(self.unchecked)}"
        return f"{self.done} {format_quantity(self.n_rows, 'row')} again: {outcome}."

    def _check_table(self) -> Table:
        passed = [check for check in self.checks if check.ok]
        rows = [["checked", "numbers", "result"]]
        for check in (*self._failed_checks[:MAX_LISTED_CHECKS], *passed[:MAX_LISTED_CHECKS]):
            outcome = "agree" if check.ok else f"{len(check.differing):,} differ"
            rows.append([check.name, f"{check.compared:,}", outcome])
        n_hidden = len(self.checks) - len(rows) + 1
        return Table(rows, indent="  ", widths=(44,), n_hidden=n_hidden)


def verify(model: Any, data: Any, y: Any = None) -> Verification:
    """Check a model against its training rows with separate, simple code.

    For Bayes and threshold models the rows are counted again: classes, levels, words, flags, cells of a joint
    table, sides of a threshold and sums of numbers must agree exactly (up to rounding with fractional
    weights), and probabilities must sum to one. For a regression the loss, the objective and the duality gap
    are recomputed; for one with curves also the cells of the rows, and that every curve and surface is
    centred. A model given by its path is also compared with the digest in its file.

    For a perceptron and an online logistic regression the passes are made again, in the stated order, by
    plain code from the definition, and mistakes, weights and recorded updates are compared; so are the radius
    and the margin. Plain code makes about 500,000 steps of a perceptron with few features, or 50,000 of a
    regression, within seconds. Runs that are longer are repeated by the learner's own code, as a note says.
    Where the order is not known, as after `partial_fit`, the weights are not checked, and the result says so.

    Parameters
    ----------
    model : a model of this library that was trained on rows, a fitted estimator, or the path of a model file
    data : the rows the model was trained on, in any storage, or a source
    y : one label per row or the label column's name; None takes the model's label column
    """
    checks = []
    if isinstance(model, str | os.PathLike):
        model = load(model)
        checks.append(Check("the file's digest", 1))
    model = getattr(model, "model_", model)
    if isinstance(model, CalibratedModel):
        base = verify(model.uncalibrated, data, y)
        return replace(base, checks=(*checks, *base.checks)).with_unchecked([UNVERIFIED_CALIBRATION])
    check_rows = _row_checker(model)
    if check_rows is not None:
        n_rows, recomputed, unchecked = check_rows(model, _labelled_source(model, data, y))
        return Verification(n_rows, (*checks, *recomputed), "Went through").with_unchecked(unchecked)
    check_counts = _count_checker(model)
    source = _labelled_source(model, data, y)
    recount = Recount(model.schema, whole_rows=not isinstance(model, BayesModel)).count_source(source)
    checks += [
        check_class_counts(model, recount),
        *check_counts(model, recount),
        *_probability_checks(model, source),
    ]
    result = Verification(recount.n_rows, tuple(checks))
    has_others = isinstance(model, ThresholdModel) and len(model.schema.names) > 1
    return result.with_unchecked([OTHER_COLUMNS] if has_others else [])


def _row_checker(model: Any) -> Callable[[Any, Source], RowChecks] | None:
    """Return the function that checks a model without counts against its rows, or None."""
    if isinstance(model, PerceptronModel):
        return check_perceptron
    if isinstance(model, LogisticModel) and model.fit.method == "online":
        return check_online_logistic
    if isinstance(model, RegressionModel | LogisticModel):
        return check_optimality if model.fit.strengths is None else check_additive_fit
    return None


def _count_checker(model: Any) -> Callable[[Any, Recount], Iterator[Check]]:
    """Return the function that compares the counts of this kind of model; raises if it has no counts."""
    if getattr(model, "stated", False):
        raise errors.Unsupported("A model from stated numbers has no rows that could be counted again.")
    for kind, checks in _COUNT_CHECKERS.items():
        if isinstance(model, kind):
            return checks
    raise errors.Unsupported(
        f"verify checks Bayes, threshold, perceptron and regression models against their rows, got "
        f"{type(model).__name__}."
    )


_COUNT_CHECKERS: dict[type, Callable[[Any, Recount], Iterator[Check]]] = {
    BayesModel: check_naive_bayes,
    JointModel: check_joint_table,
    ThresholdModel: check_threshold,
}


def _labelled_source(model: Any, data: Any, y: Any) -> Source:
    """Return the rows with their labels as a source that is read like the model's training rows."""
    if y is None and isinstance(data, Source) and (data.label or data.prefix(1).labels is not None):
        source = data
    else:
        label = model.label if y is None else y
        if label is None:
            raise errors.LabelError(
                "The rows have no labels to count by. Give y: one label per row, or its column."
            )
        source = rows_of(data, label, missing=model.schema.missing)
    return source.with_missing(model.schema.missing).with_storage(model.storage)


def _probability_checks(model: Any, source: Source) -> Iterator[Check]:
    if not isinstance(model, ThresholdModel):
        total = float(sum(model.class_distribution.exact_probabilities))
        yield check_sums_to_one("class probabilities sum to 1", [total])
    if isinstance(model, BayesModel):
        yield check_sums_to_one("probabilities within classes sum to 1", list(_probability_totals(model)))
    first_rows = next(iter(model.schema.chunks(source))).slice(0, 1000)
    totals = np.exp(model.log_proba(first_rows)).sum(axis=1).tolist()
    yield check_sums_to_one("posteriors of the first rows sum to 1", totals)


def _probability_totals(model: BayesModel) -> Iterator[float]:
    """Yield the sum of the probabilities of all values, for each column and class.

    Outcomes that are not exclusive, such as word flags, have no sum; they yield 1 if they are in [0, 1].
    """
    for distribution in model.distributions:
        for outcomes in distribution.outcomes()[:1]:
            if not outcomes.exclusive:
                yield from (1.0 if 0.0 <= p <= 1.0 else p for p in outcomes.probabilities.ravel().tolist())
            elif outcomes.counts.any():
                yield from outcomes.probabilities.sum(axis=1).tolist()
