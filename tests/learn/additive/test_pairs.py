"""Pairs of columns: which ones are chosen, and that their effects contain no effect of one column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.learn.additive import models
from weigh.model.distributions.curve_weights import PairWeights

LEARNERS = {True: weigh.LinearRegression, False: weigh.LogisticRegression}


def simulate(seed: int, is_regression: bool, interaction: float, n: int = 1500) -> dict[str, Any]:
    """Return four numbers and a category with main effects, and a joint effect of a and b."""
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.uniform(-1, 1, (4, n))
    level = rng.choice(["u", "v", "w"], n)
    score = np.sin(3 * a) + b + c**2 + (level == "u") + interaction * a * b
    y = score + 0.5 * rng.normal(size=n) if is_regression else score + rng.logistic(size=n) > 0.8
    return {"a": a, "b": b, "c": c, "d": d, "level": level, "y": y}


def fit(table: dict[str, Any], is_regression: bool, pairs: Any, **settings: Any) -> Any:
    return LEARNERS[is_regression](curves="auto", pairs=pairs, **settings).fit(table, "y").model_


def surfaces(model: Any) -> list[PairWeights]:
    return [term for term in model.terms if isinstance(term, PairWeights)]


@pytest.mark.parametrize("is_regression", [True, False])
def test_a_planted_interaction_is_found_and_lowers_the_loss(is_regression: bool) -> None:
    table, new = (simulate(seed, is_regression, 3.0) for seed in (0, 1))
    model = fit(table, is_regression, "auto")
    assert ("a", "b") in model.schema.pairs
    without = fit(table, is_regression, None)
    if is_regression:
        losses = [np.mean((m.predict(new) - new["y"]) ** 2) for m in (model, without)]
    else:
        true = new["y"].astype(int)
        losses = [-np.log(m.predict_proba(new)[np.arange(1500), true]).mean() for m in (model, without)]
    assert losses[0] < 0.93 * losses[1]


@pytest.mark.parametrize("is_regression", [True, False])
def test_a_surface_follows_the_planted_interaction(is_regression: bool) -> None:
    table = simulate(0, is_regression, 3.0, n=6000)
    (term,) = surfaces(fit(table, is_regression, [("a", "b")]))
    shape = term.left.n_cells, term.right.n_cells
    cells = np.searchsorted(term.left.cuts, table["a"]) * shape[1] + np.searchsorted(
        term.right.cuts, table["b"]
    )
    truth = np.bincount(cells, 3.0 * table["a"] * table["b"]) / np.bincount(cells)
    error = np.sqrt(np.average((term.table[:, -1] - truth) ** 2, weights=term.counts))
    assert error < 0.25 * np.sqrt(np.average(truth**2, weights=term.counts))


@pytest.mark.slow
@pytest.mark.parametrize("is_regression", [True, False])
def test_pairs_are_seldom_found_where_there_are_none(is_regression: bool) -> None:
    n_found = [
        len(fit(simulate(seed, is_regression, 0.0, n=600), is_regression, "auto").schema.pairs)
        for seed in range(10)
    ]
    assert sum(n > 0 for n in n_found) <= 4, n_found


def test_a_number_of_pairs_gives_the_clearest() -> None:
    table = simulate(0, False, 3.0)
    assert fit(table, False, 1).schema.pairs == (("a", "b"),)
    pairs = fit(table, False, 3).schema.pairs
    assert len(pairs) <= 3
    assert pairs[0] == ("a", "b")


def test_named_pairs_are_used_in_their_order() -> None:
    pairs = [("c", "level"), ("a", "d")]
    model = fit(simulate(0, True, 0.0, n=300), True, pairs)
    assert model.schema.pairs == tuple(pairs)
    assert [term.name for term in surfaces(model)] == ["c × level", "a × d"]


def test_an_unknown_column_of_a_pair_is_refused() -> None:
    with pytest.raises(errors.WeighError, match="'nothing'"):
        fit(simulate(0, True, 0.0, n=300), True, [("a", "nothing")])


def test_a_column_of_dates_stands_for_its_days() -> None:
    table = simulate(0, True, 0.0, n=200)
    table["when"] = np.datetime64("2020-01-01") + np.arange(200)
    model = fit(table, True, [("when", "a")])
    assert model.schema.pairs == (("when: days since 1970", "a"),)
    for repeated in (["when", "when: days since 1970"], ["a", "when: days since 1970"]):
        with pytest.raises(errors.ParameterError) as raised:
            fit(table, True, [("when", "a"), tuple(repeated)])
        assert "pairs must be pairs of two different column names, each once" in str(raised.value)


@pytest.mark.parametrize("pairs", [[("a", "a")], [("a", "b"), ("a", "b")], [("a", "b"), ("b", "a")]])
def test_a_pair_of_one_column_and_a_repeated_pair_are_refused(pairs: Any) -> None:
    with pytest.raises(errors.WeighError, match="pairs"):
        fit(simulate(0, True, 0.0, n=300), True, pairs)


@pytest.mark.parametrize("weights", [None, np.random.default_rng(0).integers(0, 4, 800)])
@pytest.mark.parametrize("is_regression", [True, False])
def test_surfaces_contain_no_effect_of_one_column(is_regression: bool, weights: Any) -> None:
    table = simulate(3, is_regression, 2.0, n=800)
    learner = LEARNERS[is_regression](curves="auto", pairs=[("a", "b"), ("c", "level")])
    model = learner.fit(table, "y", sample_weight=weights).model_
    s = np.ones(800) if weights is None else weights
    for term in surfaces(model):
        left, right = term.left.name, term.right.name
        grid = (term.counts[:, None] * term.table).reshape(term.left.n_cells, term.right.n_cells, -1)
        scale = np.abs(grid).sum()
        np.testing.assert_allclose(grid.sum(axis=0), 0, atol=1e-9 * scale)
        np.testing.assert_allclose(grid.sum(axis=1), 0, atol=1e-9 * scale)
        if term.right.cuts is not None:
            cells = np.searchsorted(term.left.cuts, table[left]) * term.right.n_cells
            cells += np.searchsorted(term.right.cuts, table[right])
            np.testing.assert_allclose(term.counts, np.bincount(cells, s, minlength=term.n_cells))


@pytest.mark.parametrize("is_regression", [True, False])
def test_main_effects_sum_to_zero_over_the_rows(is_regression: bool) -> None:
    table = simulate(3, is_regression, 2.0, n=800)
    for term in fit(table, is_regression, [("a", "b")]).terms[:4]:
        np.testing.assert_allclose(term.counts @ term.table, 0, atol=1e-9 * term.counts.sum())


@pytest.mark.parametrize("is_regression", [True, False])
def test_contributions_sum_to_the_score(is_regression: bool) -> None:
    table = simulate(3, is_regression, 2.0, n=300)
    model = fit(table, is_regression, [("a", "b"), ("c", "level")])
    rows = {name: values[:20].tolist() for name, values in table.items() if name != "y"}
    rows["a"][0], rows["level"][1], rows["level"][2] = None, None, "unseen"
    scores = model.predict(rows) if is_regression else np.diff(model.scores(rows))[:, 0]
    contributions = np.zeros(20)
    for term, group in zip(model.terms, model.schema.column_groups, strict=True):
        block = group.kind.encode(next(model.chunks(rows)).columns, group.names, model.schema.missing)
        for row in range(20):
            for each in term.contributions(block, row):
                contributions[row] += each.logs[0] if is_regression else each.logs[1] - each.logs[0]
    base = model.base[0] if is_regression else model.base[1] - model.base[0]
    np.testing.assert_allclose(base + contributions, scores, atol=1e-12)


@pytest.mark.parametrize("is_regression", [True, False])
def test_missing_values_and_unseen_levels_contribute_nothing_in_pairs(is_regression: bool) -> None:
    table = simulate(3, is_regression, 2.0, n=300)
    table["a"] = np.where(np.arange(300) % 7 == 0, np.nan, table["a"])
    model = fit(table, is_regression, [("a", "b"), ("c", "level")])
    a, b, c, _, level = model.terms[:5]
    row = {"a": [None], "b": [0.3], "c": [0.5], "d": [0.1], "level": ["unseen"]}
    score = model.predict(row)[0] if is_regression else np.diff(model.scores(row))[0, 0]
    heights = model.base + a.table[-1] + level.table[-1]
    for term in (b, c, model.terms[3]):
        heights = heights + term.table[np.searchsorted(term.cuts, row[term.name][0])]
    assert score == pytest.approx(heights[0] if is_regression else heights[1] - heights[0], abs=1e-12)
    assert a.table[-1].any()  # missing values have their own height
    assert not level.table[-1].any()


@pytest.mark.parametrize("pairs", ["auto", 2])
def test_tables_without_two_columns_for_pairs_have_none(pairs: Any) -> None:
    table = simulate(0, True, 0.0, n=150)
    assert fit({"a": table["a"], "y": table["y"]}, True, pairs).schema.pairs == ()


def test_few_rows_have_no_automatic_pairs() -> None:
    assert fit(simulate(0, True, 3.0, n=90), True, "auto").schema.pairs == ()


def test_three_classes_can_have_pairs() -> None:
    table = simulate(0, True, 4.0, n=1200)
    table["y"] = np.digitize(table["y"], np.quantile(table["y"], [0.3, 0.7]))
    table["y"] = np.array(["low", "mid", "high"])[table["y"]]
    model = fit(table, False, "auto")
    assert ("a", "b") in model.schema.pairs
    assert model.certificate.converged


@pytest.mark.parametrize("pairs", ["auto", 1])
def test_a_weak_pair_is_found_beside_strong_main_effects(pairs: Any) -> None:
    # Standardised targets make the gradients of a precise fit small; their size is that of the noise.
    rng = np.random.default_rng(0)
    b, c, d = rng.uniform(-1, 1, (3, 2000))
    level = rng.choice(["u", "v"], 2000)
    y = 20 * (level == "u") + 0.6 * b * c + 0.05 * rng.normal(size=2000)
    model = fit({"level": level, "b": b, "c": c, "d": d, "y": y}, True, pairs)
    assert model.schema.pairs == (("b", "c"),)
    assert model.fit.sigma < 0.1


def make_levels(is_regression: bool, interaction: float, seed: int = 0, n: int = 400) -> dict[str, Any]:
    """Return three categories with effects of their own, and a joint effect of a and b."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(0, 3, (3, n))
    score = 0.8 * a - b + (c == 1) + interaction * ((a == 1) == (b == 1))
    y = score + 0.5 * rng.normal(size=n) if is_regression else score + rng.logistic(size=n) > 0.5
    return {name: np.array(["u", "v", "w"])[codes] for name, codes in zip("abc", (a, b, c), strict=True)} | {
        "y": y
    }


