"""Continued training of the perceptron: partial_fit, warm_start, copies, and errors that change nothing."""

from __future__ import annotations

import _thread
import copy
import pickle
import signal
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import weigh
from tests.perceptrons import ReferencePerceptron
from weigh import errors
from weigh.learn.perceptron_state import PerceptronState

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.FrozenScales")

law = settings(max_examples=40, derandomize=True, deadline=None, database=None)
HYPOTHESES = ("last", "averaged", "lazy", "voted")
WORDS = ["free", "money", "noon", "lunch", "été", "now"]
KINDS = {"size": "number", "colour": "category", "known": "flag", "body": "text"}
TEXTS = {
    "text": "text",
    "buckets": weigh.Text(buckets=8),
    "presence": weigh.Text(counts=False, ngrams=(1, 2)),
}


def make_rows(seed: int, n: int, labels: str) -> list[dict[str, Any]]:
    """Return rows; later ones have more colours and words."""
    rng = np.random.default_rng(seed)
    return [
        {
            "size": None if rng.random() < 0.1 else float(rng.integers(-4, 5)),
            "colour": None if rng.random() < 0.1 else str(rng.choice(list("abcdef")[: 2 + i // 4])),
            "known": int(rng.integers(0, 2)),
            "body": " ".join(rng.choice(WORDS[: 2 + i // 3], 3)),
            "class": labels[i % len(labels)],
        }
        for i in range(n)
    ]


def model_facts(learner: weigh.Perceptron, keep: str | None = None) -> Any:
    """Return everything that a model stores except the number and the order of its passes."""
    model = learner.model_
    model = model if keep is None else model.keep(keep)
    meta, arrays = model.to_store()
    facts, _ = meta.pop("certificate"), meta.pop("online", None)
    same = {name: facts[name] for name in ("mistakes", "updates", "examples", "radius")}
    return meta, same, {name: array.tolist() for name, array in arrays.items()}


@law
@given(
    seed=st.integers(0, 2**31),
    keep=st.sampled_from(HYPOTHESES),
    labels=st.sampled_from(["ab", "abc"]),
    multiclass=st.sampled_from(["joint", "one-vs-rest"]),
    cuts=st.lists(st.integers(3, 19), max_size=4),
    kind=st.sampled_from(list(TEXTS)),
)
def test_partial_fits_equal_one_pass_over_all_rows(
    seed: int, keep: str, labels: str, multiclass: str, cuts: list[int], kind: str
) -> None:
    rows = make_rows(seed, 20, labels)
    kinds = KINDS | {"body": TEXTS[kind]}
    learner = weigh.Perceptron(keep, columns=kinds, multiclass=multiclass, scale=None)
    whole = clone(learner).set_params(shuffle=False, max_iter=1).fit(rows, "class")
    ends = sorted({0, *cuts, 20})
    for a, b in pairwise(ends):
        learner.partial_fit(rows[a:b], "class", classes=list(labels))
    assert model_facts(learner) == model_facts(whole)
    assert learner.n_iter_ == len(ends) - 1


def test_the_label_needs_to_be_named_once() -> None:
    rows = make_rows(0, 20, "ab")
    learner = weigh.Perceptron(columns=KINDS, scale=None)
    learner.partial_fit(rows[:10], "class").partial_fit(rows[10:])
    whole = weigh.Perceptron(columns=KINDS, scale=None, shuffle=False, max_iter=1).fit(rows, "class")
    assert model_facts(learner) == model_facts(whole)


@pytest.mark.parametrize("keep", ["last", "averaged", "lazy"])
@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("margin", [0.0, 0.5])  # in lengths of the weights, which are divided too
@pytest.mark.parametrize(("before", "after"), [(2, 3), (2, 5), (3, 4)])
def test_the_weights_of_a_new_class_start_at_zero(
    keep: str, separate: bool, margin: float, before: int, after: int
) -> None:
    rng = np.random.default_rng(before + after)
    X = rng.integers(-3, 4, (40, 3)) * 1.0
    y = np.concatenate([np.arange(20) % before, np.arange(20) % after])
    multiclass = "one-vs-rest" if separate else "joint"
    learner = weigh.Perceptron(keep, margin=margin, relative=True, multiclass=multiclass)
    learner.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    old = ReferencePerceptron(1 if before == 2 else before, 3, 1.0, margin, True, separate and before > 2)
    old.fit(X[:20], y[:20], 1)

    def extend(W: Any) -> Any:
        # The weights of two classes become half of them for each, or a one-vs-rest column each.
        columns = np.vstack([-W, W]) * (1.0 if separate else 0.5) if before == 2 else W
        return np.vstack([columns, np.zeros((after - before, 4))])

    new = ReferencePerceptron(after, 3, 1.0, margin, True, separate)
    new.W = extend(old.W)
    new.history = [extend(W) for W in old.history]
    new.updates = [({0, 1} if before == 2 else changed, extend(W)) for changed, W in old.updates]
    new.fit(X[20:], y[20:], 1)
    W = new.weights(keep)
    assert learner.classes_.tolist() == list(range(after))
    np.testing.assert_allclose(np.column_stack([learner.intercept_, learner.coef_]), W, atol=1e-12)
    assert learner.mistakes_ == old.mistakes + new.mistakes


def test_a_third_class_keeps_the_weight_difference_of_the_first_two() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 2
    learner = weigh.Perceptron("last").partial_fit(X, y)
    before = learner.coef_[0]
    # A row of zeros changes only the bias.
    learner.partial_fit(np.zeros((1, 4)), [0], classes=[0, 1, 2])
    assert learner.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(learner.coef_, [-before / 2, before / 2, np.zeros(4)])


def test_new_words_and_levels_may_appear_later() -> None:
    learner = weigh.Perceptron("last", columns={"c": "category", "t": "text"})
    learner.partial_fit({"c": ["x", "y"], "t": ["free money", "noon"], "l": [1, 0]}, "l")
    assert learner.model_.features == ["c=x", "c=y", "t: free", "t: money", "t: noon"]
    learner.partial_fit({"c": ["z", "a"], "t": ["lunch free", "été"], "l": [0, 1]}, "l")
    expected = ["c=a", "c=x", "c=y", "c=z", *(f"t: {w}" for w in ["free", "lunch", "money", "noon", "été"])]
    assert learner.model_.features == expected


@pytest.mark.parametrize("settings", [{"keep": "voted"}, {"keep": "averaged", "record": True}])
def test_a_recorded_perceptron_cannot_add_classes(settings: Any) -> None:
    X, y = np.eye(3), np.array(["a", "b", "a"])
    learner = weigh.Perceptron(**settings).partial_fit(X, y)
    with pytest.raises(errors.LabelError) as excinfo:
        learner.partial_fit(X, ["a", "c", "b"])
    assert str(excinfo.value) == (
        "y has the new label 'c', but a recorded perceptron cannot add classes later, because its earlier "
        "hypotheses have no weights for them. Give all classes to the first partial_fit: classes=[...]."
    )
    declared = weigh.Perceptron(**settings).partial_fit(X, y, classes=["a", "b", "c"])
    assert declared.partial_fit(X, ["a", "c", "b"]).classes_.tolist() == ["a", "b", "c"]


ROWS = make_rows(7, 24, "ab")
FIRST, MORE, LAST = ROWS[:8], ROWS[8:16], ROWS[16:]


def without(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != name} for row in rows]


def failing() -> dict[str, Any]:
    """Return calls of partial_fit that must fail; their rows have new words and colours."""
    rows = [row | {"body": "ab cd ef gh ij kl mn op qr st brand new words", "colour": "new"} for row in MORE]
    return {
        "an undeclared class": lambda p: p.partial_fit(
            [row | {"class": "z"} for row in rows], "class", ["a", "b"]
        ),
        "no labels": lambda p: p.partial_fit([row | {"class": None} for row in rows], "class"),
        "an infinite number": lambda p: p.partial_fit([row | {"size": np.inf} for row in rows], "class"),
        "a huge number": lambda p: p.partial_fit([row | {"size": 1e300} for row in rows], "class"),
        "a word instead of a number": lambda p: p.partial_fit(
            [*rows[:-1], rows[0] | {"size": "many"}], "class"
        ),
        "a missing column": lambda p: p.partial_fit(without(rows, "known"), "class"),
        "no rows": lambda p: p.partial_fit({name: [] for name in rows[0]}, "class"),
        "too few weights": lambda p: p.partial_fit(rows, "class", sample_weight=[1.0]),
        "a negative weight": lambda p: p.partial_fit(rows, "class", sample_weight=[-1.0] * len(rows)),
        "invalid classes": lambda p: p.partial_fit(rows, "class", classes="ab"),
        "a class weight of an unknown class": lambda p: p.set_params(class_weight={"z": 2.0}).partial_fit(
            rows, "class"
        ),
        "another hypothesis": lambda p: p.set_params(keep="last").partial_fit(rows, "class"),
        "an impossible rate": lambda p: p.set_params(rate=-1.0).partial_fit(rows, "class"),
    }


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("case", failing())
def test_a_failed_batch_leaves_the_learner_unchanged(case: str, kind: str) -> None:
    learner = weigh.Perceptron(columns=KINDS | {"body": TEXTS[kind]}, scale=None)
    learner.partial_fit(FIRST, "class")
    never = copy.deepcopy(learner)
    before, settings = learner.model_.to_bytes(), learner.get_params()
    with pytest.raises(errors.WeighError):
        failing()[case](learner)
    learner.set_params(**settings)
    assert learner.model_.to_bytes() == before
    assert learner.classes_.tolist() == ["a", "b"]
    for one in (learner, never):
        one.partial_fit(LAST, "class")
    assert learner.model_.to_bytes() == never.model_.to_bytes()


def test_a_truncated_file_leaves_the_learner_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("n,c,l\n" + "1,x,0\n2,y,1\n" * 50 + "3,new,0\n1,2\n")
    X = {"n": [1.0, -1.0], "c": ["x", "y"], "l": [0, 1]}
    learner = weigh.Perceptron(columns={"n": "number", "c": "category"}).partial_fit(X, "l")
    before = learner.model_.to_bytes()
    with pytest.raises(errors.SourceError):
        learner.partial_fit(weigh.open(path, label="l", block=64))
    assert learner.model_.to_bytes() == before
    assert "c=new" not in learner.partial_fit(X, "l").model_.features


def test_a_returned_model_does_not_change_when_training_continues() -> None:
    learner = weigh.Perceptron("last", columns=KINDS).partial_fit(FIRST, "class")
    model = learner.model_
    before = model.to_bytes()
    learner.partial_fit(MORE, "class")
    assert model.to_bytes() == before != learner.model_.to_bytes()


@pytest.mark.parametrize("keep", HYPOTHESES)
def test_warm_start_continues_from_the_last_fit(keep: str) -> None:
    settings = {"keep": keep, "columns": KINDS, "shuffle": False}
    warm = weigh.Perceptron(max_iter=2, warm_start=True, **settings)
    warm.fit(ROWS, "class").fit(ROWS, "class")
    assert model_facts(warm) == model_facts(weigh.Perceptron(max_iter=4, **settings).fit(ROWS, "class"))
    assert warm.n_iter_ == 4
    cold = weigh.Perceptron(max_iter=2, **settings).fit(ROWS, "class").fit(ROWS, "class")
    assert model_facts(cold) == model_facts(weigh.Perceptron(max_iter=2, **settings).fit(ROWS, "class"))


@pytest.mark.parametrize(
    ("name", "value"), [("keep", "last"), ("record", True), ("multiclass", "one-vs-rest"), ("bias", False)]
)
def test_some_parameters_cannot_change_during_training(name: str, value: Any) -> None:
    learner = weigh.Perceptron(columns=KINDS, warm_start=True).fit(ROWS, "class")
    before = learner.model_.to_bytes()
    with pytest.raises(errors.ParameterError) as excinfo:
        learner.set_params(**{name: value}).fit(ROWS, "class")
    assert str(excinfo.value) == (
        f"Perceptron: {name} cannot change when training continues. Start again: fit without warm_start, or "
        f"use a new Perceptron."
    )
    assert learner.model_.to_bytes() == before


def test_rate_and_margin_may_change_during_training() -> None:
    X, y = np.random.default_rng(2).integers(-3, 4, (30, 4)) * 1.0, np.arange(30) % 2
    learner = weigh.Perceptron("last").partial_fit(X, y)
    learner.set_params(rate=0.5, margin=2.0).partial_fit(X, y)
    reference = ReferencePerceptron(1, 4).fit(X, y, 1)
    reference.rate, reference.margin = 0.5, 2.0
    reference.fit(X, y, 1)
    np.testing.assert_allclose(learner.coef_, reference.W[:, 1:])
    np.testing.assert_allclose(learner.intercept_, reference.W[:, 0])


@pytest.mark.parametrize("keep", HYPOTHESES)
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_a_copy_trains_independently(keep: str, kind: str, duplicate: Any) -> None:
    learner = weigh.Perceptron(keep, columns=KINDS | {"body": TEXTS[kind]}).partial_fit(FIRST, "class")
    before = learner.model_.to_bytes()
    other = duplicate(learner)
    assert other.model_.to_bytes() == before
    other.partial_fit(MORE, "class")
    assert learner.model_.to_bytes() == before
    assert learner.partial_fit(MORE, "class").model_.to_bytes() == other.model_.to_bytes()


def test_a_clone_is_not_fitted() -> None:
    learner = weigh.Perceptron("voted", margin=0.5, columns=KINDS).fit(ROWS, "class")
    fresh = clone(learner)
    assert fresh.get_params() == learner.get_params()
    assert not hasattr(fresh, "model_")
    assert fresh.fit(ROWS, "class").model_.to_bytes() == learner.model_.to_bytes()


def test_an_interrupt_waits_until_a_batch_is_learned_completely(monkeypatch) -> None:
    """Weights and statistics change together or not at all."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    whole = weigh.Perceptron().partial_fit(X, y).partial_fit(X, y)
    learner = weigh.Perceptron().partial_fit(X, y)
    learn = PerceptronState.learn

    def interrupted(self, *args):
        _thread.interrupt_main()
        time.sleep(0.05)
        return learn(self, *args)

    monkeypatch.setattr(PerceptronState, "learn", interrupted)
    # A shell starts background processes with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            learner.partial_fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert learner.model_.to_bytes() == whole.model_.to_bytes()
