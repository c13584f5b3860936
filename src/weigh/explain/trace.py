"""Traces: every step of a perceptron, in exact fractions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain import trace_facts, trace_page, trace_table
from weigh.explain.trace_facts import LONGEST
from weigh.explain.trace_rows import check_rows, unpruned, vectors
from weigh.explain.trace_rules import Rules, exact
from weigh.explain.trace_steps import Plane, Run, Step, Vector, best, follow, verdict
from weigh.features import Schema
from weigh.features.settings import whole
from weigh.learn import Design, design
from weigh.model.record import check_kept
from weigh.replacing import reason, replaced
from weigh.source.missing import marker_list

SHOWN = 60  # steps that are printed unless more are asked for


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The steps of a perceptron over labelled rows, exact: a decimal such as 0.1 means one tenth.

    `names` are the features in order, `classes` the classes; a positive score speaks for the second
    of two.
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    rows: tuple[Vector, ...]
    codes: tuple[int, ...]
    sizes: tuple[Fraction, ...]
    rules: Rules
    run: Run
    schema: Schema | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every row met, in order."""
        return self.run.steps

    @property
    def mistakes(self) -> int:
        """How many rows were mistaken; with one plane per class against the rest, by any of them."""
        return sum(not step.correct for step in self.steps)

    @property
    def updates(self) -> int:
        """How often a plane moved: at mistakes, and within the margin."""
        if self.run.separate:
            return sum(abs(error) for step in self.steps for error in step.errors)
        return sum(step.updated for step in self.steps)

    @property
    def converged(self) -> bool:
        """Whether the last pass was clean, without an update."""
        return self.run.converged

    @property
    def passes(self) -> int:
        """How many passes were made, the clean one included."""
        return self.steps[-1].iteration

    @cached_property
    def decimal(self) -> bool:
        """Whether numbers are written as decimals: where rows or the rate have them, not other fractions."""
        values = (value for row in self.rows for value in row.values())
        below = {number.denominator for number in (*self.sizes, *values)}
        return below != {1} and all(10**LONGEST % each == 0 for each in below)

    def weights(self, keep: str | None = None) -> Any:
        """Return (w by feature, b) as the learner keeps them: "last", "averaged" or "lazy".

        For more than two classes, a mapping from each class to such a pair.
        """
        keep = self._keep(keep)
        if keep == "voted":
            raise errors.Unsupported(
                "A voted perceptron has no single weights: all its planes vote. They are in `voted`; "
                "weights('averaged') is their mean."
            )
        planes = [self._full(plane) for plane in self.run.planes(keep)]
        return planes[0] if len(self.classes) == 2 else dict(zip(self.classes, planes, strict=True))

    @property
    def voted(self) -> list[tuple[int, Any, Any]]:
        """The planes that vote: (c, w by feature, b), where c is how many steps the plane lasted.

        For more than two classes w and b are mappings from each class.
        """
        found: list[tuple[int, Any, Any]] = []
        for count, planes in self.run.hypotheses:
            full = [self._full(plane) for plane in planes]
            if len(full) == 1:
                found.append((count, full[0].weights, full[0].bias))
            else:
                named = dict(zip(self.classes, full, strict=True))
                weights = {label: plane.weights for label, plane in named.items()}
                found.append((count, weights, {label: plane.bias for label, plane in named.items()}))
        return found

    def score(self, row: Any, keep: str | None = None) -> Any:
        """Return the exact score of a row: w·x + b, or the votes for the second class minus those against.

        A row is a mapping from columns to values, a mapping from features to numbers, where others
        are 0, or one number per feature.
        For more than two classes, the result is a mapping from each class to its score.
        """
        scores = self._scores(self._row(row), self._keep(keep))
        return scores[0] if len(self.classes) == 2 else dict(zip(self.classes, scores, strict=True))

    def predict(self, row: Any, keep: str | None = None) -> Any:
        """Return the class of a row: the second of two from 0 on, else the best of many."""
        scores = self._scores(self._row(row), self._keep(keep))
        return self.classes[verdict(scores)]

    def _scores(self, x: Vector, keep: str) -> list[Fraction]:
        if keep != "voted":
            return [plane.score(x) for plane in self.run.planes(keep)]
        votes = [Fraction(0)] * len(self.steps[0].planes)
        for count, planes in self.run.hypotheses:
            for c, vote in enumerate(_ballot([plane.score(x) for plane in planes], self.run.separate)):
                votes[c] += count * vote
        return votes

    def _row(self, row: Any) -> Vector:
        if not isinstance(row, Mapping):
            values = np.asarray(row, dtype=object).ravel().tolist()
            if len(values) != len(self.names):
                raise errors.DataError(
                    f"The row has {len(values):,} numbers, the trace {len(self.names):,} features: "
                    f"{errors.listing(self.names)}. Give one number per feature, or a mapping from columns."
                )
            row = dict(zip(self.names, values, strict=True))
        if not self._known.issuperset(row) and self.schema is not None and self.schema.named:
            return self._encoded(row, self.schema)
        for name in row:
            if name not in self._known:
                raise errors.unknown_column(str(name), self.names, "The trace")
        return {name: exact(value) for name, value in row.items() if value}

    def _encoded(self, row: Mapping[str, Any], schema: Schema) -> Vector:
        """Return the features of a row of columns; levels and words that were never met add nothing."""
        for name in row:
            if name not in schema.names and name != schema.label:
                raise errors.unknown_column(str(name), schema.names, "The table of the trace")
        found = design({name: [row.get(name)] for name in schema.names}, [0], unpruned(schema))
        return vectors(found, found.names)[0]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    def _full(self, plane: Plane) -> Plane:
        return Plane({name: plane.weights.get(name, Fraction(0)) for name in self.names}, plane.bias)

    def _keep(self, keep: str | None) -> str:
        return self.rules.keep if keep is None else check_kept(keep)

    def table(
        self, format: str = "text", passes: int | Sequence[int] | None = None, most: int | None = None
    ) -> str:
        """Return the steps as a table per pass, as "text", "html" or "latex" (which needs amsmath).

        Parameters
        ----------
        passes : the first passes, by their number, or a list of passes, of which the first is 1
        most : how many steps to write at most
        """
        writer = trace_table.WRITERS.get(format)
        if writer is None:
            raise errors.parameter("table", "format", "'text', 'html' or 'latex'", format)
        if most is not None:
            whole("table", "most", most, 1)
        return writer(self, trace_table.chosen(self, passes), most)

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON; a number that is not whole is the text of its fraction, "7/10"."""
        return trace_facts.facts(self)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return a page that needs no network, and write it to a file if `path` is given.

        It holds the table and, for two features and two classes, a picture of the plane that turns
        step by step, which needs the extra `report`: pip install '.[report]' in a checkout.
        """
        page = trace_page.page_of(self)
        if path is not None:
            try:
                with replaced(path) as file:
                    file.write(page.encode("utf-8", "replace"))
            except OSError as cause:
                raise errors.FileError(
                    f"{os.fspath(path)} cannot be written: {reason(cause)}. Check its folder."
                ) from cause
        return page

    def plot(self, at: int = 1) -> Any:
        """Return the picture of the plane that turns, of two features and classes, at one of its steps."""
        if not trace_page.is_drawable(self):
            raise errors.Unsupported(
                f"The plane is drawn for two features and two classes, got {len(self.names):,} features and "
                f"{len(self.classes):,} classes. Its steps are in `table()`."
            )
        return trace_page.picture(self, whole("plot", "at", at, 1))

    def __str__(self) -> str:
        return self.table(most=SHOWN)

    def __repr__(self) -> str:
        return f"<Trace: {trace_table.summary(self)}>"

    def _repr_html_(self) -> str:
        return self.table("html", most=SHOWN)


