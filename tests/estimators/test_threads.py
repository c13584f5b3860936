"""Threads that share an estimator lose no rows, see no half-trained model and do not wait for each other."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import weigh
from weigh.estimators.base import lock_of
from weigh.source.memory.table import rows as rows_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
FLAGS = (X > 0).astype(int)
Y = (X[:, 0] > 0).astype(int)
TIMEOUT = 30
LEARNERS: dict[str, Callable[[], Any]] = {
    "naive Bayes": weigh.NaiveBayes,
    "joint Bayes": lambda: weigh.JointBayes(columns="flag"),
    "perceptron": weigh.Perceptron,
    "logistic regression": lambda: weigh.LogisticRegression(method="online"),
}
ESTIMATORS = [
    *(make() for make in LEARNERS.values()),
    weigh.Threshold(),
    weigh.LogisticRegression(),
    weigh.LinearRegression(),
    weigh.TextVectorizer(),
]
CHANGES = ("fit", "fit_transform", "partial_fit", "forget", "merge", "set_params")


def in_threads(*works: Callable[[], Any]) -> None:
    """Run works in threads; raise their first error, or TimeoutError for a deadlock."""
    failures: list[BaseException] = []

    def attempt(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as cause:
            failures.append(cause)

    threads = [threading.Thread(target=attempt, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
        if thread.is_alive():
            raise TimeoutError
    if failures:
        raise failures[0]


def n_learned(learner: Any) -> float:
    model = learner.model_
    if hasattr(model, "counts"):
        return float(model.counts.rows.sum())
    return float(model.fit.n if hasattr(model, "fit") else model.certificate.examples)


@pytest.mark.parametrize("name", LEARNERS)
def test_concurrent_partial_fits_lose_no_rows(name: str) -> None:
    learner = LEARNERS[name]().partial_fit(FLAGS, Y)

    def learn() -> None:
        for _ in range(20):
            learner.partial_fit(FLAGS, Y)
            learner.predict(FLAGS[:2])

    in_threads(*[learn] * 8)
    assert n_learned(learner) == 161 * len(Y)


def test_concurrent_merges_lose_no_rows() -> None:
    learner, other = weigh.NaiveBayes().fit(FLAGS, Y), weigh.NaiveBayes().fit(FLAGS, Y)
    in_threads(*[lambda: [learner.merge(other) for _ in range(20)]] * 8)
    assert n_learned(learner) == 161 * len(Y)


def test_concurrent_partial_fits_and_forgets_cancel() -> None:
    learner = weigh.NaiveBayes().fit(np.tile(FLAGS, (40, 1)), np.tile(Y, 40))
    before = learner.model_.to_bytes()
    in_threads(
        lambda: [learner.partial_fit(FLAGS, Y) for _ in range(30)],
        lambda: [learner.forget(FLAGS, Y) for _ in range(30)],
    )
    assert learner.model_.to_bytes() == before


def test_learners_may_merge_each_other_and_themselves() -> None:
    first, second = weigh.NaiveBayes().fit(FLAGS, Y), weigh.NaiveBayes().fit(FLAGS, Y)
    in_threads(
        lambda: [first.merge(second) for _ in range(15)],
        lambda: [second.merge(first) for _ in range(15)],
        lambda: [second.merge(second) for _ in range(5)],
    )
    assert n_learned(first) > 15 * len(Y)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [(each, name) for each in ESTIMATORS for name in CHANGES if hasattr(each, name)],
    ids=str,
)
def test_a_call_that_changes_an_estimator_waits_for_another(estimator: Any, name: str) -> None:
    estimator = clone(estimator)
    rows: Any = ["some text"] if isinstance(estimator, weigh.TextVectorizer) else FLAGS
    if name in ("forget", "merge"):
        estimator.fit(rows, Y)
    arguments = {"set_params": (), "merge": (copy.copy(estimator),)}.get(name, (rows, Y))
    done = threading.Event()
    thread = threading.Thread(target=lambda: (getattr(estimator, name)(*arguments), done.set()))
    with lock_of(estimator):
        thread.start()
        assert not done.wait(0.05)
    thread.join(TIMEOUT)
    assert done.is_set()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_all_methods_of_an_estimator_that_change_it_are_tested(estimator: Any) -> None:
    reads = {"predict", "predictive_proba", "transform", "score", "explain", "decision_function", "summary"}
    reads |= {"infer_columns", "save", "scorecard", "inverse_transform"}
    methods = {name for name, _ in inspect.getmembers_static(type(estimator)) if name.islower()}
    others = {name for name in methods if not name.startswith(("_", "get_", "predict_", "set_"))}
    assert {name for name in others if not name.endswith("_")} <= {*reads, *CHANGES, "threads", "missing"}


class Pause:
    """A derived column that blocks the call that computes it."""

    def __init__(self) -> None:
        self.is_reached, self.is_over, self.is_active = threading.Event(), threading.Event(), False

    def __call__(self, rows: Any) -> Any:
        if self.is_active:
            self.is_reached.set()
            assert self.is_over.wait(TIMEOUT)
        return np.square(rows["a"])


@pytest.mark.parametrize("make", [weigh.NaiveBayes, weigh.Perceptron, LEARNERS["logistic regression"]])
def test_reading_during_a_partial_fit_gives_the_model_before_it(make: Callable[[], Any]) -> None:
    pause = Pause()
    table = {"a": X[:, 0], "b": X[:, 1], "y": Y}
    learner = make().set_params(columns={"c": weigh.Derived(pause)}).fit(table, "y")
    before, model = learner.predict(table).tolist(), learner.model_.to_bytes()
    pause.is_active = True
    thread = threading.Thread(target=learner.partial_fit, args=({**table, "y": 1 - Y}, "y"))
    thread.start()
    assert pause.is_reached.wait(TIMEOUT)
    pause.is_active = False
    assert learner.predict(table).tolist() == before
    assert learner.model_.to_bytes() == model
    assert learner.score(table, "y") == np.mean(np.array(before) == Y)
    pause.is_over.set()
    thread.join(TIMEOUT)
    assert learner.model_.to_bytes() != model


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda learner: pickle.loads(pickle.dumps(learner))]
)
@pytest.mark.parametrize("name", LEARNERS)
def test_copies_during_training_are_of_the_state_between_two_calls(name: str, again: Any) -> None:
    learner = LEARNERS[name]().partial_fit(FLAGS, Y)
    numbers = []
    in_threads(
        lambda: [learner.partial_fit(FLAGS, Y) for _ in range(20)],
        lambda: numbers.extend(n_learned(again(learner).partial_fit(FLAGS, Y)) for _ in range(10)),
    )
    assert {number % len(Y) for number in numbers} == {0}
    assert n_learned(learner) == 21 * len(Y)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_failed_partial_fit_changes_nothing(name: str) -> None:
    learner = LEARNERS[name]().partial_fit(FLAGS, Y, classes=[0, 1])
    model, state = learner.model_.to_bytes(), pickle.dumps(learner)
    with pytest.raises(weigh.errors.LabelError):
        learner.partial_fit(FLAGS, Y + 1, classes=[0, 1])
    with pytest.raises(weigh.errors.WeighError):
        learner.partial_fit(FLAGS[:, :2], Y)
    with pytest.raises(weigh.errors.WeighError):
        learner.partial_fit(FLAGS, Y, sample_weight=np.full(len(Y), -1.0))
    assert learner.model_.to_bytes() == model
    assert pickle.loads(state).partial_fit(FLAGS, Y).model_.to_bytes() == (
        learner.partial_fit(FLAGS, Y).model_.to_bytes()
    )


def test_a_warning_that_is_an_error_leaves_a_calibrated_model_unchanged() -> None:
    learner = weigh.NaiveBayes(calibration="temperature").fit(X, Y)
    model = learner.model_
    with pytest.raises(weigh.errors.StaleCalibration):
        learner.partial_fit(X, Y)
    assert learner.model_ is model


def test_a_vectoriser_transforms_with_one_vocabulary_while_it_is_fitted() -> None:
    texts = [[f"word{i} word{j}" for j in range(10 * i)] for i in (1, 9)]
    vectoriser = weigh.TextVectorizer().fit(texts[0])

    def transform() -> None:
        for _ in range(30):
            assert vectoriser.fit_transform(texts[1]).shape == (90, 90)

    in_threads(transform, lambda: [vectoriser.fit(texts[0]) for _ in range(30)])
    in_threads(
        lambda: [vectoriser.fit(texts[i % 2]) for i in range(30)],
        lambda: [vectoriser.transform(texts[0]) for _ in range(30)],
    )


def test_the_method_of_a_regression_may_change_while_it_predicts() -> None:
    learner = weigh.LogisticRegression().fit(X, Y)

    def refit() -> None:
        for i in range(20):
            learner.set_params(method=("online", "exact")[i % 2]).fit(X, Y)

    in_threads(refit, lambda: [(learner.predict(X[:2]), learner.coef_) for _ in range(200)])
    assert learner.certificate_.converged


def test_an_estimator_has_no_attribute_for_its_lock() -> None:
    learner = weigh.NaiveBayes().fit(FLAGS, Y)
    assert vars(learner).keys() - learner.get_params() == {
        "model_",
        "classes_",
        "n_features_in_",
        "calibration_",
    }
    assert lock_of(learner) is lock_of(learner)
    assert lock_of(learner) is not lock_of(copy.copy(learner))


def test_threads_may_share_a_source(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in zip(X[:, 0], FLAGS[:, 1], Y, strict=True))
    )
    for source in (weigh.open(path, label="y"), rows_of({"a": X[:, 0], "y": Y}, "y")):
        expected = weigh.NaiveBayes().fit(source).model_.to_bytes()
        models: list[bytes] = []
        in_threads(*[lambda: models.append(weigh.NaiveBayes().fit(source).model_.to_bytes())] * 6)  # noqa: B023
        assert models == [expected] * 6


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_threads_of_its_parent() -> None:
    learner = weigh.NaiveBayes(threads=1).fit(FLAGS, Y)
    start, stop = threading.Event(), threading.Event()

    def hold() -> None:
        with lock_of(learner):
            start.set()
            stop.wait(TIMEOUT)

    holder = threading.Thread(target=hold)
    holder.start()
    start.wait(TIMEOUT)
    child = multiprocessing.get_context("fork").Process(target=learner.partial_fit, args=(FLAGS, Y))
    child.start()
    child.join(TIMEOUT)
    stop.set()
    holder.join()
    assert child.exitcode == 0
