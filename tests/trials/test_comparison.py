"""`compare` gives scikit-learn's losses on the same splits, and tests their differences."""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import weigh
from weigh import errors
from weigh.trials.candidates import Candidate
from weigh.trials.comparison import Comparison
from weigh.trials.parallel import run_jobs
from weigh.trials.rows import LabelledRows

X, y = load_iris(return_X_y=True)
HOMES, PRICES = load_diabetes(return_X_y=True)
PAIR = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=0)}


@pytest.fixture(scope="module")
def result() -> Comparison:
    return weigh.compare(PAIR, X, y, folds=5, repeats=2)


@pytest.mark.parametrize(("loss", "scoring"), [("zero_one", "accuracy"), ("log_loss", "neg_log_loss")])
def test_losses_are_scikit_learns_on_the_same_splits(loss: str, scoring: str) -> None:
    learners = {"bayes": GaussianNB(), "logistic": TheirLogistic(max_iter=1_000)}
    result = weigh.compare(learners, X, y, folds=5, repeats=2, loss=loss)
    for name, learner in learners.items():
        theirs = cross_val_score(learner, X, y, cv=result.splits, scoring=scoring)
        ours = 1 - result[name].losses if loss == "zero_one" else -result[name].losses
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("loss", "scoring"),
    [("squared_error", "neg_mean_squared_error"), ("absolute_error", "neg_mean_absolute_error")],
)
def test_regression_losses_are_scikit_learns(loss: str, scoring: str) -> None:
    learners = [weigh.LinearRegression(), DecisionTreeRegressor(random_state=0)]
    result = weigh.compare(learners, HOMES, PRICES, folds=3, repeats=1, loss=loss)
    for score, learner in zip(result.scores, learners, strict=False):
        theirs = -cross_val_score(learner, HOMES, PRICES, cv=result.splits, scoring=scoring)
        np.testing.assert_allclose(score.losses, theirs, rtol=1e-12)


def test_learners_that_differ_by_rounding_are_equal() -> None:
    result = weigh.compare(
        {"ours": weigh.LinearRegression(), "theirs": LinearRegression()}, HOMES, PRICES, folds=4, repeats=1
    )
    (pair,) = result.pairs
    assert (pair.difference, pair.p_value, pair.equal) == (0.0, 1.0, 1.0)
    assert result.rope == pytest.approx(0.01 * PRICES.var())


def test_a_pair_is_tested_with_the_correction_for_overlapping_training_sets(result: Comparison) -> None:
    difference = result["bayes"].losses - result["tree"].losses
    scale = np.sqrt(difference.var(ddof=1) * (1 / 10 + 1 / 4))
    posterior = stats.t(9, difference.mean(), scale)
    pair = result.pair("tree", "bayes")
    assert (pair.first, pair.second) == ("bayes", "tree")
    assert pair.p_value == pytest.approx(2 * stats.t.sf(abs(difference.mean()) / scale, 9), rel=1e-12)
    assert (pair.low, pair.high) == pytest.approx(posterior.interval(0.95), rel=1e-12)
    assert pair.better == pytest.approx(posterior.cdf(0), rel=1e-12)
    expected = posterior.cdf(-0.01), posterior.cdf(0.01) - posterior.cdf(-0.01), posterior.sf(0.01)
    assert (pair.first_better, pair.equal, pair.second_better) == pytest.approx(expected, rel=1e-9)


def test_p_values_of_several_pairs_are_adjusted() -> None:
    pairs = weigh.compare(None, X, y, folds=3, repeats=1).pairs
    assert len(pairs) == 10
    assert all(pair.adjusted >= pair.p_value for pair in pairs)
    smallest = min(pairs, key=lambda pair: pair.p_value)
    assert smallest.adjusted == pytest.approx(min(1.0, 10 * smallest.p_value))


