"""Calibration of learners on held-out rows, and of naive Bayes on leave-one-out scores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict

import weigh
from weigh import errors
from weigh.learn.calibration import CalibrationData, fit_temperature
from weigh.model import BayesModel, CalibratedModel

METHODS = ["temperature", "platt", "isotonic"]
TABLE = {
    "sky": ["sun", "sun", "rain", "rain", "fog", "sun", "rain", "fog", "sun", "sun", "rain", "sun"],
    "again": ["sun", "sun", "rain", "rain", "fog", "sun", "rain", "fog", "sun", "sun", "rain", "sun"],
    "warm": [24.5, 19.0, 12.0, 9.5, 10.0, 21.0, 14.0, 8.0, 22.0, 25.5, 11.0, 19.5],
    "play": ["yes", "yes", "no", "no", "no", "no", "yes", "no", "yes", "yes", "no", "yes"],
}


def redundant_rows(n, classes=2, seed=0):
    """Return rows with three copies of one column, which make naive Bayes overconfident."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    x = y + 1.5 * rng.normal(size=n)
    return np.column_stack([x, x, x]) + 0.01 * rng.normal(size=(n, 3)), y


pytestmark = [
    pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns"),
    pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable"),
]


@pytest.fixture(scope="module")
def learner():
    return weigh.NaiveBayes().fit(*redundant_rows(300))


def log_loss(model, X, y):
    return weigh.evaluate(model, X, y).measure("log_loss").value


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classes", [2, 4])
def test_calibration_improves_an_overconfident_model_on_new_rows(method, classes):
    plain = weigh.NaiveBayes().fit(*redundant_rows(300, classes))
    leave_one_out = weigh.NaiveBayes(calibration=method).fit(*redundant_rows(300, classes))
    held_out = weigh.calibrate(plain, *redundant_rows(1000, classes, seed=1), method=method)
    new = redundant_rows(3000, classes, seed=2)
    before = log_loss(plain, *new)
    assert log_loss(held_out, *new) < before - 0.03
    assert log_loss(leave_one_out, *new) < before - 0.03


def heavy_tailed(n, seed):
    """Return redundant rows with an additional heavy-tailed number."""
    rng = np.random.default_rng(seed)
    X, y = redundant_rows(n, seed=seed)
    return np.column_stack([X, rng.standard_t(1.5, size=n) * (1 + y)]), y


def scores(model, rows):
    evaluation = weigh.evaluate(model, *rows)
    return np.array([evaluation.measure(name).value for name in ("brier", "calibration_error", "accuracy")])


@pytest.mark.parametrize("method", ["temperature", "platt"])
@pytest.mark.parametrize("n", [400, 2000])
def test_outliers_do_not_spoil_leave_one_out_calibration(method, n):
    new = heavy_tailed(4000, 99)
    gains = []
    for seed in range(5):
        plain = weigh.NaiveBayes().fit(*heavy_tailed(n, seed))
        leave_one_out = weigh.NaiveBayes(calibration=method).fit(*heavy_tailed(n, seed))
        held_out = weigh.calibrate(plain, *heavy_tailed(2000, seed + 50), method=method)
        before, after, others = (scores(model, new) for model in (plain, leave_one_out, held_out))
        gains.append(after - before)
        # About as good as calibration on many held-out rows.
        assert after[0] < others[0] + 0.02
    assert (np.array(gains)[:, :2] < -0.01).all()
    assert np.mean(gains, axis=0)[2] > -0.01


@pytest.mark.parametrize("method", ["temperature", "platt"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_map_does_not_increase_the_loss_on_the_rows_it_is_fitted_to(method, classes):
    plain = weigh.NaiveBayes().fit(*redundant_rows(200, classes))
    for seed in range(5):
        rows = redundant_rows(400, classes, seed=seed + 1)
        assert log_loss(weigh.calibrate(plain, *rows, method=method), *rows) <= log_loss(plain, *rows)


def test_the_curve_is_scikit_learns_isotonic_regression(learner):
    X, y = redundant_rows(200, seed=1)
    scores = learner.model_.scores(X)
    odds, n = scores[:, 1] - scores[:, 0], np.bincount(y)
    targets = np.where(y == 1, (n[1] + 1) / (n[1] + 2), 1 / (n[0] + 2))
    peer = IsotonicRegression(out_of_bounds="clip").fit(odds, targets)
    model = weigh.calibrate(learner, X, y, method="isotonic")
    new = redundant_rows(100, seed=2)[0]
    again = learner.model_.scores(new)
    expected = peer.predict(again[:, 1] - again[:, 0])
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], expected, rtol=1e-12)
    # Without smoothing of the targets it is the same curve, stretched to 0 and 1.
    bare = IsotonicRegression(out_of_bounds="clip").fit(odds, y).predict(again[:, 1] - again[:, 0])
    low, high = 1 / (n[0] + 2), (n[1] + 1) / (n[1] + 2)
    np.testing.assert_allclose(expected, low + (high - low) * bare, rtol=1e-12)


