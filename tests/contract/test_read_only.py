"""An array that an estimator, a model or a result hands out twice is read-only."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weigh
from tests.contract import test_results as examples
from weigh.apps.mail.filter import Filter

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")

TEXTS = {"text": ["free money", "lunch at noon", "free lunch"], "label": ["spam", "ham", "ham"]}
NUMBERS, LABEL = examples.NUMBERS, examples.LABEL


def _bare(learner: Any) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return learner.fit(X, X[:, 0] if isinstance(learner, weigh.LinearRegression) else np.arange(60) % 3)


def _partial(learner: Any) -> Any:
    return learner.fit(NUMBERS, LABEL).partial_fit(NUMBERS, LABEL)


ESTIMATORS: dict[str, Callable[[], Any]] = {
    "naive Bayes": lambda: examples.bayes(),
    "naive Bayes of texts": lambda: weigh.NaiveBayes(columns={"text": "text"}).fit(TEXTS, "label"),
    "naive Bayes of buckets": lambda: weigh.NaiveBayes(columns={"text": weigh.Text(buckets=64)}).fit(
        TEXTS, "label"
    ),
    "naive Bayes of flags": lambda: weigh.NaiveBayes(columns={"text": weigh.Text(counts=False)}).fit(
        TEXTS, "label"
    ),
    "naive Bayes, continued": lambda: _partial(weigh.NaiveBayes()),
    "calibrated naive Bayes": lambda: weigh.NaiveBayes(calibration="platt").fit(NUMBERS, LABEL),
    "joint Bayes": lambda: examples._joint(),
    "threshold": lambda: weigh.Threshold().fit(NUMBERS, LABEL),
    "perceptron": lambda: examples.perceptron(),
    "perceptron, continued": lambda: _partial(weigh.Perceptron()),
    "voted perceptron": lambda: weigh.Perceptron("voted").fit(NUMBERS, LABEL),
    "perceptron of several classes": lambda: _bare(weigh.Perceptron()),
    "logistic regression": lambda: examples.logistic(),
    "logistic regression of several classes": lambda: _bare(weigh.LogisticRegression()),
    "online logistic regression": lambda: weigh.LogisticRegression(method="online").fit(NUMBERS, LABEL),
    "linear regression": lambda: examples.linear(),
    "ridge": lambda: _bare(weigh.LinearRegression(weigh.Normal(1), weigh.Normal(1))),
    "lasso": lambda: _bare(weigh.LinearRegression(weigh.Penalty(l1=1))),
    "least absolute deviations": lambda: _bare(weigh.LinearRegression(noise="laplace")),
    "vectoriser": lambda: weigh.TextVectorizer().fit(TEXTS["text"]),
}


def arrays(value: Any, path: str, visited: dict[int, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arrays that can be reached by public attributes, with their paths."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif id(value) in visited or isinstance(value, type):
        return
    visited[id(value)] = value  # keeps it alive, so that no other object gets its id
    if isinstance(value, dict):
        for key, item in value.items():
            yield from arrays(item, f"{path}[{key!r}]", visited)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from arrays(item, f"{path}[{i}]", visited)
    if type(value).__module__.startswith("weigh."):
        for name in object.__dir__(value):
            if not name.startswith("_"):
                yield from arrays(_attribute(value, name), f"{path}.{name}", visited)


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except (weigh.errors.WeighError, AttributeError):
        return None


def shared_writable_arrays(value: Any) -> list[str]:
    """Return the paths of arrays that two accesses share and that can be changed."""
    first, second = (dict(arrays(value, type(value).__name__, {})) for _ in range(2))
    assert first.keys() == second.keys()
    return [
        path
        for path, array in first.items()
        if array.size and array.flags.writeable and np.shares_memory(array, second[path])
    ]


COPIES: dict[str, Callable[[Any], Any]] = {
    "itself": lambda value: value,
    "copied": copy.deepcopy,
    "pickled": lambda value: pickle.loads(pickle.dumps(value)),
}


@pytest.mark.parametrize("again", COPIES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_arrays_of_estimators_are_read_only(name: str, again: str) -> None:
    estimator = COPIES[again](ESTIMATORS[name]())
    assert dict(arrays(estimator, name, {}))
    assert shared_writable_arrays(estimator) == []


@pytest.mark.parametrize("name", [*examples.RESULTS, *examples.WITHOUT_PICTURE])
def test_arrays_of_results_are_read_only(name: str) -> None:
    assert shared_writable_arrays(examples.example(name)) == []


@pytest.mark.parametrize("name", examples.MODELS)
def test_arrays_of_models_are_read_only(name: str) -> None:
    assert shared_writable_arrays(examples.MODELS[name]()) == []


@pytest.mark.parametrize("name", sorted({*examples.MODELS} - {"PredictiveBayesModel"}))
def test_arrays_of_loaded_models_are_read_only(name: str, tmp_path: Any) -> None:
    examples.MODELS[name]().save(tmp_path / "model.weigh")
    model = weigh.load(tmp_path / "model.weigh")
    assert shared_writable_arrays(model) == []
    assert shared_writable_arrays(copy.deepcopy(model)) == []


@pytest.mark.parametrize(
    "value", [*examples.PRIORS, weigh.Decision(), Filter()], ids=lambda value: type(value).__name__
)
def test_arrays_of_priors_and_settings_are_read_only(value: Any) -> None:
    assert shared_writable_arrays(value) == []


def test_a_writable_array_is_found() -> None:
    model = copy.deepcopy(examples.linear())
    model.coef_.setflags(write=True)
    assert [path for path in shared_writable_arrays(model) if path.endswith("coef_")] == [
        "LinearRegression.coef_"
    ]


def test_weights_and_covariances_cannot_be_overwritten() -> None:
    for learner in (examples.linear(), examples.logistic()):
        before = learner.coef_.copy(), learner.posterior_.covariance.copy()
        for array in (learner.coef_, learner.posterior_.covariance, learner.model_.base):
            with pytest.raises(ValueError, match="assignment destination is read-only"):
                array[:] = 0
        assert (learner.coef_ == before[0]).all()
        assert (learner.posterior_.covariance == before[1]).all()


@pytest.mark.parametrize(
    "learner", [weigh.NaiveBayes(), weigh.LogisticRegression(), weigh.Threshold()], ids=repr
)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_predictions_are_new_writable_arrays(learner: Any, method: str) -> None:
    predict = getattr(learner.fit(NUMBERS, LABEL), method)
    first, second = predict(NUMBERS), predict(NUMBERS)
    assert first.flags.writeable
    assert not np.shares_memory(first, second)


def test_learners_leave_the_rows_of_the_user_writable() -> None:
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(60, 3)), np.arange(60) % 2, np.ones(60)
    for learner in (
        weigh.NaiveBayes(),
        weigh.Threshold(),
        weigh.Perceptron(record=True),
        weigh.LogisticRegression(),
        weigh.LogisticRegression(method="online"),
        weigh.LinearRegression(weigh.Normal(1)),
        weigh.LinearRegression(),
    ):
        learner.fit(X, y, weights).explain(X[:1])
        weigh.evaluate(learner, X, y)
        assert all(array.flags.writeable for array in (X, y, weights))


def test_results_leave_the_rows_of_the_user_writable() -> None:
    for name in (*examples.RESULTS, *examples.WITHOUT_PICTURE):
        examples.example(name)
    tables = examples.TABLE, examples.NUMBERS, examples.REGRESSION
    assert all(column.flags.writeable for table in tables for column in table.values())
