"""One run keeps four perceptrons: last, averaged, voted and lazy; a margin is one parameter."""

from __future__ import annotations

from typing import Any

import pytest

import weigh

LEVELS = {"familiarity": weigh.Category(levels=("high", "medium", "low"))}


@pytest.fixture
def run(mails: Any) -> Any:
    """Two passes over the mails in order, recorded."""
    learner = weigh.Perceptron(record=True, shuffle=False, max_iter=2, columns=LEVELS)
    return learner.fit(mails, "spam").model_


def test_every_hypothesis_of_one_run_is_kept(run: Any) -> None:
    found = {
        how: (run.keep(how).coef.ravel().tolist(), float(run.keep(how).intercept))
        for how in ("last", "averaged", "lazy")
    }
    # One run, so the features come in one order: the flags, then the levels.
    assert run.features == ["CS373", "investment", *(f"familiarity={f}" for f in ("high", "medium", "low"))]
    assert found["averaged"][0] == pytest.approx([-0.1, 0.7, -0.2, -0.9, 0.4], abs=1e-15)
    assert found["averaged"][1] == pytest.approx(-0.7)
    assert found["lazy"][0] == pytest.approx([-1 / 8, 7 / 8, -2 / 8, -8 / 8, 4 / 8])
    assert found["lazy"][1] == pytest.approx(-6 / 8)
    assert found["last"] == ([-1.0, 1.0, 0.0, -2.0, 0.0], -2.0)


def test_each_hypothesis_equals_a_run_that_keeps_only_it(run: Any, mails: Any) -> None:
    for how in ("last", "averaged", "lazy", "voted"):
        alone = weigh.Perceptron(keep=how, shuffle=False, max_iter=2, columns=LEVELS).fit(mails, "spam")
        assert run.keep(how).scores(mails).tolist() == alone.model_.scores(mails).tolist()
        assert run.keep(how).predict(mails).tolist() == alone.predict(mails).tolist()


def test_the_vote_is_tied_and_the_average_is_not(run: Any, new_mail: Any) -> None:
    assert float(run.keep("voted").scores(new_mail)[0] @ [-1, 1]) == 0
    averaged = run.keep("averaged").scores(new_mail)[0]
    assert averaged[1] - averaged[0] == pytest.approx(-3 / 10)


def test_a_margin_widens_the_plane(mails: Any) -> None:
    thin, thick = (
        weigh.Perceptron(keep="last", shuffle=False, max_iter=1000, margin=margin, columns=LEVELS)
        .fit(mails, "spam")
        .certificate_.margin
        for margin in (0, 100)
    )
    assert thin < thick <= float((3 / 20) ** 0.5) + 1e-12
