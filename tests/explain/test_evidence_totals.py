"""The contributions sum exactly to the total, which is the difference of the scores up to rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.small_learners import CASES, make_table


@pytest.mark.parametrize(("learner", "n_classes"), CASES)
def test_the_total_is_the_score_difference_up_to_rounding(learner: Any, n_classes: int) -> None:
    table = make_table(n_classes)
    model = type(learner)(**learner.get_params(deep=False)).fit(table, "y").model_
    explained = model.explain(table)
    scores = model.scores(table) if n_classes else model.predict(table)[:, None]
    for evidence, row in zip(explained, scores, strict=True):
        against = 0.0 if evidence.runner_up is None else row[model.classes.index(evidence.runner_up)]
        verdict = row[model.classes.index(evidence.verdict)] if n_classes else row[0]
        contributions = [line.nats for line in evidence.table]
        assert evidence.total == math.fsum(contributions)
        # Both sums round once per term: by at most half a unit in the last place of what is summed so far.
        size = sum(map(abs, contributions)) + abs(verdict) + abs(against)
        assert abs(evidence.total - (verdict - against)) <= (len(contributions) + 2) * size * 2.0**-52


def test_the_last_bits_do_differ() -> None:
    table = make_table(2)
    model = CASES[0].values[0].fit(table, "y").model_
    scores = model.scores(table)
    leads = np.abs(scores[:, 1] - scores[:, 0])
    assert any(
        evidence.total != lead for evidence, lead in zip(model.explain(table), leads.tolist(), strict=True)
    )
