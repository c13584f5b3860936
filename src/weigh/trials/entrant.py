"""A learner in a trial, with the rows in the form that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

from weigh import errors
from weigh.estimators.learner import Learner
from weigh.trials.numbers import AsNumbers
from weigh.trials.rows import LabelledRows, Places
from weigh.trials.trial import Fitted, fitted


@dataclass(frozen=True, eq=False)
class Entrant:
    """A learner that was made ready for all rows, before they are cut into parts."""

    name: str
    learner: Any
    rows: LabelledRows

    @classmethod
    def of(cls, name: str, learner: Any, rows: LabelledRows) -> Entrant:
        """Make a learner and rows fit each other.

        A pipeline, and a learner of ours, takes the rows as they are. Any other learner of scikit-learn gets
        them as one matrix if all columns are numbers, whatever the rows are stored in; else, and where
        numbers are missing that it has no use for, they are turned into numbers first.
        """
        if isinstance(learner, Learner | Pipeline):
            return cls(name, learner, rows)
        numbers = rows.numbers()
        if numbers is None or (_has_gaps(numbers) and not get_tags(learner).input_tags.allow_nan):
            return cls(name, make_pipeline(AsNumbers(scale=None), learner), rows)
        return cls(name, learner, rows.with_data(numbers))

    def fitted(self, places: Places) -> Fitted:
        """Return a fresh copy of the learner, fitted on the rows of these places."""
        return fitted(self.learner, self.rows.take(places), self.name)

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        """Say who failed, and where; errors of this library tell what to do by themselves."""
        try:
            yield
        except (errors.WeighError, MemoryError):
            raise
        except Exception as cause:
            raise errors.DataError(f"{self.name} failed in {where}: {cause}") from cause


def _has_gaps(numbers: Any) -> bool:
    values = numbers.data if issparse(numbers) else numbers
    return bool(values.dtype.kind == "f" and np.isnan(values).any())
