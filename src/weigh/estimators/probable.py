"""Classifiers whose scores are logarithms of probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from weigh.estimators.base import Classifier
from weigh.features.blocks import Floats


class Probable(Classifier):
    """A classifier that gives every class a probability."""

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every class, in the order of `classes_`."""
        check_is_fitted(self)
        return np.asarray(self.model_.predict_proba(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of every class."""
        check_is_fitted(self)
        return np.asarray(self.model_.log_proba(X))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return the score of every class: log P(class) + log P(row | class)."""
        check_is_fitted(self)
        return np.asarray(self.model_.uncalibrated.scores(X))
