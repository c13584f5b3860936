"""Effects: heights are contributions, importance is their spread, and rows are located and marked."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import weigh
from tests.additive_models import fit_additive, make_table
from weigh import errors, pictures
from weigh.explain.effect_panels import PanelSettings, effect_panel


@pytest.fixture(scope="module")
def table() -> dict[str, list[Any]]:
    return make_table()


@pytest.fixture(scope="module")
def model(table: dict[str, list[Any]]) -> Any:
    return fit_additive(table)


def contributions(model: Any, table: dict[str, list[Any]], toward: Any) -> dict[str, list[float]]:
    """Return what each column adds to the log-odds of a class in each row, by `explain`."""
    amounts: dict[str, list[float]] = {}
    for evidence in model.explain(table):
        sign = 1 if evidence.verdict == toward else -1
        for row in evidence.table:
            amounts.setdefault(row.feature, []).append(sign * row.nats)
    return amounts


def test_heights_are_the_contributions_of_explanations(model: Any, table: dict[str, list[Any]]) -> None:
    found = weigh.effects(model, table)
    expected = contributions(model, table, "c1")
    located = found.locate_rows(table)
    for k, effect in enumerate(found._effects):
        if effect.kind == "line":  # drawn relative to the mean of the rows
            continue
        cells = [row[k].cell for row in located]
        heights = [float(effect.heights[cell, 0]) for cell in cells if cell is not None]
        assert heights == pytest.approx(expected[effect.name], abs=1e-12), effect.name


def test_importance_is_the_standard_deviation_of_the_contributions(
    model: Any, table: dict[str, list[Any]]
) -> None:
    expected = contributions(model, table, "c1")
    found = weigh.effects(model, table)
    assert {fact.name for fact in found.effects} == {
        "age",
        "income",
        "colour",
        "size",
        *map(" × ".join, PAIRS),
    }
    for fact in found.effects:
        if fact.name not in (" × ".join(pair) for pair in PAIRS if "age" in pair):  # some ages are missing
            assert fact.importance == pytest.approx(np.std(expected[fact.name])), fact.name
    importances = [fact.importance for fact in found.effects]
    assert importances == sorted(importances, reverse=True)


PAIRS = (("age", "income"), ("income", "colour"))


def test_without_rows_the_training_rows_count_and_lines_are_not_listed(
    model: Any, table: dict[str, list[Any]]
) -> None:
    trained, given = weigh.effects(model), weigh.effects(model, table)
    assert (trained.n_rows, given.n_rows) == (None, 200)
    assert [(term.name, term.why) for term in trained.omitted] == [("size", "rows")]
    by_name = {fact.name: fact for fact in given.effects}
    for fact in trained.effects:
        if fact.kind == "curve":
            assert fact.importance == pytest.approx(by_name[fact.name].importance)
    assert "Not listed: 'size' (straight lines" in str(trained)
    assert "Levels and flags count as equally frequent" in str(trained)


def test_cells_tell_heights_with_their_intervals_and_rows(model: Any, table: dict[str, list[Any]]) -> None:
    found = weigh.effects(model, table)
    cells = [cell for cell in found.cells if cell.effect == "age"]
    assert [cell.cell for cell in cells] == ["≤ 10", "10 to 20", "20 to 30", "30 to 45", "> 45", "missing"]
    ages = [age for age in table["age"] if age is not None]
    counts = [
        sum(low < age <= high for age in ages) for low, high in ((-1, 10), (10, 20), (20, 30), (30, 45))
    ]
    n_missing = len(table["age"]) - len(ages)
    assert [cell.rows for cell in cells] == [*counts, len(ages) - sum(counts), n_missing]
    assert (cells[0].start, cells[0].stop, cells[-1].start) == (min(ages), 10.0, None)


def test_of_more_classes_heights_are_relative_to_the_mean() -> None:
    rows = make_table(classes=3)
    found = weigh.effects(fit_additive(rows), rows)
    assert found.classes == ("c0", "c1", "c2")
    for effect in found._effects:
        assert effect.heights.sum(axis=1) == pytest.approx(np.zeros(len(effect.heights)), abs=1e-12)
    assert all(fact.shape.split(":")[0] in found.classes for fact in found.effects)
    spec = found.plot(label="c1", row={name: column[0] for name, column in rows.items()}).to_dict()
    assert len(spec["concat"]) == 6
    with pytest.raises(errors.LabelError, match="The effects have no class 'c9'; it has 'c0', 'c1', 'c2'"):
        found.plot(label="c9")


def test_a_regression_has_effects_on_its_prediction() -> None:
    rows = make_table(classes=0)
    model = fit_additive(rows)
    found = weigh.effects(model, rows)
    assert (found.target, found.classes) == ("y", ())
    row = {name: column[1] for name, column in rows.items()}
    (located,) = found.locate_rows(row)
    heights = {
        effect.name: float(effect.heights[place.cell, 0])
        for effect, place in zip(found._effects, located, strict=True)
        if effect.kind != "line" and place.cell is not None
    }
    amounts = {each.feature: each.nats for each in model.explain(row)[0].table}
    assert heights == pytest.approx({name: amounts[name] for name in heights})


def test_only_the_strongest_are_left_and_the_others_counted(model: Any, table: dict[str, list[Any]]) -> None:
    found = weigh.effects(model, table)
    short = found.shortened(2)
    assert short.effects == found.effects[:2]
    assert (short.n_effects, "… and 4 more" in str(short)) == (6, True)
    subtitle = short.plot().to_dict()["title"]["subtitle"]
    assert subtitle.startswith("the strongest 2 of 6; ")
    with pytest.raises(errors.ParameterError):
        found.shortened(0)


def test_json_has_every_cell(model: Any) -> None:
    facts = weigh.effects(model).to_dict()
    assert json.loads(json.dumps(facts)) == facts
    assert len(facts["cells"]) == sum(len(effect.heights) for effect in weigh.effects(model)._effects)


def test_a_notebook_shows_a_table_with_bars(model: Any) -> None:
    html = weigh.effects(model)._repr_html_()
    assert html.count("<table") == 1
    assert "Effects on the log-odds of c1, strongest first" in html


def test_the_panel_of_an_effect_tells_the_marked_row(model: Any, table: dict[str, list[Any]]) -> None:
    found = weigh.effects(model, table)
    names = [effect.name for effect in found._effects]
    effect = found._effects[names.index("age")]
    place = effect.locate_number(12.0)
    panel = effect_panel(PanelSettings(found.target), effect, [(place, "this row")])
    assert isinstance(panel, pictures.CurvePanel)
    height = f"{effect.heights[1, 0]:+.2g}".replace("-", "−")
    assert panel.subtitle.endswith(f"; this row 12: {height}")
    assert panel.marks == ((12.0, "this row"),)


def test_several_rows_are_marked_in_every_panel(model: Any, table: dict[str, list[Any]]) -> None:
    found = weigh.effects(model, table)
    rows = [{name: column[i] for name, column in table.items()} for i in (0, 1, 2)]
    panels = {panel.title: panel for panel in found.panels(rows, ["row 0", "row 1", "row 2"])}
    expected = tuple((table["income"][i], f"row {i}") for i in range(3))
    assert panels["income"].marks == expected
    marked = {row["name"] for row in panels["colour"].table if row["marked"]}
    assert marked == {table["colour"][i] for i in range(3)}
    surface = panels["age × income"]
    assert isinstance(surface, pictures.SurfacePanel)
    assert len(surface.marks) == sum(table["age"][i] is not None for i in range(3))


def test_dates_are_drawn_and_told_as_dates() -> None:
    rng = np.random.default_rng(0)
    days = np.datetime64("2020-01-01") + np.sort(rng.integers(0, 900, 200)).astype("timedelta64[D]")
    y = np.where(np.arange(200) + rng.normal(0, 20, 200) > 100, "late", "early")
    rows = {"when": [str(day) for day in days], "y": y.tolist()}
    model = weigh.LogisticRegression(curves="auto").fit(rows, "y")
    found = weigh.effects(model, rows)
    (name,) = [fact.name for fact in found.effects if fact.kind == "curve"]
    assert name == "when: days since 1970"
    (panel,) = [panel for panel in found.panels([{"when": "2021-03-04"}], ["row 0"]) if panel.title == "when"]
    assert panel.is_date
    assert "row 0 2021-03-04" in panel.subtitle
    axis = found.plot_effect(name).to_dict()["layer"][0]["encoding"]["x"]["axis"]["labelExpr"]
    assert '"2021"' in axis or '"2021-01"' in axis


def test_end_cells_of_one_value_are_drawn_as_wide_as_others() -> None:
    hours = [float(k % 24) for k in range(480)]
    table = {"hour": hours, "x": [float(k * k) for k in range(480)], "rides": hours}
    model = weigh.LinearRegression(curves="auto").fit(table, "rides").model_
    drawn = {}
    for effect in weigh.effects(model)._effects:
        cells = effect_panel(PanelSettings("rides"), effect, []).cells
        drawn[effect.name] = [cell["to"] - cell["from"] for cell in cells], cells[0]["from"]
    assert drawn["hour"] == ([1.0] * 24, -0.5)
    assert drawn["x"][1] == 0.0  # its first cell has several values


def test_unknown_effects_and_models_without_effects_are_refused(model: Any) -> None:
    with pytest.raises(errors.ColumnError, match=r"There is no effect 'agee'\. Did you mean 'age'"):
        weigh.effects(model).plot_effect("agee")
    with pytest.raises(errors.Unsupported, match="effects needs a linear model"):
        weigh.effects(weigh.NaiveBayes().fit({"a": ["x", "y"], "b": ["p", "q"]}, "b"))
    with pytest.raises(errors.ParameterError, match="one row"):
        weigh.effects(model).plot(row=make_table(3))


def test_the_height_of_a_line_is_its_contribution_less_the_mean(
    model: Any, table: dict[str, list[Any]]
) -> None:
    found = weigh.effects(model, table)
    (k,) = [k for k, effect in enumerate(found._effects) if effect.name == "size"]
    heights = [found._effects[k].height_at(row[k], 0) for row in found.locate_rows(table)]
    amounts = np.array(contributions(model, table, "c1")["size"])
    assert heights == pytest.approx(amounts - amounts.mean(), abs=1e-12)