def test_curves_of_many_classes_are_one_against_the_rest_and_normalised():
    X, y = redundant_rows(200, 3, seed=1)
    learner = weigh.NaiveBayes().fit(*redundant_rows(200, 3))
    model = weigh.calibrate(learner, X, y, method="isotonic")
    p = learner.predict_proba(X)
    odds, n = np.log(p) - np.log1p(-p), np.bincount(y)
    columns = []
    for c in range(3):
        a, rest = 2 / 3, len(y) - n[c]
        targets = np.where(y == c, (n[c] + a) / (n[c] + 2 * a), a / (rest + 2 * a))
        columns.append(IsotonicRegression(out_of_bounds="clip").fit(odds[:, c], targets).predict(odds[:, c]))
    expected = np.column_stack(columns)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_calibration_gives_a_perceptron_probabilities(method):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    learner = weigh.Perceptron().fit(X[::2], y[::2])
    model = weigh.calibrate(learner, X[1::2], y[1::2], method=method)
    evaluation = weigh.evaluate(model, X[1::2], y[1::2])
    assert evaluation.measure("log_loss").value < 0.2
    if method == "temperature":
        assert (model.predict(X) == learner.predict(X)).all()


@pytest.mark.parametrize("kind", [weigh.NaiveBayes, weigh.JointBayes])
def test_calibrating_on_training_rows_warns(kind):
    columns = dict.fromkeys(("sky", "again"), "category") | {"warm": weigh.Number(bins=2)}
    model = kind(columns=columns).fit(TABLE, "play").model_
    with pytest.warns(errors.SeenRows, match="was trained on these very rows"):
        weigh.calibrate(model, TABLE)
    # Other rows with the same classes, and a subset of the rows, are not recognised.
    weigh.calibrate(model, {**TABLE, "sky": ["rain"] * 12})
    weigh.calibrate(model, {name: values[1:] for name, values in TABLE.items()})


@pytest.mark.parametrize("data", ["table", "arrays", "source"])
def test_rows_come_in_any_storage(tmp_path, data):
    model = weigh.NaiveBayes().fit(TABLE, "play").model_
    rows = {name: values[:9] for name, values in TABLE.items()}
    expected = weigh.calibrate(model, rows).calibration
    arguments = {
        "table": (rows, "play"),
        "arrays": ({name: rows[name] for name in ("sky", "again", "warm")}, rows["play"]),
        "source": (weigh.rows(rows, "play"), None),
    }[data]
    assert weigh.calibrate(model, *arguments).calibration == expected
    if data == "table":
        assert weigh.calibrate(model, rows, label="play").calibration == expected


def test_weights_are_equivalent_to_repetitions(learner):
    X, y = redundant_rows(60, seed=1)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    for method in METHODS:
        once = weigh.calibrate(learner, X, y, method=method, sample_weight=weights)
        many = weigh.calibrate(learner, np.repeat(X, weights, axis=0), np.repeat(y, weights), method=method)
        np.testing.assert_allclose(once.predict_proba(X), many.predict_proba(X), rtol=1e-9)
        np.testing.assert_allclose(once.shares, many.shares, rtol=1e-15)


def test_class_frequencies_are_smoothed(learner):
    X, y = redundant_rows(60, seed=1)
    expected = [(sum(y == c) + 1) / 62 for c in (0, 1)]
    assert weigh.calibrate(learner, X, y).shares == pytest.approx(expected, rel=1e-15)


def test_calibrating_a_calibrated_model_replaces_the_calibration(learner):
    X, y = redundant_rows(100, seed=1)
    once = weigh.calibrate(learner, X, y, method="isotonic")
    twice = weigh.calibrate(once, X, y)
    assert twice.uncalibrated is learner.model_
    assert twice.to_bytes() == weigh.calibrate(learner, X, y).to_bytes()


def test_fitting_calibrates_on_leave_one_out_scores():
    nb = weigh.NaiveBayes(calibration="temperature").fit(TABLE, "play")
    assert isinstance(nb.model_, CalibratedModel)
    base = nb.model_.uncalibrated
    assert base.to_bytes() == weigh.NaiveBayes().fit(TABLE, "play").model_.to_bytes()
    scores = []
    for at in range(12):
        row = {name: [values[at]] for name, values in TABLE.items()}
        scores.append(base.forget(row, "play").scores(row)[0])
    codes = np.array([base.classes.index(label) for label in TABLE["play"]])
    expected = fit_temperature(CalibrationData(np.array(scores), codes, np.ones(12))).map
    assert pytest.approx(expected.T, rel=1e-9) == nb.model_.calibration.T