def test_the_scores_do_not_depend_on_the_number_of_workers(result: Comparison) -> None:
    again = weigh.compare(PAIR, X, y, folds=5, repeats=2, n_jobs=1)
    other = weigh.compare(PAIR, X, y, folds=5, repeats=2, seed=1)
    for name in ("bayes", "tree"):
        np.testing.assert_array_equal(result[name].losses, again[name].losses)
    assert again.pairs == result.pairs
    assert (result["tree"].losses != other["tree"].losses).any()


def test_the_baseline_depends_on_the_loss_and_can_be_left_out(result: Comparison) -> None:
    assert result.scores[-1].is_baseline
    assert result["baseline (majority)"].loss.value == pytest.approx(2 / 3)
    homes = weigh.compare("linear", HOMES, PRICES, folds=3, repeats=1)
    expected = [np.square(PRICES[test] - PRICES[train].mean()).mean() for train, test in homes.splits]
    np.testing.assert_allclose(homes["baseline (mean)"].losses, expected, rtol=1e-12)
    alone = weigh.compare("tree", X, y, folds=2, repeats=1, baseline=False)
    assert (len(alone.scores), alone.pairs) == (1, ())
    assert "tree" in str(alone)


def test_a_reference_is_compared_with_all_others() -> None:
    result = weigh.compare([*PAIR.values(), "naive-bayes"], X, y, folds=2, repeats=1, reference="naive-bayes")
    assert [pair.first for pair in result.pairs] == [
        "GaussianNB",
        "DecisionTreeClassifier",
        "baseline (majority)",
    ]
    assert {pair.second for pair in result.pairs} == {"naive-bayes"}
    with pytest.raises(
        errors.ParameterError, match=r"were not compared\. Call compare with reference='GaussianNB'"
    ):
        result.pair("GaussianNB", "DecisionTreeClassifier")


def test_comparing_a_learner_with_itself_raises(result: Comparison) -> None:
    with pytest.raises(errors.ParameterError, match="'tree' cannot be compared with itself"):
        result.pair("tree", "tree")


def test_the_baseline_of_probability_losses_is_the_class_frequencies() -> None:
    for loss in ("log_loss", "brier", "squared"):
        result = weigh.compare(PAIR["bayes"], X, y, folds=3, repeats=1, loss=loss)
        score = result["baseline (frequencies)"]
        expected = {"log_loss": np.log(3), "brier": 2 / 3, "squared": 4 / 9}[loss]
        np.testing.assert_allclose(score.losses, expected, rtol=0.02)
        assert np.isnan([score.loss.low, score.loss.high]).all()


@pytest.mark.parametrize("loss", ["zero_one", "squared", "brier", "log_loss"])
@pytest.mark.parametrize("classes", [2, 3])
def test_losses_equal_those_of_evaluate_on_the_same_rows(loss: str, classes: int) -> None:
    mask = y < classes
    rows, labels = X[mask][:, :2], y[mask]
    result = weigh.compare(PAIR["bayes"], rows, labels, folds=4, repeats=1, loss=loss)
    for (train, test), value in zip(result.splits, result["GaussianNB"].losses, strict=True):
        evaluation = weigh.evaluate(GaussianNB().fit(rows[train], labels[train]), rows[test], labels[test])
        name = {"zero_one": "accuracy"}.get(loss, loss)
        theirs = evaluation.measure(name).value
        assert value == pytest.approx(1 - theirs if loss == "zero_one" else theirs, rel=1e-9)


def test_the_brier_score_counts_classes_missing_from_the_training_rows() -> None:
    rows = LabelledRows.of(np.array([[0.0], [1.0], [0.0], [1.0]]), ["a", "b", "c", "b"])
    model = Candidate.of("it", GaussianNB(), rows).fit(np.array([0, 1, 3]))
    np.testing.assert_allclose(model.losses(rows, "brier"), [0.0, 0.0, 2.0, 0.0], atol=1e-9)


def test_intervals_of_means_are_corrected_for_overlapping_training_sets() -> None:
    result = weigh.compare(PAIR, X, y, folds=5, repeats=2, loss="brier")
    for name in PAIR:
        losses = result[name].losses
        scale = np.sqrt(losses.var(ddof=1) * (1 / 10 + 1 / 4))
        low, high = stats.t(9, losses.mean(), scale).interval(0.95)
        assert (result[name].loss.low, result[name].loss.high) == pytest.approx(
            (max(low, 0.0), high), rel=1e-12
        )


