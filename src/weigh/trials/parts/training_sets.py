"""Training sets drawn again and again from one part of the rows, and the part they are judged on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh import errors
from weigh.trials.rows import Places
from weigh.trials.splits import Groups, growing

BOOTSTRAP, SUBSAMPLE = "bootstrap", "subsample"
SHARES = {BOOTSTRAP: 1.0, SUBSAMPLE: 0.5}  # of the training part, that a set has


@dataclass(frozen=True, eq=False)
class TrainingSets:
    """Sets of rows to train on, and the rows that all of them are judged on.

    A bootstrap sample draws `size` rows of the part with replacement, a sub-sample without. A set of one
    class is drawn anew where the part has more: many learners could not begin.
    """

    part: Places
    test: Places
    groups: Groups
    size: int
    resample: str
    seed: int

    @classmethod
    def of(cls, groups: Groups, test: float, resample: str, share: float, seed: int) -> TrainingSets:
        """Hold out a share of the rows, class by class, and draw from the rest."""
        n = len(groups)
        held = max(1, round(n * test))
        size = round((n - held) * share)
        if size < 2:
            raise errors.DataError(
                f"bias_variance: of {n:,} rows {held:,} are held out, and {max(size, 0)} of the others are "
                f"in a training set; 2 are the least. Give more rows."
            )
        order = growing(np.arange(n), groups, np.random.default_rng([seed, 0]))
        return cls(np.sort(order[: n - held]), np.sort(order[n - held :]), groups, size, resample, seed)

    def drawn(self, number: int) -> Places:
        """Return the places of a training set; the same number draws the same set."""
        rng = np.random.default_rng([self.seed, 1, number])
        is_mixed = np.ptp(self.groups[self.part]) > 0
        while True:
            found = rng.choice(self.part, self.size, replace=self.resample == BOOTSTRAP)
            if not is_mixed or np.ptp(self.groups[found]) > 0:
                return np.asarray(found, np.int64)

    @property
    def words(self) -> str:
        """How the sets were drawn."""
        how = "bootstrap samples" if self.resample == BOOTSTRAP else "sub-samples"
        return f"{how} of {self.size:,} rows from {len(self.part):,}"
