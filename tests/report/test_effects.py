"""The section of effects: the strongest ten of a model with curves, with the explained rows marked."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import weigh
from tests.additive_models import LABEL, fit_additive, make_table
from weigh import pictures
from weigh.report.effect_facts import MAX_EFFECTS, EffectFacts, MarkedRow, effect_facts

MAX_ADDED_BYTES = 400_000  # of the page, for ten charts in two sizes


@pytest.fixture(scope="module")
def rows() -> dict[str, list[Any]]:
    return make_table(seed=1)


@pytest.fixture(scope="module")
def report(rows: dict[str, list[Any]]) -> weigh.Report:
    return weigh.report_on(fit_additive(make_table()), rows, most=3)


def section(report: weigh.Report) -> EffectFacts:
    facts = report.facts.effects
    assert facts is not None
    return facts


def test_the_facts_are_those_of_effects(report: weigh.Report, rows: dict[str, list[Any]]) -> None:
    expected = weigh.effects(fit_additive(make_table()), rows)
    facts = section(report)
    found = [(each.name, each.shape, each.importance, each.n_cells) for each in facts.effects]
    assert found == [(e.name, e.shape, e.importance, e.n_cells) for e in expected.effects]
    assert (facts.target, facts.n_effects) == ("the log-odds of c1", 6)


def test_the_worst_mistakes_are_marked(report: weigh.Report, rows: dict[str, list[Any]]) -> None:
    assert report.facts.mistakes is not None
    mistakes = [each.row for each in report.facts.mistakes.rows]
    facts = section(report)
    assert (len(mistakes), facts.marked) == (3, tuple(mistakes))
    (panel,) = [each.panel for each in facts.effects if each.name == "income"]
    assert isinstance(panel, pictures.CurvePanel)
    assert panel.marks == tuple((rows["income"][i], f"row {i:,}") for i in mistakes)
    assert facts.sentence.endswith("Red marks are the rows that are explained above.")


def test_the_rows_with_the_largest_errors_of_a_regression_are_marked() -> None:
    rows = make_table(seed=1, classes=0)
    report = weigh.report_on(fit_additive(make_table(classes=0)), rows, most=2)
    assert report.facts.numbers is not None
    assert section(report).marked == tuple(each.row for each in report.facts.numbers.missed)
    assert section(report).target == LABEL
    assert 'id="effects"' in report.html


def test_the_page_shows_a_chart_and_a_line_of_the_table_for_each_effect(report: weigh.Report) -> None:
    html = report.html
    start = html.index('<section aria-labelledby="effects">')
    part = html[start : html.index("</section>", start)]
    assert part.count("<figure>") == len(section(report).effects) == 6
    assert part.count('<th scope="row"') == 6
    assert '<li><a href="#effects">Effects</a></li>' in html
    assert re.search(r'aria-label="Effect of age: [^"]+\."', part)
    assert len(part.encode()) < MAX_ADDED_BYTES


def test_the_facts_are_plain_json_without_the_panels(report: weigh.Report) -> None:
    facts = report.to_dict()["effects"]
    assert json.loads(json.dumps(facts)) == facts
    assert set(facts["effects"][0]) == {
        "name", "kind", "shape", "importance", "lowest", "highest", "n_cells", "told"
    }  # fmt: skip


def test_only_the_strongest_ten_of_many_are_shown() -> None:
    wide = {f"x{k}": [float((i * (k + 3)) % 17) for i in range(60)] for k in range(12)}
    table = {**wide, "y": [sum(column[i] * k for k, column in enumerate(wide.values())) for i in range(60)]}
    model = weigh.LinearRegression(curves="auto").fit(table, "y").model_
    facts = effect_facts(model, table, [MarkedRow(0, {name: column[0] for name, column in table.items()})])
    assert (len(facts.effects), facts.n_effects) == (MAX_EFFECTS, 12)
    assert "the 10 strongest of 12 effects." in facts.sentence


def test_other_models_have_no_section_of_effects(spam: weigh.Report) -> None:
    assert spam.facts.effects is None
    assert 'id="effects"' not in spam.html
    rows = {"a": [1.0, 2.0, 3.0, 4.0] * 5, "y": [2.0, 4.1, 5.9, 8.0] * 5}
    linear = weigh.report_on(weigh.LinearRegression().fit(rows, "y"), rows, "y")
    assert linear.facts.effects is None


def test_names_of_columns_stay_text() -> None:
    name = "<img src=x>{{ 7 * 7 }}"
    table = {name: [float(i) for i in range(40)], "y": ["a" if i % 40 < 18 else "b" for i in range(40)]}
    model = weigh.LogisticRegression(curves="auto").fit(table, "y")
    html = weigh.report_on(model, table, "y").html
    assert "<img src=x" not in html
    assert "&lt;img src=x&gt;{{ 7 * 7 }}" in html
