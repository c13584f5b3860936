"""What the scikit-learn faces of regressions share: the proof of a fit, and how sure its weights are."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from weigh import errors
from weigh.model import Optimality, Posterior
from weigh.model.summary import Summary


class Inferred:
    """An estimator whose model has a certificate, a posterior and a summary."""

    model_: Any

    @property
    def certificate_(self) -> Optimality:
        """The proof: how far the objective can be above its minimum."""
        check_is_fitted(self)
        certificate: Optimality | None = self.model_.certificate
        if certificate is None:
            raise errors.Unsupported("Online learning proves nothing. Use method='exact' for a certificate.")
        return certificate

    @property
    def posterior_(self) -> Posterior:
        """The weights' mean and covariance, with a Normal prior or none.

        Of logistic regression, with two classes, by Laplace's approximation.
        """
        check_is_fitted(self)
        posterior: Posterior = self.model_.posterior
        return posterior

    def summary(self, level: float = 0.95) -> Summary:
        """Return the weights with standard errors and intervals, the noise, the penalties by other names."""
        check_is_fitted(self)
        summary: Summary = self.model_.summary(level)
        return summary
