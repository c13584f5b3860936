"""The confusion matrix, the metrics derived from it, and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from tests.judge.metrics.scripted import evaluate_scripted
from weigh.judge.metrics.accumulators import LossMoments
from weigh.judge.metrics.confidence_intervals import average_share_interval, clopper_pearson, student_interval
from weigh.judge.metrics.confusion_matrix import ConfusionMatrix, macro_measures
from weigh.judge.metrics.losses import UNSEEN


def random_codes(seed, n=300, classes=5):
    rng = np.random.default_rng(seed)
    true, predicted = rng.integers(0, classes, (2, n))
    return true, np.where(rng.random(n) < 0.5, true, predicted), rng.gamma(1.0, size=n)


def make_confusion(true, predicted, weights=None, classes=5):
    weights = np.ones(len(true)) if weights is None else weights
    return ConfusionMatrix.empty(classes).add(true, predicted, weights)


def test_a_small_matrix_matches_a_hand_calculation():
    table = make_confusion(np.array([0, 0, 1, 1, 1, UNSEEN]), np.array([0, 1, 1, 1, 0, 0]), classes=3)
    assert table.table().tolist() == [[1, 1, 0], [1, 2, 0], [0, 0, 0]]
    assert table.unseen().tolist() == [1, 0, 0]
    assert table.support().tolist() == [2, 3, 0]
    np.testing.assert_allclose(table.precision(0.95)[0], [1 / 3, 2 / 3, np.nan])
    np.testing.assert_allclose(table.recall(0.95)[0], [1 / 2, 2 / 3, np.nan])
    np.testing.assert_allclose(table.f1(0.95)[0], [2 / 5, 2 / 3, np.nan])
    assert table.accuracy(0.95)[0] == 3 / 6
    assert table.mistakes(2) == [(UNSEEN, 0, 1.0), (0, 1, 1.0)]


def test_the_largest_mistakes_come_first():
    table = make_confusion(np.array([0, 1, 2, 2]), np.array([1, 2, 0, 2]), np.array([1.0, 3, 2, 9]))
    assert table.mistakes(5) == [(1, 2, 3.0), (2, 0, 2.0), (0, 1, 1.0)]


@pytest.mark.parametrize("seed", range(5))
def test_shares_equal_those_of_scikit_learn(seed):
    true, predicted, weights = random_codes(seed)
    ours = make_confusion(true, predicted, weights)
    codes = range(5)
    np.testing.assert_allclose(
        ours.table(), metrics.confusion_matrix(true, predicted, labels=codes, sample_weight=weights)
    )
    theirs = metrics.precision_recall_fscore_support(
        true, predicted, labels=codes, sample_weight=weights, zero_division=np.nan
    )
    result = (ours.precision(0.9)[0], ours.recall(0.9)[0], ours.f1(0.9)[0], ours.support())
    for our_values, their_values in zip(result, theirs, strict=True):
        np.testing.assert_allclose(our_values, their_values)


def test_adding_in_parts_equals_adding_the_whole():
    true, predicted, _ = random_codes(3)
    parts = ConfusionMatrix.empty(5)
    for start in range(0, 300, 37):
        stop = start + 37
        ones = np.ones(len(true[start:stop]))
        parts = parts.add(true[start:stop], predicted[start:stop], ones)
    assert (parts.table() == make_confusion(true, predicted).table()).all()


def test_thousands_of_classes_keep_only_the_pairs_that_occur():
    codes = np.arange(21_000)
    table = make_confusion(codes, codes, classes=21_000)
    assert len(table.weight) == 21_000
    assert table.f1(0.95)[0].min() == 1.0


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("k", "n"), [(0, 7), (7, 7), (3, 7), (1, 1), (0, 1), (50, 1000)])
def test_clopper_pearson_equals_the_exact_interval_of_scipy(k, n, level):
    low, high = clopper_pearson(np.array([k]), np.array([n]), level)
    exact = stats.binomtest(k, n).proportion_ci(level, "exact")
    assert (low[0], high[0]) == pytest.approx((exact.low, exact.high))


def test_zero_trials_have_no_interval():
    low, high = clopper_pearson(np.array([0.0]), np.array([0.0]), 0.95)
    assert np.isnan(low[0])
    assert np.isnan(high[0])


def test_the_size_of_equal_weights_does_not_change_an_interval():
    true, predicted, _ = random_codes(1)
    ones, tenths = (make_confusion(true, predicted, np.full(300, w)) for w in (1.0, 0.1))
    np.testing.assert_allclose(ones.accuracy(0.95), tenths.accuracy(0.95))
    np.testing.assert_allclose(ones.recall(0.95), tenths.recall(0.95))
    exact = stats.binomtest(int((true == predicted).sum()), 300).proportion_ci(0.95, "exact")
    assert ones.accuracy(0.95)[1:] == pytest.approx((exact.low, exact.high))


def test_unequal_weights_widen_the_interval():
    true, predicted, weights = random_codes(2)
    _, low, high = make_confusion(true, predicted, weights).accuracy(0.95)
    _, narrow_low, narrow_high = make_confusion(true, predicted).accuracy(0.95)
    assert high - low > narrow_high - narrow_low


def test_the_interval_of_a_mean_is_students():
    values = np.random.default_rng(0).gamma(2.0, size=50)
    moments = LossMoments().add(values[:20], np.ones(20)).add(values[20:], np.ones(30))
    mean, low, high = moments.interval(0.9)
    half_width = stats.t.ppf(0.95, 49) * stats.sem(values)
    assert (mean, low, high) == pytest.approx((values.mean(), values.mean() - half_width, mean + half_width))


def test_a_small_variance_beside_a_large_mean_is_preserved():
    values = 1e9 + np.random.default_rng(0).random(1000)
    parts = LossMoments().add(values[:400], np.ones(400)).add(values[400:], np.ones(600))
    assert parts.squared_deviations / 1000 == pytest.approx(values.var(), rel=1e-6)


def test_an_infinite_mean_has_an_infinite_interval():
    moments = LossMoments().add(np.array([1.0, np.inf]), np.ones(2))
    assert moments.interval(0.95) == (np.inf, np.inf, np.inf)
    assert moments.total() == np.inf


def test_an_interval_of_a_mean_stays_within_its_range():
    assert student_interval(0.01, 1.0, 10.0, 0.95, 1.0) == (0.0, pytest.approx(0.7254, abs=1e-4))
    assert student_interval(0.99, 1.0, 10.0, 0.95, 1.0)[1] == 1.0


def test_one_row_has_no_interval_of_the_mean():
    assert np.isnan(student_interval(0.5, 0.1, 1.0, 0.95)).all()
    assert np.isnan(LossMoments().add(np.array([0.5]), np.ones(1)).interval(0.95)[1:]).all()


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_the_exact_interval_covers_at_least_its_level(share):
    hits = np.random.default_rng(5).binomial(80, share, 4000).astype(float)
    low, high = clopper_pearson(hits, np.full(4000, 80.0), 0.9)
    # Three standard errors of a share near 0.9 over 4,000 draws are 0.014.
    assert np.mean((low <= share) & (share <= high)) > 0.9 - 0.014


def test_students_interval_covers_about_its_level():
    draws = np.random.default_rng(6).exponential(size=(2000, 200))
    covered = 0
    for row in draws:
        _, low, high = LossMoments().add(row, np.ones(200)).interval(0.9)
        covered += low <= 1.0 <= high
    assert 0.87 < covered / 2000 < 0.92


def macro_by_name(labels, predictions, n_classes, level=0.9):
    confusion = ConfusionMatrix.empty(n_classes).add(labels, predictions, np.ones(len(labels)))
    return {macro.name: macro for macro in macro_measures(confusion, confusion.shares(level), 0)}


def draw_predictions(rng, n, n_classes, noise):
    labels = rng.integers(0, n_classes, n)
    return labels, np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), labels)


@pytest.mark.parametrize(("n", "n_classes", "noise"), [(60, 2, 0.3), (100, 2, 0.04), (150, 5, 0.4)])
def test_intervals_have_about_their_nominal_coverage(n, n_classes, noise):
    rng = np.random.default_rng(0)
    truth = macro_by_name(*draw_predictions(rng, 300_000, n_classes, noise), n_classes)
    result = [macro_by_name(*draw_predictions(rng, n, n_classes, noise), n_classes) for _ in range(200)]
    for name, true in truth.items():
        coverage = np.mean([macro[name].low <= true.value <= macro[name].high for macro in result])
        assert coverage > 0.9 - 0.064  # three standard errors


def test_f1_intervals_account_for_mistakes_affecting_two_classes():
    rng = np.random.default_rng(1)
    result = [macro_by_name(*draw_predictions(rng, 200, 2, 0.4), 2, 0.95)["macro_f1"] for _ in range(200)]
    width = np.mean([macro.high - macro.low for macro in result])
    assert width == pytest.approx(2 * 1.96 * np.std([macro.value for macro in result]), rel=0.15)


def test_perfect_predictions_still_have_an_interval():
    result = macro_by_name(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), 2, 0.95)
    low, _ = clopper_pearson(np.array([2.0]), np.array([2.0]), 0.95)
    assert result["balanced_accuracy"].low == pytest.approx(1 - (1 - low[0]) / np.sqrt(2))
    for macro in result.values():
        assert (macro.value, macro.high) == (1.0, 1.0)
        assert macro.low < 0.5


def test_unseen_labels_count_as_classes():
    labels = np.array([0, 1, 2, 2, 7, 8, 8])
    table = np.random.default_rng(2).dirichlet(np.ones(3), 7)
    result, predicted = evaluate_scripted(labels, table), table.argmax(axis=1)
    for name in ("precision", "recall", "f1"):
        metric = getattr(metrics, f"{name}_score")
        expected = metric(labels, predicted, average="macro", zero_division=0)
        assert result.measure(f"macro_{name}").value == pytest.approx(expected, rel=1e-12)
    expected = metrics.balanced_accuracy_score(labels, predicted)
    assert result.measure("balanced_accuracy").value == pytest.approx(expected, rel=1e-12)


def test_half_widths_add_in_quadrature():
    value, low, high = (
        np.array([0.5, 0.7, np.nan]),
        np.array([0.2, 0.3, np.nan]),
        np.array([0.6, 0.9, np.nan]),
    )
    mean, below, above = average_share_interval(value, low, high, 3)
    assert mean == pytest.approx(0.4)
    assert mean - below == pytest.approx(np.hypot(0.3, 0.4) / 3)
    assert above - mean == pytest.approx(np.hypot(0.1, 0.2) / 3)
    assert average_share_interval(value, low, high, 3, 4.0)[1] == pytest.approx(0.4 - 2 * 0.5 / 3)


def test_f1_intervals_follow_from_the_exact_jaccard_interval():
    labels, predicted = (
        np.array([0] * 6 + [1] * 5 + [2] * 3),
        np.array([0] * 5 + [1] + [1] * 4 + [2] + [2] * 3),
    )
    table = ConfusionMatrix.empty(3).add(labels, predicted, np.ones(14))
    f1, low, high = table.f1(0.95)
    # Six rows are of class 1 or predicted as it; four are both.
    limits = clopper_pearson(np.array([5.0, 4.0, 3.0]), np.array([6.0, 6.0, 4.0]), 0.95)
    np.testing.assert_allclose(f1, metrics.f1_score(labels, predicted, average=None))
    for our_values, end in zip((low, high), limits, strict=True):
        np.testing.assert_allclose(our_values, 2 * end / (1 + end))


def test_json_lists_the_weight_of_each_pair() -> None:
    matrix = ConfusionMatrix.empty(2).add(np.array([0, 1, 1]), np.array([0, 0, 0]), np.ones(3))
    assert matrix.to_dict() == {"true": [0, 1], "predicted": [0, 0], "weight": [1.0, 2.0]}


def test_macro_intervals_cover_with_rare_classes() -> None:
    rng = np.random.default_rng(0)
    n_classes, n, repeats = 20, 200, 200
    frequency = 1 / np.arange(1, n_classes + 1) ** 1.5
    frequency /= frequency.sum()
    joint = np.zeros((n_classes, n_classes))
    for k in range(n_classes):
        accuracy = 0.9 - 0.3 * k / n_classes
        joint[k] = frequency[k] * (1 - accuracy) * frequency
        joint[k, k] += frequency[k] * accuracy
    correct, by_label, by_prediction = np.diag(joint), joint.sum(axis=1), joint.sum(axis=0)
    truth = {
        "macro_precision": (correct / by_prediction).mean(),
        "macro_recall": (correct / by_label).mean(),
        "macro_f1": (2 * correct / (by_label + by_prediction)).mean(),
    }
    covered = dict.fromkeys(truth, 0)
    for _ in range(repeats):
        drawn = rng.choice(joint.size, n, p=joint.ravel())
        matrix = ConfusionMatrix.empty(n_classes).add(drawn // n_classes, drawn % n_classes, np.ones(n))
        for measure in macro_measures(matrix, matrix.shares(0.95), 0):
            if measure.name in truth:
                covered[measure.name] += measure.low <= truth[measure.name] <= measure.high
    assert min(covered.values()) > 0.9 * repeats
