"""`verify` of online learners makes their passes again, and says so where it cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import weigh
from weigh.judge.verification.sgd_replay import solve_implicit_step

PERCEPTRONS: list[dict[str, Any]] = [
    {"keep": keep, "multiclass": multiclass, **settings}
    for keep in ("averaged", "last", "lazy", "voted")
    for multiclass in ("joint", "one-vs-rest")
    for settings in (
        {},
        {"margin": 0.3, "relative": True},
        {"margin": 2.0, "rate": 0.1, "shuffle": False, "bias": False, "record": True},
        {"class_weight": "balanced", "max_iter": 3},
    )
]
ONLINE: list[dict[str, Any]] = [
    {"method": "online", **settings}
    for settings in (
        {},
        {"rate": 0.01},
        {"rate": 0.1, "prior": None, "shuffle": False},
        {"class_weight": "balanced", "prior": 0.5},
        {"bias": False, "tol": 0, "max_iter": 3},
    )
]
LEARNERS = [
    *(weigh.Perceptron(**each) for each in PERCEPTRONS),
    *(weigh.LogisticRegression(**each) for each in ONLINE),
]
UNKNOWN_ORDER = (
    "The order in which the rows were learned is not known, because they came in batches, continued an "
    "earlier fit, or were shuffled in parts of a file: the weights were not checked."
)


def make_rows(classes: int = 2, n: int = 40, noise: float = 0.5) -> tuple[Any, Any]:
    """Return rows of decimals, whose sums are rounded, and their classes."""
    rng = np.random.default_rng(classes)
    X = np.hstack([rng.normal(size=(n, classes)), rng.integers(0, 4, (n, 2)) * 0.1])
    return X, np.argmax(X[:, :classes] + noise * rng.normal(size=(n, classes)), axis=1)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_passes_give_the_weights_again(learner: Any, classes: int) -> None:
    X, y = make_rows(classes)
    model = type(learner)(**learner.get_params()).fit(X, y).model_
    result = weigh.verify(model, X, y)
    assert (result.ok, result.unchecked, result.notes) == (True, (), ()), str(result)
    assert result.headline == "Went through 40 rows again: everything agrees."
    assert not weigh.verify(model, X, (y + 1) % classes).ok


@pytest.mark.parametrize("keep", ["last", "averaged", "voted"])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_inverted_labels_are_found_converged_or_not(keep: str, noise: float) -> None:
    X, y = make_rows(noise=noise)
    model = weigh.Perceptron(keep, max_iter=200 if noise == 0 else 5).fit(X, y).model_
    assert model.certificate.converged == (noise == 0)
    assert weigh.verify(model, X, y).ok
    assert not weigh.verify(model, X, 1 - y).ok


def test_the_number_of_added_passes_is_checked() -> None:
    table = {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "odd": ["no", "yes", "yes", "no"]}
    model = weigh.Perceptron(shuffle=False, columns=weigh.Products(2)).fit(table, "odd").model_
    assert model.certificate.added_passes == 5
    assert weigh.verify(model, table).ok
    for n in (4, 6):
        certificate = replace(model.certificate, added_passes=n)
        result = weigh.verify(replace(model, certificate=certificate), table)
        assert "passes added to the average" in [check.name for check in result.checks if not check.ok]


@pytest.mark.parametrize("field", ["mistakes", "updates", "passes"])
def test_a_changed_count_of_the_certificate_is_found(field: str) -> None:
    X, y = make_rows(noise=1.0)
    model = weigh.Perceptron(max_iter=5).fit(X, y).model_
    certificate = replace(model.certificate, **{field: getattr(model.certificate, field) + 1})
    assert not weigh.verify(replace(model, certificate=certificate), X, y).ok


def test_a_changed_record_is_found() -> None:
    X, y = make_rows(3)
    model = weigh.Perceptron("voted", max_iter=3).fit(X, y).model_
    lives = np.array(model.record.lives)
    lives[[0, 1]] += [1, -1]
    changed = replace(model, record=replace(model.record, lives=lives))
    assert [c.name for c in weigh.verify(changed, X, y).checks if not c.ok] == ["recorded updates"]
    amounts = np.array(model.record.amounts)
    amounts[2] *= 2
    changed = replace(model, record=replace(model.record, amounts=amounts))
    assert [c.name for c in weigh.verify(changed, X, y).checks if not c.ok] == ["recorded updates"]


@pytest.mark.parametrize("learner", [weigh.Perceptron(), weigh.LogisticRegression(method="online")], ids=str)
def test_the_weights_of_batches_are_not_checked_and_never_all_agree(learner: Any) -> None:
    X, y = make_rows()
    grown = type(learner)(**learner.get_params())
    for start in (0, 20):
        grown.partial_fit(X[start : start + 20], y[start : start + 20], classes=[0, 1])
    result = weigh.verify(grown, X, y)
    assert (result.ok, result.unchecked, result.notes) == (True, ("weights",), (UNKNOWN_ORDER,))
    assert result.headline == "Went through 40 rows again: all checks agree; not checked: weights."
    assert result.to_dict()["unchecked"] == ["weights"]
    inverted = weigh.verify(grown, X, 1 - y)
    assert [check.name for check in inverted.checks if not check.ok][-1] == "rows and labels, in any order"


def test_a_warm_start_and_a_file_read_in_parts_have_no_known_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = make_rows()
    warm = weigh.Perceptron(warm_start=True).fit(X, y).fit(X, y)
    assert weigh.verify(warm, X, y).unchecked == ("weights",)
    path = tmp_path / "rows.csv"
    path.write_text(
        "a,b,y\n" + "".join(f"{a},{b},{label}\n" for (a, b), label in zip(X[:, :2], y, strict=True))
    )
    monkeypatch.setattr("weigh.learn.dataset.MAX_CACHED_BYTES", 0)
    shuffled, ordered = (
        weigh.Perceptron(shuffle=shuffle).fit(weigh.open(path, label="y")) for shuffle in (True, False)
    )
    assert weigh.verify(shuffled, weigh.open(path, label="y")).unchecked == ("weights",)
    result = weigh.verify(ordered, weigh.open(path, label="y"))
    assert (result.ok, result.unchecked) == (True, ())


@pytest.mark.parametrize("learner", [weigh.Perceptron(), weigh.LogisticRegression(method="online")], ids=str)
def test_another_order_of_the_rows_is_named_as_a_possible_cause(learner: Any) -> None:
    X, y = make_rows()
    model = type(learner)(**learner.get_params()).fit(X, y).model_
    result = weigh.verify(model, X[::-1], y[::-1])
    assert not result.ok
    assert result.notes == (
        "These are the rows of the training: either their order is another one, or the weights were changed.",
    )
    assert weigh.verify(model, X, 1 - y).notes == ()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "learner",
    [
        weigh.Perceptron(class_weight="balanced"),
        weigh.Perceptron("voted", margin=0.2, relative=True, shuffle=False, max_iter=3),
        weigh.LogisticRegression(method="online"),
        weigh.LogisticRegression(method="online", rate=0.1, class_weight={0: 2.0}),
    ],
    ids=str,
)
def test_many_steps_are_made_by_the_learners_own_code(
    learner: Any, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("perceptron_checks", "online_checks"):
        monkeypatch.setattr(f"weigh.judge.verification.{module}.MAX_PLAIN_COST", 10)
    X, y = make_rows(classes)
    model = type(learner)(**learner.get_params()).fit(X, y).model_
    result = weigh.verify(model, X, y)
    assert result.ok, str(result)
    assert result.notes == (
        "There are too many steps for separate code: the passes were made again with the learner's own code.",
    )
    assert not weigh.verify(model, X, (y + 1) % classes).ok
    base = np.array(model.base)
    base[-1] += 0.01
    assert not weigh.verify(replace(model, base=base), X, y).ok


@pytest.mark.parametrize(
    "make",
    [
        lambda **given: weigh.Perceptron(max_iter=4, **given),
        lambda **given: weigh.LogisticRegression(method="online", **given),
    ],
)
@pytest.mark.parametrize("class_weight", [{"a": 3.0}, {"c": 0.0}, "balanced"])
def test_class_weights_texts_and_files_verify(make: Any, class_weight: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    words = ["cat", "dog", "tax", "bank", "fish"]
    table = {
        "text": [" ".join(rng.choice(words, 4)) for _ in range(60)],
        "n": rng.normal(size=60).round(2).tolist(),
        "kind": rng.choice(["u", "v", "w"], 60).tolist(),
    }
    label = ["a" if "cat" in text else "b" if "tax" in text else "c" for text in table["text"]]
    model = make(class_weight=class_weight).fit(table | {"y": label}, "y").model_
    path = tmp_path / "model.weigh"
    model.save(path)
    assert weigh.load(path).online == model.online
    result = weigh.verify(path, table | {"y": label})
    assert (result.ok, result.unchecked) == (True, ()), str(result)
    label[5] = "a" if label[5] == "b" else "b"
    assert not weigh.verify(path, table | {"y": label}).ok


@pytest.mark.parametrize("n_scores", [1, 2, 5])
@pytest.mark.parametrize("c", [0.0, 1e-3, 1.0, 50.0, 1e4])
def test_an_implicit_step_minimises_its_objective(n_scores: int, c: float) -> None:
    rng = np.random.default_rng(n_scores)
    for _ in range(5):
        a, code = 5 * rng.normal(size=n_scores), int(rng.integers(max(2, n_scores)))
        z = a + c * solve_implicit_step(a, c, code)

        def objective(z: Any, a: Any = a, code: int = code) -> float:
            lead = z[0] if code else -z[0]
            loss = np.logaddexp(0, -lead) if len(z) == 1 else np.logaddexp.reduce(z) - z[code]
            return float(np.square(z - a).sum() / 2 + c * loss)

        found = minimize(objective, a, tol=1e-12)
        assert objective(z) <= found.fun + 1e-9 * (1 + abs(found.fun))
