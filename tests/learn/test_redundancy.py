"""Columns that repeat each other within the classes, found in a sample that does not depend on the order."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh import errors
from weigh.features import infer_schema
from weigh.learn import find_dependent_columns, row_sample
from weigh.learn.naive_bayes import BayesTask
from weigh.source import rows


def table(n: int = 300) -> dict[str, object]:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], n)
    size = rng.normal(size=n)
    return {
        "colour": colour,
        "size": size,
        "other": rng.choice(["a", "b"], n),
        "length": rng.normal(size=n),
        "y": rng.choice(["no", "yes"], n),
    }


def pairs(data: dict[str, object], columns: object = "auto") -> list[tuple[str, str]]:
    source = rows(data, "y")
    schema = infer_schema(source, columns)
    return [(p.first, p.second) for p in find_dependent_columns(schema, next(schema.chunks(source)))]


def test_independent_columns_are_not_reported():
    assert pairs(table()) == []


def test_a_renamed_category_and_a_rescaled_number_are_found():
    data = table()
    data["farbe"] = np.char.upper(np.asarray(data["colour"], dtype=str))
    data["inches"] = np.asarray(data["size"]) / 2.54 + 1
    assert sorted(pairs(data)) == [("colour", "farbe"), ("size", "inches")]


def test_a_repeated_flag_is_found():
    data = table()
    data["f"] = np.asarray(data["other"]) == "a"
    data["g"] = ~np.asarray(data["f"])
    assert pairs(data) == [("other", "f"), ("other", "g")]


def test_columns_that_depend_only_through_the_class_are_not_reported():
    rng = np.random.default_rng(1)
    y = rng.choice([0, 1], 500)
    data = {"a": y * 10 + rng.normal(size=500), "b": y * 10 + rng.normal(size=500), "y": y}
    assert pairs(data) == []


def test_fitting_warns_and_names_the_column_to_skip():
    data = table()
    data["inches"] = np.asarray(data["size"]) / 2.54
    with pytest.warns(errors.DependentColumns, match="'inches' repeats 'size'.*columns={'inches': 'skip'}"):
        weigh.NaiveBayes().fit(data, "y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.NaiveBayes({"inches": "skip"}).fit(data, "y")


def message(data: dict[str, object]) -> str | None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        weigh.NaiveBayes().fit(data, "y")
    found = [str(each.message) for each in caught if issubclass(each.category, errors.DependentColumns)]
    return found[0] if found else None


def test_the_message_names_shares_and_the_effect_on_the_probabilities() -> None:
    rng = np.random.default_rng(3)
    a = np.arange(400) % 2 == 0
    y = np.where(rng.random(400) < 0.8, a, ~a)
    b = np.where(rng.random(400) < 0.01, ~a, a)
    assert message({"a": a, "b": b, "y": y}) == (
        "Some columns repeat each other, so naive Bayes counts the same evidence twice and is overconfident: "
        "88 % of 'b' repeats 'a'. Without it the probabilities change by 14 points on average. Try "
        "columns={'b': 'skip'}, or calibrate the model."
    )


def test_correlated_numbers_are_found() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=300)
    data = {"x": x, "z": 0.979 * x + 0.204 * rng.normal(size=300), "y": rng.choice(["n", "p"], 300)}
    assert pairs(data) == [("x", "z")]


@pytest.mark.parametrize("n", [12, 16, 19])
def test_small_tables_are_compared(n: int) -> None:
    a = np.arange(n) % 2 == 0
    y = np.where(np.arange(n) % 4 < 2, "n", "p")
    assert pairs({"a": a, "b": ~a, "y": y}) == [("a", "b")]


def test_a_column_that_another_determines_is_the_one_to_leave_out() -> None:
    rng = np.random.default_rng(5)
    city = rng.choice(["Lyon", "Nice", "Rome", "Bari"], 300)
    data = {
        "country": np.where(np.isin(city, ["Rome", "Bari"]), "Italy", "France"),
        "city": city,
        "y": rng.choice(["n", "p"], 300),
    }
    assert pairs(data) == [("city", "country")]


def test_columns_without_an_effect_on_the_probabilities_cause_no_warning() -> None:
    rng = np.random.default_rng(6)
    a = rng.random(20_000) < 0.5
    b = np.where(rng.random(20_000) < 0.01, ~a, a)
    assert message({"a": a, "b": b, "y": np.tile(["n", "p"], 10_000)}) is None


def test_independent_columns_hardly_ever_cause_a_false_alarm() -> None:
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(10, 300))
        data: dict[str, object] = {f"c{j}": rng.integers(0, 1 + j, n).astype(str) for j in range(1, 5)}
        data |= {f"x{j}": rng.exponential(size=n) for j in range(3)}
        alarms += bool(pairs(data | {"y": rng.choice(["n", "p"], n)}))
    assert alarms <= 8


@given(st.integers(0, 2**32), st.integers(1, 700))
@settings(max_examples=15)
def test_the_sample_does_not_depend_on_order_and_chunks(seed, size) -> None:
    rng = np.random.default_rng(7)
    n = 1_500
    table = {
        "a": rng.integers(0, 2000, n).astype(float),
        "b": rng.choice(["x", "y", None], n),
        "y": rng.choice(["n", "p"], n),
    }
    order = np.random.default_rng(seed).permutation(n)
    samples = []
    for places, cuts in ((np.arange(n), [0, n]), (order, [*range(0, n, size), n])):
        shuffled = {name: column[places] for name, column in table.items()}
        source = rows(shuffled, "y")
        task = BayesTask.for_source(source)
        chunk = next(task.schema.chunks(source))
        counters = []
        for start, stop in pairwise(cuts):
            counter = task.counter()
            counter.add(chunk.slice(start, stop))
            counters.append(counter)
        for counter in counters[1:]:
            counters[0].merge(counter)
        samples.append(counters[0].counts().sample)
    first, second = samples
    assert len(first.hashes) == row_sample.MAX_ROWS
    assert first.hashes.tolist() == second.hashes.tolist()
    assert first.counts.tolist() == second.counts.tolist()
    assert first.labels.tolist() == second.labels.tolist()
    assert {name: column.tolist() for name, column in first.columns.items()} == {
        name: column.tolist() for name, column in second.columns.items()
    }


def test_rows_of_zero_weight_are_not_sampled() -> None:
    a = np.arange(40) % 2 == 0
    data = {"a": a, "b": np.where(np.arange(40) < 20, a, ~a), "y": np.where(np.arange(40) % 4 < 2, "n", "p")}
    weights = np.where(np.arange(40) < 20, 1.0, 0.0)
    with pytest.warns(errors.DependentColumns, match="'b' repeats 'a'"):
        weigh.NaiveBayes().fit({"a": a, "b": data["b"]}, data["y"], sample_weight=weights)


def test_a_repeated_date_is_left_out_with_all_its_parts():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    days = 7 * rng.integers(0, 50, 400) + np.where(rng.random(400) < 0.7, 2 * y, rng.integers(0, 7, 400))
    when = (np.datetime64("2024-01-01") + days).astype(str).tolist()
    data = {"when": when, "again": when, "y": y.tolist()}
    model = weigh.NaiveBayes({"again": "skip"}).fit(data, "y").predict_proba(data)
    text = message(data)
    assert text is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        full = weigh.NaiveBayes().fit(data, "y").predict_proba(data)
    at = np.arange(400), full.argmax(axis=1)
    points = 100 * np.abs(full - model)[at].mean()
    assert points > 4
    assert f"'again' repeats 'when'. Without it the probabilities change by {points:.2g} points" in text
    assert "columns={'again': 'skip'}" in text


def test_a_part_that_repeats_a_column_is_left_out_alone():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 350, 400)
    when = np.datetime64("2024-01-01") + days
    weekday = np.array(["mo", "tu", "we", "th", "fr", "sa", "su"])[days % 7]
    data = {"weekday": weekday, "when": when.astype(str).tolist(), "y": rng.integers(0, 2, 400)}
    source = rows(data, "y")
    schema = infer_schema(source, "auto")
    (found,) = find_dependent_columns(schema, next(schema.chunks(source)))
    assert (found.first, found.features, found.column) == ("weekday", ("when: weekday",), None)
    text = message(data)
    assert text is not None
    assert "'when: weekday' repeats 'weekday'" in text
    assert text.endswith("Calibrate the model.")
