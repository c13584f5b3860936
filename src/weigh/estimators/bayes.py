"""The classifiers that fit by counting: NaiveBayes and JointBayes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from weigh import errors
from weigh.deduplicated_warnings import warn
from weigh.engines import run
from weigh.estimators.base import (
    ProbabilisticClassifier,
    check_classes,
    check_declared_labels,
    lock_of,
    serialised,
)
from weigh.estimators.leave_one_out_calibration import (
    AUTO,
    LeaveOneOutCalibration,
    calibrate_leave_one_out,
)
from weigh.features.blocks import Floats
from weigh.features.kinds import Number
from weigh.learn.joint_bayes import JointTask
from weigh.learn.naive_bayes import BayesTask
from weigh.learn.task import Task
from weigh.model.calibrated import CalibratedModel
from weigh.parameters.learners import JOINT_BAYES, NAIVE_BAYES
from weigh.source.base import Source


class CountingClassifier(ProbabilisticClassifier):
    """A classifier whose model is built from counts.

    Subclasses provide two tasks, for the first fit and for further rows, and have the parameter `threads`.
    """

    threads: int | None

    @abstractmethod
    def _task(self, source: Source) -> Task[Any, Any]:
        """Return the task for the first fit, which infers the schema from the source."""

    @abstractmethod
    def _partial_fit_task(self) -> Task[Any, Any]:
        """Return the task that counts further rows with the schema of the model."""

    def infer_columns(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Return parameters that state the kinds of the columns which `fit` would infer from these rows."""
        source = self._source(X, y, None, self._missing_markers())
        return {"columns": self._task(source).schema}

    @serialised
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, label: str | None = None) -> Self:
        """Fit the model; y is one label per row, or y or `label` is the name of the label column."""
        y = self._labels(y, label)
        source = self._source(X, y, sample_weight, self._missing_markers())
        model = run(self._task(source), source, threads=self.threads)
        attributes = self._finish(model, source)
        self._warn_of_labels(source, model.schema, model.labels)
        self._set_fitted_attributes(source, classes_=model.labels, **attributes)
        return self

    def _finish(self, model: Any, source: Source) -> dict[str, Any]:
        """Return the model fitted to all rows of a source, and other attributes, by name."""
        return {"model_": model}

    def predictive_proba(self, X: Any) -> Floats:
        """Return posterior predictive probabilities [n, C]: the parameters are integrated out.

        With few rows they are less certain than `predict_proba`, which uses the estimated parameters. For
        verdicts from them, use ``predict(X, Decision(predictive=True))``.
        """
        check_is_fitted(self)
        return np.asarray(self.model_.predictive().predict_proba(X))

    @serialised
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        label: str | None = None,
    ) -> Self:
        """Learn from further rows; the result equals fitting all rows together.

        The first call infers the kinds of the columns. New classes and categories may appear later; `classes`
        declares classes that may have no rows yet.
        """
        is_first = not hasattr(self, "model_")
        if is_first:
            source = self._source(X, self._labels(y, label), sample_weight, self._missing_markers())
            model = run(self._task(source), source, threads=self.threads)
        else:
            y = self._further_labels(X, y, label, self.model_.label)
            source = self._source(X, y, sample_weight, self.model_.schema.missing)
            self.model_.schema.align_source(source, type(self).__name__)
            source = source.with_storage(self.model_.storage)
            model = self.model_.uncalibrated.merge(
                run(self._partial_fit_task(), source, threads=self.threads)
            )
        # Assigned last, so that an error leaves the old model in place.
        self._replace_model(model if classes is None else _with_declared_classes(model, classes))
        if is_first:
            self._set_fitted_attributes(source)
        return self

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters of all classes and of the class prior."""
        check_is_fitted(self)
        return int(self.model_.uncalibrated.n_parameters)

    def _replace_model(self, model: Any) -> None:
        self.__dict__.update(model_=model, classes_=model.labels)

    @serialised
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None, *, label: str | None = None) -> Self:
        """Remove rows that were learned; the result equals a model that never saw them."""
        check_is_fitted(self)
        y = self._further_labels(X, y, label, self.model_.label)
        source = self._source(X, y, sample_weight, self.model_.schema.missing)
        self.model_.schema.align_source(source, type(self).__name__)
        self._replace_model(self.model_.uncalibrated.forget(source))
        return self

    def merge(self, other: Any) -> Self:
        """Add the counts of another learner or model; the result equals fitting both data sets together."""
        check_is_fitted(self)
        # Read before the lock is taken: two learners may merge each other at the same time.
        model = getattr(other, "model_", other)
        with lock_of(self):
            self._replace_model(self.model_.uncalibrated.merge(getattr(model, "uncalibrated", model)))
        return self


def _with_declared_classes(model: Any, classes: Any) -> Any:
    """Return the model with declared classes, which may have no rows."""
    declared = check_classes(classes)
    check_declared_labels(model.classes, declared)
    return replace(model, counts=model.counts.with_declared_classes(declared).canonical())


class NaiveBayes(CountingClassifier):
    """Naive Bayes over mixed columns: categories, flags, counts, numbers and text in one model.

    The score of a class is log P(class) + Σ log P(value of column | class); the columns are assumed to be
    independent within a class. The model stores counts and exact sums, so that models merge and forget
    exactly and every probability can be computed in fractions.

    {parameters}

    After `fit` with a calibration, `calibration_` has the leave-one-out log loss before and after, or why the
    model is not calibrated.

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

    _table = NAIVE_BAYES

    calibration_: LeaveOneOutCalibration | None

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
        return BayesTask.for_source(source, **self._parameters())

    def _partial_fit_task(self) -> BayesTask:
        model = self.model_.uncalibrated
        return BayesTask(model.schema, model.prior, model.class_prior, model.complement, warns=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Like scikit-learn's MultinomialNB: the numbers of its checks are no counts.
        tags.classifier_tags.poor_score = tags.input_tags.positive_only
        return tags

    def _finish(self, model: Any, source: Source) -> dict[str, Any]:
        if self.calibration is None:
            return {"model_": model, "calibration_": None}
        calibrated, result = calibrate_leave_one_out(model, source, self.calibration)
        return {"model_": calibrated, "calibration_": result}

    def _replace_model(self, model: Any) -> None:
        # With "auto" there may be no calibration to drop.
        if self.calibration not in (None, AUTO) or isinstance(getattr(self, "model_", None), CalibratedModel):
            # Before the model is replaced: a warning may be an error.
            warn(
                errors.StaleCalibration(
                    "The model has learned or forgotten rows and is not calibrated any more.",
                    hint="Fit all rows at once, or calibrate it on rows that it has not seen: "
                    "weigh.calibrate(model, rows).",
                )
            )
        super()._replace_model(model)
        self.calibration_ = None


class JointBayes(CountingClassifier):
    """Bayes classifier without the naive assumption: one joint table of all columns per class.

    The score of a class is log P(class) + log P(all values together | class). No independence is assumed, so
    any dependence can be learned, but every combination of values is a separate parameter and needs its own
    rows. A warning says when there are too few.

    With M = Π K_j cells (K_j levels in column j), a cell has the probability (n_cell + a) / (n_class + a M).
    Missing values are marginalised, and an unseen level counts as one more level of its column. A training
    row with missing values counts for every combination of columns that it has. Models merge and forget
    exactly.

    {parameters}

    Examples
    --------
    >>> import weigh
    >>> table = {"x": [0, 0, 1, 1] * 2, "y": [0, 1, 0, 1] * 2, "differ": ["no", "yes", "yes", "no"] * 2}
    >>> joint = weigh.JointBayes().fit(table, "differ")
    >>> joint.predict({"x": [0, 1], "y": [1, 1]})
    array(['yes', 'no'], dtype='<U3')
    >>> joint.n_parameters_, joint.n_parameters_naive_
    (7, 5)
    """

    _table = JOINT_BAYES

    def __init__(
        self,
        prior: Any = 1.0,
        class_prior: Any = None,
        columns: Any = "auto",
        missing: Any = (),
        threads: int | None = None,
    ) -> None:
        self.prior = prior
        self.class_prior = class_prior
        self.columns = columns
        self.missing = missing
        self.threads = threads

    def _task(self, source: Source) -> JointTask:
        return JointTask.for_source(source, **self._parameters())

    def _partial_fit_task(self) -> JointTask:
        model = self.model_
        return JointTask(model.schema, model.prior, model.class_prior, warns=False)

    @property
    def n_parameters_naive_(self) -> int:
        """The number of free parameters of naive Bayes for the same columns."""
        check_is_fitted(self)
        return int(self.model_.n_parameters_naive)
