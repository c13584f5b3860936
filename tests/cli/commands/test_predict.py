"""Predictions that can be joined to their rows: row numbers, kept columns, rankings, reasons, file types."""

from __future__ import annotations

import gzip
import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weigh

ROWS = """id,CS373,investment,familiarity
007,1,1,high
012,0,1,unheard-of
"""
IGNORED = "weigh: note: The rows have the column 'id' that the model was not trained on; it is ignored.\n"


@pytest.fixture
def trained(fitted, tmp_path):
    """Run `weigh` in a folder with mails.weigh, and rows.csv, which has an identifier."""
    (tmp_path / "rows.csv").write_text(ROWS)
    return fitted


def test_rows_are_numbered_on_request(trained):
    result = trained("predict", "mails.weigh", "new.csv", "--rows")
    assert result.output == "row,prediction,probability\n0,not-spam,0.516129\n1,spam,0.645756\n"


def test_kept_columns_are_copied_as_they_are_written(trained, tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS.replace("high", '"a, ""b"""').replace("012", "?"))
    result = trained("predict", "mails.weigh", "rows.csv", "--keep", "familiarity", "--keep", "id")
    assert result.stdout == (
        "row,familiarity,id,prediction,probability\n"
        '0,"a, ""b""",007,not-spam,0.523161\n'
        "1,unheard-of,?,spam,0.645756\n"
    )
    assert result.stderr == IGNORED


def test_missing_values_of_the_model_are_kept_as_they_are_written(run, tmp_path):
    (tmp_path / "train.csv").write_text("x,y\na,p\n?,q\nb,p\nb,q\n")
    assert run("fit", "train.csv", "--label", "y", "--missing", "?").exit_code == 0
    result = run("predict", "train.weigh", "train.csv", "--keep", "x", "--keep", "y")
    assert [line[:5] for line in result.output.splitlines()[1:]] == ["0,a,p", "1,?,q", "2,b,p", "3,b,q"]


def test_several_files_give_file_and_row_across_files(trained):
    result = trained("predict", "mails.weigh", "new.csv", "rows.csv", "--json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["file"], line["row"]) for line in lines] == [
        ("new.csv", 0),
        ("new.csv", 1),
        ("rows.csv", 2),
        ("rows.csv", 3),
    ]
    assert lines[0]["probability"] == lines[2]["probability"]


def test_kept_columns_match_their_rows_in_a_file_of_several_chunks(run, tmp_path):
    lines = [f"k{k},{k % 7},{'ab'[k % 2]}" for k in range(30_000)]
    (tmp_path / "long.csv").write_text("id,x,y\n" + "\n".join(lines) + "\n")
    assert run("fit", "long.csv", "--label", "y", "--kind", "id=skip").exit_code == 0
    result = run("predict", "long.weigh", "long.csv", "--keep", "all")
    kept = [line.split(",")[:4] for line in result.output.splitlines()[1:]]
    assert kept == [[str(k), *line.split(",")] for k, line in enumerate(lines)]


def test_the_most_probable_classes_are_ranked(trained):
    result = trained("predict", "mails.weigh", "new.csv", "--top", "5")
    assert result.output == (
        "prediction,probability,label_1,probability_1,label_2,probability_2\n"
        "not-spam,0.516129,not-spam,0.516129,spam,0.483871\n"
        "spam,0.645756,spam,0.645756,not-spam,0.354244\n"
    )


def test_a_perceptron_ranks_by_score(run):
    assert run("fit", "mails.csv", "--label", "spam", "--learner", "perceptron").exit_code == 0
    header = run("predict", "mails.weigh", "new.csv", "--top", "1").output.splitlines()[0]
    assert header == "prediction,lead,label_1,score_1"


def test_reasons_are_the_features_for_the_verdict_strongest_first(trained):
    result = trained("predict", "mails.weigh", "new.csv", "--reasons", "2")
    assert result.output == (
        "prediction,probability,reason_1,reason_2\n"
        "not-spam,0.516129,CS373 = 1 (+0.47),\n"
        "spam,0.645756,investment = 1 (+0.629),CS373 = 0 (+0.223)\n"
    )
    evidence = weigh.load("mails.weigh").explain(weigh.open("new.csv"))[1]
    assert {row.title: row.nats for row in evidence.table}["investment = 1"] == pytest.approx(0.629, abs=1e-3)


