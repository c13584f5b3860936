"""Warnings are shown once at the user's line."""

from __future__ import annotations

import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import weigh
from weigh import errors
from weigh.deduplicated_warnings import collect_warnings, warn

TWINS = np.random.default_rng(0).normal(size=(60, 1)).repeat(2, axis=1)
LABELS = ["a", "b"] * 30


def fit_twins(rows: int) -> None:
    weigh.NaiveBayes().fit(TWINS[:rows], LABELS[:rows])


def test_a_line_shows_a_warning_once_although_its_numbers_differ() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for rows in (60, 50, 40):
            fit_twins(rows)
    assert [(each.category, each.filename) for each in caught] == [(errors.DependentColumns, __file__)]


def test_another_column_at_the_same_line_is_shown() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for name in ("a", "a", "b"):
            warn(errors.OddValues(f"Column {name!r} is odd."), [name])
    assert [str(each.message) for each in caught] == ["Column 'a' is odd.", "Column 'b' is odd."]


def test_the_filter_module_is_treated_like_default() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("module")
        for rows in (60, 50):
            fit_twins(rows)
    assert len(caught) == 1


def test_each_pool_of_threads_shows_its_own_warning_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            with ThreadPoolExecutor(1) as pool:
                for rows in (60, 50):
                    pool.submit(weigh.NaiveBayes().fit, TWINS[:rows], LABELS[:rows]).result()
    assert [each.category for each in caught] == [errors.DependentColumns] * 2


def test_every_recording_sees_the_warning() -> None:
    for _ in range(2):
        with pytest.warns(errors.DependentColumns):
            fit_twins(60)


def test_the_filters_always_and_error_apply_to_every_warning() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            fit_twins(60)
    assert len(caught) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(errors.DependentColumns):
                fit_twins(60)


def test_a_grid_search_shows_a_warning_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        GridSearchCV(weigh.NaiveBayes(), {"prior": [0.5, 1, 2, 3]}, cv=5).fit(TWINS, LABELS)
    assert [each.category for each in caught] == [errors.DependentColumns]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        cross_val_score(weigh.NaiveBayes(), TWINS, LABELS, cv=5)
    assert [each.category for each in caught] == [errors.DependentColumns]


def test_each_worker_process_and_the_parent_show_a_warning_at_most_once() -> None:
    code = (
        "import numpy as np, weigh\n"
        "from sklearn.model_selection import GridSearchCV\n"
        "X = np.random.default_rng(0).normal(size=(60, 1)).repeat(2, axis=1)\n"
        "grid = GridSearchCV(weigh.NaiveBayes(), {'prior': [1, 2]}, cv=3, n_jobs=2)\n"
        "grid.fit(X, ['a', 'b'] * 30)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 2 <= done.stderr.count("DependentColumns: ") <= 3


def test_collected_warnings_are_not_issued() -> None:
    with warnings.catch_warnings(), collect_warnings() as collected:
        warnings.simplefilter("error")
        for rows in (60, 50):
            fit_twins(rows)
        with collect_warnings() as inner:
            fit_twins(60)
    assert list(map(type, collected)) == [errors.DependentColumns] * 2
    assert len(inner) == 1
    with pytest.warns(errors.DependentColumns):
        fit_twins(60)


def test_warnings_of_other_threads_are_not_collected() -> None:
    with warnings.catch_warnings(record=True) as caught, collect_warnings() as collected:
        warnings.simplefilter("always")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(fit_twins, 60).result()
    assert (len(caught), collected) == (1, [])
