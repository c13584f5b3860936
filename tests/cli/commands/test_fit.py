"""`weigh fit`: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import weigh

LEARNED = """Chosen: naive Bayes, because 5 rows are too few to compare learners, and it is
the simplest.

Trained on 5 rows of mails.csv to predict spam.

class     rows    share
not-spam     3  60.00 %
spam         2  40.00 %

column       kind      found
CS373        category  2 levels
investment   category  2 levels
familiarity  category  3 levels

9 free parameters.

The model is in mails.weigh.
"""


def test_fit_prints_a_summary(run):
    result = run("fit", "mails.csv", "--label", "spam")
    assert (result.exit_code, result.output) == (0, LEARNED)


def test_the_model_file_is_the_one_that_python_makes(run, tmp_path):
    run("fit", "mails.csv", "--label", "spam")
    made = weigh.NaiveBayes().fit(weigh.open(tmp_path / "mails.csv", label="spam")).model_
    assert (tmp_path / "mails.weigh").read_bytes() == made.to_bytes()


def test_replacing_an_existing_model_is_noted(fitted):
    assert fitted("fit", "mails.csv", "--label", "spam").output.endswith(
        "The model is in mails.weigh (replaced).\n"
    )


def test_json_has_all_facts(run):
    facts = json.loads(run("fit", "mails.csv", "--label", "spam", "-o", "a.weigh", "--json").output)
    assert facts["classes"] == [{"class": "not-spam", "rows": 3}, {"class": "spam", "rows": 2}]
    assert facts["columns"][2] == {"column": "familiarity", "kind": "category", "found": "3 levels"}
    assert (facts["n_parameters"], facts["notes"], facts["model"]) == (9, [], "a.weigh")


def test_two_files_are_one_table(run):
    output = run("fit", "mails.csv", "mails.csv", "--label", "spam").output
    assert "\n\nTrained on 10 rows of 2 files to predict spam.\n" in output
    assert weigh.load("mails.weigh").counts.rows.tolist() == [6, 4]


def test_a_column_that_is_text_in_one_file_is_text_in_all(run, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,p\n2,q\n")
    (tmp_path / "b.csv").write_text("x,y\n1,p\nzwei,q\n")
    assert run("fit", "a.csv", "b.csv", "--label", "y").exit_code == 0
    assert weigh.load("a.weigh").distributions[0].levels == ["1", "2", "zwei"]


def test_files_of_different_columns_are_refused(run, tmp_path):
    (tmp_path / "b.csv").write_text("x,spam\n1,spam\n")
    result = run("fit", "mails.csv", "b.csv", "--label", "spam")
    assert result.exit_code == 1
    assert result.stderr == (
        "weigh: mails.csv and b.csv do not have the same columns: only one of them has 'CS373', "
        "'familiarity', 'investment', 'x'.\n"
    )


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("prior=2", 2),
        ("prior=0.5", 0.5),
        ("prior=1/3", Fraction(1, 3)),
        ("prior=none", None),
        ("prior=dirichlet:2", weigh.Dirichlet(2)),
        ('prior={"familiarity": "dirichlet:2"}', {"familiarity": weigh.Dirichlet(2)}),
        ("prior.familiarity=3", {"familiarity": 3}),
        ("prior.CS373=beta:2,3", {"CS373": weigh.Beta(2, 3)}),
    ],
)
def test_priors_are_read_from_text(run, text, prior):
    assert run("fit", "mails.csv", "--label", "spam", "--set", text).exit_code == 0
    assert weigh.load("mails.weigh").prior == prior


def test_class_priors_are_read_from_text(run):
    run("fit", "mails.csv", "--label", "spam", "--set", 'class_prior={"spam": 0.25, "not-spam": 0.75}')
    prior = weigh.load("mails.weigh").class_distribution
    assert prior.exact_probabilities == [Fraction(3, 4), Fraction(1, 4)]
    run("fit", "mails.csv", "--label", "spam", "--set", "class_prior=uniform")
    assert weigh.load("mails.weigh").class_prior == "uniform"


def test_class_priors_name_classes_that_are_numbers(run):
    run("fit", "mails.csv", "--label", "CS373", "--set", 'class_prior={"0": 0.5, "1": 0.5}')
    assert weigh.load("mails.weigh").class_distribution.exact_probabilities == [Fraction(1, 2)] * 2


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("investment=flag", weigh.Flag()),
        ("investment=number", weigh.Number(shape="auto")),
        ("investment=number:shape=histogram", weigh.Number(shape="histogram")),
        ("investment=number:bins=0.5|2,floor=0", weigh.Number(bins=(0.5, 2.0), floor=0)),
        ("investment=number:spread=shared", weigh.Number(spread="shared")),
        ("investment=skip", weigh.Skip()),
        ("familiarity=category:levels=low|medium|high", weigh.Category(levels=("low", "medium", "high"))),
        ("familiarity=text:ngrams=1-2,counts=false,min_count=2", weigh.Text(False, (1, 2), min_count=2)),
        ("familiarity=text:weighting=log-tfidf,norm=l2", weigh.Text(weighting="log-tfidf", norm="l2")),
        ("familiarity=text:weighting=tfidf,norm=none", weigh.Text(weighting="tfidf")),
    ],
)
def test_kinds_are_read_from_text(run, text, kind):
    result = run("fit", "mails.csv", "--label", "spam", "--kind", text)
    assert result.exit_code == 0, result.output
    schema = weigh.load("mails.weigh").schema
    assert schema.kinds[schema.names.index(text.partition("=")[0])] == kind


def test_a_name_may_hold_an_equals_sign(run, tmp_path):
    (tmp_path / "odd.csv").write_text("a=b,y\n1,p\n2,q\n")
    assert run("fit", "odd.csv", "--label", "y", "--kind", "a=b=number").exit_code == 0


@pytest.mark.parametrize("learner", ["naive-bayes", "joint"])
def test_learners_can_be_chosen(run, learner):
    assert run("fit", "mails.csv", "--label", "spam", "--learner", learner).exit_code == 0
    assert run("predict", "mails.weigh", "new.csv").output.startswith("prediction,probability\nnot-spam,0.5")


def test_threshold_prints_its_cut(run, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1.5,true\n2.2,true\n1.8,true\n1.2,false\n0.9,false\n")
    result = run("fit", "t.csv", "--label", "y", "--learner", "threshold")
    assert "x       number  ≤ 1.35: False, else True" in result.output


def test_repeated_columns_are_a_note_in_the_words_of_the_command_line(run, tmp_path):
    rows = "".join(f"{v},{v},{v % 3 == 0}\n" for v in range(100))
    (tmp_path / "twice.csv").write_text("a,b,y\n" + rows)
    result = run("fit", "twice.csv", "--label", "y", "--learner", "naive-bayes")
    assert result.exit_code == 0
    assert "Note: Some columns repeat each other" in result.output
    assert "--kind 'b=skip'" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("labels", "learner"),
    [(range(20), "naive-bayes"), (["1.0", "2.0"], "naive-bayes"), (range(40), "linear")],
)
def test_few_whole_numbers_are_classes(run, tmp_path, labels, learner):
    (tmp_path / "stars.csv").write_text("x,y\n" + "".join(f"{at % 7}.5,{y}\n" for at, y in enumerate(labels)))
    result = run("fit", "stars.csv", "--label", "y", "--learner", learner)
    assert result.exit_code == 0
    assert "different numbers" not in result.output


def test_tables_with_other_marks_and_signs_are_read(run, tmp_path):
    (tmp_path / "de.txt").write_bytes("größe;y\n1,5;p\n?;q\n".encode("latin-1"))
    options = ("--delimiter", "semicolon", "--encoding", "latin-1", "--format", "csv", "--missing", "?")
    assert run("fit", "de.txt", "--label", "y", *options).exit_code == 0
    assert list(weigh.load("de.weigh").schema.names) == ["größe"]


def test_the_summary_of_a_wide_file_lists_the_first_columns(run, tmp_path, monkeypatch):
    monkeypatch.setattr("weigh.cli.output.fit_summary.MAX_LISTED_COLUMNS", 30)
    (tmp_path / "h.svm").write_text("1 1:1 50:1\n-1 2:1\n")
    fit = "fit", "h.svm", "--kind", "count"
    facts = json.loads(run(*fit, "--json").output)
    assert facts["n_columns"] == 50
    assert [column["column"] for column in facts["columns"]] == [f"x{j}" for j in range(1, 31)]
    assert "count\n… and 26 more\n" in run(*fit).output


def write_customers(path) -> None:
    lines = [
        f"c{i:04},{i % 5 + 1},{20 + i * 7 % 50},EUR,{'yes' if i * 7 % 50 > 25 else 'no'}" for i in range(200)
    ]
    path.write_text("\n".join(["customer,region,age,currency,churn", *lines, ""]))


CUSTOMERS = """Trained on 200 rows of customers.csv to predict churn.