def test_the_interval_of_an_error_rate_contains_the_clopper_pearson_interval() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(100, 1)), np.repeat(["a", "b"], [77, 23])
    result = weigh.compare(
        {"easy": "tree"}, np.where(labels == "a", 0.0, 1.0)[:, None], labels, folds=5, repeats=1
    )
    exact = stats.binomtest(0, 100).proportion_ci(method="exact")
    assert (result["easy"].loss.low, result["easy"].loss.high) == pytest.approx((0.0, exact.high))
    exact = stats.binomtest(23, 100).proportion_ci(method="exact")
    baseline = result["baseline (majority)"].loss
    assert baseline.low <= exact.low + 1e-12
    assert baseline.high >= exact.high - 1e-12
    hard = weigh.compare({"hard": "neighbours"}, rows, labels, folds=5, repeats=1)["hard"]
    scale = np.sqrt(hard.losses.var(ddof=1) * (1 / 5 + 1 / 4))
    low, high = stats.t(4, hard.losses.mean(), scale).interval(0.95)
    assert hard.loss.low <= low + 1e-12
    assert hard.loss.high >= high - 1e-12


def test_missing_values_are_detected_before_the_rows_are_split() -> None:
    rows = X.copy()
    rows[0, 0] = np.nan
    result = weigh.compare(KNeighborsClassifier(), rows, y, folds=5, repeats=1)
    assert result["KNeighborsClassifier"].loss.value < 0.1


def test_non_default_settings_are_listed() -> None:
    result = weigh.compare(["naive-bayes", "logistic"], X, y, folds=2, repeats=1)
    assert "Non-default settings: logistic: scale='unit'." in str(result)
    assert [each["settings"] for each in result.to_dict()["scores"]] == ["", "scale='unit'", ""]


def test_progress_covers_cross_validation_and_curves() -> None:
    calls: list[tuple[int, int]] = []
    weigh.compare(
        "naive-bayes", X, y, folds=2, repeats=1, curve=True, progress=lambda *done: calls.append(done)
    )
    assert calls == [(done, 14) for done in range(1, 15)]


def test_costs_are_measured_and_only_models_of_this_library_have_a_size() -> None:
    result = weigh.compare(["naive-bayes", "tree"], X, y, folds=3, repeats=1)
    ours, theirs = result["naive-bayes"].cost, result["tree"].cost
    train = result.splits[0][0]
    assert ours.size == pytest.approx(
        len(weigh.NaiveBayes().fit(X[train], y[train]).model_.to_bytes()), rel=0.1
    )
    assert theirs.size is None
    assert min(ours.fit, ours.predict, theirs.fit, theirs.predict) > 0


def test_sequential_jobs_run_in_the_main_thread_before_the_others() -> None:
    def work(job: int) -> tuple[int, bool]:
        return job, threading.current_thread() is threading.main_thread()

    calls: list[tuple[int, int]] = []
    result = run_jobs(work, list(range(8)), 2, lambda *done: calls.append(done), n_sequential=3)
    assert [job for job, _ in result] == list(range(8))
    assert [is_main for _, is_main in result] == [True] * 3 + [False] * 5
    assert calls == [(done, 8) for done in range(1, 9)]


def test_an_infinite_loss_is_reported_and_not_compared() -> None:
    rows = {"x": ["a", "b", "a", "b", "a", "c"] * 5, "y": ["u", "v", "u", "v", "u", "v"] * 5}
    learners = {"unsmoothed": weigh.NaiveBayes(prior=None), "smooth": "naive-bayes"}
    labels = [*rows["y"][:-1], "u"]
    result = weigh.compare(learners, {"x": rows["x"]}, labels, folds=5, repeats=1, loss="log_loss")
    assert result["unsmoothed"].loss.value == np.inf
    assert result.best == "smooth"
    assert np.isnan(result.pairs[0].better)
    pytest.importorskip("altair")
    assert "held out (infinite, not shown: unsmoothed)" in json.dumps(result.plot().to_dict())
    with pytest.raises(errors.Unsupported, match="All losses are infinite"):
        result.plot("differences")
    assert max(map(len, str(result).splitlines())) <= 80
    json.dumps(result.to_dict(), allow_nan=False)


