"""Columns of dates on the command line."""

from __future__ import annotations

import datetime as dt
import random

import pytest

SUMMARY = """column                 kind      found
when                   date      4 parts
when: weekday          category  7 levels
when: month            category  12 levels
when: hour             category  24 levels
when: days since 1970  number    means {means}
from                   category  2 levels
"""


@pytest.fixture
def sales(run, tmp_path):
    """Run `weigh` in a folder with sales.csv, whose first column is written as `form` says."""

    def write(form: str, **replaced: str) -> object:
        rng, start = random.Random(2), dt.datetime(2022, 1, 1)
        lines = ["when,from,buys"]
        for row in range(400):
            moment = start + dt.timedelta(minutes=rng.randrange(800 * 24 * 60))
            when = replaced.get(f"row{row}", moment.strftime(form))
            lines.append(f"{when},{rng.choice(['web', 'shop'])},{'yes' if moment.hour >= 18 else 'no'}")
        (tmp_path / "sales.csv").write_text("\n".join(lines))
        return run

    return write


def test_fit_lists_the_parts_of_a_date_and_notes_odd_cells(sales):
    result = sales("%Y-%m-%d %H:%M", row7="soon")(
        "fit", "sales.csv", "--label", "buys", "--learner", "naive-bayes"
    )
    means = result.stdout.partition("means ")[2].partition("\n")[0]
    assert SUMMARY.format(means=means) in result.stdout
    assert (
        "\nNote: Column 'when': 1 value is not a date and is treated as missing, such as\n'soon' in row 7.\n"
        in result.stdout
    )


def test_a_kind_may_name_the_order_and_the_parts(sales):
    run = sales("0%w/0%w/2024", **{f"row{row}": "04/02/2024" for row in range(0, 400, 2)})
    result = run(
        *("fit", "sales.csv", "--label", "buys", "--learner", "logistic"),
        *("--kind", "when=date:order=dmy,parts=weekday|month,zone=+02:00"),
    )
    assert result.exit_code == 0
    assert "when           date      2 parts\n" in result.stdout


def test_an_undecided_order_names_the_option(sales, tmp_path):
    run = sales("%Y-%m-%d")
    lines = [f"0{k % 9 + 1}/0{k % 7 + 1}/2024,{'ab'[k % 2]}" for k in range(60)]
    (tmp_path / "sales.csv").write_text("\n".join(["when,class", *lines]))
    result = run("fit", "sales.csv", "--label", "class")
    assert (
        "Note: Column 'when' holds dates such as '01/01/2024', and no day above 12 tells\n"
        "the order. They are read with the month before day. If it is the other way\n"
        "round, use --kind 'when=date:order=dmy'.\n"
    ) in result.stdout
    assert run("fit", "sales.csv", "--label", "class", "--kind", "when=date:order=dmy").exit_code == 0


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("when=date:order=us", "weigh: Date: order must be None, 'ymd', 'dmy' or 'mdy', got 'us'.\n"),
        ("from=date", "weigh: Column 'from' has no dates in the first rows. Leave it out with --kind "),
    ],
)
def test_a_wrong_setting_is_refused(sales, kind, message):
    result = sales("%Y-%m-%d")("fit", "sales.csv", "--label", "buys", "--kind", kind)
    assert result.exit_code != 0
    assert message in result.stderr


def test_predictions_treat_other_texts_as_missing_with_a_note(sales, tmp_path):
    run = sales("%Y-%m-%d %H:%M")
    assert run("fit", "sales.csv", "--label", "buys").exit_code == 0
    (tmp_path / "new.csv").write_text("when,from\n2023-05-05 19:30,web\n05/05/2023,web\n")
    result = run("predict", "sales.weigh", "new.csv")
    assert result.stdout.splitlines()[1].startswith("yes")
    assert result.stderr == (
        "weigh: note: Column 'when': 1 value is not a date and is treated as missing, such as '05/05/2023' "
        "in row 1.\n"
    )


def test_numbers_such_as_20240131_are_dates_even_if_new_rows_have_odd_ones(sales, tmp_path):
    run = sales("%Y%m%d")
    result = run("fit", "sales.csv", "--label", "buys")
    assert "when                   date      3 parts\n" in result.stdout
    (tmp_path / "new.csv").write_text("when,from\n20230505,web\nsoon,web\n,web\n")
    result = run("predict", "sales.weigh", "new.csv")
    assert "1 value is not a date and is treated as missing, such as 'soon' in row 1." in result.stderr
    assert result.stdout.splitlines()[2] == result.stdout.splitlines()[3]


def test_a_part_is_skipped_by_its_name(sales):
    result = sales("%Y%m%d")("fit", "sales.csv", "--label", "buys", "--kind", "when: month=skip")
    assert "when                   date      2 parts\n" in result.stdout
    assert "when: month" not in result.stdout


def test_verify_and_explain_read_dates(sales):
    run = sales("%d.%m.%Y %H:%M")
    assert run("fit", "sales.csv", "--label", "buys").exit_code == 0
    assert "everything agrees" in run("verify", "sales.weigh", "sales.csv").stdout
    explained = run("explain", "sales.weigh", "--values", '{"when": "05.05.2023 19:30"}').stdout
    assert "when: weekday = Friday" in explained
    assert "when: hour = 19" in explained