def test_reasons_speak_for_the_verdict_that_costs_have_changed(trained):
    result = trained("predict", "mails.weigh", "new.csv", "--reasons", "1", "--cost", "not-spam:spam=9")
    assert result.output.splitlines()[2] == "not-spam,0.354244,"
    evidence = weigh.load("mails.weigh").explain(weigh.open("new.csv"))[1]
    assert all(row.nats >= 0 for row in evidence.table[1:])  # no feature speaks against spam


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
def test_reasons_of_a_calibrated_model_speak_for_a_changed_verdict_too(run, tmp_path, method):
    lines = [f"{'uvw'[k % 3]},{'ab'[k % 4 > 1]},{'xyz'[(k + k % 2) % 3]}" for k in range(90)]
    (tmp_path / "t.csv").write_text("p,q,y\n" + "\n".join(lines) + "\n")
    assert run("fit", "t.csv", "--label", "y").exit_code == 0
    assert run("calibrate", "t.weigh", "t.csv", "-o", "c.weigh", "--method", method).exit_code == 0
    costs = [word for pair in ("x:y=50", "x:z=50") for word in ("--cost", pair)]
    result = run("predict", "c.weigh", "t.csv", "--reasons", "2", *costs)
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == "prediction,probability,reason_1,reason_2"
    verdicts, plain = (
        [line.split(",")[0] for line in output.splitlines()]
        for output in (result.output, run("predict", "c.weigh", "t.csv").output)
    )
    assert verdicts != plain
    assert "-" not in result.output.replace("e-", "")  # no feature that speaks against the verdict


def test_a_regression_gives_its_strongest_contributions(run, tmp_path):
    (tmp_path / "homes.csv").write_text("size,rooms,price\n10,1,21\n20,1,41\n30,2,60\n45,3,88\n50,2,101\n")
    assert run("fit", "homes.csv", "--label", "price", "--learner", "linear").exit_code == 0
    result = run("predict", "homes.weigh", "homes.csv", "--reasons", "1", "--keep", "price", "-o", "out.csv")
    assert result.output == "5 rows -> out.csv: from 20.82 to 100.9, mean 62.2\n"
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "row,price,prediction,reason_1"
    assert lines[1].startswith("0,21,20.82")
    assert lines[1].endswith(",size = 10 (+20.6)")
    refused = run("predict", "homes.weigh", "homes.csv", "--top", "2")
    assert refused.stderr == (
        "weigh: A regression predicts numbers, not classes, so --top cannot be used. --std writes the "
        "standard deviation of its predictions.\n"
    )


