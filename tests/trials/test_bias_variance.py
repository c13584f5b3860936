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
from weigh.trials.splits import stratification_groups

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]


def sets(labels: Any = y, **settings: Any) -> TrainingSets:
    given = {"test": 0.3, "resample": "bootstrap", "share": 1.0, "seed": 0} | settings
    return TrainingSets.of(stratification_groups(np.asarray(labels), False), **given)


def test_the_loss_is_that_of_learners_fitted_by_hand() -> None:
    found = weigh.bias_variance(GaussianNB(), X, NAMES, rounds=12)["GaussianNB"]
    drawn = sets(NAMES)
    predicted = [
        GaussianNB().fit(X[places], NAMES[places]).predict(X[drawn.test])
        for places in map(drawn.draw, range(12))
    ]
    wrong = np.array(predicted) != NAMES[drawn.test]
    np.testing.assert_allclose(found.loss, wrong.mean(axis=0), rtol=0, atol=1e-12)
    assert 0 < found.mean("loss") < 0.2


@pytest.mark.parametrize("loss", ["zero_one", "brier", "squared"])
@pytest.mark.parametrize("which", ["kohavi-wolpert", "domingos"])
def test_parts_add_up_for_every_loss(loss: str, which: str) -> None:
    found = weigh.bias_variance(["naive-bayes", "tree"], X, y, rounds=8, loss=loss, which=which)
    for each in found.learners.values():
        np.testing.assert_allclose(sum(each.parts.values()), each.loss, rtol=0, atol=1e-12)


def test_the_brier_score_of_two_classes_is_half_the_sum_as_everywhere() -> None:
    rows, labels = X[y > 0], y[y > 0]
    truth = np.column_stack([labels == 1, labels == 2]) * 0.8 + 0.1
    halved, own = (
        weigh.bias_variance(GaussianNB(), rows, labels, rounds=4, loss=loss)["GaussianNB"]
        for loss in ("brier", "squared")
    )
    for part in ("loss", "bias", "variance"):
        assert halved.mean(part) == pytest.approx(own.mean(part), abs=1e-12)
    known = weigh.bias_variance(GaussianNB(), rows, labels, rounds=4, loss="brier", truth=truth)["GaussianNB"]
    np.testing.assert_allclose(sum(known.parts.values()), halved.loss, rtol=0, atol=1e-12)
    assert known.mean("variance") == halved.mean("variance")


def test_settings_that_differ_from_the_defaults_are_told() -> None:
    found = weigh.bias_variance(["naive-bayes", "logistic"], X, y, rounds=2)
    assert "Settings other than the defaults: logistic: scale='unit'." in str(found)
    assert [each["settings"] for each in found.to_dict()["learners"]] == ["", "scale='unit'"]
    curve = weigh.learning_curve(["naive-bayes", "logistic"], X, y, sizes=[20])
    assert str(curve).endswith("Settings other than the defaults: logistic: scale='unit'.")
    assert [each["settings"] for each in curve.to_dict()["curves"]] == ["", "scale='unit'"]


def test_the_brier_score_is_that_of_the_probabilities() -> None:
    found = weigh.bias_variance(GaussianNB(), X, y, rounds=4, loss="brier")["GaussianNB"]
    drawn = sets()
    tables = [GaussianNB().fit(X[p], y[p]).predict_proba(X[drawn.test]) for p in map(drawn.draw, range(4))]
    scores = np.square(np.array(tables) - np.eye(3)[y[drawn.test]]).sum(axis=2)
    assert found.mean("loss") == pytest.approx(scores.mean(), abs=1e-12)
    true = np.array(tables)[:, np.arange(len(drawn.test)), y[drawn.test]]
    own = weigh.bias_variance(GaussianNB(), X, y, rounds=4, loss="squared")["GaussianNB"]
    assert own.mean("loss") == pytest.approx(np.square(1 - true).mean(), abs=1e-12)
    assert own.mean("variance") == pytest.approx(true.var(axis=0).mean(), abs=1e-12)


def test_numbers_are_judged_by_squared_errors() -> None:
    target = X[:, 3] + 0.25
    ours, theirs = (
        weigh.bias_variance(each, X[:, :3], target, rounds=6)["LinearRegression"]
        for each in (weigh.LinearRegression(), LinearRegression())
    )
    for part in ("loss", "bias", "variance"):
        assert ours.mean(part) == pytest.approx(theirs.mean(part), rel=1e-9)
    assert ours.mean("bias") + ours.mean("variance") == pytest.approx(ours.mean("loss"), abs=1e-12)


