"""Areas and curves: variances, intervals and undefined cases."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import weigh
from tests.judge.metrics.scripted import evaluate_scripted
from weigh.judge.metrics import accumulators
from weigh.judge.metrics.accumulators import RetainedRows
from weigh.judge.metrics.confidence_intervals import logit_interval
from weigh.judge.metrics.ranking import MAX_CURVE_POINTS, pr_area, rank_rows, ranking_areas, roc_area

AREAS = [roc_area, pr_area]


def draw_scores(rng, n, share=0.4, lead=1.0, steps=None):
    """Return normal scores and the truth; positives are higher by `lead`, and `steps` rounds to ties."""
    truth = rng.random(n) < share
    scores = rng.normal(size=n) + lead * truth
    return np.round(scores * steps) if steps else scores, truth


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("steps", [None, 2])
def test_row_influences_are_derivatives_with_respect_to_the_weights(area, steps):
    rng = np.random.default_rng(0)
    scores, truth = draw_scores(rng, 25, steps=steps)
    weights = rng.gamma(2.0, size=25)
    result = area(rank_rows(scores, truth, weights))
    sides = [weights[truth], weights[~truth]]
    rows = [side.sum() ** 2 / np.square(side).sum() for side in sides]
    scale = np.where(truth, np.sqrt(rows[0] / (rows[0] - 1)), np.sqrt(rows[1] / (rows[1] - 1)))
    for i in range(25):
        more, less = weights.copy(), weights.copy()
        more[i] += 1e-6
        less[i] -= 1e-6
        slope = area(rank_rows(scores, truth, more)).value - area(rank_rows(scores, truth, less)).value
        assert result.row_influences[i] == pytest.approx(slope / 2e-6 * weights[i] * scale[i], abs=1e-8)


def test_the_variance_of_the_roc_area_is_delongs():
    scores, truth = draw_scores(np.random.default_rng(1), 40, steps=3)
    wins = np.sign(scores[truth][:, None] - scores[~truth][None, :]) / 2 + 0.5
    expected = wins.mean(axis=1).var(ddof=1) / truth.sum() + wins.mean(axis=0).var(ddof=1) / (~truth).sum()
    result = roc_area(rank_rows(scores, truth, np.ones(40)))
    assert result.value == pytest.approx(wins.mean(), rel=1e-12)
    assert result.variance == pytest.approx(expected, rel=1e-12)


def test_the_variance_of_the_pr_area_is_that_of_the_bootstrap():
    rng = np.random.default_rng(2)
    scores, truth = draw_scores(rng, 1500)
    resampled = []
    for _ in range(300):
        rows = rng.integers(0, 1500, 1500)
        resampled.append(metrics.average_precision_score(truth[rows], scores[rows]))
    result = pr_area(rank_rows(scores, truth, np.ones(1500)))
    assert np.sqrt(result.variance) == pytest.approx(np.std(resampled), rel=0.12)


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize(("n", "share"), [(40, 0.5), (150, 0.1)])
def test_intervals_have_about_their_nominal_coverage(area, n, share):
    rng = np.random.default_rng(3)
    scores, truth = draw_scores(rng, 200_000, share)
    true = area(rank_rows(scores, truth, np.ones(200_000))).value
    n_covered = 0
    for _ in range(400):
        scores, truth = draw_scores(rng, n, share)
        _, low, high = area(rank_rows(scores, truth, np.ones(n))).interval(0.9)
        n_covered += low <= true <= high
    # Three standard errors of a share near 0.9 over 400 draws are 0.045.
    assert 0.9 - 0.045 < n_covered / 400 < 0.97


def test_intervals_of_mean_areas_have_about_their_nominal_coverage():
    rng = np.random.default_rng(4)

    def areas(n):
        labels = rng.integers(0, 3, n)
        scores = rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[labels]
        rows = RetainedRows()
        rows.add(labels, np.ones(n), scores)
        return ranking_areas(rows, range(3), 0.9).overall

    truth = areas(200_000)
    result = [areas(100) for _ in range(300)]
    for i in (0, 1):
        coverage = np.mean([sample[i].low <= truth[i].value <= sample[i].high for sample in result])
        assert 0.9 - 0.052 < coverage < 0.97


def test_a_perfect_ranking_has_the_exact_interval_of_its_smaller_side():
    result = evaluate_scripted([0, 0, 0, 0, 1, 1, 1], np.array([-4.0, -3, -2, -1, 1, 2, 3]), as_scores=True)
    roc = result.measure("roc_area")
    # The exact interval of three successes in three trials starts at 0.025^(1/3).
    assert (roc.value, roc.low, roc.high) == (1.0, pytest.approx(0.025 ** (1 / 3)), 1.0)
    assert result.measure("pr_area").low == pytest.approx(0.025 ** (1 / 3))


def test_equal_scores_give_chance_areas():
    result = evaluate_scripted([0, 1, 0, 1, 1], np.full((5, 2), 0.5))
    assert result.measure("roc_area").value == 0.5
    assert result.measure("pr_area").value == pytest.approx(3 / 5)
    assert result.curves[1].roc.x.tolist() == [0, 1]


def test_a_single_class_has_no_area_and_is_noted():
    result = evaluate_scripted([1, 1, 1], [[0.2, 0.8], [0.4, 0.6], [0.9, 0.1]])
    assert np.isnan(result.measure("roc_area").value)
    assert result.curves == ()
    assert "Areas need rows of at least two classes." in str(result)


def test_a_class_without_rows_is_excluded_from_the_mean_and_noted():
    table = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    result = evaluate_scripted([0, 1] * 10, table)
    assert np.isnan(result.per_class[2].roc_area.value)
    both = [row.roc_area.value for row in result.per_class[:2]]
    assert result.measure("roc_area").value == pytest.approx(np.mean(both))
    assert "1 class without rows: no area, and not in the means." in str(result)


def test_rows_of_weight_zero_change_nothing():
    rng = np.random.default_rng(5)
    labels, table = rng.integers(0, 3, 30), rng.dirichlet(np.ones(3), 30)
    weights = np.where(rng.random(30) < 0.3, 0.0, rng.gamma(1.0, size=30))
    kept = weights > 0
    whole = evaluate_scripted(labels, table, weights).to_dict()
    fewer = evaluate_scripted(labels[kept], table[kept], weights[kept]).to_dict()
    assert whole["n"] == 30
    for name in ("measures", "per_class", "reliability", "curves"):
        assert whole[name] == fewer[name]


def test_integer_weights_equal_repeated_rows():
    rng = np.random.default_rng(6)
    labels, table, counts = rng.integers(0, 2, 30), rng.dirichlet(np.ones(2), 30), rng.integers(1, 4, 30)
    weighted = evaluate_scripted(labels, table, counts.astype(float))
    repeated = evaluate_scripted(np.repeat(labels, counts), np.repeat(table, counts, axis=0))
    for name in ("balanced_accuracy", "macro_f1", "brier", "roc_area", "pr_area"):
        expected = repeated.measure(name).value
        assert weighted.measure(name).value == pytest.approx(expected, rel=1e-12)


def test_a_perceptron_is_ranked_by_its_scores():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] + rng.normal(size=80) > 0, "yes", "no")
    model = weigh.Perceptron().fit(X[:40], y[:40])
    result = weigh.evaluate(model, X[40:], y[40:])
    area = metrics.roc_auc_score(y[40:] == "yes", model.decision_function(X[40:]))
    assert result.measure("roc_area").value == pytest.approx(area, rel=1e-12)
    assert [row.roc_area.value for row in result.per_class] == pytest.approx([area, area], rel=1e-12)
    assert result.omitted == (
        "The classifier gives no probabilities, so there are no losses and no calibration.",
    )


def test_too_many_scores_omit_the_areas_with_a_note(monkeypatch):
    # Bytes per row: true code 4, weight 8, confidence 8, correctness 1, scores 24.
    monkeypatch.setattr(accumulators, "MAX_RETAINED_BYTES", 20 * 45 - 1)
    rng = np.random.default_rng(7)
    labels, table = rng.integers(0, 3, 20), rng.dirichlet(np.ones(3), 20)
    result = evaluate_scripted(labels, table)
    assert "roc_area" not in [measure.name for measure in result.measures]
    assert result.measure("calibration_error").value > 0
    assert result.omitted == ("Areas are omitted: they would need more than 256 MB of scores in memory.",)
    monkeypatch.setattr(accumulators, "MAX_RETAINED_BYTES", 20 * 45)
    assert evaluate_scripted(labels, table).measure("roc_area").value > 0
    monkeypatch.setattr(accumulators, "MAX_RETAINED_BYTES", 20 * 21 - 1)
    none = evaluate_scripted(labels, table)
    assert none.reliability == ()
    assert none.omitted[1] == "Calibration is omitted: it would need more than 256 MB of rows in memory."


def test_retained_bytes_match_the_memory_in_use():
    rng, n = np.random.default_rng(0), 65536
    tracemalloc.start()
    rows = RetainedRows()
    for _ in range(4):
        labels, odds = rng.integers(0, 2, n), rng.random(n)
        rows.add(labels, np.ones(n), np.column_stack([odds, 1.0 - odds]), odds, labels == 1)
    labels = odds = None
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept == pytest.approx(rows.n_bytes, rel=0.001)
    assert rows.n_bytes == 4 * n * 37


@pytest.mark.parametrize("steps", [None, 40])
def test_a_long_curve_is_thinned_without_losing_its_area(steps):
    rng = np.random.default_rng(8)
    scores, truth = draw_scores(rng, 20_000, lead=1.5, steps=steps)
    result = evaluate_scripted(truth.astype(int), scores, as_scores=True)
    roc, precision_recall = result.curves[1].roc, result.curves[1].precision_recall
    assert max(len(roc.x), len(precision_recall.x)) <= MAX_CURVE_POINTS
    area = result.measure("roc_area").value
    assert np.trapezoid(roc.y, roc.x) == pytest.approx(area, abs=2e-4)
    steps = np.diff(precision_recall.x) * precision_recall.y[1:]
    assert steps.sum() == pytest.approx(result.measure("pr_area").value, abs=5e-3)
    whole = set(zip(*(column.tolist() for column in metrics.roc_curve(truth, scores)[:2]), strict=True))
    assert set(zip(roc.x.tolist(), roc.y.tolist(), strict=True)) <= whole


def test_a_logit_interval_stays_within_zero_and_one():
    low, high = logit_interval(0.99, 0.5, 5.0, 0.95)
    assert 0.0 < low < 0.99 < high <= 1.0
    assert logit_interval(0.5, 0.01, 1e9, 0.95) == pytest.approx((0.3135, 0.6865), abs=1e-4)


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=1, max_size=40), st.integers(0, 40))
def test_true_positives_are_the_most_over_all_thresholds_with_few_false_ones(
    rows: list[tuple[bool, int]], allowed: int
) -> None:
    positive, scores = np.array([row[0] for row in rows]), np.array([float(row[1]) for row in rows])
    most = max(
        int((scores[positive] >= threshold).sum())
        for threshold in range(-3, 5)
        if (scores[~positive] >= threshold).sum() <= allowed
    )
    assert rank_rows(scores, positive).true_positives_at(allowed) == most
