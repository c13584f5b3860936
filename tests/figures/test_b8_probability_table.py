"""B8: marginal and conditional queries of a table of joint probabilities."""

from __future__ import annotations

from fractions import Fraction

import pytest

from weigh.model.probability_table import ProbabilityTable

PROBABILITIES = {False: [0.05, 0.05, 0.05, 0.1], True: [0.3, 0.2, 0.15, 0.1]}
TABLE = ProbabilityTable(
    ["G", "H"],
    {(g, h): p for h, row in PROBABILITIES.items() for g, p in zip("ABCD", row, strict=True)},
)


def test_joint_marginal_and_both_conditionals() -> None:
    assert TABLE.probability(G="C", given={"H": True}) == Fraction("0.2")
    assert TABLE.probability(G="C", H=True) == Fraction("0.15")
    assert TABLE.probability(H=True) == Fraction("0.75")
    assert TABLE.probability(H=True, given={"G": "C"}) == Fraction("0.75")


def test_the_answers_read_as_the_printed_decimals() -> None:
    assert float(TABLE.probability(G="C", given={"H": True})) == 0.2
    assert TABLE.probability(G="C", H=True) == pytest.approx(0.15)


def test_bayes_theorem_holds_exactly() -> None:
    forward = TABLE.probability(G="C", given={"H": True}) * TABLE.probability(H=True)
    assert forward == TABLE.probability(H=True, given={"G": "C"}) * TABLE.probability(G="C")


def test_free_parameters_are_one_less_than_cells() -> None:
    assert TABLE.n_parameters == 7
    assert TABLE.marginal("G").n_parameters == 3


def test_grade_and_hard_work_are_dependent() -> None:
    assert not TABLE.independent("G", "H")
