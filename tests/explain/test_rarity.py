"""Scores of rare values, and the threshold that a share of the training rows is below."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

from weigh.explain.rarity import (
    UNSEEN,
    ClassTails,
    RarityThreshold,
    TrainingScores,
    score_flags,
    score_levels,
)


def threshold(scores: list[float], n_rows: float, rate: float) -> RarityThreshold:
    return RarityThreshold([TrainingScores(np.array(scores), np.ones(len(scores)))], n_rows, rate)


def test_the_threshold_allows_the_stated_share_of_rows() -> None:
    found = threshold([float(k) for k in range(199)], 199, 0.02)
    assert found.rate == pytest.approx(4 / 200)
    # Three training rows are below, and a new row would be the fourth.
    assert found.cutoff == 3.0
    assert found.is_rare(np.array([0.0, 2.9, 3.0, np.inf])).tolist() == [True, True, False, False]


def test_one_row_is_the_finest_step_of_the_rate() -> None:
    found = threshold([1.0, 2.0, 3.0], 3, 0.01)
    assert (found.rate, found.cutoff) == (0.25, 1.0)


def test_rows_with_equal_scores_count_together() -> None:
    columns = [TrainingScores(np.array([1.0, 5.0]), np.array([10.0, 190.0]))]
    assert RarityThreshold(columns, 200, 0.05).cutoff == 1.0
    assert RarityThreshold(columns, 200, 0.06).cutoff == 5.0


def test_columns_are_pooled() -> None:
    columns = [TrainingScores(np.array([k, 50.0]), np.array([1.0, 98.0])) for k in (1.0, 2.0)]
    assert RarityThreshold(columns, 99, 0.02).cutoff == 2.0
    assert RarityThreshold(columns, 99, 0.03).cutoff == 50.0


def test_flags_have_the_scores_of_two_levels() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 5, (2, 200)).astype(float)
    counts[:, :5] = [[0, 0, 1, 0.5, 3], [0, 7, 1, 2.5, 4]]
    scores, training = score_flags(counts)
    levels = [score_levels(pair) for pair in counts.T]
    assert scores.T.tolist() == [each[0].tolist() for each in levels]
    expected = np.concatenate([each[2].scores for each in levels])
    assert sorted(training.scores.tolist()) == sorted(expected.tolist())
    assert training.counts.sum() == counts.sum()


def test_many_flags_are_scored_at_once() -> None:
    counts = np.random.default_rng(0).integers(0, 50, (2, 30_000)).astype(float)
    start = time.process_time()
    score_flags(counts)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1.7e308])
def test_tails_beyond_the_values_do_not_depend_on_the_unit(scale: float) -> None:
    centres = scale * np.array([-0.9, -0.2, 0.1, 0.5])
    tails = ClassTails(centres, centres, np.ones(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = tails.tails(scale * np.array([-1.0, 0.6, 1.0]))
        leave_one_out = tails.leave_one_out_tails()
    # h / (h + distance): 0.7 / 0.8, 0.7 / 0.8 and 0.7 / 1.2 on either side of the median, twice.
    assert found == pytest.approx([2 * 0.7 / 0.8, 2 * 0.7 / 0.8, 2 * 0.7 / 1.2])
    assert np.isfinite(leave_one_out).all()


def test_values_that_never_varied_have_the_score_of_an_unseen_level() -> None:
    tails = ClassTails(np.array([3.0]), np.array([3.0]), np.array([10.0]))
    assert tails.tails(np.array([4.0])).tolist() == [2 * UNSEEN]