def test_levels_without_pairs_are_fitted_as_a_plain_logistic_regression() -> None:
    table = make_levels(False, 0.0, seed=2)
    model = fit(table, False, "auto")
    plain = LEARNERS[False]().fit(table, "y").model_
    assert model.schema.pairs == ()
    assert model.fit == plain.fit
    assert all(np.array_equal(a.table, b.table) for a, b in zip(model.terms, plain.terms, strict=True))


def test_levels_without_pairs_are_pooled_in_a_linear_regression() -> None:
    model = fit(make_levels(True, 0.0, seed=2), True, "auto")
    assert model.schema.pairs == ()
    assert set(model.fit.strengths) == {"a", "b", "c"}


@pytest.mark.parametrize("is_regression", [True, False])
def test_levels_with_a_joint_effect_are_pooled_beside_the_pair(is_regression: bool) -> None:
    model = fit(make_levels(is_regression, 3.0), is_regression, "auto")
    assert ("a", "b") in model.schema.pairs
    assert {"a", "b", "c", "a × b"} <= set(model.fit.strengths)


def test_many_levels_of_all_classes_have_no_automatic_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_levels(False, 3.0)
    for limit, n_pairs in [(6, 1), (5, 0)]:  # three categories with two coordinates each
        monkeypatch.setattr(models, "MAX_WEIGHTS", limit)
        assert len(fit(table, False, "auto").schema.pairs) == n_pairs
    assert len(fit(table, False, [("a", "b")]).schema.pairs) == 1
