"""Naive Bayes as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from typing import Any

from weigh import errors
from weigh.estimators.calibration import calibrated_without_each, check_method
from weigh.estimators.incremental import Incremental
from weigh.features import Number
from weigh.learn import BayesTask
from weigh.source import Source


class NaiveBayes(Incremental):
    """Naive Bayes over mixed columns: categories, flags, counts, numbers and text in one model.

    The score of a class is log P(class) + Σ log P(value of column | class); the columns are taken
    as independent within a class. What is learned are counts and exact sums, so that models merge
    and forget without a trace, and every probability can be worked out in fractions.

    Parameters
    ----------
    columns : "auto", a kind for all columns, a mapping from names to kinds, or a schema
        What the columns mean; those not named are found from the data.
    prior : number, None, Dirichlet, Beta, or a mapping from columns to these
        A number is a pseudo-count for every value (1 is Laplace's), None is maximum likelihood,
        Dirichlet and Beta are maximum a posteriori.
    class_prior : None, number, Dirichlet, mapping or "uniform"
        None takes the frequencies; a number or Dirichlet smooths them; a mapping states them.
    complement : bool
        Learn a class's word weights from all other classes; for counts and text only.
    number : Number
        How columns that are found to be numbers are modelled, e.g. ``Number(bins=20)``.
    missing : values that mean "missing", such as ``["?"]``; None and NaN always do.
    threads : how many threads count; None means all cores. Any number gives the same model.
    calibration : None, "temperature", "platt" or "isotonic"
        Correct how sure the model is, by what it says of each training row after forgetting it; see
        `weigh.calibrate`. `partial_fit`, `forget` and `merge` drop the calibration and say so.

    Examples
    --------
    >>> import weigh
    >>> table = {
    ...     "CS373": [0, 0, 0, 0, 1],
    ...     "investment": [1, 0, 1, 1, 0],
    ...     "familiarity": ["low", "high", "high", "medium", "low"],
    ...     "spam": ["spam", "not-spam", "spam", "not-spam", "not-spam"],
    ... }
    >>> nb = weigh.NaiveBayes().fit(table, "spam")
    >>> mail = {"CS373": 1, "investment": 1, "familiarity": "high"}
    >>> nb.predict(mail)
    array(['not-spam'], dtype='<U8')
    >>> print(nb.explain(mail)[0].worked())
                                 not-spam                 spam
    P(class)                     3/5                      2/5
    P(CS373=1 | class)           (1 + 1) / (3 + 2) = 2/5  (0 + 1) / (2 + 2) = 1/4
    P(investment=1 | class)      (1 + 1) / (3 + 2) = 2/5  (2 + 1) / (2 + 2) = 3/4
    P(familiarity=high | class)  (1 + 1) / (3 + 3) = 2/6  (1 + 1) / (2 + 3) = 2/5
    product                      24/750                   12/400
                                 = 4/125 = 0.032          = 3/100 = 0.03
    posterior                    16/31 = 0.516129         15/31 = 0.483871
    verdict: not-spam
    """

    def __init__(
        self,
        columns: Any = "auto",
        prior: Any = 1.0,
        class_prior: Any = None,
        complement: bool = False,
        number: Number | None = None,
        missing: Any = (),
        threads: int | None = None,
        calibration: str | None = None,
    ) -> None:
        self.columns = columns
        self.prior = prior
        self.class_prior = class_prior
        self.complement = complement
        self.number = number
        self.missing = missing
        self.threads = threads
        self.calibration = calibration

    def _task(self, source: Source) -> BayesTask:
        if self.calibration is not None:
            check_method(self.calibration, "NaiveBayes", "calibration", "None, ")
        return BayesTask.over(
            source,
            self.columns,
            prior=self.prior,
            class_prior=self.class_prior,
            complement=self.complement,
            number=self.number,
            missing=self._markers(),
        )

    def _next_task(self) -> BayesTask:
        model = self.model_.uncalibrated
        return BayesTask(model.schema, model.prior, model.class_prior, model.complement, warns=False)

    def _finished(self, model: Any, source: Source) -> Any:
        return model if self.calibration is None else calibrated_without_each(model, source, self.calibration)

    def _become(self, model: Any) -> None:
        super()._become(model)
        if self.calibration is not None:
            warnings.warn(
                "The model has learned or forgotten rows and is not calibrated. Fit all rows at once, or "
                "calibrate it on rows that it has not seen: weigh.calibrate(model, rows).",
                errors.StaleCalibration,
                stacklevel=3,
            )
