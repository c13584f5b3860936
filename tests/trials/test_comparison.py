"""`compare` measures what scikit-learn does on the same splits, and tells how sure the differences are."""

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
def found() -> Comparison:
    return weigh.compare(PAIR, X, y, folds=5, repeats=2)


@pytest.mark.parametrize(("loss", "scoring"), [("zero_one", "accuracy"), ("log_loss", "neg_log_loss")])
def test_losses_are_scikit_learns_on_the_same_splits(loss: str, scoring: str) -> None:
    learners = {"bayes": GaussianNB(), "logistic": TheirLogistic(max_iter=1_000)}
    found = weigh.compare(learners, X, y, folds=5, repeats=2, loss=loss)
    for name, learner in learners.items():
        theirs = cross_val_score(learner, X, y, cv=found.splits, scoring=scoring)
        ours = 1 - found[name].losses if loss == "zero_one" else -found[name].losses
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("loss", "scoring"),
    [("squared_error", "neg_mean_squared_error"), ("absolute_error", "neg_mean_absolute_error")],
)
def test_errors_of_numbers_are_scikit_learns(loss: str, scoring: str) -> None:
    learners = [weigh.LinearRegression(), DecisionTreeRegressor(random_state=0)]
    found = weigh.compare(learners, HOMES, PRICES, folds=3, repeats=1, loss=loss)
    for score, learner in zip(found.scores, learners, strict=False):
        theirs = -cross_val_score(learner, HOMES, PRICES, cv=found.splits, scoring=scoring)
        np.testing.assert_allclose(score.losses, theirs, rtol=1e-12)


def test_two_that_differ_by_rounding_are_equal() -> None:
    found = weigh.compare(
        {"ours": weigh.LinearRegression(), "theirs": LinearRegression()}, HOMES, PRICES, folds=4, repeats=1
    )
    (pair,) = found.pairs
    assert (pair.difference, pair.p_value, pair.equal) == (0.0, 1.0, 1.0)
    assert found.rope == pytest.approx(0.01 * PRICES.var())


def test_a_pair_is_tested_with_the_correction_for_shared_rows(found: Comparison) -> None:
    apart = found["bayes"].losses - found["tree"].losses
    scale = np.sqrt(apart.var(ddof=1) * (1 / 10 + 1 / 4))
    posterior = stats.t(9, apart.mean(), scale)
    pair = found.pair("tree", "bayes")
    assert (pair.first, pair.second) == ("bayes", "tree")
    assert pair.p_value == pytest.approx(2 * stats.t.sf(abs(apart.mean()) / scale, 9), rel=1e-12)
    assert (pair.low, pair.high) == pytest.approx(posterior.interval(0.95), rel=1e-12)
    assert pair.better == pytest.approx(posterior.cdf(0), rel=1e-12)
    expected = posterior.cdf(-0.01), posterior.cdf(0.01) - posterior.cdf(-0.01), posterior.sf(0.01)
    assert (pair.first_better, pair.equal, pair.second_better) == pytest.approx(expected, rel=1e-9)


def test_many_pairs_are_adjusted_together() -> None:
    pairs = weigh.compare(None, X, y, folds=3, repeats=1).pairs
    assert len(pairs) == 10
    assert all(pair.adjusted >= pair.p_value for pair in pairs)
    least = min(pairs, key=lambda pair: pair.p_value)
    assert least.adjusted == pytest.approx(min(1.0, 10 * least.p_value))


def test_the_scores_do_not_depend_on_the_number_of_workers(found: Comparison) -> None:
    again = weigh.compare(PAIR, X, y, folds=5, repeats=2, n_jobs=1)
    other = weigh.compare(PAIR, X, y, folds=5, repeats=2, seed=1)
    for name in ("bayes", "tree"):
        np.testing.assert_array_equal(found[name].losses, again[name].losses)
    assert again.pairs == found.pairs
    assert (found["tree"].losses != other["tree"].losses).any()


def test_the_baseline_is_a_guess_by_the_loss_and_can_be_left_out(found: Comparison) -> None:
    assert found.scores[-1].is_baseline
    assert found["baseline (majority)"].loss.value == pytest.approx(2 / 3)
    homes = weigh.compare("linear", HOMES, PRICES, folds=3, repeats=1)
    guess = [np.square(PRICES[test] - PRICES[train].mean()).mean() for train, test in homes.splits]
    np.testing.assert_allclose(homes["baseline (mean)"].losses, guess, rtol=1e-12)
    alone = weigh.compare("tree", X, y, folds=2, repeats=1, baseline=False)
    assert (len(alone.scores), alone.pairs) == (1, ())
    assert "tree" in str(alone)


