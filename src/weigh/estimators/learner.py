"""What the scikit-learn faces of all learners share: a model, its schema, its explanations."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from weigh import errors
from weigh.features import Schema
from weigh.model import Explained
from weigh.source import Source


class Learner(BaseEstimator):
    """A scikit-learn estimator around a model; subclasses say how the model is made.

    After fitting, `model_` is the model: it predicts, explains and is saved without scikit-learn.
    """

    model_: Any

    def _require_labels(self, X: Any, y: Any, what: str) -> None:
        """Refuse a call without labels."""
        if y is None and not (isinstance(X, Source) and X.label is not None):
            raise errors.LabelError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Give one {what} "
                f"per row, or the name of the label column."
            )

    def _remember(self, source: Source) -> None:
        """Set what scikit-learn expects of a fitted estimator."""
        self.n_features_in_ = source.width
        if source.named:
            self.feature_names_in_ = np.array(source.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    @property
    def schema_(self) -> Schema:
        """Names and kinds of the columns, to be given to another learner as `columns`."""
        check_is_fitted(self)
        schema: Schema = self.model_.schema
        return schema

    def explain(self, X: Any) -> Explained:
        """Return the evidence for each row: named contributions that sum to the score."""
        check_is_fitted(self)
        found: Explained = self.model_.explain(X)
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
