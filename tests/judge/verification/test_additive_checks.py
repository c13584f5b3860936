"""`verify` of additive fits: a reference optimum passes, every change of model or rows is detected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import weigh
from tests.additive_models import LABEL, fit_additive, make_table
from weigh.judge import verify

MONOTONE = [None, {"age": "down"}, {"age": "up", "income": "down"}]


def failed(model: Any, rows: Any, y: Any = None) -> set[str]:
    return {check.name for check in verify(model, rows, y).checks if not check.ok}


def change_term(model: Any, at: int, **changes: Any) -> Any:
    terms = list(model.terms)
    terms[at] = replace(terms[at], **changes)
    return replace(model, terms=terms)


def add_to(array: Any, at: Any, amount: float) -> Any:
    changed = array.copy()
    changed[at] += amount
    return changed


@pytest.mark.parametrize("monotone", MONOTONE)
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_reference_fit_verifies(classes: int, monotone: dict[str, str] | None) -> None:
    table = make_table(classes=classes)
    result = verify(fit_additive(table, monotone=monotone), table)
    assert result.ok, str(result)
    assert result.notes == ()
    names = [check.name for check in result.checks]
    assert names[-3 - len(monotone or {}) :] == [
        "loss of all rows",
        "objective",
        "gap to the minimum",
        *(f"{name} only {'rises' if way == 'up' else 'falls'}" for name, way in (monotone or {}).items()),
    ]


@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("term", range(6))
def test_a_changed_height_is_detected(classes: int, term: int) -> None:
    table = make_table(classes=classes)
    model = fit_additive(table)
    heights = add_to(model.terms[term].trained_weights(), (1, -1) if term != 3 else (0, -1), 0.01)
    terms = list(model.terms)
    terms[term] = terms[term].with_weights(heights)
    wrong = failed(replace(model, terms=terms), table)
    assert {"loss of all rows", "gap to the minimum"} <= wrong
    title = model.schema.column_groups[term].title
    centring = {
        **dict.fromkeys((0, 1, 2), f"mean of {title} is 0"),
        **dict.fromkeys((4, 5), f"means of {title} in each cell are 0"),
    }
    assert {name for name in wrong if name.startswith("mean")} == {
        centring[at] for at in [term] if at in centring
    }


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_shift_from_a_curve_to_the_bias_is_detected(classes: int) -> None:
    table = make_table(classes=classes)
    model = fit_additive(table)
    shift = np.zeros(len(model.base))
    shift[-1] = 0.1
    moved = change_term(model, 1, table=model.terms[1].table + shift)
    wrong = failed(replace(moved, base=model.base - shift), table)
    assert "mean of income is 0" in wrong
    assert "loss of all rows" not in wrong


def test_a_shift_from_a_surface_to_a_curve_is_detected() -> None:
    table = make_table()
    model = fit_additive(table, cuts={"age": [30.0], "income": [3.0]}, pairs=(("age", "income"),))
    age, pair = model.terms[0], model.terms[-1]
    moved = np.array([[0.0, 0.2], [0.0, -0.1]])
    changed = change_term(model, 0, table=age.table + np.vstack([moved, [[0.0, 0.0]]]))
    changed = change_term(changed, -1, table=pair.table - np.repeat(moved, 2, axis=0))
    assert "means of age × income in each cell are 0" in failed(changed, table)


@pytest.mark.parametrize("field", ["counts", "positions", "limits"])
def test_changed_cells_are_detected(field: str) -> None:
    table = make_table()
    model = fit_additive(table)
    changed = change_term(model, 0, **{field: add_to(getattr(model.terms[0], field), 1, 0.5)})
    names = {
        "counts": "rows in the cells of age",
        "positions": "mean values in the cells of age",
        "limits": "range of age",
    }
    assert names[field] in failed(changed, table)


def test_changed_counts_of_a_surface_are_listed() -> None:
    table = make_table()
    model = fit_additive(table)
    changed = change_term(model, 4, counts=add_to(model.terms[4].counts, 0, 1.0))
    result = verify(changed, table)
    (check,) = [check for check in result.checks if not check.ok]
    assert check.name == "rows in the cells of age × income"
    n = model.terms[4].counts[0]
    assert [(m.what, m.model, m.data) for m in check.differing] == [
        ("age ≤ 10, income ≤ 2", f"{n + 1:g}", f"{n:g}")
    ]


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_changed_strength_of_a_curve_is_detected(classes: int, at: int) -> None:
    table = make_table(classes=classes)
    model = fit_additive(table)
    changed = change_term(model, 0, strengths=add_to(model.terms[0].strengths, at, 0.5))
    assert {"objective", "gap to the minimum"} <= failed(changed, table)


@pytest.mark.parametrize("column", ["colour", "size"])
def test_a_changed_strength_of_a_column_is_detected(column: str) -> None:
    table = make_table()
    model = fit_additive(table)
    strengths = model.fit.strengths | {column: 2 * model.fit.strengths[column]}
    changed = replace(model, fit=replace(model.fit, strengths=strengths))
    assert failed(changed, table) == {"objective", "gap to the minimum"}


def test_a_changed_strength_of_a_surface_is_detected() -> None:
    table = make_table()
    model = fit_additive(table)
    assert failed(change_term(model, 4, strengths=np.array([3.0])), table) == {
        "objective",
        "gap to the minimum",
    }


def test_a_strength_that_is_not_stated_is_reported() -> None:
    table = make_table()
    model = fit_additive(table)
    changed = replace(model, fit=replace(model.fit, strengths={"colour": 0.7}))
    (check,) = [check for check in verify(changed, table).checks if not check.ok]
    assert (check.name, check.compared) == ("strengths", 6)
    assert [(m.what, m.model, m.data) for m in check.differing] == [
        ("strength of 'size'", "none", "a number")
    ]


def test_contradicting_strengths_are_reported() -> None:
    table = make_table()
    model = fit_additive(table)
    changed = replace(model, fit=replace(model.fit, strengths=model.fit.strengths | {"age": 2.5}))
    (check,) = [check for check in verify(changed, table).checks if not check.ok]
    assert [(m.what, m.model, m.data) for m in check.differing] == [("strength of 'age'", "2.5", "2")]


def test_inverted_labels_are_detected() -> None:
    table = make_table()
    model = fit_additive(table)
    inverted = {**table, LABEL: ["c1" if label == "c0" else "c0" for label in table[LABEL]]}
    assert {"loss of all rows", "objective", "gap to the minimum"} <= failed(model, inverted)


def test_other_targets_are_detected() -> None:
    table = make_table(classes=0)
    model = fit_additive(table)
    negative = {**table, LABEL: [-y for y in table[LABEL]]}
    assert {"loss of all rows", "objective", "gap to the minimum"} <= failed(model, negative)


def with_directions(model: Any, monotone: str | None) -> Any:
    kinds = [
        replace(kind, monotone=monotone) if kind.name == "curve" else kind for kind in model.schema.kinds
    ]
    return replace(model, schema=replace(model.schema, kinds=kinds))


def test_a_curve_in_the_wrong_direction_is_reported() -> None:
    table = make_table()
    checks = {c.name: c for c in verify(with_directions(fit_additive(table), "down"), table).checks}
    assert not checks["age only falls"].ok
    first = checks["age only falls"].differing[0]
    assert (first.what, first.model) == ("from age ≤ 10 on", "falls")
    assert first.data.startswith("+")


def test_a_monotone_fit_is_not_optimal_without_its_bounds() -> None:
    table = make_table()
    model = fit_additive(table, monotone={"age": "down"})
    assert failed(with_directions(model, None), table) == {"gap to the minimum"}


def test_other_levels_classes_and_rows_are_reported() -> None:
    table = make_table()
    model = fit_additive(table)
    other = {**table, "colour": ["pink", *table["colour"][1:]]}
    failures = {check.name: check.differing for check in verify(model, other).checks if not check.ok}
    assert [(m.what, m.model, m.data) for m in failures["levels"]] == [("colour=pink", "no", "yes")]
    relabelled = {**table, LABEL: ["other", *table[LABEL][1:]]}
    failures = {check.name: check.differing for check in verify(model, relabelled).checks if not check.ok}
    assert [(m.what, m.model, m.data) for m in failures["classes"]] == [("class 'other'", "no", "yes")]
    shorter = {name: values[1:] for name, values in table.items()}
    assert {"rows", "total weight of the rows", "rows in the cells of income"} <= failed(model, shorter)


def test_sample_weights_count() -> None:
    table = make_table()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=200)
    model = fit_additive(table, weights=weights)
    assert failed(model, weigh.rows(table, LABEL, weights)) == set()
    assert {"total weight of the rows", "rows in the cells of age", "objective"} <= failed(model, table)


def test_rows_of_weight_zero_are_left_out() -> None:
    table = make_table()
    model = fit_additive(table)
    longer = {name: [*values, *values[:3]] for name, values in table.items()}
    weights = np.concatenate([np.ones(200), np.zeros(3)])
    assert failed(model, weigh.rows(longer, LABEL, weights)) == set()


def test_class_weights_are_recognised() -> None:
    table = make_table()
    table[LABEL] = ["c1" if i % 4 else label for i, label in enumerate(table[LABEL])]
    share = table[LABEL].count("c0") / 200
    weights = [0.5 / share if label == "c0" else 0.5 / (1 - share) for label in table[LABEL]]
    assert failed(fit_additive(table, weights=weights), table) == set()


def test_a_false_objective_is_detected() -> None:
    table = make_table()
    model = fit_additive(table)
    better = replace(model.certificate, objective=0.999 * model.certificate.objective)
    assert failed(replace(model, certificate=better), table) == {"objective"}


CURVES = {"age": weigh.Curve(monotone="down"), "income": weigh.Curve(bins=(-9.0, 2.0, 3.0, 9.0), smooth=3.0)}
TRAINED = [
    {"curves": "auto"},
    {"curves": "auto", "columns": CURVES},
    {"curves": "auto", "pairs": [("age", "income"), ("income", "colour")]},
    {"columns": {"age": "number", "size": weigh.Curve()}},
]


@pytest.mark.filterwarnings("ignore::weigh.errors.MissingNumbers")
@pytest.mark.parametrize("settings", TRAINED)
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_trained_model_verifies_and_a_changed_height_does_not(classes: int, settings: Any) -> None:
    table = make_table(300, classes=classes)
    learner = weigh.LogisticRegression if classes else weigh.LinearRegression
    model = learner(**settings).fit(table, LABEL).model_
    result = verify(model, table)
    assert result.ok, str(result)
    at = len(model.terms) - 1
    heights = add_to(model.terms[at].trained_weights(), (0, -1), 0.05)
    changed = replace(model, terms=[*model.terms[:at], model.terms[at].with_weights(heights)])
    assert "loss of all rows" in failed(changed, table)


def test_words_flags_and_many_levels_beside_curves_verify() -> None:
    rng, n = np.random.default_rng(2), 1200
    table = {
        **make_table(n),
        "vip": (rng.random(n) < 0.4).tolist(),
        "many": [f"l{i}" for i in rng.integers(0, 600, n)],
        "text": [" ".join(rng.choice(["red", "blue", "fox"], 3)) for _ in range(n)],
        "same": [1.0] * n,
    }
    columns = {"text": "text", "many": "category", "same": weigh.Curve()}
    model = weigh.LogisticRegression(columns=columns, curves="auto").fit(table, LABEL).model_
    assert len(model.levels["many"]) > 500  # not centred
    assert failed(model, table) == set()


@pytest.mark.parametrize("curves", [None, "auto"])
def test_targets_far_from_zero_verify(curves: str | None) -> None:
    table = make_table(classes=0)
    table["y"] = [1.7e9 + 1000 * y for y in table["y"]]
    table.pop("age")
    assert weigh.verify(weigh.LinearRegression(curves=curves).fit(table, "y"), table).ok