def test_a_reference_is_compared_with_everybody_else() -> None:
    found = weigh.compare([*PAIR.values(), "naive-bayes"], X, y, folds=2, repeats=1, reference="naive-bayes")
    assert [pair.first for pair in found.pairs] == [
        "GaussianNB",
        "DecisionTreeClassifier",
        "baseline (majority)",
    ]
    assert {pair.second for pair in found.pairs} == {"naive-bayes"}
    with pytest.raises(errors.ParameterError, match=r"were not compared\. Give reference='GaussianNB'"):
        found.pair("GaussianNB", "DecisionTreeClassifier")


def test_a_learner_is_not_compared_with_itself(found: Comparison) -> None:
    with pytest.raises(errors.ParameterError, match="'tree' does not differ from itself"):
        found.pair("tree", "tree")


def test_losses_of_probabilities_have_the_frequencies_for_a_baseline() -> None:
    for loss in ("log_loss", "brier", "squared"):
        found = weigh.compare(PAIR["bayes"], X, y, folds=3, repeats=1, loss=loss)
        score = found["baseline (frequencies)"]
        guess = {"log_loss": np.log(3), "brier": 2 / 3, "squared": 4 / 9}[loss]
        np.testing.assert_allclose(score.losses, guess, rtol=0.02)
        assert np.isnan([score.loss.low, score.loss.high]).all()


