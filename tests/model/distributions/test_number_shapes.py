"""Numbers with other shapes than the normal one take part in everything that a model does."""

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.model.distributions.gaussian import Gaussian
from weigh.model.distributions.number_shapes import ShapedNumber

SHAPES = ("log-normal", "zero-inflated", "histogram")


def make_table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    gain = np.where(rng.random(n) < 0.7 - 0.4 * y, 0.0, np.exp(rng.normal(6 + y, 1.0)))
    pay = np.exp(rng.normal(3 + y, 1 + y))
    sides = rng.choice([-3.0, 3.0], n)
    both = np.where(y == 0, sides / 3, sides) + rng.normal(size=n) * 0.2
    return {"gain": gain, "pay": pay, "both": both, "y": np.where(y == 1, "b", "a")}


def select(table, rows):
    return {name: column[rows] for name, column in table.items()}


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture(scope="module")
def model(table):
    return weigh.NaiveBayes().fit(table, "y").model_


def shape_of(distribution):
    return distribution.shape if isinstance(distribution, ShapedNumber) else "normal"


def test_shapes_of_a_table_with_names_are_chosen(model):
    assert [shape_of(d) for d in model.distributions] == ["zero-inflated", "log-normal", "histogram"]
    assert [d.describe().split(",")[0] for d in model.distributions] == [
        "zero-inflated",
        "log-normal",
        "histogram",
    ]


def test_the_default_is_normal_for_bare_arrays_and_stated_spreads(table):
    X = np.column_stack([table["gain"], table["pay"], table["both"]])
    bare = weigh.NaiveBayes().fit(X, table["y"]).model_
    assert all(isinstance(d, Gaussian) for d in bare.distributions)
    assert repr(bare.schema.kinds[0]) == "Number()"
    for kind in (weigh.Number(spread="own"), weigh.Number(shape="normal"), weigh.Number(floor=0.1)):
        stated = weigh.NaiveBayes(columns={"pay": kind}).fit(table, "y").model_
        assert isinstance(stated.distributions[1], Gaussian)
        assert stated.schema.kinds[1] == kind
    assert repr(weigh.NaiveBayes(columns={"pay": weigh.Number()}).fit(table, "y").schema_.kinds[1]) == (
        "Number(shape='auto')"
    )


def test_log_loss_is_smaller_than_with_normal_distributions(table, model):
    test = make_table(seed=1)
    columns = {name: weigh.Number(shape="normal") for name in ("gain", "pay", "both")}
    normal = weigh.NaiveBayes(columns=columns).fit(table, "y").model_
    rows = np.arange(len(test["y"])), (test["y"] == "b").astype(int)
    losses = [-np.log(each.predict_proba(test)[rows]).mean() for each in (model, normal)]
    assert losses[0] < 0.8 * losses[1]


def test_the_model_of_any_parts_in_any_order_has_the_same_bytes(table, model):
    parts = [select(table, slice(i, None, 3)) for i in range(3)]
    fitted = [weigh.NaiveBayes(columns=model.schema).fit(part, "y").model_ for part in parts]
    for order in ((0, 1, 2), (2, 0, 1)):
        merged = fitted[order[0]].merge(fitted[order[1]]).merge(fitted[order[2]])
        assert merged.to_bytes() == model.to_bytes()
    assert model.forget(parts[1]).to_bytes() == fitted[0].merge(fitted[2]).to_bytes()


def test_models_are_saved_with_their_grid(tmp_path, table, model):
    model.save(tmp_path / "shapes.weigh")
    loaded = weigh.load(tmp_path / "shapes.weigh")
    assert loaded.to_bytes() == model.to_bytes()
    assert (loaded.predict_proba(table) == model.predict_proba(table)).all()


def test_recounting_finds_the_cells_of_all_rows(table, model):
    assert weigh.verify(model, table).ok
    changed = table | {"pay": np.where(np.arange(len(table["pay"])) == 3, 1.5, table["pay"])}
    assert not weigh.verify(model, changed).ok


def test_evidence_names_the_shape_and_sums_to_the_score(table, model):
    row = {"gain": 0.0, "pay": 25.0, "both": 1.1}
    evidence = model.explain(row)[0]
    text = str(evidence)
    assert "gain = 0 (zero-inflated)" in text
    assert "pay = 25 (log-normal)" in text
    assert "both = 1.1 (histogram)" in text
    scores = model.scores(row)[0]
    total = model.log_prior + sum(
        c.logs
        for term, block in zip(model.terms, model.encode(next(iter(model.chunks(row)))).blocks, strict=True)
        for c in term.contributions(block, 0)
    )
    assert total == pytest.approx(scores)


def test_worked_calculations_show_the_formulas(model):
    worked = str(model.explain({"gain": 0.0, "pay": 25.0, "both": 1.1})[0].worked())
    assert "P(gain=zero | class)" in worked
    assert "N(log 25 = " in worked
    assert "≤ x <" in worked


