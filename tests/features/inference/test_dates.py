"""Dates are recognised despite cells that mean missing, mistyped years and other words."""

import datetime

import numpy as np
import pytest

import weigh
from weigh import errors

DAYS = [datetime.date(2022, 1, 1) + datetime.timedelta(days=k // 2) for k in range(1800)]
DATES = [day.strftime("%d.%m.%Y") for day in DAYS]
LABELS = ["ab"[day.weekday() > 4] for day in DAYS]


def fit(cells):
    return weigh.NaiveBayes().fit({"when": cells, "y": LABELS}, "y")


@pytest.mark.parametrize("word", ["00.00.0000", "0000-00-00", "unbekannt", "--", "k.A."])
def test_cells_that_mean_missing_are_no_reason_against_a_date(word):
    cells = [word if k % 20 == 0 else cell for k, cell in enumerate(DATES)]
    with pytest.warns(errors.OddValues, match="90 values are not dates and are treated as missing"):
        model = fit(cells)
    assert [kind.name for kind in model.schema_.kinds] == ["date"]


@pytest.mark.parametrize("year", ["2203", "1900"])
def test_a_mistyped_year_does_not_remove_weekday_and_month(year):
    cells = [f"12.05.{year}", *DATES[1:]]
    model = fit(cells)
    assert model.schema_.dates["when"].parts == ("weekday", "month", "days")
    assert (model.predict({"when": cells}) == np.array(LABELS)).mean() > 0.95


def test_dates_with_other_words_are_not_dates_and_noted():
    cells = ["later, perhaps" if k % 20 == 0 else cell for k, cell in enumerate(DATES)]
    with pytest.warns(errors.OddValues) as caught:
        model = fit(cells)
    assert str(caught[0].message) == (
        "Column 'when' contains dates except for 'later, perhaps' (90 of 1,800 cells), so it is not read as "
        "a date. If they mean missing, use missing=['later, perhaps']."
    )
    assert model.schema_.dates == {}