@pytest.mark.parametrize("loss", ["zero_one", "squared", "brier", "log_loss"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_loss_is_that_of_evaluate_on_the_same_rows(loss: str, classes: int) -> None:
    some = y < classes
    rows, labels = X[some][:, :2], y[some]
    found = weigh.compare(PAIR["bayes"], rows, labels, folds=4, repeats=1, loss=loss)
    for (train, test), value in zip(found.splits, found["GaussianNB"].losses, strict=True):
        judged = weigh.evaluate(GaussianNB().fit(rows[train], labels[train]), rows[test], labels[test])
        name = {"zero_one": "accuracy"}.get(loss, loss)
        theirs = judged.measure(name).value
        assert value == pytest.approx(1 - theirs if loss == "zero_one" else theirs, rel=1e-9)


def test_the_brier_score_of_a_part_without_a_class_is_that_of_all_classes() -> None:
    rows = LabelledRows.of(np.array([[0.0], [1.0], [0.0], [1.0]]), ["a", "b", "c", "b"])
    model = Candidate.of("it", GaussianNB(), rows).fit(np.array([0, 1, 3]))
    np.testing.assert_allclose(model.losses(rows, "brier"), [0.0, 0.0, 2.0, 0.0], atol=1e-9)


def test_intervals_of_means_are_corrected_for_shared_rows() -> None:
    found = weigh.compare(PAIR, X, y, folds=5, repeats=2, loss="brier")
    for name in PAIR:
        losses = found[name].losses
        scale = np.sqrt(losses.var(ddof=1) * (1 / 10 + 1 / 4))
        low, high = stats.t(9, losses.mean(), scale).interval(0.95)
        assert (found[name].loss.low, found[name].loss.high) == pytest.approx(
            (max(low, 0.0), high), rel=1e-12
        )


def test_an_interval_of_a_share_is_no_narrower_than_the_exact_one_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(100, 1)), np.repeat(["a", "b"], [77, 23])
    found = weigh.compare(
        {"easy": "tree"}, np.where(labels == "a", 0.0, 1.0)[:, None], labels, folds=5, repeats=1
    )
    exact = stats.binomtest(0, 100).proportion_ci(method="exact")
    assert (found["easy"].loss.low, found["easy"].loss.high) == pytest.approx((0.0, exact.high))
    exact = stats.binomtest(23, 100).proportion_ci(method="exact")
    guess = found["baseline (majority)"].loss
    assert guess.low <= exact.low + 1e-12
    assert guess.high >= exact.high - 1e-12
    hard = weigh.compare({"hard": "neighbours"}, rows, labels, folds=5, repeats=1)["hard"]
    scale = np.sqrt(hard.losses.var(ddof=1) * (1 / 5 + 1 / 4))
    low, high = stats.t(4, hard.losses.mean(), scale).interval(0.95)
    assert hard.loss.low <= low + 1e-12
    assert hard.loss.high >= high - 1e-12


def test_a_missing_number_is_seen_before_the_rows_are_cut() -> None:
    rows = X.copy()
    rows[0, 0] = np.nan
    found = weigh.compare(KNeighborsClassifier(), rows, y, folds=5, repeats=1)
    assert found["KNeighborsClassifier"].loss.value < 0.1


def test_settings_of_named_learners_are_told() -> None:
    found = weigh.compare(["naive-bayes", "logistic"], X, y, folds=2, repeats=1)
    assert "Settings other than the defaults: logistic: scale='unit'." in str(found)
    assert [each["settings"] for each in found.to_dict()["scores"]] == ["", "scale='unit'", ""]


def test_progress_goes_over_trials_and_curves() -> None:
    told: list[tuple[int, int]] = []
    weigh.compare(
        "naive-bayes", X, y, folds=2, repeats=1, curve=True, progress=lambda *done: told.append(done)
    )
    assert told == [(done, 14) for done in range(1, 15)]


def test_costs_are_told_and_only_our_models_have_a_size() -> None:
    found = weigh.compare(["naive-bayes", "tree"], X, y, folds=3, repeats=1)
    ours, theirs = found["naive-bayes"].cost, found["tree"].cost
    train = found.splits[0][0]
    assert ours.size == pytest.approx(
        len(weigh.NaiveBayes().fit(X[train], y[train]).model_.to_bytes()), rel=0.1
    )
    assert theirs.size is None
    assert min(ours.fit, ours.predict, theirs.fit, theirs.predict) > 0


def test_lone_jobs_run_one_at_a_time_before_the_others() -> None:
    def work(job: int) -> tuple[int, bool]:
        return job, threading.current_thread() is threading.main_thread()

    told: list[tuple[int, int]] = []
    found = run_jobs(work, list(range(8)), 2, lambda *done: told.append(done), alone=3)
    assert [job for job, _ in found] == list(range(8))
    assert [is_main for _, is_main in found] == [True] * 3 + [False] * 5
    assert told == [(done, 8) for done in range(1, 9)]


def test_an_infinite_loss_is_told_and_compared_with_nothing() -> None:
    rows = {"x": ["a", "b", "a", "b", "a", "c"] * 5, "y": ["u", "v", "u", "v", "u", "v"] * 5}
    learners = {"sure": weigh.NaiveBayes(prior=None), "smooth": "naive-bayes"}
    labels = [*rows["y"][:-1], "u"]
    found = weigh.compare(learners, {"x": rows["x"]}, labels, folds=5, repeats=1, loss="log_loss")
    assert found["sure"].loss.value == np.inf
    assert found.best == "smooth"
    assert np.isnan(found.pairs[0].better)
    pytest.importorskip("altair")
    assert "held out (not drawn, for infinite: sure)" in json.dumps(found.plot().to_dict())
    with pytest.raises(errors.Unsupported, match="All losses are infinite"):
        found.plot("differences")
    assert max(map(len, str(found).splitlines())) <= 80
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_result_prints_within_80_columns_and_names_the_best(found: Comparison) -> None:
    lines = str(found).splitlines()
    assert lines[0] == "2 learners on 150 rows, 2 × 5 folds: share of errors"
    assert max(map(len, lines)) <= 80
    assert f"{found.best} has the smallest loss" in str(found)
    long = {
        "a learner with a very long name indeed": "tree",
        "another learner with a long name": "neighbours",
    }
    wide = weigh.compare({**long, "x": "naive-bayes"}, X, y, folds=2, repeats=1)
    assert max(map(len, str(wide).splitlines())) <= 80


def test_a_sure_difference_is_said_to_be_one() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 2))
    labels = rows[:, 0] * rows[:, 1] > 0
    found = weigh.compare({"plane": "logistic", "tree": "tree"}, rows, labels, folds=5, repeats=1)
    assert "tree is better than plane at the level of 95 %." in str(found)
    assert found.pairs[0].second_better > 0.99


def test_the_result_is_json_and_escaped_html() -> None:
    found = weigh.compare({"<i>": "tree", "b": "naive-bayes"}, X, y, folds=2, repeats=1)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [each["learner"] for each in told["scores"]] == ["<i>", "b", "baseline (majority)"]
    assert "<i>" not in found._repr_html_()


@pytest.mark.parametrize("what", ["scores", "differences", "times"])
def test_every_side_is_drawn(found: Comparison, what: str) -> None:
    pytest.importorskip("altair")
    assert "bayes" in json.dumps(found.plot(what).to_dict())


def test_curves_tell_where_learners_overtake_each_other() -> None:
    pytest.importorskip("altair")
    found = weigh.compare(["naive-bayes", "logistic"], X, y, folds=2, repeats=1, curve=True)
    assert [each.pair for each in found.crossings] == [("naive-bayes", "logistic")]
    assert str(found.crossings[0])[:30] in str(found)
    assert found.plot("curve").to_dict()
    assert found.to_dict()["curve"]["curves"]