@pytest.mark.parametrize("shape", [*SHAPES, "auto"])
@pytest.mark.parametrize("spread", [None, "own", "shared"])
def test_leave_one_out_scores_are_those_of_the_model_without_the_row_and_with_the_same_shape(shape, spread):
    table = make_table(60, seed=4)
    name = "gain" if shape == "zero-inflated" else "pay"
    rows = {name: table[name], "y": table["y"]}
    columns = {name: weigh.Number(shape=shape, spread=spread)}
    model = weigh.NaiveBayes(columns=columns).fit(rows, "y").model_
    scores = model.left_out_scores(rows)
    for i in range(0, 60, 7):
        fewer = model.with_fewer_counts(model.forget(select(rows, slice(i, i + 1))).counts)
        assert shape_of(fewer.distributions[0]) == shape_of(model.distributions[0])
        assert fewer.scores({name: rows[name][i : i + 1]})[0] == pytest.approx(scores[i], rel=1e-12)


def test_samples_have_the_shape(model):
    rows = model.sample(4000, seed=1)
    is_b = rows["y"] == "b"
    assert abs((rows["gain"][~is_b] == 0).mean() - 0.7) < 0.06
    assert (rows["pay"] > 0).all()
    assert abs(np.log(rows["pay"][is_b]).mean() - 4.0) < 0.4
    assert (np.abs(rows["both"][is_b]) > 1.5).mean() > 0.95


def test_the_score_of_other_shapes_is_not_linear(model):
    with pytest.raises(errors.Unsupported) as error:
        model.linear()
    assert str(error.value) == (
        "Column 'gain' has a zero-inflated distribution, so the score is not linear in it. "
        "Train with columns={'gain': weigh.Number(spread='shared')}."
    )


def test_a_column_with_zeros_cannot_be_stated_to_be_log_normal(table):
    with pytest.raises(errors.ColumnError) as error:
        weigh.NaiveBayes(columns={"gain": weigh.Number(shape="log-normal")}).fit(table, "y").predict(table)
    n = int((table["gain"] == 0).sum())
    assert str(error.value) == (
        f"Column 'gain' cannot be log-normal: {n} values of it are zero or negative. "
        "Use columns={'gain': weigh.Number(shape='auto')}."
    )


def test_bins_and_a_shape_exclude_each_other():
    with pytest.raises(errors.ParameterError) as error:
        weigh.Number(bins=4, shape="histogram")
    assert str(error.value) == "Number: shape must be left out where bins are given, got 'histogram'."


@pytest.mark.parametrize("shape", SHAPES)
def test_odd_numbers_are_scored_without_errors(table, shape):
    rows = {"pay": np.where(np.arange(200) % 5 == 0, np.nan, table["pay"]), "y": table["y"]}
    model = weigh.NaiveBayes(columns={"pay": weigh.Number(shape=shape)}).fit(rows, "y").model_
    odd = {"pay": np.array([np.nan, 0.0, -1.0, 1e300, -1e300, 5e-324])}
    scores = model.scores(odd)
    assert np.isfinite(scores).all()
    assert scores[0] == pytest.approx(model.log_prior)
    assert np.isfinite(model.predictive_proba(odd)).all()
    assert np.isfinite(model.left_out_scores(rows)).all()


@pytest.mark.parametrize("shape", [*SHAPES, "auto"])
def test_constant_and_empty_columns_add_nothing(shape):
    labels = ["a", "b"] * 20
    for value in (3.0, np.nan):
        rows = {"x": np.full(40, value), "z": np.arange(40.0), "y": labels}
        columns = {"x": weigh.Number(shape=shape), "z": "number"}
        model = weigh.NaiveBayes(columns=columns).fit(rows, "y").model_
        without = weigh.NaiveBayes(columns={"z": "number"}).fit({"z": rows["z"], "y": labels}, "y").model_
        assert (model.predict_proba({"x": [1.0], "z": [5.0]}) == without.predict_proba({"z": [5.0]})).all()


def test_whole_weights_are_repeated_rows(table):
    weights = np.arange(200) % 3
    repeated = select(table, np.repeat(np.arange(200), weights))
    schema = weigh.NaiveBayes().fit(table, "y").schema_
    weighted = weigh.NaiveBayes(columns=schema).fit(table, "y", sample_weight=weights).model_
    assert weighted.to_bytes() == weigh.NaiveBayes(columns=schema).fit(repeated, "y").model_.to_bytes()


def test_fractional_weights_are_fractions_of_rows(table):
    nb = weigh.NaiveBayes().fit(table, "y", sample_weight=np.full(200, 0.3))
    assert "normal" not in [shape_of(d) for d in nb.model_.distributions]
    assert np.isfinite(nb.model_.scores(table)).all()
    weighted = weigh.rows(table, "y", np.full(200, 0.3))
    assert np.isfinite(nb.model_.left_out_scores(weighted)).all()


def test_changes_of_a_value_that_flip_the_verdict_are_found(model):
    change = weigh.flip(model, {"gain": 0.0, "pay": 25.0, "both": 1.1})
    assert "both" in str(change)


def test_differences_of_histograms_are_those_of_their_bins(table, model):
    other = model.forget(select(table, slice(0, 20)))
    assert weigh.diff(model, other).classes
    assert weigh.diff(model, model).same
