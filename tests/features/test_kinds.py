"""Kinds: their settings, names and plain form."""

from __future__ import annotations

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.features.kind_registry import Lag, kind_from_json, to_kind


@pytest.mark.parametrize(
    "kind",
    [
        weigh.Category(),
        weigh.Category(levels=("low", "high")),
        weigh.Flag(),
        weigh.Count(),
        weigh.Number(),
        weigh.Number(spread="shared", floor=0.0),
        weigh.Number(spread=2.0),
        weigh.Number(bins=(1.0, 2.5)),
        weigh.Text(counts=False, ngrams=(1, 2), min_length=3, min_count=2),
        weigh.Tokens(min_count=5),
        weigh.Skip(),
        Lag("x", 3, weigh.Category()),
    ],
)
def test_a_kind_round_trips_through_json(kind):
    assert kind_from_json(kind.to_json()) == kind


def test_kinds_may_be_named_in_lower_case_or_by_class():
    assert to_kind("number", "columns") == weigh.Number()
    assert to_kind(weigh.Text, "columns") == weigh.Text()


def test_a_misspelt_kind_is_reported_with_a_hint():
    with pytest.raises(errors.ParameterError, match="Did you mean 'number'"):
        to_kind("numbr", "columns")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: weigh.Number(spread="wide"),
            "Number: spread must be None, 'own', 'shared' or a number above 0",
        ),
        (lambda: weigh.Number(spread=-1.0), "Number: spread must be"),
        (lambda: weigh.Number(floor=-0.1), "Number: floor must be a number of at least 0, got -0.1."),
        (lambda: weigh.Number(bins=1), "Number: bins must be at least 2, or the cuts themselves, got 1."),
        (lambda: weigh.Number(bins=(2.0, 1.0)), "Number: bins must be finite cuts in increasing order"),
        (lambda: weigh.Text(ngrams=(2, 1)), "Text: ngrams must be two numbers, 1 <= low <= high"),
        (lambda: weigh.Text(min_count=0), "Text: min_count must be at least 1, got 0."),
        (lambda: weigh.Category(levels=("a", "a")), "Category: levels must be at least one value"),
        (lambda: Lag("x", 0), "Lag: by must be at least 1, got 0."),
        (lambda: weigh.Derived("no function"), "Derived: function must be callable"),
    ],
)
def test_impossible_settings_are_rejected(make, words):
    with pytest.raises(errors.ParameterError) as told:
        make()
    assert words in str(told.value)


def test_a_number_of_bins_may_be_any_integer():
    assert weigh.Number(bins=np.int64(5)) == weigh.Number(bins=5)
    assert type(weigh.Number(bins=np.int64(5)).bins) is int


@pytest.mark.parametrize("bins", [2.5, np.float64(3.0)])
def test_a_fractional_number_of_bins_is_rejected(bins):
    with pytest.raises(errors.ParameterError, match=r"bins.*a whole number, or the cuts themselves"):
        weigh.Number(bins=bins)


@pytest.mark.parametrize(
    "make",
    [
        lambda: weigh.Number(bins="ab"),
        lambda: weigh.Number(bins=[10**400]),
        lambda: weigh.Number(spread=[1]),
        lambda: weigh.Number(shape=3),
        lambda: weigh.Number(floor="a"),
        lambda: weigh.Category(levels="abc"),
        lambda: weigh.Category(levels=[None]),
        lambda: weigh.Category(levels=3),
        lambda: weigh.Text(ngrams=3),
        lambda: weigh.Text(ngrams=("a", "b")),
        lambda: weigh.Text(counts="no"),
        lambda: weigh.Text(min_length="a"),
        lambda: weigh.Tokens(min_count=float("nan")),
        lambda: Lag("a", 1.5),
        lambda: Lag(3),
    ],
)
def test_settings_of_a_wrong_type_are_rejected(make):
    with pytest.raises(errors.ParameterError):
        make()
