"""Files are read without options: dialects, spreadsheets, several files, rows without a label."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import weigh
from weigh.features.schema import Schema
from weigh.source.files.open_files import StoredDialect

GERMAN = "Größe;Farbe;Güte\n1,5;rot;gut\n2,5;grün;schlecht\n1,7;rot;gut\n2,9;grün;schlecht\n"


@pytest.fixture
def german(run):
    """The program, after fitting a file with semicolons in Windows-1252."""
    Path("de.csv").write_bytes(GERMAN.encode("cp1252"))
    result = run("fit", "de.csv", "--label", "Güte")
    assert result.exit_code == 0, result.output
    return run


def predictions(result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [row[0] for row in csv.reader(result.stdout.splitlines()[1:])]


def test_fit_detects_delimiter_and_encoding_with_a_note(german, run):
    output = run("fit", "de.csv", "--label", "Güte", "--learner", "naive-bayes").output
    assert output.startswith("Trained on 4 rows of de.csv to predict Güte.")
    assert (
        "Note: de.csv is not UTF-8 text and was read as Windows-1252 (cp1252). If letters with "
        "accents look wrong, give --encoding 'cp1250' or another."
    ) in " ".join(output.split())


def test_a_model_stores_the_dialect_of_its_file(german):
    model = weigh.load("de.weigh")
    assert model.schema.dialect == {
        "delimiter": ";",
        "encoding": "cp1252",
        "decimal": ",",
        "thousands": ".",
    }
    assert "dialect" not in weigh.NaiveBayes().fit({"a": [1, 2], "y": [1, 2]}, "y").model_.schema.to_json()


def test_predict_reads_a_file_as_the_training_file_without_a_note(german):
    Path("new.csv").write_bytes("Größe;Farbe\n2,7;grün\n".encode("cp1252"))
    result = german("predict", "de.weigh", "new.csv")
    assert predictions(result) == ["schlecht"]
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("name", "text", "encoding"),
    [
        ("new.csv", 'Größe,Farbe\n"2,7",grün\n', "utf-8"),
        ("new.tsv", "Größe\tFarbe\n2,7\tgrün\n", "utf-8"),
        ("new.csv", "Größe;Farbe\n2,7;grün\n", "utf-16"),
        ("new.txt", "Farbe|Größe\ngrün|2,7\n", "utf-8-sig"),
    ],
)
def test_what_a_new_file_evidently_has_wins_over_the_stored_dialect(german, name, text, encoding):
    Path(name).write_bytes(text.encode(encoding))
    assert predictions(german("predict", "de.weigh", name)) == ["schlecht"]


def test_an_option_wins_over_the_stored_dialect(german):
    Path("new.csv").write_text("Größe:Farbe\n2,7:grün\n")
    assert predictions(german("predict", "de.weigh", "new.csv", "--delimiter", ":")) == ["schlecht"]


def test_a_file_without_a_header_is_read_by_the_stored_names(run):
    Path("sms.tsv").write_text('ham\tsee "you\nspam\tbuy now\nham\tlunch?\n')
    options = ("--names", "label, text", "--no-quotes", "--label", "label", "--kind", "text=text")
    assert run("fit", "sms.tsv", *options).exit_code == 0
    assert weigh.load("sms.weigh").schema.dialect == {
        "has_header": False,
        "quotes": False,
        "names": ["label", "text"],
    }
    assert json.loads(run("evaluate", "sms.weigh", "sms.tsv", "--json").stdout)["n"] == 3
    for content in (
        '"see "you\nbuy it\n',
        'text\n"see "you\nbuy it\n',
        'label\ttext\nham\t"see "you\nspam\tbuy it\n',
    ):
        Path("new.tsv").write_text(content)
        assert predictions(run("predict", "sms.weigh", "new.tsv")) == ["ham", "spam"]


def test_the_stored_names_do_not_concern_formats_that_have_names(run):
    Path("pets.csv").write_text("4,cat\n2,bird\n")
    assert run("fit", "pets.csv", "--names", "legs,pet", "--label", "pet").exit_code == 0
    Path("new.jsonl").write_text('{"legs": 2}\n')
    assert predictions(run("predict", "pets.weigh", "new.jsonl")) == ["bird"]


def test_python_reads_a_file_like_the_training_file_of_a_model(german):
    source = weigh.open("de.csv", like=weigh.load("de.weigh"))
    assert source.names == ("Größe", "Farbe", "Güte")
    with pytest.warns(weigh.errors.AssumedEncoding):
        learner = weigh.NaiveBayes().fit(weigh.open("de.csv", label="Güte"))
    assert StoredDialect.of(learner).settings == {
        "delimiter": ";",
        "encoding": "cp1252",
        "decimal": ",",
        "thousands": ".",
    }
    with pytest.raises(weigh.errors.ParameterError) as caught:
        weigh.open("de.csv", like="de.weigh")
    assert str(caught.value) == "open: like must be a model or a fitted learner, got 'de.weigh'."


def test_models_of_files_with_other_dialects_merge_and_keep_the_first(german):
    Path("comma.csv").write_text(GERMAN.replace(",", ".").replace(";", ","))
    Path("semicolon.csv").write_text(GERMAN.replace(",", "."))
    first, second = (
        weigh.NaiveBayes().fit(weigh.open(f"{name}.csv", "Güte")).model_ for name in ("semicolon", "comma")
    )
    assert first.schema == second.schema
    assert first.merge(second).schema.dialect == {"delimiter": ";"}
    assert Schema.from_json(first.schema.to_json()).dialect == {"delimiter": ";"}


def test_spreadsheets_are_fitted_and_the_sheet_is_stored(run):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("python_calamine")
    with xlsxwriter.Workbook("pets.xlsx") as book:
        for name in ("old", "new"):
            sheet = book.add_worksheet(name)
            for i, row in enumerate([["legs", "pet"], [4, f"{name} cat"], [2, f"{name} bird"]]):
                sheet.write_row(i, 0, row)
    output = run("fit", "pets.xlsx", "--label", "pet").output
    assert "Note: pets.xlsx has 2 sheets with cells: 'old', 'new'. The first was read. For" in output
    assert "another, give --sheet 'new'." in output
    assert run("fit", "pets.xlsx", "--label", "pet", "--sheet", "new").exit_code == 0
    assert weigh.load("pets.weigh").schema.dialect == {"sheet": "new"}
    assert json.loads(run("evaluate", "pets.weigh", "pets.xlsx", "--json").stdout)["n"] == 2
    Path("one.csv").write_text("legs\n2\n")
    assert predictions(run("predict", "pets.weigh", "one.csv")) == ["new bird"]


def test_units_in_names_are_part_of_them(run):
    Path("u.csv").write_text("weight [kg], Preis (EUR) ,y\n" + "1,2,a\n3,4,b\n" * 9)
    kinds = ("--kind", "weight [kg]=number", "--kind", "Preis (EUR)=skip")
    assert run("fit", "u.csv", "--label", "y", *kinds).exit_code == 0
    assert weigh.load("u.weigh").schema.names == ["weight [kg]", "Preis (EUR)"]
    assert predictions(run("predict", "u.weigh", "u.csv"))[:2] == ["a", "b"]
    assert run("fit", "u.csv", "--label", "Preis (EUR)").exit_code == 0


def test_evaluate_reads_several_files_as_one(fitted):
    assert json.loads(fitted("evaluate", "mails.weigh", "mails.csv", "mails.csv", "--json").stdout)["n"] == 10


def test_rows_are_numbered_across_files(fitted):
    Path("more.csv").write_text(Path("mails.csv").read_text().replace("medium,not-spam", "low,spam"))
    written = fitted("audit", "mails.weigh", "mails.csv", "more.csv", "-o", "-").stdout.splitlines()
    assert [line.split(",")[0] for line in written[1:]] == [str(i) for i in range(10)]
    for row, familiarity in (("3", "medium"), ("8", "low")):
        explained = fitted("explain", "mails.weigh", "mails.csv", "more.csv", "--row", row).output
        assert familiarity in explained
    beyond = fitted("explain", "mails.weigh", "mails.csv", "more.csv", "--row", "10")
    assert "mails.csv, more.csv has 10 rows, so there is no row 10 (the first is 0)." in " ".join(
        beyond.stderr.split()
    )


def test_calibrate_and_report_take_several_files(fitted):
    done = fitted("calibrate", "mails.weigh", "mails.csv", "mails.csv", "-o", "sure.weigh")
    assert done.output.startswith("Calibrated on 10 rows of mails.csv, mails.csv: ")
    facts = json.loads(fitted("report", "mails.weigh", "mails.csv", "mails.csv", "--json").stdout)
    assert "10" in json.dumps(facts)


@pytest.mark.parametrize(
    "command", [("evaluate", "--plot"), ("audit", "-o"), ("calibrate", "-o"), ("report", "-o")]
)
def test_no_input_is_overwritten(fitted, command):
    Path("more.svg").write_text(Path("mails.csv").read_text())
    name, option = command
    result = fitted(name, "mails.weigh", "mails.csv", "more.svg", option, "more.svg")
    assert "more.svg is also an input of this command. Write to another file." in result.stderr


UNLABELLED = "a,n,y\n" + "".join(
    f"{'xz'[i % 2]},{i},{'' if i % 5 == 4 else 'pq'[i % 2]}\n" for i in range(40)
)


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "-o", "other.weigh"),
        ("evaluate", "u.weigh"),
        ("audit", "u.weigh"),
        ("calibrate", "u.weigh", "-o", "sure.weigh"),
        ("report", "u.weigh", "--json"),
        ("verify", "u.weigh"),
        ("compare", "--learner", "naive-bayes", "--folds", "2", "--repeats", "1", "--jobs", "1"),
        ("curve", "--folds", "2", "--repeats", "1", "--jobs", "1", "--sizes", "8,16"),
        ("path", "--learner", "logistic", "--n", "2"),
        ("trace", "--set", "max_iter=1"),
        ("learn", "u.weigh", "-o", "more.weigh"),
        ("forget", "u.weigh", "-o", "less.weigh"),
        ("tune", "--grid", "prior=1,2"),
        ("tune", "--grid", "max_iter=1,2", "--learner", "perceptron"),
    ],
)
def test_rows_without_a_label_are_left_out_on_request(run, command):
    Path("u.csv").write_text(UNLABELLED)
    fit = ("fit", "u.csv", "--label", "y", "--learner", "naive-bayes")
    assert run(*fit, "--drop-missing-labels").exit_code == 0
    words = (*command, "u.csv", *([] if "u.weigh" in command else ["--label", "y"]))
    refused = run(*words)
    assert refused.exit_code == 1
    if command[0] != "verify":  # which lists what differs
        assert "--drop-missing-labels leaves such rows out." in " ".join(refused.stderr.split())
    done = run(*words, "--drop-missing-labels")
    assert done.exit_code == 0, done.output
    note = "u.csv: 8 rows have no label and were left out, of 40 (first: row 4)."
    assert note in " ".join(done.output.split()) + " ".join(done.stderr.split())


def test_the_commands_in_a_report_name_all_files_and_options(fitted):
    Path("more.csv").write_text(Path("mails.csv").read_text())
    files = ("mails.csv", "more.csv", "--train", "mails.csv", "--train", "more.csv")
    facts = json.loads(fitted("report", "mails.weigh", *files, "--no-quotes", "--json").stdout)
    assert facts["reproduce"]["commands"] == [
        "weigh report mails.weigh mails.csv more.csv --train mails.csv --train more.csv --no-quotes "
        "-o report.html",
        "weigh evaluate mails.weigh mails.csv more.csv --no-quotes",
        "weigh verify mails.weigh mails.csv more.csv --no-quotes",
    ]
