"""`bias_variance` measures what a plain loop over the same training sets measures."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import weigh
from weigh import errors
from weigh.trials.bias_variance import TrainingSets
from weigh.trials.splits import find_strata

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]


def sets(labels: Any = y, **settings: Any) -> TrainingSets:
    defaults = {"test": 0.3, "resample": "bootstrap", "share": 1.0, "seed": 0}
    return TrainingSets.of(find_strata(np.asarray(labels), False), **(defaults | settings))


def test_the_loss_is_that_of_learners_fitted_by_hand() -> None:
    result = weigh.bias_variance(GaussianNB(), X, NAMES, rounds=12)["GaussianNB"]
    drawn = sets(NAMES)
    predicted = [
        GaussianNB().fit(X[rows], NAMES[rows]).predict(X[drawn.test]) for rows in map(drawn.draw, range(12))
    ]
    wrong = np.array(predicted) != NAMES[drawn.test]
    np.testing.assert_allclose(result.loss, wrong.mean(axis=0), rtol=0, atol=1e-12)
    assert 0 < result.mean("loss") < 0.2


@pytest.mark.parametrize("loss", ["zero_one", "brier", "squared"])
@pytest.mark.parametrize("which", ["kohavi-wolpert", "domingos"])
def test_parts_add_up_for_every_loss(loss: str, which: str) -> None:
    result = weigh.bias_variance(["naive-bayes", "tree"], X, y, rounds=8, loss=loss, which=which)
    for each in result.learners.values():
        np.testing.assert_allclose(sum(each.parts.values()), each.loss, rtol=0, atol=1e-12)


def test_the_brier_score_of_two_classes_is_halved() -> None:
    rows, labels = X[y > 0], y[y > 0]
    truth = np.column_stack([labels == 1, labels == 2]) * 0.8 + 0.1
    halved, squared = (
        weigh.bias_variance(GaussianNB(), rows, labels, rounds=4, loss=loss)["GaussianNB"]
        for loss in ("brier", "squared")
    )
    for part in ("loss", "bias", "variance"):
        assert halved.mean(part) == pytest.approx(squared.mean(part), abs=1e-12)
    with_truth = weigh.bias_variance(GaussianNB(), rows, labels, rounds=4, loss="brier", truth=truth)[
        "GaussianNB"
    ]
    np.testing.assert_allclose(sum(with_truth.parts.values()), halved.loss, rtol=0, atol=1e-12)
    assert with_truth.mean("variance") == halved.mean("variance")


def test_non_default_settings_are_listed() -> None:
    result = weigh.bias_variance(["naive-bayes", "logistic"], X, y, rounds=2)
    assert "Non-default settings: logistic: scale='unit'." in str(result)
    assert [each["settings"] for each in result.to_dict()["learners"]] == ["", "scale='unit'"]
    curve = weigh.learning_curve(["naive-bayes", "logistic"], X, y, sizes=[20])
    assert str(curve).endswith("Non-default settings: logistic: scale='unit'.")
    assert [each["settings"] for each in curve.to_dict()["curves"]] == ["", "scale='unit'"]


def test_the_brier_score_is_that_of_the_probabilities() -> None:
    result = weigh.bias_variance(GaussianNB(), X, y, rounds=4, loss="brier")["GaussianNB"]
    drawn = sets()
    tables = [GaussianNB().fit(X[p], y[p]).predict_proba(X[drawn.test]) for p in map(drawn.draw, range(4))]
    scores = np.square(np.array(tables) - np.eye(3)[y[drawn.test]]).sum(axis=2)
    assert result.mean("loss") == pytest.approx(scores.mean(), abs=1e-12)
    true = np.array(tables)[:, np.arange(len(drawn.test)), y[drawn.test]]
    squared = weigh.bias_variance(GaussianNB(), X, y, rounds=4, loss="squared")["GaussianNB"]
    assert squared.mean("loss") == pytest.approx(np.square(1 - true).mean(), abs=1e-12)
    assert squared.mean("variance") == pytest.approx(true.var(axis=0).mean(), abs=1e-12)


def test_regressions_are_decomposed_by_squared_error() -> None:
    target = X[:, 3] + 0.25
    ours, theirs = (
        weigh.bias_variance(each, X[:, :3], target, rounds=6)["LinearRegression"]
        for each in (weigh.LinearRegression(), LinearRegression())
    )
    for part in ("loss", "bias", "variance"):
        assert ours.mean(part) == pytest.approx(theirs.mean(part), rel=1e-9)
    assert ours.mean("bias") + ours.mean("variance") == pytest.approx(ours.mean("loss"), abs=1e-12)


def test_known_true_means_separate_noise_from_bias() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2_000, 2))
    means = rows @ [1.0, -2.0]
    result = weigh.bias_variance("linear", rows, means + rng.normal(size=2_000), truth=means, rounds=20)
    parts = result["linear"]
    assert parts.mean("noise") == pytest.approx(1.0, abs=0.15)
    assert parts.mean("bias") < 0.01
    assert parts.mean("bias") + parts.mean("variance") + parts.mean("noise") == pytest.approx(
        parts.mean("loss")
    )
    assert "noise" not in weigh.bias_variance("linear", rows, means, rounds=3).parts


def test_known_true_probabilities_separate_noise_from_bias() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(2_000, 1))
    chance = 1 / (1 + np.exp(-rows[:, 0]))
    labels, truth = rng.random(2_000) < chance, np.column_stack([1 - chance, chance])
    args = {"X": rows, "y": labels, "truth": truth, "rounds": 10}
    squares = weigh.bias_variance("logistic", **args)
    noise = (chance * (1 - chance))[list(squares.test)].mean()
    assert squares["logistic"].mean("noise") == pytest.approx(noise, abs=0.03)
    main = weigh.bias_variance("logistic", **args, which="domingos")["logistic"]
    assert main.mean("noise") > 5 * main.mean("bias")


def test_results_depend_on_the_seed_but_not_on_the_number_of_workers() -> None:
    one, two = (weigh.bias_variance("tree", X, y, rounds=6, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert one.to_dict() != weigh.bias_variance("tree", X, y, rounds=6, seed=1).to_dict()


def test_test_rows_are_stratified_and_never_drawn() -> None:
    drawn = sets()
    assert np.bincount(y[drawn.test]).tolist() == [15, 15, 15]
    for number in range(5):
        assert not set(drawn.draw(number)) & set(drawn.test)
        assert len(drawn.draw(number)) == 105
    smaller = sets(resample="subsample", share=0.5)
    assert len(set(smaller.draw(0).tolist())) == smaller.size == 52


def test_a_training_set_with_a_single_class_is_redrawn() -> None:
    rare = sets([0] * 30 + [1, 1], test=0.1)
    assert all(len(set(rare.strata[rare.draw(number)])) == 2 for number in range(50))


def test_one_learner_prints_all_parts_and_several_print_one_line_each() -> None:
    text = str(weigh.bias_variance("tree", X, y, rounds=5))
    assert text.startswith("Bias and variance of tree: error rate (Kohavi & Wolpert)\n\n  part ")
    assert "5 training sets: bootstrap samples of 105 rows from 105. Tested on 45 other" in text
    assert "The bias includes label noise" in text
    for which in ("kohavi-wolpert", "domingos"):
        several = weigh.bias_variance(None, X, y, rounds=3, which=which)
        assert max(map(len, str(several).splitlines())) <= 80
        assert str(several).count("naive-bayes") == 1


def test_the_result_is_json_and_escaped_html() -> None:
    result = weigh.bias_variance({"<b>": DecisionTreeClassifier()}, X, y, rounds=3)
    data = json.loads(json.dumps(result.to_dict()))
    assert data["learners"][0]["bias"].keys() == {"mean", "rounds_error", "rows_error"}
    assert "<b>" not in result._repr_html_()
    assert "&lt;b&gt;" in result._repr_html_()


def test_parts_are_plotted_as_stacked_bars() -> None:
    pytest.importorskip("altair")
    chart = weigh.bias_variance(["tree", "naive-bayes"], X, y, rounds=3, which="domingos").plot().to_dict()
    assert "unbiased variance" in json.dumps(chart)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"loss": "log_loss"}, errors.Unsupported, "loss='log_loss' has no bias–variance decomposition"),
        ({"which": "breiman"}, errors.ParameterError, "which must be one of 'kohavi-wolpert', 'domingos'"),
        ({"rounds": 1}, errors.ParameterError, "rounds must be at least 2"),
        ({"test": 1.0}, errors.ParameterError, "test must be a fraction between 0 and 1"),
        ({"resample": "jackknife"}, errors.ParameterError, "resample must be one of 'bootstrap'"),
        (
            {"resample": "subsample", "share": 1},
            errors.ParameterError,
            "share must be a fraction above 0 and below",
        ),
        ({"truth": [1.0]}, errors.ParameterError, r"truth must be finite numbers of shape \(150, 3\)"),
        ({"truth": np.ones((150, 3))}, errors.DataError, "probabilities that sum to 1 in every row"),
        ({"truth": np.eye(3)[y], "loss": "squared"}, errors.Unsupported, "truth cannot be used with"),
        ({"share": 0.001}, errors.DataError, "with 45 of 150 rows held out, a training set has 0 rows"),
    ],
)
def test_invalid_settings_raise(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        weigh.bias_variance("naive-bayes", X, y, **settings)


def test_an_unknown_learner_name_raises() -> None:
    with pytest.raises(errors.ParameterError, match="there is no learner 'treee'; there are 'tree'"):
        weigh.bias_variance("tree", X, y, rounds=2)["treee"]
