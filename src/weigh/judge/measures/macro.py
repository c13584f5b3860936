"""Means over classes, each class counting alike: precision, recall, F1, balanced accuracy.

As in scikit-learn, the mean goes over the classes that occur among labels or predictions, 0/0 counting as
0; that of the balanced accuracy over the classes of the labels. Labels that the model does not know are
classes too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weigh.judge.measures.confusion import Confusion, Shares
from weigh.judge.measures.intervals import mean_of_shares
from weigh.judge.measures.losses import UNSEEN
from weigh.judge.measures.measure import Measure


def macro_measures(confusion: Confusion, shares: Shares, n_unseen: int) -> Iterator[Measure]:
    """Yield the means with their intervals."""
    labelled, predicted = confusion.support() > 0, confusion.predictions() > 0
    n_labelled, n_classes = int(labelled.sum()) + n_unseen, int((labelled | predicted).sum()) + n_unseen
    yield Measure("balanced_accuracy", *mean_of_shares(*shares.recall, n_labelled))
    yield Measure("macro_precision", *mean_of_shares(*shares.precision, n_classes))
    yield Measure("macro_recall", *mean_of_shares(*shares.recall, n_classes))
    yield Measure("macro_f1", *mean_of_shares(*shares.f1, n_classes, _together(confusion)))


def _together(confusion: Confusion) -> float:
    """Return how much more the F1 of all classes vary together than apart: a mistake costs two of them.

    A row changes F1 = 2 n_cc / s by (2 - 2 F1) / s if rightly of the class, by -F1 / s if it is otherwise
    of the class or taken for it.
    """
    whole = confusion.support() + confusion.predictions()
    f1, once = np.zeros(len(whole)), np.zeros(len(whole))
    np.divide(2.0 * confusion.hits(), whole, out=f1, where=whole > 0)
    np.divide(1.0, whole, out=once, where=whole > 0)
    true, said, squares = confusion.true, confusion.predicted, confusion.squares
    hit, known = true == said, true != UNSEEN
    of_said = np.where(hit, 2.0 - 2.0 * f1[said], -f1[said]) * once[said]
    of_true = np.where(hit | ~known, 0.0, -f1[true] * once[true])
    apart = float((squares * (np.square(of_said) + np.square(of_true))).sum())
    return float((squares * np.square(of_said + of_true)).sum()) / apart if apart > 0 else 1.0
