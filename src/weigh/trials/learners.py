"""Learners by name, and made ready for the rows they are tried on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sklearn.base import is_regressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier

from weigh import errors
from weigh.estimators import (
    JointBayes,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    Perceptron,
    Threshold,
)
from weigh.text import cut
from weigh.trials.numbers import AsNumbers


def tree() -> Any:
    """A decision tree of scikit-learn over any columns."""
    return make_pipeline(AsNumbers(scale=None), DecisionTreeClassifier(random_state=0))


def neighbours() -> Any:
    """The nearest neighbours of scikit-learn over any columns, numbers in standard deviations."""
    return make_pipeline(AsNumbers(), KNeighborsClassifier())


def logistic() -> Any:
    """Logistic regression, numbers in standard deviations: its prior treats all columns alike."""
    return LogisticRegression(scale="unit")


LEARNERS: dict[str, Callable[[], Any]] = {
    "naive-bayes": NaiveBayes,
    "logistic": logistic,
    "perceptron": lambda: Perceptron(scale="unit"),
    "tree": tree,
    "neighbours": neighbours,
    "joint": JointBayes,
    "threshold": Threshold,
    "linear": LinearRegression,
}
USUAL = ("naive-bayes", "logistic", "perceptron", "tree", "neighbours")

Given = Any  # a learner, a name, or several of them as a list or by name


def named(learners: Given, owner: str) -> dict[str, Any]:
    """Return learners by name; None means the usual ones, a name one of `LEARNERS`."""
    if learners is None:
        learners = USUAL
    if isinstance(learners, str) or not isinstance(learners, Mapping | Sequence):
        learners = [learners]
    if not len(learners):
        raise errors.parameter(owner, "learners", "one learner at least", learners)
    if isinstance(learners, Mapping):
        return {str(name): _learner(each, owner) for name, each in learners.items()}
    found: dict[str, Any] = {}
    for each in learners:
        name = each if isinstance(each, str) else _name(each)
        again = sum(known == name or known.startswith(f"{name} (") for known in found)
        found[f"{name} ({again + 1})" if again else name] = _learner(each, owner)
    return found


def _name(learner: Any) -> str:
    return type(learner.steps[-1][1] if isinstance(learner, Pipeline) else learner).__name__


def _learner(given: Any, owner: str) -> Any:
    if isinstance(given, str):
        if given not in LEARNERS:
            raise errors.ParameterError(
                f"{owner}: there is no learner {given!r}; there are {errors.listing(LEARNERS)}."
                f"{errors.hint(given, LEARNERS)}"
            )
        return LEARNERS[given]()
    if isinstance(given, type) or not (hasattr(given, "fit") and hasattr(given, "get_params")):
        must = f"learners such as weigh.NaiveBayes(), or names: {errors.listing(LEARNERS)}"
        raise errors.parameter(owner, "learners", must, given)
    return given


def is_regression(learner: Any) -> bool:
    """Whether a learner predicts numbers."""
    return bool(is_regressor(learner))


def set_kinds(learner: Any, kinds: Any) -> None:
    """Tell a learner that `LEARNERS` makes what its columns mean."""
    own = next(name for name in learner.get_params() if name.rpartition("__")[2] == "columns")
    learner.set_params(**{own: kinds})


def settings_of(learner: Any) -> str:
    """Return the settings that differ from the defaults; of a pipeline its steps, with their settings."""
    if isinstance(learner, Pipeline):
        return " + ".join(f"{type(step).__name__}({settings_of(step)})" for _, step in learner.steps)
    usual = {name: each.default for name, each in inspect.signature(type(learner)).parameters.items()}
    own = learner.get_params(deep=False).items()
    return ", ".join(f"{name}={value!r}" for name, value in own if repr(value) != repr(usual.get(name)))


def settings_note(settings: Mapping[str, str]) -> list[str]:
    """Return a sentence about learners whose settings differ from the defaults, if there are any."""
    told = [f"{cut(name, 30)}: {cut(own, 200)}" for name, own in settings.items() if own]
    return [f"Settings other than the defaults: {'; '.join(told)}."] if told else []