class  rows    share
no      104  52.00 %
yes      96  48.00 %

column    kind      found
customer  skip
region    category  5 levels
age       number    histogram, 50 bins
currency  category  constant, left out

107 free parameters.

Note: Column 'customer' is skipped: nearly all of its 200 values are distinct,
so it looks like an identifier. To keep it, use --kind 'customer=category'.

The model is in customers.weigh.
"""


def test_the_summary_shows_identifiers_codes_quantities_and_constants(run, tmp_path):
    write_customers(tmp_path / "customers.csv")
    result = run("fit", "customers.csv", "--label", "churn", "--learner", "naive-bayes")
    assert (result.exit_code, result.output) == (0, CUSTOMERS)


def test_a_stated_kind_keeps_an_identifier(run, tmp_path):
    write_customers(tmp_path / "customers.csv")
    options = "--learner", "naive-bayes", "--kind", "customer=category"
    output = run("fit", "customers.csv", "--label", "churn", *options).output
    assert "customer  category  200 levels" in output
    assert "Note" not in output


def test_a_regression_leaves_out_constants_and_an_online_learner_does_not_claim_to(run, tmp_path):
    write_customers(tmp_path / "customers.csv")
    fit = ("fit", "customers.csv", "--label", "churn", "--learner")
    assert "currency  category  constant, left out\n" in run(*fit, "logistic").output
    assert "currency  category  1 feature\n" in run(*fit, "perceptron").output


def test_an_engine_fits_the_model_of_the_files(run, tmp_path, monkeypatch):
    from contextlib import contextmanager

    import dask.dataframe as dd

    from tests.engines.frames import mixed_table
    from weigh.source.partitioned import dask as engine

    @contextmanager
    def open_here(files, address):
        assert address == "tcp://here:1"
        yield engine.DaskParquet(dd.read_parquet(files), files)

    monkeypatch.setattr(engine, "open_parquet", open_here)
    table = mixed_table(400).drop(columns="target")
    for i in range(2):
        table[200 * i : 200 * (i + 1)].to_parquet(tmp_path / f"{i}.parquet")
    learner = ("--learner", "naive-bayes")
    assert run("fit", "*.parquet", "--label", "label", *learner, "-o", "a.weigh").exit_code == 0
    result = run("fit", "*.parquet", "--label", "label", "--engine", "dask=tcp://here:1", "-o", "b.weigh")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "a.weigh").read_bytes() == (tmp_path / "b.weigh").read_bytes()


def test_an_engine_reads_parquet_files_only(run):
    result = run("fit", "mails.csv", "--label", "spam", "--engine", "dask")
    assert result.exit_code == 1
    assert "mails.csv is not a Parquet file, and only those are read in partitions." in result.output


def test_options_of_local_files_do_not_apply_with_an_engine(run):
    result = run("fit", "mails.csv", "--label", "spam", "--engine", "dask", "--threads", "2")
    assert result.exit_code == 2
    assert "--threads does not apply with --engine" in result.output