def test_a_row_of_weight_two_counts_as_two_rows_in_leave_one_out():
    weights = np.array([2, 1, 1, 3, 1, 0, 1, 2, 1, 1, 0, 1])
    many = {name: np.repeat(values, weights).tolist() for name, values in TABLE.items()}
    for method in METHODS:
        once = weigh.NaiveBayes(calibration=method).fit(TABLE, "play", sample_weight=weights)
        twice = weigh.NaiveBayes(calibration=method).fit(many, "play")
        np.testing.assert_allclose(once.predict_proba(TABLE), twice.predict_proba(TABLE), rtol=1e-9)
    relabelled = {
        **TABLE,
        "play": ["perhaps" if w == 0 else p for w, p in zip(weights, TABLE["play"], strict=True)],
    }
    nb = weigh.NaiveBayes(calibration="temperature").fit(relabelled, "play", sample_weight=weights)
    assert nb.model_.classes == ["no", "yes"]


def test_any_number_of_threads_gives_the_same_bytes():
    X, y = redundant_rows(3000, 3)
    models = {weigh.NaiveBayes(calibration="platt", threads=n).fit(X, y).model_.to_bytes() for n in (1, 2)}
    assert len(models) == 1


def test_joint_log_probabilities_are_those_of_the_uncalibrated_model():
    nb = weigh.NaiveBayes(calibration="temperature").fit(TABLE, "play")
    plain = weigh.NaiveBayes().fit(TABLE, "play")
    assert (nb.predict_joint_log_proba(TABLE) == plain.predict_joint_log_proba(TABLE)).all()
    assert (nb.predict(TABLE) == plain.predict(TABLE)).all()
    assert not (nb.predict_proba(TABLE) == plain.predict_proba(TABLE)).any()


@pytest.mark.parametrize("work", ["partial_fit", "forget", "merge"])
def test_further_learning_drops_the_calibration_with_a_warning(work):
    nb = weigh.NaiveBayes(calibration="temperature").fit(TABLE, "play")
    plain = weigh.NaiveBayes().fit(TABLE, "play")
    more = {name: values[:2] for name, values in TABLE.items()}
    arguments = (weigh.NaiveBayes().fit(TABLE, "play"),) if work == "merge" else (more, "play")
    with pytest.warns(errors.StaleCalibration, match="is not calibrated any more"):
        getattr(nb, work)(*arguments)
    getattr(plain, work)(*arguments)
    assert isinstance(nb.model_, BayesModel)
    assert nb.model_.to_bytes() == plain.model_.to_bytes()


def test_partial_fit_never_calibrates():
    with pytest.warns(errors.StaleCalibration):
        nb = weigh.NaiveBayes(calibration="platt").partial_fit(TABLE, "play")
    assert nb.model_.to_bytes() == weigh.NaiveBayes().fit(TABLE, "play").model_.to_bytes()


def test_merging_a_calibrated_learner_adds_its_counts():
    first = weigh.NaiveBayes().fit(TABLE, "play")
    first.merge(weigh.NaiveBayes(calibration="temperature").fit(TABLE, "play"))
    assert first.model_.counts.rows.sum() == 24


def test_a_failed_calibration_leaves_the_learner_unchanged():
    nb = weigh.NaiveBayes().fit(TABLE, "play")
    before = nb.model_
    nb.set_params(calibration="temperature")
    with pytest.raises(errors.DataError, match="No class has more than one sample"):
        nb.fit({name: values[1:3] for name, values in TABLE.items()}, "play")
    assert nb.model_ is before


def test_useless_scores_cause_a_warning(learner):
    X, y = redundant_rows(100, seed=1)
    with pytest.warns(errors.UselessScores, match="unrelated or opposite to the labels"):
        weigh.calibrate(learner, X, 1 - y)


def test_calibrated_classifier_cv_accepts_the_learner():
    X, y = redundant_rows(300)
    for calibration in (None, "temperature"):
        model = CalibratedClassifierCV(weigh.NaiveBayes(calibration=calibration), cv=3).fit(X, y)
        new = redundant_rows(2000, seed=2)
        assert log_loss(model, *new) < log_loss(weigh.NaiveBayes().fit(X, y), *new)


