"""Commands on files with money, decimal commas and odd cells."""

from __future__ import annotations

from pathlib import Path

NOTE = """
Note: Column 'price': 1 of 200 cells is not a number and is treated as missing:
'unknown' (line 32). If that means missing, use --missing 'unknown'. If the
column is a category, use --kind 'price=category'.
"""


def write_sales(name: str, prices: list[str]) -> None:
    rows = [f"{price};{'no' if k % 3 else 'yes'}\n" for k, price in enumerate(prices)]
    Path(name).write_text("price;sold\n" + "".join(rows))


def prices(fmt: str) -> list[str]:
    return [fmt.format(7.25 * k) for k in range(200)]


def test_an_odd_cell_is_named_in_a_note_by_fit_and_predict(run):
    texts = prices("${:,.2f}")
    texts[30] = "unknown"
    write_sales("sales.csv", texts)
    result = run(
        "fit", "sales.csv", "--label", "sold", "--learner", "logistic", "--delimiter", ";", "-o", "m.weigh"
    )
    assert result.exit_code == 0, result.output
    assert "price   number" in result.output
    assert result.output.count("Note: Column 'price'") == 1
    assert NOTE in result.output
    assert run("predict", "m.weigh", "sales.csv", "--delimiter", ";").exit_code == 0
    result = run("evaluate", "m.weigh", "sales.csv", "--delimiter", ";")
    assert result.exit_code == 0, result.output
    assert "train with --missing 'unknown'." in " ".join(result.output.split())


def test_a_file_with_decimal_commas_gives_the_same_model(run):
    write_sales("comma.csv", [text.replace(".", ",") for text in prices("{:.2f}")])
    write_sales("point.csv", prices("{:.2f}"))
    fit = ("--label", "sold", "--delimiter", ";", "-o")
    stated = run("fit", "comma.csv", "--decimal", ",", "--thousands", ".", *fit, "stated.weigh")
    assert stated.exit_code == 0, stated.output
    assert run("fit", "comma.csv", *fit, "found.weigh").exit_code == 0
    assert run("fit", "point.csv", *fit, "point.weigh").exit_code == 0
    outputs = [
        run("predict", f"{model}.weigh", f"{data}.csv", "--delimiter", ";").output
        for model, data in (("stated", "comma"), ("found", "comma"), ("point", "point"))
    ]
    assert outputs[0] == outputs[1] == outputs[2] != ""


def test_an_unknown_decimal_sign_is_an_error(run):
    result = run("fit", "mails.csv", "--label", "spam", "--decimal", ";", "-o", "m.weigh")
    assert result.exit_code != 0
    assert "decimal" in result.output