@pytest.mark.parametrize("name", ["out.csv", "out.txt", "out.csv.gz", "new/out.csv"])
def test_a_file_is_csv_unless_its_ending_says_otherwise(trained, tmp_path, name):
    result = trained("predict", "mails.weigh", "new.csv", "-o", name)
    assert result.output == f"2 rows -> {name}: 1 not-spam, 1 spam\n"
    data = (tmp_path / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert text == b"prediction,probability\nnot-spam,0.516129\nspam,0.645756\n"


def test_tab_separated_fields(trained, tmp_path):
    trained("predict", "mails.weigh", "rows.csv", "--keep", "id", "-o", "out.tsv")
    assert (tmp_path / "out.tsv").read_text() == (
        "row\tid\tprediction\tprobability\n0\t007\tnot-spam\t0.516129\n1\t012\tspam\t0.645756\n"
    )


@pytest.mark.parametrize("name", ["out.jsonl", "out.json", "out.ndjson.gz"])
def test_json_lines(trained, tmp_path, name):
    trained("predict", "mails.weigh", "rows.csv", "--keep", "all", "-o", name)
    data = (tmp_path / name).read_bytes()
    first = (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()[0]
    assert json.loads(first) == {
        "row": 0,
        "id": "007",
        "CS373": 1,
        "investment": 1,
        "familiarity": "high",
        "prediction": "not-spam",
        "probability": pytest.approx(16 / 31),
    }


def test_parquet_has_typed_columns(trained):
    trained("predict", "mails.weigh", "rows.csv", "--keep", "all", "--check", "-o", "out.parquet")
    table = pq.read_table("out.parquet")
    assert [(field.name, str(field.type)) for field in table.schema] == [
        ("row", "int64"),
        ("id", "string"),
        ("CS373", "int64"),
        ("investment", "int64"),
        ("familiarity", "string"),
        ("prediction", "string"),
        ("probability", "double"),
        ("unfamiliar", "string"),
    ]
    assert [row["unfamiliar"] for row in table.to_pylist()] == [None, None]


def test_parquet_has_the_reasons_why_rows_are_unfamiliar(run, tmp_path):
    (tmp_path / "pets.csv").write_text("animal,home\n" + 100 * "cat,house\ndog,garden\n")
    (tmp_path / "new.csv").write_text("animal\ncat\ngiraffe\n")
    run("fit", "pets.csv", "--label", "home")
    run("predict", "pets.weigh", "new.csv", "--check", "-o", "out.parquet")
    unfamiliar = [row["unfamiliar"] for row in pq.read_table(tmp_path / "out.parquet").to_pylist()]
    assert unfamiliar == [None, "animal = giraffe: never seen"]


def test_a_column_of_strings_stays_text_in_a_typed_file(trained):
    trained("predict", "mails.weigh", "rows.csv", "--keep", "CS373", "--strings", "CS373", "-o", "o.parquet")
    assert pq.read_table("o.parquet").column("CS373").to_pylist() == ["1", "0"]


def test_an_excel_sheet_has_strings_as_strings(trained, tmp_path):
    calamine = pytest.importorskip("python_calamine")
    pytest.importorskip("xlsxwriter")
    (tmp_path / "rows.csv").write_text(ROWS.replace("007", "=1+1"))
    result = trained("predict", "mails.weigh", "rows.csv", "--keep", "id", "-o", "out.xlsx")
    assert result.output == f"{IGNORED}2 rows -> out.xlsx: 1 not-spam, 1 spam\n"
    sheet = calamine.CalamineWorkbook.from_path("out.xlsx").get_sheet_by_index(0)
    assert sheet.to_python() == [
        ["row", "id", "prediction", "probability"],
        [0, "=1+1", "not-spam", pytest.approx(16 / 31)],
        [1, "012", "spam", pytest.approx(175 / 271)],
    ]


def test_without_its_package_an_excel_file_is_refused_before_any_work(trained, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xlsxwriter", None)
    result = trained("predict", "mails.weigh", "new.csv", "-o", "out.xlsx")
    assert (result.exit_code, result.output) == (
        1,
        "weigh: Writing .xlsx needs the package XlsxWriter. Run: pip install 'weigh[excel]'\n",
    )
    assert not (tmp_path / "out.xlsx").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--keep", "ids"],
            "Invalid value for '--keep': the rows have no column 'ids'; they have 'id', 'CS373', "
            "'investment', 'familiarity'. Did you mean 'id'?",
        ),
        (["--keep", "all", "--keep", "nope"], "the rows have no column 'nope'; they have 'id',"),
        (["--json", "-o", "out.xlsx"], "--json cannot be combined with a file of the type .xlsx."),
        (
            ["-o", "out.xls"],
            "'out.xls' ends in .xls, which cannot be written. Use .csv, .tsv or .jsonl (also with .gz), "
            ".parquet or .xlsx.",
        ),
        (["-o", "out.feather"], "'out.feather' ends in .feather, which cannot be written."),
        (["-o", "out.parquet.gz"], ".gz cannot be combined with a file of the type .parquet."),
    ],
)
def test_what_cannot_be_written_is_refused(trained, options, message):
    result = trained("predict", "mails.weigh", "rows.csv", *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_kept_column_may_not_have_the_name_of_a_prediction(trained, tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS.replace("id,", "prediction,"))
    result = trained("predict", "mails.weigh", "rows.csv", "--keep", "all")
    assert result.exit_code == 2
    assert "the output has a column 'prediction' of its own. Keep other columns" in result.stderr


def test_the_closing_line_lists_five_classes(run, tmp_path):
    (tmp_path / "many.csv").write_text("x,y\n" + "".join(f"{k},c{k}\n" for k in range(7)))
    assert run("fit", "many.csv", "--label", "y", "--kind", "x=category").exit_code == 0
    result = run("predict", "many.weigh", "many.csv", "-o", "out.csv")
    assert result.output == "7 rows -> out.csv: 1 c0, 1 c1, 1 c2, 1 c3, 1 c4, 2 of 2 other classes\n"


@pytest.mark.parametrize("ending", ["parquet", "xlsx"])
def test_names_that_are_no_unicode_are_escaped_in_typed_files(run, ending, tmp_path):
    pytest.importorskip("pyarrow" if ending == "parquet" else "xlsxwriter")
    table = {"x": ["a", "b"], "y": ["half\ud800", "whole"]}
    weigh.NaiveBayes({"x": "category"}).fit(table, "y").model_.save("half.weigh")
    (tmp_path / "x.csv").write_text("x\na\nb\n")
    result = run("predict", "half.weigh", "x.csv", "--proba", "-o", f"out.{ending}")
    assert result.exit_code == 0, result.output
    if ending == "parquet":
        written = pq.read_table("out.parquet")
        assert written.column_names[2] == "P(half\\ud800)"
        assert written.column("prediction").to_pylist() == ["half\\ud800", "whole"]


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_fractions_after_many_integers_are_never_truncated(run, tmp_path):
    numbers = [*range(70_000), 12.5]
    (tmp_path / "t.csv").write_text(
        "x,n,y\n" + "".join(f"{'ab'[k % 2]},{n},u\n" for k, n in enumerate(numbers))
    )
    run("fit", "t.csv", "--label", "y")
    refused = run("predict", "t.weigh", "t.csv", "--keep", "n", "-o", "out.parquet")
    assert refused.stderr == (
        "weigh: Column 'n' is int64 in the first rows, and a later value is not: 12.5 is no integer. Read "
        "the column as text with --strings, or write .csv.\n"
    )
    assert not (tmp_path / "out.parquet").exists()
    run("predict", "t.weigh", "t.csv", "--keep", "n", "--strings", "n", "-o", "out.parquet")
    assert pq.read_table("out.parquet").column("n")[-1].as_py() == "12.5"


def test_lists_of_names_are_kept(run, tmp_path):
    table = {"tags": [["p", "q"], None, [], ["z"]] * 5, "y": ["u", "v"] * 10}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    run("fit", "t.parquet", "--label", "y")
    predict = ("predict", "t.weigh", "t.parquet", "--keep", "tags")
    lines = run(*predict, "--json").stdout.splitlines()
    assert [json.loads(line).get("tags") for line in lines[:4]] == [["p", "q"], None, None, ["z"]]
    for name in ("out.csv", "out.parquet", "out.xlsx"):
        result = run(*predict, "-o", name)
        assert result.exit_code == 0, result.output
    assert pq.read_table("out.parquet").column("tags").to_pylist()[:4] == ["p; q", None, None, "z"]


def test_a_model_without_classes_is_refused_before_anything_is_written(fitted):
    assert fitted("forget", "mails.weigh", "mails.csv", "-o", "empty.weigh").exit_code == 0
    result = fitted("predict", "empty.weigh", "new.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "This model has no classes because it has forgotten all its rows." in result.stderr


ANIMALS = "cm,is\n50,dog\n55,dog\n60,dog\n150,horse\n170,horse\n"


@pytest.fixture
def animals(run, tmp_path):
    """Run `weigh` in a folder with animals.weigh, and rows.csv with one animal between the classes."""
    (tmp_path / "animals.csv").write_text(ANIMALS)
    (tmp_path / "rows.csv").write_text("cm,is\n90,dog\n")
    assert run("fit", "animals.csv", "--label", "is").exit_code == 0
    return run


def test_parameters_are_integrated_out_on_request(animals):
    rows = weigh.open("rows.csv")
    expected = weigh.load("animals.weigh").predictive_proba(rows)[0]
    line = json.loads(
        animals("predict", "animals.weigh", "rows.csv", "--predictive", "--proba", "--json").stdout
    )
    assert line["probabilities"] == pytest.approx(
        dict(zip(["dog", "horse"], expected, strict=True)), rel=1e-5
    )
    unsure = animals("predict", "animals.weigh", "rows.csv", "--predictive", "--unsure", "0.1").stdout
    assert unsure.splitlines()[1] == "unsure,0.503936"
    certain = animals("predict", "animals.weigh", "rows.csv", "--unsure", "0.1").stdout
    assert certain.splitlines()[1] == "horse,0.999982"


def test_evaluations_integrate_parameters_out_on_request(animals):
    expected = -math.log(weigh.load("animals.weigh").predictive_proba(weigh.open("rows.csv"))[0, 0])
    found = json.loads(animals("evaluate", "animals.weigh", "rows.csv", "--predictive", "--json").stdout)
    assert {measure["name"]: measure["value"] for measure in found["measures"]}["log_loss"] == pytest.approx(
        expected, rel=1e-9
    )


def test_a_perceptron_has_no_parameters_to_integrate(animals):
    assert (
        animals("fit", "animals.csv", "--label", "is", "--learner", "perceptron", "-o", "p.weigh").exit_code
        == 0
    )
    result = animals("predict", "p.weigh", "rows.csv", "--predictive")
    assert result.exit_code == 1
    assert "computed from counts, and a PerceptronModel has none" in result.stderr
