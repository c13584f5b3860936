"""The exact wording of tables and sentences on the page."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import weigh
from tests.report import tables
from weigh.report import schema_facts
from weigh.report.mistake_facts import ClassifierPredictions, mistake_facts


def test_thresholds_are_formatted_for_the_page(spam: weigh.Report) -> None:
    assert spam.facts.thresholds is not None
    for row in spam.facts.thresholds.rows:
        assert row.name == f"{row.threshold:.2f}"
        assert row.counts == tuple(f"{n:g}" for n in (row.found, row.false_alarms, row.missed, row.passed))
    assert spam.facts.thresholds.rows[0].told.endswith(", recall 100 %, accuracy 42.5 %.")
    assert [row.name for row in spam.facts.thresholds.table_rows[:3]] == ["0.00", "0.05", "0.10"]


def test_both_curves_have_a_table(spam: weigh.Report) -> None:
    assert spam.facts.curves is not None
    (spam_curve,) = spam.facts.curves.classes
    for (_, _, sample), points in zip(
        spam_curve.tables, (spam_curve.roc, spam_curve.precision_recall), strict=True
    ):
        assert {sample[0], sample[-1]} == {points[0], points[-1]}
        assert 10 <= len(sample) <= 20
        assert set(sample) <= set(points)
    assert "area" in spam.html
    assert spam.html.count("; sample of points</caption>") == 2


def test_residuals_have_a_table() -> None:
    model = weigh.LinearRegression().fit(tables.homes(), "rent")
    report = weigh.report_on(model, tables.homes(60, 1))
    assert report.facts.numbers is not None
    assert len(report.facts.numbers.table_rows) == 20
    assert "<caption>20 of the 60 points</caption>" in report.html
    assert "for sure" not in report.html
    assert "3 of 3 weights, the most significant first" in report.html
    assert {each.name: each.value for each in report.facts.model.settings}["prior"] == "none"


def test_weights_without_intervals_are_ordered_by_size() -> None:
    model = weigh.LinearRegression(prior=weigh.Penalty(l1=3000.0)).fit(tables.homes(), "rent")
    report = weigh.report_on(model, tables.homes(60, 1))
    assert report.facts.numbers is not None
    sizes = [abs(each.weight) for each in report.facts.numbers.weights]
    assert sizes == sorted(sizes, reverse=True)
    assert "3 of 3 weights, the largest first" in report.html


def test_one_mistake_is_in_the_singular() -> None:
    x = [0.0] * 20 + [10.0] * 20
    table = {"x": (np.array(x) + np.tile([0.0, 0.5, 1.0, 1.5], 10)).tolist(), "y": ["a"] * 20 + ["b"] * 20}
    model = weigh.NaiveBayes().fit(table, "y")
    report = weigh.report_on(model, {**table, "y": ["b", *table["y"][1:]]})
    assert report.facts.mistakes is not None
    assert report.facts.mistakes.sentence.startswith("1 of 40 predictions is wrong.")
    assert re.search(r'id="filter-told"[^>]*>1 row<', report.html)


def test_rows_with_zero_weight_are_not_mistakes(spam_model: Any) -> None:
    codes, ones = np.array([0, 0, 1]), np.array([1, 1, 1])
    facts = mistake_facts(
        spam_model, ClassifierPredictions(("ham", "spam"), codes, ones, None, np.array([0.0, 0.0, 1.0]), ())
    )
    assert (facts.wrong, facts.n) == (0, 1)


def test_training_rows_add_what_the_model_does_not_store() -> None:
    model = weigh.Perceptron(scale=None).fit(tables.mails(), "kind")
    without = weigh.report_on(model, tables.mails(60, 1)).facts.schema
    with_training = weigh.report_on(model, tables.mails(60, 1), train=tables.mails()).facts.schema
    assert without is not None
    assert with_training is not None
    lengths = tables.mails()["length"]
    assert {each.name: each.trained for each in without.columns}["length"] == "not stored in the model"
    assert {each.name: each.trained for each in with_training.columns}["length"] == (
        f"mean {np.mean(lengths):.4g}, from −{-min(lengths):.4g} to {max(lengths):.4g}"
    )
    assert {each.name: each.kind for each in with_training.columns}["length"] == "number"


def test_known_values_are_still_counted_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_facts, "MAX_DISTINCT_VALUES", 1)
    seen = schema_facts._ColumnStatistics()
    seen.add(np.array([2.0, 2.0, 3.0, 2.0], object))
    assert seen.values == {"2": 3}


def test_features_of_infinite_strength_are_listed() -> None:
    table = {"x": ["a", "b"] * 20, "y": ["p", "q"] * 20}
    report = weigh.report_on(weigh.NaiveBayes(prior=None).fit(table, "y"), table)
    assert "As a table: what speaks for p" in report.html
    assert "Nothing that could be drawn" not in report.html


@pytest.mark.parametrize("kind", ["perceptron", "voted", "joint", "text", "calibrated", "many"])
def test_every_kind_of_model_has_a_page(kind: str) -> None:
    report = tables.report_of(kind)
    headings = re.findall(r'<h2 id="(\w+)"', report.html)
    expected = {
        "perceptron": ["strongest", "audit", "familiar", "schema"],
        "voted": ["strongest", "audit", "familiar", "schema"],
        "joint": ["threshold", "calibration", "audit", "familiar", "schema"],
        "text": ["strongest", "calibration", "audit", "familiar", "schema"],
        "calibrated": ["threshold", "strongest", "calibration", "audit", "familiar", "schema"],
        "many": ["strongest", "calibration", "audit", "familiar", "schema"],
    }
    first = ["model", "quality", *["threshold"] * ("threshold" in expected[kind]), "mistakes"]
    rest = [name for name in expected[kind] if name != "threshold"]
    assert headings == [*first, *rest, "reproduce"]
    if kind in ("perceptron", "voted"):
        assert "higher probability" not in report.html


def test_a_page_of_many_classes_and_columns_stays_small() -> None:
    def wide(n: int, seed: int) -> dict[str, list[Any]]:
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, n)
        values = {f"some longer column name {j}": (y + rng.integers(0, 9, n)) % 12 for j in range(60)}
        named = {name: [f"a value of some length {v}" for v in each] for name, each in values.items()}
        return named | {"y": [f"class number {v}" for v in rng.permutation(y)]}

    model = weigh.NaiveBayes().fit(wide(200, 0), "y")
    report = weigh.report_on(model, wide(150, 1), most=50)
    assert report.facts.mistakes is not None
    assert len(report.facts.mistakes.rows) == 50
    assert report.facts.strongest is not None
    assert {len(side.features) for side in report.facts.strongest.sides} == {15}
    # At most twelve classes are shown; rendering all is slow, so the size of three is extrapolated.
    section = re.search(r'<h2 id="strongest".*?</section>', report.html, re.DOTALL)
    assert section is not None
    assert len(report.html.encode()) + 3 * len(section.group().encode()) < 1_500_000
