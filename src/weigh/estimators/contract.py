"""The checks of scikit-learn's contract that an estimator is known to fail, with the reason."""

from __future__ import annotations

from typing import Any


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Return the checks that an estimator fails on purpose: from check's name to reason.

    For ``check_estimator(estimator, expected_failed_checks=expected_failed_checks(estimator))``.
    The reasons stand with the classes, as `_failed_checks`; a class without any fails none.

    Examples
    --------
    >>> import weigh
    >>> weigh.expected_failed_checks(weigh.NaiveBayes())
    {}
    """
    return dict(getattr(estimator, "_failed_checks", {}))
