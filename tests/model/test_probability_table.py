"""Tables of joint probabilities."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh.errors import ColumnError, DataError, ImpossibleEvidence, ParameterError
from weigh.model.probability_table import ProbabilityTable

COLUMNS = {
    "G": ["A", "B", "C", "D"] * 2,
    "H": [False] * 4 + [True] * 4,
    "P": [0.05, 0.05, 0.05, 0.1, 0.3, 0.2, 0.15, 0.1],
}
TABLE = ProbabilityTable.from_columns(COLUMNS)


def test_a_mapping_rows_columns_and_a_frame_give_the_same_table() -> None:
    rows = list(zip(*COLUMNS.values(), strict=True))
    assert ProbabilityTable.from_rows(["G", "H"], rows) == TABLE
    assert ProbabilityTable(["G", "H"], {(g, h): p for g, h, p in rows}) == TABLE
    assert ProbabilityTable.from_columns(pd.DataFrame(COLUMNS)) == TABLE
    assert ProbabilityTable.from_columns({k: np.array(v) for k, v in COLUMNS.items()}) == TABLE
    renamed = {"G": COLUMNS["G"], "H": COLUMNS["H"], "p": COLUMNS["P"]}
    assert ProbabilityTable.from_columns(renamed, probability="p") == TABLE


def test_one_variable_needs_no_tuples() -> None:
    dice = ProbabilityTable(["face"], {face: Fraction(1, 6) for face in range(1, 7)})
    assert dice.probability(face=3) == Fraction(1, 6)
    assert dice.n_parameters == 5


def test_numbers_are_read_exactly_in_every_form() -> None:
    coin = ProbabilityTable(["side"], {"heads": "1/3", "tails": Fraction(2, 3)})
    assert coin.probability(side="heads") == Fraction(1, 3)
    assert ProbabilityTable(["x"], {0: np.float32(0.1), 1: "0.9"}).probability(x=0) == Fraction(1, 10)


def test_unnamed_variables_are_summed_out() -> None:
    assert TABLE.probability() == 1
    assert TABLE.probability(G="D") == Fraction(1, 5)
    assert TABLE.probability({"G": "D"}, H=True) == Fraction(1, 10)
    assert TABLE.probability(G="A", given={"G": "A"}) == 1
    assert TABLE.probability(G="A", given={"G": "B"}) == 0


def test_marginals_and_conditionals_are_tables() -> None:
    assert TABLE.marginal("H").to_dict() == {"H": [False, True], "P": [0.25, 0.75]}
    assert TABLE.marginal("H", "G").variables == ("H", "G")
    conditional = TABLE.conditional("G", given={"H": True})
    assert conditional.to_dict(exactly=True)["P"] == ["2/5", "4/15", "1/5", "2/15"]


def test_a_conditional_keeps_impossible_values() -> None:
    table = ProbabilityTable(["a", "b"], {("x", 0): 0.5, ("y", 0): 0.25, ("y", 1): 0.25})
    conditional = table.conditional("a", given={"b": 1})
    assert conditional.values == (("x", "y"),)
    assert conditional.probability(a="x") == 0
    assert table.n_parameters == 3


def test_independence_is_exact() -> None:
    p, q = {"x": "1/3", "y": "2/3"}, {0: "1/7", 1: "6/7"}
    product = {(a, b): Fraction(p[a]) * Fraction(q[b]) for a in p for b in q}
    assert ProbabilityTable(["a", "b"], product).independent("a", "b")
    product["x", 0] += Fraction(1, 10**12)
    product["x", 1] -= Fraction(1, 10**12)
    assert not ProbabilityTable(["a", "b"], product).independent("a", "b")
    assert not ProbabilityTable(["a", "b"], {("x", 0): 0.5, ("y", 1): 0.5}).independent("a", "b")


def test_variables_can_be_independent_only_given_a_third() -> None:
    cells = {}
    for z, p in ((0, Fraction(1, 10)), (1, Fraction(9, 10))):
        for x in (0, 1):
            for y in (0, 1):
                cells[x, y, z] = (p if x else 1 - p) * (p if y else 1 - p) / 2
    table = ProbabilityTable(["x", "y", "z"], cells)
    assert not table.independent("x", "y")
    assert table.independent("x", "y", given={"z": 0})


@given(st.lists(st.integers(0, 9), min_size=6, max_size=6).filter(sum))
@settings(max_examples=50, deadline=None)
def test_chain_rule_and_total_probability(weights: list[int]) -> None:
    keys = [(a, b) for a in "xyz" for b in (0, 1)]
    total = sum(weights)
    cells = {key: Fraction(w, total) for key, w in zip(keys, weights, strict=True)}
    table = ProbabilityTable(["a", "b"], cells)
    marginal = Fraction(0)
    for b in (0, 1):
        if table.probability(b=b):
            joint = table.probability(a="x", given={"b": b}) * table.probability(b=b)
            assert joint == table.probability(a="x", b=b)
            marginal += joint
    assert marginal == table.probability(a="x") == table.marginal("a").probability(a="x")


def test_impossible_evidence_is_named() -> None:
    table = ProbabilityTable(["a", "b"], {("x", 0): 1, ("y", 1): 0})
    with pytest.raises(ImpossibleEvidence, match=r"P\(b=1\) is 0"):
        table.probability(a="x", given={"b": 1})
    with pytest.raises(ImpossibleEvidence, match=r"P\(b=1\) is 0"):
        table.conditional("a", given={"b": 1})


def test_a_sum_that_is_not_one_is_rejected() -> None:
    with pytest.raises(DataError, match=r"must sum to 1; these sum to 0.9"):
        ProbabilityTable(["a"], {0: 0.5, 1: 0.4})
    with pytest.raises(DataError, match="these sum to 0"):
        ProbabilityTable(["a"], {})


def test_rounded_probabilities_are_divided_by_their_sum_with_a_note() -> None:
    table = ProbabilityTable(["a"], dict.fromkeys(range(3), 1 / 3))
    assert table.probability(a=0) == Fraction(1, 3)
    assert table.given_total == Fraction("0.9999999999999999")
    assert str(table).endswith("The probabilities sum to 1-1.0e-16; each was divided by this sum.")
    assert "divided" not in str(TABLE)


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf, None, True, "a tenth", "1e9999999999"])
def test_an_invalid_probability_is_rejected(bad: object) -> None:
    with pytest.raises(DataError, match=r"probability of cell \('x',\) must be a number"):
        ProbabilityTable(["a"], {"x": bad, "y": 0.5})


@pytest.mark.parametrize("bad", [math.nan, np.nan, ["x"], ("x", ["y"])])
def test_a_value_without_identity_is_rejected(bad: object) -> None:
    with pytest.raises(DataError, match="cannot have the value"):
        ProbabilityTable.from_rows(["a"], [(bad, 1)])


def test_cells_of_the_wrong_length_and_duplicate_cells_are_rejected() -> None:
    with pytest.raises(DataError, match=r"has 1 values, but the table has 2 variables, 'a', 'b'"):
        ProbabilityTable(["a", "b"], {"x": 1})
    with pytest.raises(DataError, match="given twice"):
        ProbabilityTable.from_rows(["a"], [("x", 0.5), ("x", 0.5)])
    with pytest.raises(DataError, match="has 0 values"):
        ProbabilityTable.from_rows(["a"], [()])


@pytest.mark.parametrize("names", ["ab", [], [1]])
def test_variables_must_be_a_list_of_names(names: object) -> None:
    with pytest.raises(ColumnError, match="needs a list of variable names"):
        ProbabilityTable(names, {"x": 1})


def test_missing_unequal_and_duplicate_columns_are_rejected() -> None:
    with pytest.raises(ColumnError, match="'a' has 1 rows, but 'P' has 2"):
        ProbabilityTable.from_columns({"a": [1], "P": [0.5, 0.5]})
    with pytest.raises(ColumnError, match="has no column 'P'; it has 'a', 'p'"):
        ProbabilityTable.from_columns({"a": [1], "p": [1]})
    with pytest.raises(ColumnError, match="named twice"):
        ProbabilityTable(["a", "a"], {("x", "y"): 1})


def test_errors_for_unknown_variables_and_values_have_a_hint() -> None:
    table = ProbabilityTable(["grade"], {"good": 0.5, "poor": 0.5})
    with pytest.raises(ColumnError, match=r"no column 'grad'; it has 'grade'. Did you mean 'grade'"):
        table.probability(grad="good")
    with pytest.raises(DataError, match=r"no value 'goood'; it has 'good', 'poor'. Did you mean"):
        table.probability(grade="goood")
    with pytest.raises(ColumnError, match="no column 'H'"):
        table.marginal("H")
    with pytest.raises(ColumnError, match="'grade' is given twice"):
        table.probability({"grade": "good"}, grade="poor")


def test_the_table_prints_aligned() -> None:
    assert str(TABLE.marginal("H")) == "H      P\nFalse  0.25\nTrue   0.75"
    assert repr(TABLE) == "<ProbabilityTable of G, H: 8 cells>"


def test_a_frame_has_one_row_per_cell() -> None:
    table = ProbabilityTable(["a", "b"], {(0, "x"): 0.25, (1, "x"): 0.75})
    assert (
        table.to_frame().to_dict("list")
        == table.to_dict()
        == {"a": [0, 1], "b": ["x", "x"], "P": [0.25, 0.75]}
    )


def test_a_long_table_prints_its_first_cells() -> None:
    table = ProbabilityTable(["n"], {n: Fraction(1, 100) for n in range(100)})
    assert len(str(table).splitlines()) == 62
    assert str(table).endswith("… and 40 more")
    assert table._repr_html_().count("<tr>") == 62


def test_text_with_line_breaks_stays_on_its_line() -> None:
    table = ProbabilityTable(["a"], {"one\ntwo": 1})
    assert str(table).splitlines()[1].startswith("'one\\ntwo'")


def test_html_escapes_everything() -> None:
    table = ProbabilityTable(["<b>"], {"<script>": 0.5, '"&': 0.5})
    text = table._repr_html_()
    assert "<b>" not in text
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "&quot;&amp;" in text


def test_an_exact_dict_can_be_read_back() -> None:
    thirds = ProbabilityTable(["a"], {"x": "1/3", "y": "2/3"})
    for table in (TABLE, thirds):
        data = json.loads(json.dumps(table.to_dict(exactly=True)))
        assert ProbabilityTable.from_columns(data) == table
    with pytest.raises(ParameterError, match="probability must be other than the variables 'a'"):
        thirds.to_dict(probability="a")


def test_a_table_can_be_hashed() -> None:
    assert len({TABLE, ProbabilityTable.from_columns(COLUMNS)}) == 1