def test_known_truth_takes_noise_out_of_the_bias() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2_000, 2))
    means = rows @ [1.0, -2.0]
    found = weigh.bias_variance("linear", rows, means + rng.normal(size=2_000), truth=means, rounds=20)
    parts = found["linear"]
    assert parts.mean("noise") == pytest.approx(1.0, abs=0.15)
    assert parts.mean("bias") < 0.01
    assert parts.mean("bias") + parts.mean("variance") + parts.mean("noise") == pytest.approx(
        parts.mean("loss")
    )
    assert "noise" not in weigh.bias_variance("linear", rows, means, rounds=3).parts


def test_true_probabilities_take_noise_out_of_the_bias() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(2_000, 1))
    chance = 1 / (1 + np.exp(-rows[:, 0]))
    labels, truth = rng.random(2_000) < chance, np.column_stack([1 - chance, chance])
    given = {"X": rows, "y": labels, "truth": truth, "rounds": 10}
    squares = weigh.bias_variance("logistic", **given)
    noise = (chance * (1 - chance))[list(squares.test)].mean()
    assert squares["logistic"].mean("noise") == pytest.approx(noise, abs=0.03)
    main = weigh.bias_variance("logistic", **given, which="domingos")["logistic"]
    assert main.mean("noise") > 5 * main.mean("bias")


def test_a_seed_draws_the_same_sets_for_any_number_of_workers() -> None:
    one, two = (weigh.bias_variance("tree", X, y, rounds=6, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert one.to_dict() != weigh.bias_variance("tree", X, y, rounds=6, seed=1).to_dict()


def test_rows_are_held_out_class_by_class_and_never_drawn() -> None:
    drawn = sets()
    assert np.bincount(y[drawn.test]).tolist() == [15, 15, 15]
    for number in range(5):
        assert not set(drawn.draw(number)) & set(drawn.test)
        assert len(drawn.draw(number)) == 105
    smaller = sets(resample="subsample", share=0.5)
    assert len(set(smaller.draw(0).tolist())) == smaller.size == 52


def test_a_set_of_one_class_is_drawn_anew() -> None:
    rare = sets([0] * 30 + [1, 1], test=0.1)
    assert all(len(set(rare.groups[rare.draw(number)])) == 2 for number in range(50))


def test_one_learner_prints_its_errors_and_several_a_line_each() -> None:
    told = str(weigh.bias_variance("tree", X, y, rounds=5))
    assert told.startswith("Bias and variance of tree: share of errors (Kohavi & Wolpert)\n\n  part ")
    assert "5 training sets: bootstrap samples of 105 rows from 105. Judged on 45 other" in told
    assert "Noise of the labels is part of the bias" in told
    for which in ("kohavi-wolpert", "domingos"):
        several = weigh.bias_variance(None, X, y, rounds=3, which=which)
        assert max(map(len, str(several).splitlines())) <= 80
        assert str(several).count("naive-bayes") == 1


def test_the_result_is_json_and_escaped_html() -> None:
    found = weigh.bias_variance({"<b>": DecisionTreeClassifier()}, X, y, rounds=3)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["learners"][0]["bias"].keys() == {"mean", "rounds_error", "rows_error"}
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()


def test_parts_are_drawn_as_stacked_bars() -> None:
    pytest.importorskip("altair")
    drawn = weigh.bias_variance(["tree", "naive-bayes"], X, y, rounds=3, which="domingos").plot().to_dict()
    assert "variance that hurts" in json.dumps(drawn)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"loss": "log_loss"}, errors.Unsupported, "loss='log_loss' has no parts that add up to it"),
        ({"which": "breiman"}, errors.ParameterError, "which must be one of 'kohavi-wolpert', 'domingos'"),
        ({"rounds": 1}, errors.ParameterError, "rounds must be at least 2"),
        ({"test": 1.0}, errors.ParameterError, "test must be a share between 0 and 1"),
        ({"resample": "jackknife"}, errors.ParameterError, "resample must be one of 'bootstrap'"),
        (
            {"resample": "subsample", "share": 1},
            errors.ParameterError,
            "share must be a share above 0 and below",
        ),
        ({"truth": [1.0]}, errors.ParameterError, r"truth must be finite numbers of the shape \(150, 3\)"),
        ({"truth": np.ones((150, 3))}, errors.DataError, "probabilities that sum to 1 in every row"),
        ({"truth": np.eye(3)[y], "loss": "squared"}, errors.Unsupported, "truth has no meaning"),
        ({"share": 0.001}, errors.DataError, "of 150 rows 45 are held out, and 0 of the others"),
    ],
)
def test_what_cannot_be_is_told(settings: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        weigh.bias_variance("naive-bayes", X, y, **settings)


def test_an_unknown_learner_is_told() -> None:
    with pytest.raises(errors.ParameterError, match="there is no learner 'treee'; there are 'tree'"):
        weigh.bias_variance("tree", X, y, rounds=2)["treee"]