def test_the_result_prints_within_80_columns_and_names_the_best(result: Comparison) -> None:
    lines = str(result).splitlines()
    assert lines[0] == "2 learners on 150 rows, 2 × 5 folds: error rate"
    assert max(map(len, lines)) <= 80
    assert f"{result.best} has the smallest loss" in str(result)
    long = {
        "a learner with a very long name indeed": "tree",
        "another learner with a long name": "neighbours",
    }
    wide = weigh.compare({**long, "x": "naive-bayes"}, X, y, folds=2, repeats=1)
    assert max(map(len, str(wide).splitlines())) <= 80


def test_a_significant_difference_is_reported() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 2))
    labels = rows[:, 0] * rows[:, 1] > 0
    result = weigh.compare({"plane": "logistic", "tree": "tree"}, rows, labels, folds=5, repeats=1)
    assert "tree is significantly better than plane (95 % level)." in str(result)
    assert result.pairs[0].second_better > 0.99


def test_the_result_is_json_and_escaped_html() -> None:
    result = weigh.compare({"<i>": "tree", "b": "naive-bayes"}, X, y, folds=2, repeats=1)
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert [each["learner"] for each in data["scores"]] == ["<i>", "b", "baseline (majority)"]
    assert "<i>" not in result._repr_html_()


def test_long_names_are_whole_in_html_and_keep_their_number_in_text() -> None:
    name = "a learner with a rather long name"
    learners = {name: "threshold", f"{name} (2)": "naive-bayes"}
    result = weigh.compare(learners, X, y, folds=2, repeats=1)
    assert f">{name} (2)</td>" in result._repr_html_()
    assert "… (2)  " in str(result)


@pytest.mark.parametrize("what", ["scores", "differences", "times"])
def test_every_chart_can_be_plotted(result: Comparison, what: str) -> None:
    pytest.importorskip("altair")
    assert "bayes" in json.dumps(result.plot(what).to_dict())


def test_curves_give_the_crossings_of_learners() -> None:
    pytest.importorskip("altair")
    result = weigh.compare(["naive-bayes", "logistic"], X, y, folds=2, repeats=1, curve=True)
    assert [each.pair for each in result.crossings] == [("naive-bayes", "logistic")]
    assert str(result.crossings[0])[:30] in str(result)
    assert result.plot("curve").to_dict()
    assert result.to_dict()["curve"]["curves"]


def test_files_with_mixed_columns_can_be_compared(tmp_path: Any) -> None:
    lines = [
        "sky,warm,play",
        *(f"{'sun' if k % 3 else 'fog'},{k % 7}.5,{'yes' if k % 3 else 'no'}" for k in range(40)),
    ]
    (tmp_path / "days.csv").write_text("\n".join(lines))
    result = weigh.compare(
        ["naive-bayes", KNeighborsClassifier(1)], weigh.open(tmp_path / "days.csv", label="play"), folds=4
    )
    assert (result.n, result["naive-bayes"].loss.value) == (40, 0.0)


