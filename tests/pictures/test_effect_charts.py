"""Charts of effects: axes of numbers, dates and spikes; bands, histograms, marks and missing values."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from weigh import errors, pictures
from weigh.pictures.date_axes import DateAxis, date_ticks, format_dates
from weigh.pictures.effect_style import HeightRange
from weigh.pictures.number_axes import CellCount, NumberAxis, format_ticks, nice_ticks
from weigh.pictures.surface_charts import format_height
from weigh.text import date_of_day, format_day

EPOCH = datetime.date(1970, 1, 1)


def day(text: str) -> float:
    return float((datetime.date.fromisoformat(text) - EPOCH).days)


def layer_rows(chart: Any, mark: str) -> list[list[dict[str, Any]]]:
    """Return the rows of every layer with a mark."""
    spec = chart.to_dict()
    layers = [layer for layer in spec["layer"] if layer["mark"]["type"] == mark]
    return [spec["datasets"][layer["data"]["name"]] for layer in layers]


def cells(*heights: float, rows: float = 10.0, band: float | None = None) -> list[dict[str, Any]]:
    """Return cells of width 1 from 0 on."""
    return [
        {"from": k, "to": k + 1, "height": height, "rows": rows}
        | ({} if band is None else {"low": height - band, "high": height + band})
        for k, height in enumerate(heights)
    ]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("2015-01-01", "2023-03-18", ["2016", "2018", "2020", "2022"]),
        ("2022-01-08", "2023-02-12", ["2022-04", "2022-07", "2022-10", "2023-01"]),
        ("2022-01-08", "2022-04-18", ["2022-02", "2022-03", "2022-04"]),
        ("2022-01-08", "2022-01-13", ["2022-01-08", "2022-01-10", "2022-01-12"]),
        ("1970-01-01", "1970-01-02", ["1970-01-01", "1970-01-02"]),
        ("0001-01-01", "9999-12-31", ["5000"]),
    ],
)
def test_dates_are_labelled_at_the_starts_of_years_and_months(low: str, high: str, expected: Any) -> None:
    assert format_dates(date_ticks(day(low), day(high), 4)) == expected


def test_days_beyond_the_calendar_are_numbers() -> None:
    assert format_dates(date_ticks(1e7, 2e7, 2)) == ["10M", "15M", "20M"]
    assert (date_of_day(1e7), format_day(1e7)) == (None, "10,000,000")
    assert format_day(day("2024-02-29") + 0.9) == "2024-02-29"


def test_an_axis_of_dates_is_never_logarithmic() -> None:
    counts = [CellCount(10.0 ** (k / 2), 10.0 ** ((k + 1) / 2), 0.6**k) for k in range(10)]
    assert NumberAxis.of(counts).constant is not None
    clipped = DateAxis.of(counts)
    assert clipped.constant is None
    assert clipped.note == "values up to 2243-10-17 not drawn"


def test_an_axis_with_a_far_tail_ends_before_it_and_says_so() -> None:
    counts = [CellCount(k, k + 1, 100.0) for k in range(20)] + [CellCount(20, 1e9, 1.0)]
    axis = NumberAxis.of([CellCount(-1e9, 0, 1.0), *counts])
    assert (axis.low, axis.high) == pytest.approx((1 - 0.15 * 18, 19 + 0.15 * 18))
    assert axis.note == "values down to −1G and up to 1G not drawn"
    assert (axis.share(-1e9), axis.share(10.0), axis.share(1e9)) == pytest.approx((0.0, 0.5, 1.0))


def test_ticks_are_nice_and_distinct() -> None:
    assert nice_ticks(-0.3, 1.2, 4) == [0.0, 0.5, 1.0]
    assert nice_ticks(5, 5) == [5]
    assert format_ticks([0, 2500, 15_000, -3e6]) == ["0", "2500", "15k", "−3M"]
    assert format_ticks([1.00001, 1.00002]) == ["1.00001", "1.00002"]


def test_a_curve_is_drawn_as_steps_to_the_end_of_its_last_cell() -> None:
    chart = pictures.curve_chart(cells(0.0, 1.0, 0.5, 0.25), x="age", y="log-odds")
    _, line = layer_rows(chart, "line")
    assert [(row["x"], row["y"]) for row in line] == [
        (0.0, 0.0),
        (0.25, 1.0),
        (0.5, 0.5),
        (0.75, 0.25),
        (1.0, 0.25),
    ]


def test_bands_much_wider_than_the_curve_are_cut_at_the_edge_of_the_chart() -> None:
    heights = HeightRange.of(cells(0.0, 1.0, band=0.1), has_rows=False)
    assert (heights.low, heights.high) == pytest.approx((-0.1 - 0.072, 1.1 + 0.072))
    wide = HeightRange.of(cells(0.0, 1.0, band=50.0), has_rows=True)
    assert (wide.low, wide.high) == pytest.approx((-0.6 - 0.132, 1.6 + 0.132))
    assert wide.floor == pytest.approx(wide.low - 0.2 * (wide.high - wide.low))
    (band,) = layer_rows(pictures.curve_chart(cells(0.0, 1.0, band=50.0)), "area")
    assert {(row["low"], row["high"]) for row in band} == {(wide.low, wide.high)}


def test_overlapping_bands_are_fainter_than_one() -> None:
    def opacity(*names: str) -> float:
        rows = [{**cell, "series": name} for name in names for cell in cells(0.0, 1.0, band=0.3)]
        spec = pictures.curve_chart(rows).to_dict()
        (area,) = [layer["mark"] for layer in spec["layer"] if layer["mark"]["type"] == "area"]
        return float(area["opacity"])

    assert (opacity(""), opacity("a", "b", "c")) == (0.2, 0.09)


def test_the_histogram_counts_the_rows_of_cells_and_missing_values() -> None:
    table = [{**cell, "rows": rows} for cell, rows in zip(cells(*[0.0, 1.0] * 4), range(8), strict=True)]
    chart = pictures.curve_chart(table, [{"height": 0.0, "rows": 7}])
    bars, _ = layer_rows(chart, "rect")
    floor, lengths = bars[0]["y"], [bar["y2"] - bar["y"] for bar in bars]
    assert {bar["y"] for bar in bars} == {floor}
    assert [round(length / max(lengths) * 7, 3) for length in lengths] == [1, 2, 3, 4, 5, 6, 7, 7]


def test_one_marked_value_is_a_line_with_a_dot_and_several_are_ticks() -> None:
    table, missing = cells(0.0, 1.0, 2.0, 3.0), [{"height": -0.5, "rows": 3}]
    one = pictures.curve_chart(table, missing, marks=[(2.0, "this row")])
    (rule,) = layer_rows(one, "rule")
    _, dots = layer_rows(one, "point")
    assert (rule[0]["x"], dots) == (0.5, [{"x": 0.5, "y": 1.0}])  # cells include their upper ends
    absent = pictures.curve_chart(table, missing, marks=[(None, "this row")])
    assert layer_rows(absent, "point")[1] == [{"x": layer_rows(absent, "point")[0][0]["x"], "y": -0.5}]
    several = pictures.curve_chart(table, missing, marks=[(0.5, "row 3"), (9.0, "row 4"), (None, "row 5")])
    (ticks,) = layer_rows(several, "rule")
    assert [(tick["x"], tick["text"]) for tick in ticks][:2] == [(0.125, "row 3"), (1.0, "row 4")]
    assert ticks[2]["x"] > 1
    assert {tick["y2"] for tick in ticks} < {tick["y2"] for tick in rule} | {ticks[0]["y2"]}
    assert ticks[0]["y2"] < rule[0]["y2"]
    assert len(layer_rows(several, "point")) == 1


def test_the_axis_of_dates_has_dates_in_its_tooltips() -> None:
    start = day("2020-01-01")
    table = [{"from": start + k, "to": start + k + 1, "height": k} for k in range(3)]
    chart = pictures.curve_chart(table, is_date=True)
    (targets,) = layer_rows(chart, "rect")
    assert targets[0]["value"] == "2020-01-01 to 2020-01-02"
    number = pictures.curve_chart(table)
    assert layer_rows(number, "rect")[0][0]["value"] == "18.262k to 18.263k"


def test_cells_of_a_surface_are_named_by_their_cuts() -> None:
    assert pictures.CellAxis("age", [20.0, 30.5]).cell_names == ["≤ 20", "20 to 30.5", "> 30.5"]
    dates = pictures.CellAxis("when", [day("2020-01-01"), day("2021-06-01")], is_date=True)
    assert dates.cell_names == ["≤ 2020-01", "2020-01 to 2021-06", "> 2021-06"]
    assert pictures.CellAxis("any", []).cell_names == ["any"]
    assert pictures.CellAxis("colour", None, ["red", "red"]).cell_names == ["red", "red (2)"]


def test_every_marked_cell_of_a_surface_has_a_frame() -> None:
    table = [{"x": i, "y": j, "height": i - j} for i in range(3) for j in range(2)]
    axes = pictures.CellAxis("a", [1.0, 2.0]), pictures.CellAxis("b", None, ["p", "q"])
    chart = pictures.surface_chart(table, *axes, marks=[(0, 1), (2, 0), (0, 1)])
    _, frames = layer_rows(chart, "rect")
    assert [(row["x"], row["y"]) for row in frames] == [(0, 1), (2, 0)]
    assert len(layer_rows(pictures.surface_chart(table, *axes), "rect")) == 1


def test_heights_in_cells_have_as_many_decimals_as_the_largest_needs() -> None:
    assert [format_height(0.456, largest) for largest in (0.9, 20.0, 300.0)] == ["+0.46", "+0.5", "0"]
    assert format_height(-0.00123, 0.002) == "−0.0012"


def test_a_surface_needs_every_cell() -> None:
    axes = pictures.CellAxis("a", [1.0]), pictures.CellAxis("b", [1.0])
    with pytest.raises(errors.DataError, match="2 by 2 cells is drawn from one row for each, got 1 rows"):
        pictures.surface_chart([{"x": 0, "y": 0, "height": 1}], *axes)


def test_marked_levels_have_a_ring() -> None:
    table = [{"name": n, "height": k, "rows": 1, "marked": n == "b"} for k, n in enumerate("abc")]
    rings, dots = layer_rows(pictures.level_chart(table), "point")
    assert ([row["name"] for row in rings], [row["name"] for row in dots]) == (["b"], ["a", "b", "c"])


def test_a_page_has_two_panels_beside_each_other_and_names_them() -> None:
    panel = pictures.CurvePanel("age", cells(0.0, 1.0), subtitle="importance 1")
    spec = pictures.effects_page([panel] * 3, "Effects", "the strongest 3 of 5").to_dict()
    assert (len(spec["concat"]), spec["columns"]) == (3, 2)
    assert spec["description"] == "Effects, the strongest first: age, age, age."
    title = spec["concat"][0]["title"]
    assert (title["text"], title["subtitle"], title["frame"]) == ("age", "importance 1", "group")
    with pytest.raises(errors.DataError, match="A page has 1 to 24 panels, got 0"):
        pictures.effects_page([])


def test_the_numbers_of_a_heat_map_in_a_grid_replace_its_legend() -> None:
    table = [{"x": i, "y": j, "height": i - j} for i in range(2) for j in range(2)]
    panel = pictures.SurfacePanel(
        "a × b", table, pictures.CellAxis("a", [1.0]), pictures.CellAxis("b", [1.0])
    )
    (on_page,) = pictures.effects_page([panel]).to_dict()["concat"]
    alone = pictures.effect_chart(panel).to_dict()
    assert [spec["layer"][0]["encoding"]["fill"]["legend"] is None for spec in (on_page, alone)] == [
        True,
        False,
    ]


def test_the_dot_of_a_straight_line_is_on_the_line() -> None:
    chart = pictures.curve_chart(cells(1.0, 3.0, 5.0, 7.0), smooth=True, marks=[(2.25, "this row")])
    (dot,) = layer_rows(chart, "point")
    assert dot == [{"x": 0.5625, "y": 4.5}]  # the line is 2 x
