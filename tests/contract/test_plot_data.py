"""The data in plots of results, and errors where there is nothing to plot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import weigh
from weigh import errors
from weigh.pictures.chart_data import clip_infinite
from weigh.text import html_table

MAILS = {
    "CS373": [False, False, False, False, True],
    "investment": [True, False, True, True, False],
    "familiarity": ["low", "high", "high", "medium", "low"],
    "spam": ["spam", "not-spam", "spam", "not-spam", "not-spam"],
}
NEW = {"CS373": True, "investment": True, "familiarity": "high"}
APART = {"x": [0.0, 1.0, 3.0, 4.0], "y": [0.0, 0.5, 2.0, 3.0], "label": ["no", "no", "yes", "yes"]}
WIDE = {**APART, "z": [0.5, 0.25, 0.5, 0.75]}
CROSSED = {"x": [0.0, 1.0, 0.0, 1.0], "y": [0.0, 1.0, 1.0, 0.0], "label": ["no", "no", "yes", "yes"]}


def rows(chart: Any) -> list[dict[str, Any]]:
    """Return all data rows of a chart, at any depth."""

    def walk(part: Any) -> Iterator[dict[str, Any]]:
        if isinstance(part, dict):
            yield from part.get("values", []) if "values" in part else ()
            for child in part.values():
                yield from walk(child)
        elif isinstance(part, list):
            for child in part:
                yield from walk(child)

    spec = chart.to_dict()
    named = [row for table in spec.get("datasets", {}).values() for row in table]
    return [row for row in [*named, *walk(spec)] if isinstance(row, dict)]


def bars(chart: Any) -> dict[str, float]:
    return {row["name"]: row["value"] for row in rows(chart) if "name" in row and "value" in row}


def test_the_bars_of_evidence_are_its_contributions_and_the_total_is_in_the_title() -> None:
    evidence = weigh.NaiveBayes().fit(MAILS, "spam").explain(NEW)[0]
    assert bars(evidence.plot()) == pytest.approx({row.title: row.nats for row in evidence.table})
    assert "total +0.0645 nats" in str(evidence.plot().to_dict()["title"])


def test_the_weakest_evidence_is_summed_in_one_bar() -> None:
    evidence = weigh.NaiveBayes().fit(MAILS, "spam").explain(NEW)[0]
    drawn = bars(evidence.plot(most=2))
    assert list(drawn) == ["investment = 1", "CS373 = 1", "2 others together"]
    assert math.fsum(drawn.values()) == pytest.approx(evidence.total)


def test_the_bars_of_a_regression_sum_to_the_prediction() -> None:
    homes = {"area": [50.0, 80.0, 65.0, 120.0], "rent": [600.0, 900.0, 800.0, 1350.0]}
    learner = weigh.LinearRegression().fit(homes, "rent")
    (evidence,) = learner.explain({"area": 100.0})
    assert math.fsum(bars(evidence.plot()).values()) == pytest.approx(
        float(learner.predict({"area": 100.0})[0])
    )


def test_infinite_evidence_is_plotted_beyond_the_finite_values() -> None:
    assert clip_infinite([1.0, -2.0, math.inf, -math.inf]) == [1.0, -2.0, 2.3, -2.3]
    assert clip_infinite([math.inf, math.nan]) == [1.15, 0.0]
    found = weigh.NaiveBayes(prior=None).fit(MAILS, "spam").explain({**NEW, "CS373": None})[0]
    assert all(math.isfinite(size) for size in bars(found.plot()).values())
    certain = weigh.NaiveBayes(prior=None).fit(MAILS, "spam").explain(NEW)[0]
    assert certain.total == math.inf
    assert all(math.isfinite(size) for size in bars(certain.plot()).values())


def test_the_strongest_features_have_a_panel_for_each_class() -> None:
    found = weigh.strongest(weigh.NaiveBayes().fit(MAILS, "spam"))
    titles = {row["group"] for row in rows(found.plot()) if "group" in row}
    assert titles == {"speaks for not-spam", "speaks for spam"}


def test_intervals_of_weights_are_those_of_the_summary_without_the_bias() -> None:
    homes = {"area": [50.0, 80.0, 65.0, 120.0, 95.0], "rent": [600.0, 900.0, 800.0, 1350.0, 1000.0]}
    summary = weigh.LinearRegression().fit(homes, "rent").summary()
    (drawn,) = {row["name"]: row for row in rows(summary.plot()) if "low" in row}.values()
    line = summary.lines[1]
    assert (drawn["name"], drawn["value"], drawn["low"], drawn["high"]) == pytest.approx(
        (line.feature, line.weight, line.low, line.high)
    )


def test_the_maximum_margin_plane_is_plotted_with_rows_and_margins() -> None:
    margin = weigh.margin(APART, "label")
    drawn = {row["series"] for row in rows(margin.plot(APART, "label")) if "series" in row}
    assert drawn == {"boundary", "margin of yes", "margin of no"}


def test_with_more_features_the_nearest_rows_are_plotted_by_distance() -> None:
    margin = weigh.margin(WIDE, "label")
    assert margin.distance is not None
    drawn = bars(margin.plot(WIDE, "label"))
    assert len(drawn) == 4
    assert min(drawn.values()) == pytest.approx(margin.distance.lower)


def test_without_rows_the_planes_are_plotted_and_without_planes_the_certificate() -> None:
    margin = weigh.margin(APART, "label")
    groups = {row["group"] for row in rows(margin.plot()) if "group" in row}
    planes = {"distance": margin.distance, "augmented": margin.augmented}
    assert groups == {f"{name} margin {plane.lower:.4g}" for name, plane in planes.items() if plane}
    proved = weigh.margin(CROSSED, "label").plot(CROSSED, "label")
    assert bars(proved) == {"row 0": 0.5, "row 1": 0.5, "row 2": 0.5, "row 3": 0.5}


def test_a_bound_is_plotted_next_to_the_mistakes_of_a_learner() -> None:
    run = weigh.Perceptron(shuffle=False, max_iter=100).fit(APART, "label")
    found = weigh.mistake_bound(APART, "label", learner=run)
    assert bars(found.plot()) == pytest.approx({"bound R²/γ²": found.bound, "mistakes made": found.mistakes})


def test_differences_found_by_verification_are_plotted_first() -> None:
    other = {**MAILS, "familiarity": ["low", "low", "low", "medium", "low"]}
    found = weigh.verify(weigh.NaiveBayes().fit(MAILS, "spam"), other, "spam")
    assert not found.ok
    drawn = [row for row in rows(found.plot()) if row.get("part") == "differ"]
    assert [row["value"] > 0 for row in drawn][:2] == [True, False]


def test_the_plot_of_a_table_shows_its_probabilities() -> None:
    table = weigh.ProbabilityTable(["G", "H"], {("a", 0): 0.5, ("b", 0): 0.2, ("b", 1): 0.3})
    cells = {(row["row"], row["column"]): row["value"] for row in rows(table.plot()) if "shade" in row}
    assert cells == {("a", "0"): 0.5, ("b", "0"): 0.2, ("b", "1"): 0.3}


def too_few_rows() -> Any:
    return weigh.unfamiliar(weigh.NaiveBayes().fit(MAILS, "spam"), MAILS)


def no_difference() -> Any:
    model = weigh.NaiveBayes().fit(MAILS, "spam")
    return weigh.diff(model, model)


def no_strong_feature() -> Any:
    flat = {"x": ["a", "b", "a", "b"], "y": [0, 0, 1, 1]}
    return weigh.strongest(weigh.NaiveBayes().fit(flat, "y"))


def large_table() -> Any:
    return weigh.ProbabilityTable(["n", "m"], {(n, m): 1 / 441 for n in range(21) for m in range(21)})


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            too_few_rows,
            "Too few rows to test the columns. There is nothing to draw; flagged rows are in `rows`.",
        ),
        (no_difference, "No probability and no mean has moved, so there is nothing to draw."),
        (no_strong_feature, "No feature speaks for any class, so there is nothing to draw."),
        (
            large_table,
            "A plot shows at most 400 cells; the table has 441. Plot a part of it, such as .marginal('n').",
        ),
        (
            lambda: weigh.Normal("cv"),
            "Normal('cv') has no scale yet: a learner chooses it from rows. Give a number instead.",
        ),
    ],
)
def test_nothing_to_plot_is_an_error(result: Any, message: str) -> None:
    with pytest.raises(errors.Unsupported) as excinfo:
        result().plot()
    assert str(excinfo.value) == message


def test_a_prior_centred_at_a_model_is_plotted_as_intervals_of_its_weights() -> None:
    old = weigh.LogisticRegression().fit(APART, "label")
    prior = weigh.Normal(0.5, mean=old)
    drawn = {row["name"]: row for row in rows(prior.plot()) if "low" in row}
    assert list(drawn) == ["x", "y"]
    assert drawn["x"]["high"] - drawn["x"]["low"] == pytest.approx(2 * 0.5 * 1.959963985)


def test_an_html_table_is_escaped_and_its_bars_share_one_zero() -> None:
    markup = html_table(
        "<t>", [["<h>", "n"], ["<a>", "1"], ["b", "-3"], ["c", "∞"]], 1, [1.0, -3.0, math.inf]
    )
    assert "<t>" not in markup
    assert "<h>" not in markup
    assert "<a>" not in markup
    assert markup.count("margin-left:50.0%;width:16.7%") == 1
    assert markup.count("margin-left:0.0%;width:50.0%") == 1
    assert markup.count("margin-left:50.0%;width:50.0%") == 1