@pytest.mark.parametrize(
    ("learners", "settings", "error", "message"),
    [
        ("tree", {"folds": 1}, errors.ParameterError, "folds must be at least 2"),
        ("tree", {"folds": 151}, errors.DataError, "151 folds need at least 151 rows, got 150"),
        ("tree", {"level": 95}, errors.ParameterError, "level must be a number between 0 and 1"),
        ("tree", {"rope": -1}, errors.ParameterError, "rope must be a number of at least 0"),
        (
            "tree",
            {"reference": "three"},
            errors.ParameterError,
            "reference='three' is not one of the learners 'tree'",
        ),
        (
            "perceptron",
            {"loss": "log_loss"},
            errors.Unsupported,
            "needs probabilities, which 'perceptron' cannot give",
        ),
        (["tree", "linear"], {}, errors.Unsupported, "which have no loss in common"),
        ("tree", {"baseline": "yes"}, errors.ParameterError, "baseline must be True or False"),
        (
            KNeighborsClassifier(200),
            {},
            errors.DataError,
            "KNeighborsClassifier failed in fold 1 of repeat 1: Expected n_neighbors",
        ),
        (
            {"baseline (majority)": "tree"},
            {},
            errors.ParameterError,
            "Rename the learner, or use baseline=False",
        ),
        ({}, {}, errors.ParameterError, "learners must be at least one learner, got {}"),
        ("tree", {"n_jobs": True}, errors.ParameterError, "n_jobs must be a number of workers"),
        ("tree", {"n_jobs": 0}, errors.ParameterError, "n_jobs must be a number of workers"),
        ("tree", {"n_jobs": 1.5}, errors.ParameterError, "n_jobs must be a number of workers"),
    ],
)
def test_invalid_settings_raise(learners: Any, settings: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        weigh.compare(learners, X, y, **{"repeats": 1, **settings})


class Broken(GaussianNB):
    def fit(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no such thing")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_name_the_learner_that_failed(n_jobs: int) -> None:
    with pytest.raises(
        errors.DataError, match="broken failed in fold 1 of repeat 1: no such thing"
    ) as caught:
        weigh.compare({"fine": "tree", "broken": Broken()}, X, y, n_jobs=n_jobs)
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(errors.DataError, match="broken failed in training set 1: no such thing"):
        weigh.bias_variance({"broken": Broken()}, X, y, n_jobs=n_jobs)
    with pytest.raises(errors.DataError, match="broken failed in fold 1 of repeat 1, 10 rows: no such thing"):
        weigh.learning_curve({"broken": Broken()}, X, y, n_jobs=n_jobs)


def test_regressions_accept_numbers_as_text_and_reject_other_labels() -> None:
    prices = [str(price) for price in PRICES]
    result = weigh.compare("linear", HOMES, prices, folds=3, repeats=1)
    np.testing.assert_array_equal(
        result["linear"].losses, weigh.compare("linear", HOMES, PRICES, folds=3, repeats=1)["linear"].losses
    )
    for trial in (weigh.compare, weigh.learning_curve, weigh.bias_variance):
        with pytest.raises(errors.LabelError, match="the label 'dear' is not a number"):
            trial("linear", HOMES, ["dear", *prices[1:]])


def test_classes_rarer_than_the_folds_are_named() -> None:
    labels = ["a"] * 80 + ["b"] * 68 + ["c", "d"]
    with pytest.warns(errors.OddClasses, match="'c', 'd' have fewer rows than there are folds"):
        result = weigh.compare("naive-bayes", X, labels, folds=3, repeats=1, loss="log_loss")
    assert "inf: the true class of a row had probability zero" in str(result)
    with pytest.warns(errors.OddClasses, match="learning_curve: 'c', 'd' have fewer rows"):
        weigh.learning_curve("naive-bayes", X, labels, folds=3, repeats=1)


@pytest.mark.filterwarnings("ignore:compare. .* fewer rows than there are folds")
def test_many_integer_labels_cause_a_warning() -> None:
    with pytest.warns(errors.OddClasses, match="The labels are 75 different whole numbers in 150 rows"):
        weigh.compare("naive-bayes", X, np.arange(150) // 2, folds=2, repeats=1)


def test_classifiers_reject_fractional_labels() -> None:
    with pytest.raises(errors.LabelError, match=r"The labels are numbers such as 0.5, but the learners are"):
        weigh.compare(None, X, y + 0.5)


def test_impossible_plots_raise(result: Comparison) -> None:
    with pytest.raises(errors.ParameterError, match="what must be one of 'scores'"):
        result.plot("score")
    with pytest.raises(errors.Unsupported, match="Compare with curve=True"):
        result.plot("curve")
    with pytest.raises(errors.ParameterError, match="there is no learner 'tre'; there are"):
        result["tre"]