def test_files_are_read_once_and_mixed_columns_are_taken(tmp_path: Any) -> None:
    lines = [
        "sky,warm,play",
        *(f"{'sun' if k % 3 else 'fog'},{k % 7}.5,{'yes' if k % 3 else 'no'}" for k in range(40)),
    ]
    (tmp_path / "days.csv").write_text("\n".join(lines))
    found = weigh.compare(
        ["naive-bayes", KNeighborsClassifier(1)], weigh.open(tmp_path / "days.csv", label="play"), folds=4
    )
    assert (found.n, found["naive-bayes"].loss.value) == (40, 0.0)


@pytest.mark.parametrize(
    ("learners", "settings", "error", "said"),
    [
        ("tree", {"folds": 1}, errors.ParameterError, "folds must be at least 2"),
        ("tree", {"folds": 151}, errors.DataError, "151 folds need 151 rows at least, got 150"),
        ("tree", {"level": 95}, errors.ParameterError, "level must be a share between 0 and 1"),
        ("tree", {"rope": -1}, errors.ParameterError, "rope must be a number of at least 0"),
        (
            "tree",
            {"reference": "three"},
            errors.ParameterError,
            "reference='three' is none of the learners 'tree'",
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
            "Give the learner another name, or baseline=False",
        ),
        ({}, {}, errors.ParameterError, "learners must be one learner at least, got {}"),
        ("tree", {"n_jobs": True}, errors.ParameterError, "n_jobs must be a number of workers"),
        ("tree", {"n_jobs": 0}, errors.ParameterError, "n_jobs must be a number of workers"),
        ("tree", {"n_jobs": 1.5}, errors.ParameterError, "n_jobs must be a number of workers"),
    ],
)
def test_what_cannot_be_is_told(learners: Any, settings: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        weigh.compare(learners, X, y, **{"repeats": 1, **settings})


class Broken(GaussianNB):
    def fit(self, *given: Any, **more: Any) -> Any:
        raise RuntimeError("no such thing")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_who_fails_is_named_whatever_the_error(n_jobs: int) -> None:
    with pytest.raises(errors.DataError, match="broken failed in fold 1 of repeat 1: no such thing") as told:
        weigh.compare({"fine": "tree", "broken": Broken()}, X, y, n_jobs=n_jobs)
    assert isinstance(told.value.__cause__, RuntimeError)
    with pytest.raises(errors.DataError, match="broken failed in training set 1: no such thing"):
        weigh.bias_variance({"broken": Broken()}, X, y, n_jobs=n_jobs)
    with pytest.raises(errors.DataError, match="broken failed in fold 1 of repeat 1, 10 rows: no such thing"):
        weigh.learning_curve({"broken": Broken()}, X, y, n_jobs=n_jobs)


def test_regressions_want_numbers_and_take_those_that_are_written_as_text() -> None:
    prices = [str(price) for price in PRICES]
    found = weigh.compare("linear", HOMES, prices, folds=3, repeats=1)
    np.testing.assert_array_equal(
        found["linear"].losses, weigh.compare("linear", HOMES, PRICES, folds=3, repeats=1)["linear"].losses
    )
    for trial in (weigh.compare, weigh.learning_curve, weigh.bias_variance):
        with pytest.raises(errors.LabelError, match="some label is none: 'dear'"):
            trial("linear", HOMES, ["dear", *prices[1:]])


def test_classes_rarer_than_the_folds_are_named() -> None:
    labels = ["a"] * 80 + ["b"] * 68 + ["c", "d"]
    with pytest.warns(errors.OddClasses, match="of 'c', 'd' there are fewer rows than the 3 folds"):
        found = weigh.compare("naive-bayes", X, labels, folds=3, repeats=1, loss="log_loss")
    assert "inf: a row's own class had the probability zero" in str(found)
    with pytest.warns(errors.OddClasses, match="learning_curve: of 'c', 'd' there are fewer"):
        weigh.learning_curve("naive-bayes", X, labels, folds=3, repeats=1)


@pytest.mark.filterwarnings("ignore:compare. of")
def test_whole_numbers_that_are_hardly_classes_are_told() -> None:
    with pytest.warns(errors.OddClasses, match="The labels are 75 different whole numbers in 150 rows"):
        weigh.compare("naive-bayes", X, np.arange(150) // 2, folds=2, repeats=1)


def test_numbers_are_no_classes() -> None:
    with pytest.raises(errors.LabelError, match=r"The labels are numbers such as 0.5, and the learners are"):
        weigh.compare(None, X, y + 0.5)


def test_pictures_that_cannot_be_are_told(found: Comparison) -> None:
    with pytest.raises(errors.ParameterError, match="what must be one of 'scores'"):
        found.plot("score")
    with pytest.raises(errors.Unsupported, match="Compare with curve=True"):
        found.plot("curve")
    with pytest.raises(errors.ParameterError, match="there is no learner 'tre'; there are"):
        found["tre"]