def _ballot(scores: list[Fraction], separate: bool) -> list[int]:
    """Return what one hypothesis says: 1 or −1 by each plane alone, or 1 for the best class of all."""
    if len(scores) == 1 or separate:
        return [1 if score >= 0 else -1 for score in scores]
    return [int(c == best(scores)) for c in range(len(scores))]


def trace(learner: Any, X: Any, y: Any = None) -> Trace:
    """Follow a perceptron over labelled rows, step by step, in exact fractions.

    The steps are worked out anew from the definition, with the parameters of the learner; it need
    not be fitted, and is left as it is.

    Parameters
    ----------
    learner : a `weigh.Perceptron`
    X : rows of any storage, as for `fit`
    y : one label per row, or the name of the label column
    """
    rules = Rules.of(learner)
    if isinstance(X, Design) and y is None:
        found = X
    else:
        found = design(X, y, rules.columns, missing=marker_list(rules.missing, "Perceptron"))
    rules.check_kinds(found.schema)
    check_rows(found, rules)
    names, classes, codes = tuple(found.names), tuple(found.classes), found.codes.tolist()
    rows = vectors(found, names)
    weights = None if found.weights is None else found.weights.tolist()
    sizes = rules.sizes(codes, classes, weights)
    run = follow(rows, codes, sizes, classes, rules)
    return Trace(names, classes, tuple(rows), tuple(codes), tuple(sizes), rules, run, found.schema)
