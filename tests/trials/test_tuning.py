"""`tune`: all parameter combinations scored on held-out rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.linear_model import Perceptron as Peer
from sklearn.metrics import log_loss

import weigh
from weigh import errors
from weigh.learn.holdout import is_held_out

X, Y = load_digits(return_X_y=True)
GRID = {"keep": ["last", "averaged", "voted", "lazy"], "margin": [0, 500], "max_iter": [1, 3]}


def held_out(n: int, seed: int = 0, share: float = 0.25) -> np.ndarray:
    return np.asarray(is_held_out(0, n, seed, share))


@pytest.fixture(scope="module")
def tuned() -> weigh.trials.TuningResult:
    return weigh.tune(weigh.Perceptron(), X, Y, grid=GRID)


def test_every_trial_equals_a_perceptron_trained_without_the_held_out_rows(tuned) -> None:
    test = held_out(len(Y))
    for trial in tuned.trials:
        alone = weigh.Perceptron(**trial.settings).fit(X[~test], Y[~test])
        assert trial.accuracy == alone.score(X[test], Y[test]), trial.settings


def test_the_best_is_trained_on_all_rows(tuned) -> None:
    again = weigh.Perceptron(**tuned.best).fit(X, Y)
    assert tuned.learner.model_.to_bytes() == again.model_.to_bytes()
    assert tuned.trials[0].accuracy == max(trial.accuracy for trial in tuned.trials)
    assert len(tuned.trials) == 16


def test_a_file_read_again_for_every_pass_gives_the_same_result(tmp_path, monkeypatch) -> None:
    table = {f"p{j}": X[:400, j] for j in range(0, 64, 7)} | {"digit": Y[:400]}
    path = tmp_path / "digits.csv"
    path.write_text(
        "\n".join([",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))])
    )
    learner = weigh.Perceptron(shuffle=False, columns="value")
    grid = {"margin": [0, 100], "max_iter": [1, 4]}
    kept = weigh.tune(learner, weigh.open(path, label="digit"), grid=grid)
    monkeypatch.setattr("weigh.learn.dataset.MAX_CACHED_BYTES", 0)
    again = weigh.tune(learner, weigh.open(path, label="digit"), grid=grid)
    assert kept.trials == again.trials


def test_held_out_rows_depend_only_on_row_number_and_seed() -> None:
    whole = is_held_out(0, 1000, 7, 0.25)
    parts = np.concatenate([is_held_out(start, 100, 7, 0.25) for start in range(0, 1000, 100)])
    assert (whole == parts).all()
    assert 200 < whole.sum() < 300
    assert (is_held_out(0, 1000, 8, 0.25) != whole).any()


@pytest.mark.parametrize("learner", [weigh.Perceptron(), weigh.LogisticRegression()])
def test_progress_counts_the_combinations(learner) -> None:
    seen: list[tuple[int, int]] = []
    grid = {"missing": [(), ("?",)]}
    weigh.tune(learner, X[:200], Y[:200], grid=grid, progress=lambda done, total: seen.append((done, total)))
    assert (seen[0], seen[-1]) == ((0, 2), (2, 2))


def test_columns_and_class_weights_can_be_tuned() -> None:
    rows = {"x": [0, 0, 1, 1] * 25, "y": [0, 1, 0, 1] * 25, "differ": ["no", "yes", "yes", "no"] * 25}
    grid = {"columns": ["value", weigh.Products(2)], "class_weight": [None, {"no": 2, "yes": 1}]}
    result = weigh.tune(weigh.Perceptron(keep="last"), rows, "differ", grid=grid)
    assert result.best["columns"] == weigh.Products(2)
    assert result.trials[0].accuracy == 1.0


def test_other_learners_use_grid_search() -> None:
    result = weigh.tune(Peer(tol=None), X, Y, grid={"max_iter": [5, 50], "penalty": [None, "l2"]})
    assert len(result.trials) == 4
    assert isinstance(result.learner, Peer)
    assert result.learner.score(X, Y) > 0.9


def test_a_tuning_result_prints_and_converts_to_json(tuned) -> None:
    assert str(tuned).startswith("16 settings of Perceptron, best first (25% of the rows held out)\n\n  keep")
    facts = tuned.to_dict()
    assert facts["best"] == tuned.best
    assert len(facts["trials"]) == 16
    assert "<table " in tuned._repr_html_()


def test_its_plot_has_a_line_for_each_other_setting() -> None:
    few = weigh.tune(
        weigh.Perceptron(), X[:200], Y[:200], grid={"keep": ["last", "lazy"], "max_iter": [1, 3]}
    )
    chart = str(few.plot().to_dict())
    assert "error rate on held-out rows" in chart
    assert "keep lazy" in chart
    alone = weigh.tune(weigh.Perceptron(), X[:200], Y[:200], grid={"keep": ["last", "lazy"]})
    with pytest.raises(
        errors.Unsupported, match="A plot needs a parameter for which several numbers were tried"
    ):
        alone.plot()


@pytest.mark.parametrize(
    ("learner", "grid", "params", "message"),
    [
        (
            weigh.Perceptron,
            {"margin": [1]},
            {},
            "tune: learner must be an estimator, such as weigh.Perceptron()",
        ),
        (
            weigh.Perceptron(),
            {},
            {},
            "tune: grid must be a mapping from parameters to lists of values, got {}.",
        ),
        (weigh.Perceptron(), {"margin": []}, {}, "tune: grid must be a mapping from parameters to lists"),
        (weigh.Perceptron(), {"margn": [1]}, {}, "Did you mean 'margin'?"),
        (
            weigh.Perceptron(),
            {"margin": [1]},
            {"validation": 1},
            "tune: validation must be a share between 0 and 1",
        ),
        (
            weigh.Perceptron(),
            {"margin": [-1]},
            {},
            "Perceptron: margin must be a number of at least 0, got -1.",
        ),
    ],
)
def test_invalid_arguments_of_tune_are_errors(learner, grid, params, message) -> None:
    with pytest.raises(errors.ParameterError) as excinfo:
        weigh.tune(learner, X, Y, grid=grid, **params)
    assert message in str(excinfo.value)


def test_too_few_rows_cannot_be_held_out() -> None:
    with pytest.raises(errors.DataError, match="2 rows are too few to hold some out"):
        weigh.tune(weigh.Perceptron(), [[1.0], [2.0]], [0, 1], grid={"margin": [0]}, validation=0.01)


LETTERS = np.array(["a", "b"])[(X[:300, 20] > 8).astype(int)]
CONTAINERS = {
    "list": LETTERS.tolist(),
    "pandas array of strings": pd.Series(LETTERS, dtype="str").array,
    "Arrow strings of pandas": pd.Series(LETTERS, dtype="string[pyarrow]").array,
    "pandas Series of Arrow strings": pd.Series(LETTERS, dtype="string[pyarrow]"),
    "pandas Index": pd.Index(LETTERS),
    "pandas categories": pd.Categorical(LETTERS),
    "polars Series": pl.Series(LETTERS.tolist()),
    "Arrow array": pa.array(LETTERS.tolist()),
    "Arrow dictionary": pa.array(LETTERS.tolist()).dictionary_encode(),
}


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("learner", [weigh.NaiveBayes(), weigh.Perceptron(random_state=0)])
def test_labels_may_come_in_any_container(learner, name) -> None:
    grid = {"prior": [1, 50]} if isinstance(learner, weigh.NaiveBayes) else {"max_iter": [1, 3]}
    numbers = X[:300, 18:23]
    expected = weigh.tune(learner, numbers, LETTERS, grid=grid)
    assert weigh.tune(learner, numbers, CONTAINERS[name], grid=grid).trials == expected.trials


def test_kinds_are_inferred_from_all_rows_for_every_setting() -> None:
    n = 200
    rare = np.full(n, None, dtype=object)
    rare[150:152] = ["p", "q"]
    table = pd.DataFrame({"x": np.arange(n) % 7 * 1.5, "rare": rare})
    labels = np.where(table["x"] > 4, "big", "small")
    result = weigh.tune(weigh.NaiveBayes(), table, labels, grid={"prior": [1, 2]}, random_state=3)
    assert result.trials[0].accuracy > 0.9
    numbers = {"number": [weigh.Number(spread="own"), weigh.Number(spread="shared")]}
    own, shared = weigh.tune(weigh.NaiveBayes(), table, labels, grid=numbers).trials
    assert repr(own.settings["number"]) != repr(shared.settings["number"])


def test_a_damaged_sparse_matrix_is_refused() -> None:
    matrix = sp.coo_matrix(X[:40])
    matrix.coords = (np.full(matrix.nnz, 1_000_000, np.int32), matrix.coords[1])
    with pytest.raises(errors.DataError, match="The sparse matrix is damaged"):
        weigh.tune(weigh.NaiveBayes(columns="count"), matrix, Y[:40], grid={"prior": [1, 2]})


def test_any_learner_is_tuned_on_a_file_and_on_a_mapping_as_on_a_frame(tmp_path):
    frame = pd.DataFrame({"x": [k % 7 for k in range(200)], "y": ["ab"[k % 7 > 3] for k in range(200)]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    grid = {"prior": [1, 100]}
    expected = weigh.tune(weigh.NaiveBayes({"x": "category"}), frame, "y", grid=grid).to_dict()
    for rows in (weigh.open(tmp_path / "t.csv"), frame.to_dict("list")):
        assert weigh.tune(weigh.NaiveBayes({"x": "category"}), rows, "y", grid=grid).to_dict() == expected


@pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")
def test_the_grid_may_come_second_as_before() -> None:
    grid, nb = {"prior": [1, 50]}, weigh.NaiveBayes("flag")
    expected = weigh.tune(nb, X[:300], Y[:300], grid=grid).to_dict()
    table = {"x": X[:300, 20], "y": Y[:300]}
    assert weigh.tune(nb, grid, X[:300], Y[:300]).to_dict() == expected
    assert weigh.tune(nb, grid, X=X[:300], y=Y[:300]).to_dict() == expected
    assert weigh.tune(nb, grid, X[:300], y=Y[:300]).to_dict() == expected
    assert weigh.tune(nb, grid, table, "y").to_dict() == weigh.tune(nb, table, "y", grid=grid).to_dict()


def test_learners_with_probabilities_are_tuned_by_log_loss() -> None:
    test = held_out(300)
    for scoring, n in (("auto", 6), ("log_loss", 6), ("zero_one", 6), ("brier", 6)):
        result = weigh.tune(weigh.LogisticRegression(), X[:300], Y[:300], scoring=scoring)
        assert (result.scoring, len(result.trials)) == ("log_loss" if scoring == "auto" else scoring, n)
        losses = [trial.loss for trial in result.trials]
        assert losses == sorted(losses)
        alone = weigh.LogisticRegression(**result.best).fit(X[:300][~test], Y[:300][~test])
        truth = {
            "log_loss": log_loss(Y[:300][test], alone.predict_proba(X[:300][test]), labels=alone.classes_),
            "zero_one": 1 - alone.score(X[:300][test], Y[:300][test]),
        }
        if result.scoring in truth:
            assert losses[0] == pytest.approx(truth[result.scoring])


@pytest.mark.parametrize(
    ("learner", "scoring", "n"),
    [
        (weigh.NaiveBayes(), "log_loss", 6),
        (weigh.JointBayes(), "log_loss", 6),
        (weigh.Perceptron(), "zero_one", 8),
        (weigh.LinearRegression(), "squared_error", 3),
    ],
)
def test_every_learner_has_a_default_grid_and_loss(learner, scoring, n) -> None:
    data = {"a": X[:300, 20] > 8, "b": X[:300, 30] > 4, "y": (X[:300, 42] > 8).astype(int)}
    result = weigh.tune(learner, data, "y")
    assert (result.scoring, len(result.trials)) == (scoring, n)


def test_other_learners_need_a_grid_and_a_loss_that_they_have() -> None:
    with pytest.raises(errors.ParameterError) as caught:
        weigh.tune(Peer(), X, Y)
    assert str(caught.value) == "tune: grid must be a mapping from parameters to lists of values, got None."
    with pytest.raises(errors.Unsupported) as caught:
        weigh.tune(weigh.Perceptron(), X, Y, scoring="log_loss")
    assert str(caught.value) == (
        "tune: scoring='log_loss' needs probabilities, which 'Perceptron' cannot give. Leave them out, or "
        "use scoring='zero_one'."
    )
    with pytest.raises(errors.ParameterError, match="tune: scoring must be for classifiers one of"):
        weigh.tune(weigh.NaiveBayes(), X, Y, scoring="accuracy")


@pytest.mark.parametrize("learner", [weigh.NaiveBayes("flag"), weigh.Perceptron(), weigh.LinearRegression()])
def test_a_row_of_weight_zero_does_not_exist(learner) -> None:
    labels = Y[:300].astype(float) if isinstance(learner, weigh.LinearRegression) else Y[:300]
    weights = np.where(np.arange(300) % 5 == 0, 0.0, 1.0)
    wrong = labels.copy()
    wrong[weights == 0] = 7
    numbers = X[:300, 18:24]
    first = weigh.tune(learner, numbers, labels, sample_weight=weights)
    second = weigh.tune(learner, numbers, wrong, sample_weight=weights)
    assert first.to_dict() == second.to_dict()
    assert first.to_dict() != weigh.tune(learner, numbers, labels).to_dict()


def test_groups_are_held_out_together() -> None:
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 5)
    label = np.repeat(rng.choice(["ill", "well"], 60), 5)
    table = {"patient": patient.astype(str), "y": label}
    nb = weigh.NaiveBayes({"patient": "category"})
    alone = weigh.tune(nb, table, "y", grid={"prior": [1]})
    together = weigh.tune(nb, table, "y", grid={"prior": [1]}, groups=patient)
    assert alone.trials[0].accuracy > 0.95
    assert together.trials[0].accuracy < 0.75
    with pytest.raises(errors.ParameterError) as caught:
        weigh.tune(nb, table, "y", grid={"prior": [1]}, groups=patient[:9])
    assert str(caught.value) == "tune: groups must be one group per row (300), got '9 groups'."
