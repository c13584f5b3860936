"""Models from given probabilities or counts: what is accepted, and which errors are raised."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.errors import ColumnError, LabelError, MergeError, ParameterError, Unsupported
from weigh.model import BayesModel

F = Fraction
COUNTS = {"X1": {"Yes": {"Low": 10, "High": 17}, "No": {"Low": 2, "High": 0}}}


def from_parameters(columns: Any, class_prior: Any = "uniform", **settings: Any) -> BayesModel:
    return BayesModel.from_parameters(class_prior=class_prior, columns=columns, **settings)


def exact_probabilities(model: BayesModel) -> list[list[Fraction]]:
    distribution: Any = model.distributions[0]
    return [distribution.exact_probabilities(c) for c in range(len(model.classes))]


def test_floats_are_read_by_their_decimal_representation() -> None:
    model = from_parameters({"x": {"a": {"u": 0.1, "v": 0.2, "w": 0.7}}})
    assert exact_probabilities(model) == [[F(1, 10), F(2, 10), F(7, 10)]]


def test_probabilities_that_sum_to_1_up_to_rounding_are_normalised() -> None:
    model = from_parameters({"x": {"a": dict.fromkeys("uvw", 1 / 3)}})
    assert exact_probabilities(model) == [[F(1, 3)] * 3]


@pytest.mark.parametrize("kind", ["category", "text"])
def test_probabilities_that_do_not_fit_integers_stay_floats(kind: str) -> None:
    rng = np.random.default_rng(0)
    names = [f"word{k}" for k in range(200)]
    cells = {label: dict(zip(names, rng.dirichlet(np.ones(200)).tolist(), strict=True)) for label in "ab"}
    model = from_parameters({"x": cells}, kinds={"x": kind})
    distribution: Any = model.distributions[0]
    expected = np.array([[cells[label][name] for name in sorted(names)] for label in "ab"])
    assert np.abs(distribution.probabilities / expected - 1).max() < 1e-14
    assert np.isfinite(model.scores({"x": "word7"})).all()


def test_a_probability_with_many_digits_is_shown_exactly() -> None:
    share = 1.2345678901234568e-05
    model = from_parameters({"x": {"a": share}})
    assert str(F(str(share))) in model.explain({"x": 1})[0].worked()


def test_counts_whose_sum_exceeds_int64_do_not_overflow() -> None:
    whole = 2**63 + 1
    words = {"a": {"half": F(2**62, whole), "rest": F(2**62 + 1, whole)}}
    model = from_parameters({"x": words}, kinds={"x": "text"})
    assert model.scores({"x": "half"})[0, 0] == pytest.approx(np.log(0.5), rel=1e-15)
    assert "P(x: half | class)  1/2" in model.explain({"x": "half"})[0].worked()


def test_a_level_that_one_class_does_not_name_has_probability_0_there() -> None:
    model = from_parameters({"x": {"a": {"u": 1}, "b": {"u": 0.5, "v": 0.5}}})
    assert exact_probabilities(model) == [[1, 0], [F(1, 2), F(1, 2)]]
    assert model.predict_proba({"x": "v"}).tolist() == [[0.0, 1.0]]


def test_a_given_mean_and_spread_are_kept_to_the_last_bit() -> None:
    pairs = {"a": (0.1, 1e-8), "b": (1e300, 1e200), "c": (-3.7, 0.3)}
    distribution: Any = from_parameters({"x": pairs}).distributions[0]
    assert distribution.mean.tolist() == [mean for mean, _ in pairs.values()]
    assert distribution.deviation.tolist() == [spread for _, spread in pairs.values()]


def test_text_may_be_given_as_word_occurrence_probabilities() -> None:
    words = {"spam": {"pills": 0.8, "lunch": 0.1}, "ham": {"pills": 0.05, "lunch": 0.4}}
    model = from_parameters({"body": words}, kinds={"body": weigh.Text(counts=False)})
    odds = F(8, 10) * F(9, 10) / (F(5, 100) * F(6, 10))
    assert model.predict_proba({"body": "Pills!"})[0, 1] == pytest.approx(float(odds / (1 + odds)), abs=1e-15)


def test_a_class_of_probability_0_stays_impossible_after_saving(tmp_path: Any) -> None:
    model = from_parameters({"x": {"a": 0.1, "b": 0.5}}, {"a": 1, "b": 0})
    model.save(tmp_path / "m.weigh")
    assert weigh.load(tmp_path / "m.weigh").predict_proba({"x": 1}).tolist() == [[1.0, 0.0]]


def test_labels_and_levels_may_be_numbers_and_booleans() -> None:
    model = from_parameters({"x": {1: {True: 0.5, False: 0.5}, 0: {1: 0.25, 0: 0.75}}}, {0: 0.5, 1: 0.5})
    assert model.classes == [0, 1]
    assert exact_probabilities(model) == [[F(3, 4), F(1, 4)], [F(1, 2), F(1, 2)]]
    assert model.predict({"x": [True, False, 1, 0]}).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        ({}, {}, "columns must be a mapping from column names, one at least, got {}"),
        ({"x": {"a": {"u": 0.5, "v": 0.4}}}, {}, "['x']['a'] must sum to 1 (they sum to 0.9), got {'u': 0.5"),
        ({"x": {"a": {"u": 1.5, "v": -0.5}}}, {}, "['x']['a'] must be a probability from 0 to 1, got 1.5."),
        ({"x": {"a": 1.1}}, {}, "['x']['a'] must be a probability from 0 to 1, got 1.1."),
        ({"x": {"a": (1, 0)}}, {}, "must be a pair (mean, spread) of finite numbers, the spread above 0"),
        ({"x": {"a": (float("inf"), 1)}}, {}, "must be a pair (mean, spread) of finite numbers"),
        (
            {"x": {"a": (1, 1), "b": 0.5}},
            {},
            "['x'] must give every class the same: a mapping from values to",
        ),
        (
            {"x": {"a": 0.5, "b": 0.5}, "y": {"a": 0.5}},
            {},
            "['y'] must have exactly the classes 'a', 'b' as keys",
        ),
        ({"x": {"a": {}}}, {}, "['x'] must name values, none of them missing, got []."),
        ({"x": {"a": {None: 1}}}, {}, "['x'] must name values, none of them missing, got [None]."),
        (
            {"x": {"a": {"Big": 1}}},
            {"kinds": {"x": "text"}},
            "reads them from a text, in lower case, got ['Big']",
        ),
        ({"x": {"a": {"u": 1}}}, {"kinds": {"x": "number"}}, "['x'] must give every class the same: a pair"),
        ({"x": {"a": {"u": 1}}}, {"kinds": {"x": weigh.Number(bins=3)}}, "cannot be specified"),
        ({"x": {"a": {"u": 1}}}, {"kinds": {"x": "skip"}}, "cannot be specified"),
        (
            {"x": {"a": {"u": 1}}, "u": {"a": 0.5}},
            {"kinds": {"x": "count"}},
            "the column 'u' is given twice",
        ),
        ({"x": {"a": 0.5}}, {"class_prior": {"a": 0.5}}, "must sum to 1"),
        ({"x": {"a": 0.5}}, {"class_prior": 3}, "class_prior must be a mapping from class to probability"),
    ],
)
def test_invalid_parameters_raise_a_clear_error(columns: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        from_parameters(columns, **settings)
    assert str(error.value).startswith("BayesModel.from_parameters: ")
    assert message in str(error.value)


def test_two_groups_of_count_columns_are_rejected() -> None:
    columns = {"x": {"a": {"u": 1}}, "y": {"a": {"v": 1}}}
    with pytest.raises(ParameterError, match="all count columns share one distribution over words"):
        from_parameters(columns, kinds={"x": "count", "y": "count"})


def test_a_kind_for_a_column_that_is_not_given_is_rejected() -> None:
    with pytest.raises(ColumnError, match="has no column 'z'; it has 'x'"):
        from_parameters({"x": {"a": 0.5}}, kinds={"z": "flag"})


def test_a_label_that_is_not_a_scalar_is_rejected() -> None:
    with pytest.raises(LabelError, match="labels must be strings, numbers or booleans"):
        from_parameters({"x": {("a", 1): 0.5}})


def test_given_parameters_cannot_be_merged_forgotten_or_smoothed() -> None:
    model = from_parameters({"x": {"a": 0.5, "b": 0.25}}, label="y")
    with pytest.raises(MergeError, match="no rows, so it cannot merge"):
        model.merge(model)
    for change in (model.learn, model.forget):
        with pytest.raises(MergeError, match="fit one from rows"):
            change({"x": [1], "y": ["a"]})
    with pytest.raises(ParameterError, match="no counts to smooth"):
        model.with_prior(1.0)
    with pytest.raises(Unsupported, match="taken as certain"):
        model.posterior("x", "a")


def test_fixed_parameters_have_equal_plug_in_and_predictive_probabilities() -> None:
    columns = {"x": {"a": (1, 2), "b": (2, 1)}, "w": {"a": {"u": 0.3, "v": 0.7}, "b": {"u": 0.6, "v": 0.4}}}
    model = from_parameters(columns, kinds={"w": "count"})
    row = {"x": 1.5, "u": 2, "v": 1}
    assert np.array_equal(model.predictive_proba(row), model.predict_proba(row))


def test_given_counts_merge_with_rows_and_rows_can_be_forgotten() -> None:
    model = BayesModel.from_counts(columns=COUNTS, label="y")
    rows = {"X1": ["Low", "Medium"], "y": ["No", "Maybe"]}
    fitted = weigh.NaiveBayes().fit(rows, "y").model_
    merged = model.merge(fitted)
    assert merged.classes == ["Maybe", "No", "Yes"]
    assert merged.counts.rows.tolist() == [1, 3, 27]
    assert merged.to_bytes() == model.learn(rows).to_bytes()
    assert merged.forget(rows).to_bytes() == model.to_bytes()


def test_a_level_without_rows_is_still_smoothed() -> None:
    counts = {"Yes": {"Low": 1, "High": 0}, "No": {"Low": 2, "High": 0}}
    assert exact_probabilities(BayesModel.from_counts(columns={"X1": counts})) == [
        [F(1, 4), F(3, 4)],
        [F(1, 3), F(2, 3)],
    ]


def test_counts_may_be_fractional() -> None:
    model = BayesModel.from_counts(
        columns={"X1": {"a": {"u": 0.5, "v": 1.5}, "b": {"u": 3, "v": 1}}}, prior=None
    )
    assert exact_probabilities(model) == [[F(1, 4), F(3, 4)], [F(3, 4), F(1, 4)]]
    assert model.class_distribution.exact_probabilities == [F(1, 3), F(2, 3)]


def test_class_counts_larger_than_the_column_totals_mean_missing_values() -> None:
    model = BayesModel.from_counts(columns=COUNTS, class_counts={"No": 5, "Yes": 30}, prior=None)
    assert model.class_distribution.exact_probabilities == [F(1, 7), F(6, 7)]
    assert exact_probabilities(model)[0] == [0, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"columns": COUNTS, "class_counts": {"Yes": 26, "No": 2}},
            "column 'X1' counts {'Yes': 27, 'No': 2} rows",
        ),
        (
            {"columns": COUNTS | {"X2": {"Yes": (3, 27), "No": (1, 3)}}},
            "column 'X2' counts {'Yes': 27, 'No': 3} rows, but the classes have {'Yes': 27, 'No': 2}",
        ),
        ({"columns": {"x": {"a": (3, 2)}}}, "must be (present, known) with present <= known, got (3, 2)"),
        ({"columns": {"x": {"a": {"u": -1}}}}, "['x']['a'] must be a count of 0 or more, got -1."),
        (
            {"columns": {"x": {"a": 3}}},
            "must give every class the same: a mapping from values to counts, or a pair",
        ),
        (
            {"columns": {"w": {"a": {"u": 3}}}, "kinds": {"w": "text"}},
            "class_counts must be given as {class: number of rows}, because word counts",
        ),
        ({"columns": {"x": {"a": (1, 2)}}, "kinds": {"x": "number"}}, "cannot be specified"),
        (
            {"columns": COUNTS, "class_prior": {"Yes": 1}},
            "class_prior must give each of the classes 'No', 'Yes'",
        ),
    ],
)
def test_contradictory_counts_are_rejected(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        BayesModel.from_counts(**settings)
    assert message in str(error.value)