def test_calibration_works_in_grid_search_and_cross_validation():
    X, y = redundant_rows(200)
    grid = {"calibration": [None, "temperature"]}
    search = GridSearchCV(weigh.NaiveBayes(), grid, scoring="neg_log_loss", cv=3).fit(X, y)
    assert search.best_params_ == {"calibration": "temperature"}
    p = cross_val_predict(weigh.NaiveBayes(calibration="platt"), X, y, cv=3, method="predict_proba")
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_an_unknown_method_and_a_second_label_are_errors(learner):
    X, y = redundant_rows(10)
    for arguments in ({"method": "beta"}, {"label": "kind"}):
        name = next(iter(arguments))
        with pytest.raises(errors.ParameterError, match=f"calibrate: {name} must be"):
            weigh.calibrate(learner, X, y, **arguments)


def test_auto_calibrates_an_overconfident_model():
    X, y = redundant_rows(300)
    auto = weigh.NaiveBayes(calibration="auto").fit(X, y)
    temperature = weigh.NaiveBayes(calibration="temperature").fit(X, y)
    assert auto.model_.to_bytes() == temperature.model_.to_bytes()
    gain = auto.calibration_.gain
    assert gain.gain > gain.standard_error > 0
    found = f"temperature {auto.model_.calibration.T:.4g} (leave-one-out log loss {gain.before:.2f} -> "
    assert str(auto.calibration_) == f"{found}{gain.after:.2f})"
    losses = {"log_loss_before": gain.before, "log_loss_after": gain.after}
    assert auto.calibration_.to_dict() == auto.model_.calibration.to_dict() | losses
    new = redundant_rows(3000, seed=2)
    assert log_loss(auto, *new) < log_loss(auto.model_.uncalibrated, *new) - 0.03


def test_auto_leaves_out_a_calibration_that_does_not_help():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 3)) + y[:, None]
    nb = weigh.NaiveBayes(calibration="auto").fit(X, y)
    assert nb.model_.to_bytes() == weigh.NaiveBayes().fit(X, y).model_.to_bytes()
    assert nb.calibration_.calibration is None
    assert "does not improve the leave-one-out log loss significantly" in str(nb.calibration_)
    assert nb.calibration_.gain.gain <= nb.calibration_.gain.standard_error


def test_auto_rarely_calibrates_a_model_whose_assumptions_hold():
    used = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 300)
        X = rng.normal(size=(300, 2)) + y[:, None]
        used += weigh.NaiveBayes(calibration="auto").fit(X, y).calibration_.calibration is not None
    assert used <= 6


@pytest.mark.parametrize(
    ("rows", "settings", "reason"),
    [
        (redundant_rows(199), {}, "there are fewer than 200 rows"),
        (redundant_rows(300), {"prior": None}, "without a prior above 0 some probabilities are 0"),
        (
            redundant_rows(300),
            {"class_prior": {0: 1, 1: 0}},
            "some rows have probability 0 in some class",
        ),
        ((redundant_rows(300)[0], ["a"] * 300), {}, "there is only one class"),
    ],
)
def test_auto_says_why_there_is_no_calibration(rows, settings, reason):
    nb = weigh.NaiveBayes(calibration="auto", **settings).fit(*rows)
    assert nb.model_.to_bytes() == weigh.NaiveBayes(**settings).fit(*rows).model_.to_bytes()
    assert str(nb.calibration_) == f"none, because {reason}"
    assert nb.calibration_.to_dict() == {"method": None, "reason": reason}


def test_auto_counts_weights_as_rows():
    X, y = redundant_rows(150)
    heavy = weigh.NaiveBayes(calibration="auto").fit(X, y, sample_weight=[2] * 150)
    assert heavy.calibration_.reason == "there are fewer than 200 rows"


@pytest.mark.parametrize("work", ["partial_fit", "forget", "merge"])
def test_further_learning_drops_an_automatic_calibration(work, recwarn):
    rows = redundant_rows(300)
    nb = weigh.NaiveBayes(calibration="auto").fit(*rows)
    arguments = (weigh.NaiveBayes().fit(*rows),) if work == "merge" else (rows[0][:9], rows[1][:9])
    with pytest.warns(errors.StaleCalibration, match="is not calibrated any more"):
        getattr(nb, work)(*arguments)
    assert isinstance(nb.model_, BayesModel)
    assert nb.calibration_ is None
    # There is nothing left to drop.
    recwarn.clear()
    getattr(nb, "merge" if work == "merge" else "partial_fit")(*arguments)
    assert not recwarn.list


def test_an_automatic_calibration_is_saved_with_the_model(tmp_path):
    X, y = redundant_rows(300)
    nb = weigh.NaiveBayes(calibration="auto").fit(X, y)
    nb.save(tmp_path / "m.weigh")
    loaded = weigh.load(tmp_path / "m.weigh")
    assert (loaded.predict_proba(X) == nb.predict_proba(X)).all()
    assert loaded.calibration == nb.calibration_.calibration
