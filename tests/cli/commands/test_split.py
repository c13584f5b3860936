"""`weigh split`: rows are copied as they are written, each to one of two files."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weigh

HEADER = b'id,"the\r\nday",y\r\n'
RECORDS = [b'1,2024-01-02,"a, ""b""\r\nc"\r\n', b"2,2023-05-01, x \r\n", b"3,2025-01-01,\xc3\xa4\r\n"]


@pytest.fixture
def dates(run, tmp_path):
    (tmp_path / "days.csv").write_bytes(HEADER + b"".join(RECORDS).rstrip(b"\r\n"))
    return run


def test_records_are_copied_byte_for_byte(dates, tmp_path):
    result = dates("split", "days.csv", "--time", "the\r\nday", "--train", "new/a.csv", "--test", "b.csv")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "new" / "a.csv").read_bytes() == HEADER + RECORDS[0] + RECORDS[1]
    assert (tmp_path / "b.csv").read_bytes() == HEADER + RECORDS[2]


def test_classes_have_equal_shares_in_the_output_and_in_json(run, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{k},{'ab'[k % 5 == 0]}\n" for k in range(50)))
    arguments = ("split", "t.csv", "--label", "y", "--train", "a.csv", "--test", "b.csv")
    assert run(*arguments).output == (
        "40 rows -> a.csv\n10 rows -> b.csv (the same share of every y)\n\n"
        "class  train  test\na         32     8\nb          8     2\n"
    )
    first = (tmp_path / "b.csv").read_text()
    assert json.loads(run(*arguments, "--json").output) == {
        "train": {"file": "a.csv", "rows": 40},
        "test": {"file": "b.csv", "rows": 10},
        "classes": [{"class": "a", "train": 32, "test": 8}, {"class": "b", "train": 8, "test": 2}],
    }
    assert (tmp_path / "b.csv").read_text() == first
    run(*arguments, "--seed", "1")
    assert (tmp_path / "b.csv").read_text() != first
    both = (tmp_path / "a.csv").read_text() + (tmp_path / "b.csv").read_text()
    assert sorted(both.splitlines()) == sorted(["x,y", *(tmp_path / "t.csv").read_text().splitlines()])


def test_several_files_with_one_header_are_one_table(run, tmp_path):
    for name in ("p1.csv", "p2.csv"):
        (tmp_path / name).write_text("x,y\n" + "".join(f"{name}{k},a\n" for k in range(10_000)))
    assert run("split", "p*.csv", "--train", "a.csv", "--test", "b.csv.gz").output == (
        "16,000 rows -> a.csv\n4,000 rows -> b.csv.gz (at random)\n"
    )
    test = gzip.decompress((tmp_path / "b.csv.gz").read_bytes()).decode().splitlines()
    train = (tmp_path / "a.csv").read_text().splitlines()
    assert train[0] == test[0] == "x,y"
    assert len(set(train) | set(test)) == 20_001
    (tmp_path / "p3.csv").write_text("y,x\n1,2\n")
    refused = run("split", "p*.csv", "--train", "c.csv", "--test", "d.csv")
    assert refused.stderr == (
        "weigh: The headers of p1.csv and p3.csv differ, so their rows cannot be in one file. Divide the "
        "files one by one.\n"
    )
    assert not (tmp_path / "c.csv").exists()


def test_groups_are_not_divided(run, tmp_path):
    (tmp_path / "t.jsonl").write_text("".join(f'{{"who": {k // 4}, "x": {k}}}\n' for k in range(40)))
    result = run("split", "t.jsonl", "--group", "who", "--train", "a.jsonl", "--test", "b.jsonl")
    assert result.output == "32 rows -> a.jsonl\n8 rows -> b.jsonl (whole groups of who)\n"
    people = [
        {json.loads(line)["who"] for line in (tmp_path / name).read_text().splitlines()}
        for name in ("a.jsonl", "b.jsonl")
    ]
    assert len(people[0] & people[1]) == 0


def test_parquet_keeps_its_types(run, tmp_path):
    table = pa.table({"x": pa.array(range(10), pa.int8()), "y": pa.array(["a", "b"] * 5)})
    pq.write_table(table, tmp_path / "t.parquet")
    result = run("split", "t.parquet", "--label", "y", "--train", "a.parquet", "--test", "b.parquet")
    assert result.exit_code == 0, result.output
    parts = [pq.read_table(tmp_path / name) for name in ("a.parquet", "b.parquet")]
    assert [part.schema for part in parts] == [table.schema] * 2
    assert sorted(v for part in parts for v in part.column("x").to_pylist()) == list(range(10))


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_parquet_files_of_different_types_are_one_table(run, tmp_path):
    pq.write_table(pa.table({"x": [1, 2, 3]}), tmp_path / "p1.parquet")
    pq.write_table(pa.table({"x": [0.5, 1.5]}), tmp_path / "p2.parquet")
    result = run("split", "p*.parquet", "--train", "a.parquet", "--test", "b.parquet")
    assert result.exit_code == 0, result.output
    values = [v for name in "ab" for v in pq.read_table(tmp_path / f"{name}.parquet").column("x").to_pylist()]
    assert sorted(values) == [0.5, 1, 1.5, 2, 3]
    pq.write_table(pa.table({"x": [2**60 + 1]}), tmp_path / "p3.parquet")
    refused = run("split", "p*.parquet", "--train", "a.parquet", "--test", "b.parquet")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("weigh: The rows cannot be in one Parquet file: Integer value")


@pytest.mark.parametrize(
    ("dates", "latest"),
    [
        (["31.12.2023", "1.2.2024", "5.3.2022"], "1.2.2024"),
        (["12/31/2023", "2/1/2024", "3/5/2022"], "2/1/2024"),
        (["2 Jan 2024 10:00", "2 Jan 2024 9:00", "1 Dec 2023 23:00"], "2 Jan 2024 10:00"),
        (
            ["2024-01-01T10:00:00.25", "2024-01-01T10:00:00.75", "2024-01-01T10:00:00.5"],
            "2024-01-01T10:00:00.75",
        ),
        (["01/02/2024 10:00 +0200", "01/02/2024 09:00 Z", "01/02/2024 07:00 Z"], "01/02/2024 09:00 Z"),
    ],
)
def test_dates_in_any_usual_form_are_compared(run, tmp_path, dates, latest):
    (tmp_path / "t.csv").write_text("d,x\n" + "".join(f"{date},1\n" for date in dates))
    result = run("split", "t.csv", "--time", "d", "--train", "a.csv", "--test", "b.csv")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "b.csv").read_text() == f"d,x\n{latest},1\n"


def test_an_order_that_no_date_tells_is_noted(run, tmp_path):
    (tmp_path / "t.csv").write_text("d,x\n01/02/2024,1\n02/01/2024,1\n")
    result = run("split", "t.csv", "--time", "d", "--train", "a.csv", "--test", "b.csv")
    assert result.stderr == (
        "weigh: note: Column 'd' holds dates such as '01/02/2024', and no day above 12 tells the order. They "
        "are read with the month before day. Dates such as 2024-05-31 leave no doubt.\n"
    )


def test_rows_without_a_label_are_copied_to_neither_file(run, tmp_path):
    (tmp_path / "t.csv").write_text(
        "x,y\n" + "".join(f"{k},{'' if k % 4 == 3 else 'a'}\n" for k in range(20))
    )
    arguments = ("split", "t.csv", "--train", "a.csv", "--test", "b.csv", "--drop-missing-labels")
    assert "--drop-missing-labels needs --label COLUMN." in run(*arguments).stderr
    result = run(*arguments, "--label", "y")
    assert result.stderr == (
        "weigh: note: t.csv: 5 rows have no label and were left out, of 20 (first: row 3).\n"
    )
    rows = [line for name in "ab" for line in (tmp_path / f"{name}.csv").read_text().splitlines()[1:]]
    assert sorted(rows) == sorted(f"{k},a" for k in range(20) if k % 4 != 3)


@pytest.mark.parametrize(
    ("data", "test", "message"),
    [
        ("t.csv", "b.tsv", "so b.tsv must end in .csv, like the data."),
        ("t.csv", "b.jsonl", "so b.jsonl must end in .csv, like the data."),
        ("t.csv", "b.parquet", "so b.parquet must end in .csv, like the data."),
        ("t.tsv", "b.xlsx", "so b.xlsx must end in .tsv, like the data."),
        ("t.csv", "b.csv.zip", "'b.csv.zip' ends in .zip, which cannot be written. Use .csv, .tsv or .jsonl"),
    ],
)
def test_an_ending_of_another_format_is_refused(run, tmp_path, data, test, message):
    (tmp_path / "t.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "t.tsv").write_text("x\ty\n1\t2\n3\t4\n")
    assert message in run("split", data, "--train", f"a{data[1:]}", "--test", test).stderr
    assert not (tmp_path / test).exists()


def test_the_rows_of_a_spreadsheet_cannot_be_copied(run, tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("python_calamine")
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        for row, cells in enumerate([["x", "y"], [1, 2], [3, 4]]):
            sheet.write_row(row, 0, cells)
    assert run("split", "t.xlsx", "--train", "a.csv", "--test", "b.csv").stderr == (
        "weigh: t.xlsx cannot be divided: its rows are no lines to copy. Convert it to CSV or Parquet "
        "first.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["--label", "y", "--time", "id"],
            2,
            "Give one of --label, --time and --group: each decides alone which rows are for the test. "
            "--label takes the same share of every class, --time the latest rows, --group whole groups.",
        ),
        (["--time", "y"], 1, "has 'a, \"b\"\\r\\nc' in column 'y', which is no number and no date such as"),
        (["--group", "ids"], 1, "days.csv has no column 'ids'"),
    ],
)
def test_what_cannot_be_divided_is_refused(dates, arguments, code, message):
    result = dates("split", "days.csv", "--train", "a.csv", "--test", "b.csv", *arguments)
    assert result.exit_code == code
    assert message in result.stderr


def test_an_input_is_not_overwritten_and_the_parts_differ(dates):
    same = dates("split", "days.csv", "--train", "days.csv", "--test", "b.csv")
    assert same.stderr == "weigh: days.csv is also an input of this command. Write to another file.\n"
    assert "name the same file" in dates("split", "days.csv", "--train", "b", "--test", "b").stderr


@pytest.mark.parametrize("other", ["./same.csv", "folder/../same.csv", "link.csv"])
def test_two_spellings_of_one_output_are_refused(dates, tmp_path, other):
    (tmp_path / "folder").mkdir()
    (tmp_path / "same.csv").write_text("")
    (tmp_path / "link.csv").symlink_to("same.csv")
    result = dates("split", "days.csv", "--train", "same.csv", "--test", other)
    assert result.exit_code == 2
    assert "--train and --test name the same file." in result.stderr


def test_fit_holds_rows_out_and_evaluates_on_them(run, tmp_path):
    (tmp_path / "t.csv").write_text(
        "x,y\n" + "".join(f"{'uv'[k % 3 == 0]},{'ab'[k % 3 == 0]}\n" for k in range(60))
    )
    fit = ("fit", "t.csv", "--label", "y", "--learner", "naive-bayes", "--hold-out", "0.25")
    result = run(*fit, "--seed", "3")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("Trained on 45 rows of t.csv to predict y.\n")
    assert "Evaluation on 15 rows, 2 classes\n" in result.output
    assert result.output.endswith("The model is in t.weigh. It was trained without the held-out rows.\n")
    model = weigh.load("t.weigh")
    assert int(model.counts.rows.sum()) == 45
    facts = json.loads(run(*fit, "--json").output)
    assert facts["held_out"]["evaluation"]["n"] == facts["held_out"]["rows"] == 15


def test_a_regression_holds_rows_out_at_random(run, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{k},{2 * k + k % 3}\n" for k in range(50)))
    result = run("fit", "t.csv", "--label", "y", "--learner", "linear", "--hold-out", "0.2")
    assert "Evaluation on 10 rows" in result.output


def test_rows_without_a_label_are_one_class(run, tmp_path):
    (tmp_path / "t.csv").write_text(
        "x,y\n" + "".join(f"{k},{k % 2 + 0.5 if k % 5 else ''}\n" for k in range(50))
    )
    arguments = ("split", "t.csv", "--label", "y", "--train", "a.csv", "--test", "b.csv", "--json")
    facts = json.loads(run(*arguments).output)
    assert facts["classes"][-1] == {"class": None, "train": 8, "test": 2}
