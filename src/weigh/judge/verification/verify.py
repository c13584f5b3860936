"""`verify`: does a model hold what its data say? Counted again, compared number by number."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.verification.checks import (
    Check,
    check_class_counts,
    check_joint_table,
    check_naive_bayes,
    check_perceptron,
    check_sums_to_one,
    check_threshold,
)
from weigh.judge.verification.optimality_checks import check_optimality
from weigh.judge.verification.recount import Recount
from weigh.model import (
    BayesModel,
    CalibratedModel,
    JointModel,
    LogisticModel,
    PerceptronModel,
    RegressionModel,
    ThresholdModel,
    load,
)
from weigh.source import Source
from weigh.source import rows as rows_of
from weigh.text import format_quantity, html_paragraph, html_table, text_table, truncate

MAX_LISTED_CHECKS = 20
MAX_LISTED_MISMATCHES = 4
LINE_WIDTH = 80
UNVERIFIED_CALIBRATION_NOTE = (
    "The model was checked as it was learned. Its calibration comes from rows that need not be these; "
    "weigh.evaluate tells how well it does."
)


@dataclass(frozen=True, repr=False)
class Verification:
    """The result of `verify`; `ok` says whether all checks agree, `notes` what could not be checked."""

    n_rows: int
    checks: tuple[Check, ...]
    done: str = "Counted"
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all checks agree."""
        return all(check.ok for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        checks = [check.to_dict() for check in self.checks]
        return {"ok": self.ok, "n_rows": self.n_rows, "checks": checks, "notes": list(self.notes)}

    def plot(self) -> Any:
        """Return a picture of the share of numbers that agree, check by check, those that fail first."""
        from weigh.pictures import stacked_bar_chart

        shown = sorted(self.checks, key=lambda check: check.ok)[:MAX_LISTED_CHECKS]
        rows = []
        for check in shown:
            wrong = len(check.differing) / max(check.compared, len(check.differing), 1)
            rows += [
                {"name": check.name, "part": "agree", "value": 1.0 - wrong},
                {"name": check.name, "part": "differ", "value": wrong},
            ]
        return stacked_bar_chart(rows, x="share of the numbers compared", title=self._title)

    def __str__(self) -> str:
        lines = [self._title, "", text_table(self._rows(), indent="  ")]
        for name, rows, hidden in self._mismatches():
            lines += ["", text_table([[name, "model", "data"], *rows], indent="  ")]
            lines += [f"  … and {hidden:,} more"] if hidden > 0 else []
        for note in self.notes:
            lines += ["", textwrap.fill(note, LINE_WIDTH)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [html_table(self._title, self._rows())]
        for name, rows, hidden in self._mismatches():
            more = [[f"… and {hidden:,} more", "", ""]] if hidden > 0 else []
            parts.append(html_table(name, [["", "model", "data"], *rows, *more]))
        return f"<div>{''.join([*parts, *map(html_paragraph, self.notes)])}</div>"

    @property
    def _failed_checks(self) -> list[Check]:
        return [check for check in self.checks if not check.ok]

    @property
    def _title(self) -> str:
        bad = len(self._failed_checks)
        told = (
            f"{bad:,} of {format_quantity(len(self.checks), 'check')} failed" if bad else "everything agrees"
        )
        return f"{self.done} {format_quantity(self.n_rows, 'row')} again: {told}."

    def _rows(self) -> list[list[str]]:
        good = [check for check in self.checks if check.ok]
        rows = [["checked", "numbers", "result"]]
        rows += [
            [truncate(c.name, 44), f"{c.compared:,}", f"{len(c.differing):,} differ"]
            for c in self._failed_checks[:MAX_LISTED_CHECKS]
        ]
        rows += [[truncate(c.name, 44), f"{c.compared:,}", "agree"] for c in good[:MAX_LISTED_CHECKS]]
        hidden = len(self.checks) - len(rows) + 1
        return rows + ([[f"… and {hidden:,} more", "", ""]] if hidden else [])

    def _mismatches(self) -> Iterator[tuple[str, list[list[str]], int]]:
        """Yield for each check that failed its name, the first mismatches, and how many more there are."""
        for check in self._failed_checks[:MAX_LISTED_CHECKS]:
            rows = [
                [truncate(each.what, 44), each.model, each.data]
                for each in check.differing[:MAX_LISTED_MISMATCHES]
            ]
            yield check.name, rows, len(check.differing) - MAX_LISTED_MISMATCHES


def verify(model: Any, data: Any, y: Any = None) -> Verification:
    """Count the training rows again with separate, plain code and compare with the model exactly.

    Classes, rows, levels, words, flags, cells of a joint table, sides of a cut and the exact sums
    of numbers must agree to the last digit (with fractional weights: to rounding), and the model's
    probabilities must sum to one. A model given by its path is also compared with the digest in
    its file. Of a perceptron the certificate is found again: the radius and, if the last plane was kept
    and separates the rows, that it does, and by which margin. Of a regression the loss, the objective and
    how far it can be above its minimum are found again.

    Parameters
    ----------
    model : a model of this library that was learned from rows, an estimator that holds one, or the path of a
        model file
    data : the rows the model was trained on, of any storage, or a source
    y : one label per row or the label column's name; None takes the model's label column
    """
    checks = []
    if isinstance(model, str | os.PathLike):
        model = load(model, check=True)
        checks.append(Check("the file's digest", 1))
    model = getattr(model, "model_", model)
    if isinstance(model, CalibratedModel):
        inner = verify(model.uncalibrated, data, y)
        return replace(
            inner, checks=(*checks, *inner.checks), notes=(*inner.notes, UNVERIFIED_CALIBRATION_NOTE)
        )
    if isinstance(model, PerceptronModel):
        source = (
            _labelled_source(model, data, y).with_missing(model.schema.missing).with_storage(model.storage)
        )
        n_rows, found = check_perceptron(model, source)
        return Verification(n_rows, (*checks, *found), "Went through")
    if isinstance(model, RegressionModel | LogisticModel):
        source = (
            _labelled_source(model, data, y).with_missing(model.schema.missing).with_storage(model.storage)
        )
        n_rows, found, notes = check_optimality(model, source)
        return Verification(n_rows, (*checks, *found), "Went through", notes)
    counted_again = _count_checker(model)
    source = _labelled_source(model, data, y).with_missing(model.schema.missing).with_storage(model.storage)
    recount = Recount(model.schema, together=not isinstance(model, BayesModel)).count_source(source)
    checks += [
        check_class_counts(model, recount),
        *counted_again(model, recount),
        *_probability_checks(model, source),
    ]
    return Verification(recount.n_rows, tuple(checks))


def _count_checker(model: Any) -> Callable[[Any, Recount], Iterator[Check]]:
    """How the counts of a model are compared; models without counts are refused."""
    if getattr(model, "stated", False):
        raise errors.Unsupported("A model from stated numbers has no rows that could be counted again.")
    for kind, checks in _COUNT_CHECKERS.items():
        if isinstance(model, kind):
            return checks
    raise errors.Unsupported(
        f"verify goes through the rows of Bayes, threshold, perceptron and regression models again, got "
        f"{type(model).__name__}, of which the rows tell nothing."
    )


_COUNT_CHECKERS: dict[type, Callable[[Any, Recount], Iterator[Check]]] = {
    BayesModel: check_naive_bayes,
    JointModel: check_joint_table,
    ThresholdModel: check_threshold,
}


def _labelled_source(model: Any, data: Any, y: Any) -> Source:
    if y is None and isinstance(data, Source) and (data.label or data.prefix(1).labels is not None):
        return data
    label = model.label if y is None else y
    if label is None:
        raise errors.LabelError(
            "The rows have no labels to count by. Give y: one label per row, or its column."
        )
    return rows_of(data, label, missing=model.schema.missing)


def _probability_checks(model: Any, source: Source) -> Iterator[Check]:
    if not isinstance(model, ThresholdModel):
        yield check_sums_to_one(
            "class probabilities sum to 1", [float(sum(model.class_distribution.exact_probabilities))]
        )
    if isinstance(model, BayesModel):
        yield check_sums_to_one("probabilities within classes sum to 1", list(_probability_totals(model)))
    first = next(iter(model.schema.chunks(source))).slice(0, 1000)
    yield check_sums_to_one(
        "posteriors of the first rows sum to 1", np.exp(model.log_proba(first)).sum(axis=1).tolist()
    )


def _probability_totals(model: BayesModel) -> Iterator[float]:
    """Yield the sum of the probabilities of all values of a column, for each column and class."""
    for part in model.distributions:
        for outcomes in part.outcomes()[:1]:
            if not outcomes.exclusive:
                yield from (1.0 if 0.0 <= p <= 1.0 else p for p in outcomes.probabilities.ravel().tolist())
            elif outcomes.counts.any():
                yield from outcomes.probabilities.sum(axis=1).tolist()
