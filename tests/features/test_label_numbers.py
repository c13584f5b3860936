"""Labels that are numbers written as text are read like the cells of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.features.cells import NumberReading

FORMATS = {
    "$": (lambda price: f"${price:,.2f}", NumberReading(".", ",", "$")),
    "€": (
        lambda price: f"{price:,.2f} €".translate(str.maketrans(",.", ".,")),
        NumberReading(",", ".", "€"),
    ),
    "decimal comma": (lambda price: f"{price:.2f}".replace(".", ","), NumberReading(",", "")),
    "plain": (lambda price: f"{price:.2f}", NumberReading()),
}


def make_prices() -> tuple[Any, Any]:
    x = np.arange(200) / 10
    return x, np.round(1_000 + 120 * x, 2)


@pytest.mark.parametrize("name", FORMATS)
def test_a_regression_reads_labels_that_are_written_as_text(name: str) -> None:
    write, reading = FORMATS[name]
    x, prices = make_prices()
    expected = weigh.LinearRegression().fit({"x": x, "price": prices}, "price")
    table = {"x": x, "price": [write(price) for price in prices.tolist()]}
    found = weigh.LinearRegression().fit(table, "price")
    assert found.schema_.label_reading == reading
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.score(table) == found.score(table, "price") == expected.score({"x": x}, prices)
    assert weigh.evaluate(found.model_, table).r2 == weigh.evaluate(found.model_, {"x": x}, table["price"]).r2


def test_labels_without_a_name_are_read_too() -> None:
    x, prices = make_prices()
    texts = np.array([f"${price:,.2f}" for price in prices.tolist()], dtype=object)
    expected = weigh.LinearRegression().fit(x[:, None], prices)
    found = weigh.LinearRegression().fit(x[:, None], texts)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.score(x[:, None], texts) == expected.score(x[:, None], prices)


def test_a_model_file_keeps_how_labels_are_written(tmp_path: Path) -> None:
    # "2.200" is a whole number after "2.212,00 €", although all labels of the new file look like fractions.
    x, prices = make_prices()
    lines = [f"{a:.1f};{round(p):,},00 €".replace(",", ".", 1) for a, p in zip(x, prices, strict=True)]
    (tmp_path / "train.csv").write_text("\n".join(["x;price", *lines]) + "\n")
    rows = weigh.open(tmp_path / "train.csv", label="price")
    model = weigh.LinearRegression().fit(rows, "price").model_
    model.save(tmp_path / "m.weigh")
    loaded = weigh.load(tmp_path / "m.weigh")
    assert loaded.schema.label_reading == model.schema.label_reading == NumberReading(",", ".", "€")
    (tmp_path / "new.csv").write_text("x;price\n10.0;2.200\n15.0;2.800\n")
    new = weigh.evaluate(loaded, weigh.open(tmp_path / "new.csv", label="price"))
    assert new.rmse.value < 1


def test_a_label_among_numbers_that_is_none_may_mean_missing() -> None:
    labels = ["$1", "$2", "sold", "$3", "$4"]
    with pytest.raises(errors.LabelError) as caught:
        weigh.LinearRegression().fit({"x": [1.0, 2.0, 3.0, 4.0, 5.0], "y": labels}, "y")
    assert str(caught.value) == (
        "A regression predicts numbers, but the label 'sold' is not a number. If it means that the label is "
        "missing, say so: missing='sold'. Leave such rows out; of a file, weigh.open(..., "
        "drop_missing_labels=True) does that."
    )


def test_classes_with_few_texts_that_are_numbers_remain_classes() -> None:
    model = weigh.NaiveBayes().fit({"x": [1.0, 2.0, 3.0, 4.0], "y": ["1", "1", "2", "2"]}, "y")
    assert model.classes_.tolist() == ["1", "2"]


@pytest.mark.parametrize(
    ("write", "example", "advice"),
    [
        (lambda number: f"${number},00", "'$1,00'", "To predict numbers, use LinearRegression."),
        (lambda number: f"customer {number}", "'customer 1'", "Is this the column to predict?"),
    ],
)
def test_a_classifier_warns_of_classes_with_one_row(write: Any, example: str, advice: str) -> None:
    numbers = [*range(1, 301), 300]
    table = {"x": [float(number % 7) for number in numbers], "y": [write(number) for number in numbers]}
    with pytest.warns(errors.OddClasses) as caught:
        weigh.NaiveBayes().fit(table, "y")
    assert [str(each.message) for each in caught] == [
        f"The label 'y' has 300 classes in the first 301 rows, and 299 of them, such as {example}, have one "
        f"row only; a classifier learns nothing from such a class. {advice}"
    ]


def test_a_label_that_is_a_flag_in_a_file_is_refused() -> None:
    schema = weigh.LinearRegression().fit({"x": [1.0, 2.0, 3.0], "y": ["1", "2", "4"]}, "y").schema_
    data = schema.to_json()
    assert type(schema).from_json(data).label_reading == schema.label_reading == NumberReading()
    data["label_reading"] = {"reading": "flag", "present": "yes", "absent": "no"}
    with pytest.raises(ValueError, match="the labels are flags"):
        type(schema).from_json(data)
