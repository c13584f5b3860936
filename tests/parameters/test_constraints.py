"""Constraints accept what they say they allow, and reject everything else with these words."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from weigh.errors import ParameterError
from weigh.parameters import (
    CellPrior,
    ClassPriors,
    ClassWeights,
    Constraint,
    CountPrior,
    Flag,
    Noise,
    OneOf,
    RealNumber,
    WeightPriors,
    WholeNumber,
    kinds,
)
from weigh.priors import Beta, Dirichlet, Laplace, Normal, Penalty

COUNTS = "a number above zero, None, Beta(a, b) or Dirichlet(b)"
WEIGHTS = "a number above zero, None, Normal(s), Laplace(t) or Penalty(l1=a, l2=b)"


@pytest.mark.parametrize(
    ("allowed", "value", "expected"),
    [
        (Flag(), np.bool_(True), True),
        (Flag(("words",)), "words", "words"),
        (OneOf((None, "unit")), None, None),
        (WholeNumber(2), np.int64(3), 3),
        (WholeNumber(2, ("loo",)), "loo", "loo"),
        (RealNumber(minimum=0), 0, 0.0),
        (RealNumber(above=0, words=("safe",)), Fraction(1, 2), 0.5),
        (CountPrior(), {"a": 2, "b": None}, {"a": 2, "b": None}),
        (CountPrior(), Beta(1, 2), Beta(1, 2)),
        (CellPrior(), Dirichlet(2), Dirichlet(2)),
        (ClassPriors(), "uniform", "uniform"),
        (WeightPriors(), 2, Normal(2)),
        (WeightPriors(), {"a": 2, "b": Laplace(1)}, {"a": Normal(2), "b": Laplace(1)}),
        (WeightPriors(), Penalty(l1=1), Penalty(l1=1)),
        (kinds.Bins(), [1, 2], (1.0, 2.0)),
        (kinds.StopWords(), ["b", "a", "b"], ("a", "b")),
    ],
)
def test_allowed_values_are_returned_in_the_form_that_learners_use(
    allowed: Constraint, value: Any, expected: Any
) -> None:
    checked = allowed.check("Learner", "it", value)
    assert (type(checked), checked) == (type(expected), expected)


@pytest.mark.parametrize(
    ("allowed", "value", "must"),
    [
        (Flag(("words",)), 1, "True, False or 'words'"),
        (OneOf((None, "unit")), "std", "None or 'unit'"),
        (OneOf(("a", "b", "c")), np.ones(2), "'a', 'b' or 'c'"),
        (WholeNumber(2), 2.5, "a whole number of at least 2"),
        (WholeNumber(2), 1, "at least 2"),
        (WholeNumber(1, maximum=100), 101, "at most 100"),
        (RealNumber(above=0, below=1), 1, "a number between 0 and 1"),
        (RealNumber(minimum=0), "3", "a number of at least 0"),
        (
            RealNumber(above=0, maximum=1e100, words=("safe",)),
            -1,
            "'safe' or a number above 0, at most 1e+100",
        ),
        (CellPrior(), Beta(1, 1), "a number above zero, None, or Dirichlet(b) with one b for every cell"),
        (ClassPriors(), "even", ClassPriors.wording),
        *((CountPrior(), bad, COUNTS) for bad in (0, -1, math.nan, math.inf, True, "1", [1])),
        *((WeightPriors(), bad, WEIGHTS) for bad in (0, -1, math.nan, True, "cv", Beta(1, 1))),
    ],
)
def test_other_values_are_rejected_with_the_allowed_ones(allowed: Constraint, value: Any, must: str) -> None:
    with pytest.raises(ParameterError) as excinfo:
        allowed.check("Learner", "it", value)
    assert str(excinfo.value).startswith(f"Learner: it must be {must}, got ")


@pytest.mark.parametrize(
    ("allowed", "value", "suggestion"),
    [
        (OneOf(("averaged", "last")), "avereged", "averaged"),
        (OneOf(("exact", "online")), "onlin", "online"),
        (OneOf((None, "unit")), "std", ""),
        (Flag(("words",)), "word", "words"),
        (WholeNumber(2, ("loo",)), "lo", "loo"),
        (RealNumber(above=0, words=("safe",)), "saef", "safe"),
        (Noise(), "norml", "normal"),
        (ClassWeights(), "balancd", "balanced"),
        (ClassPriors(), "unifrom", "uniform"),
        (kinds.StopWords(), "englsh", "english"),
    ],
)
def test_a_misspelt_word_gets_a_suggestion(allowed: Constraint, value: str, suggestion: str) -> None:
    with pytest.raises(ParameterError) as excinfo:
        allowed.check("Learner", "it", value)
    assert excinfo.value.suggestion == suggestion
    assert str(excinfo.value).startswith(f"Learner: it must be {allowed.wording}, got {value!r}.")


def test_the_prior_of_a_column_is_named() -> None:
    with pytest.raises(ParameterError, match=r"^NaiveBayes: prior\['age'\] must be a number above zero"):
        CountPrior().check("NaiveBayes", "prior", {"age": 0})


def test_the_command_line_writes_words_without_quotes() -> None:
    assert OneOf((None, "unit")).option_wording == "none or unit"
    assert Flag().option_wording == "true or false"
