"""What all engines share: any partitions give the same model, and errors name the partition."""

from __future__ import annotations

import re
import threading
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import weigh
from tests.engines.frames import LocalFrame, mixed_table
from weigh import errors
from weigh.engines import run
from weigh.learn import BayesTask
from weigh.source import rows

pytestmark = [
    pytest.mark.filterwarnings("ignore::weigh.errors.MissingNumbers"),
    pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable"),
    # Moments cannot certify the tolerance that equal weights need.
    pytest.mark.filterwarnings("ignore::weigh.errors.NotOptimal"),
]
TABLE = mixed_table()
CLASSES = TABLE.drop(columns="target")
NUMBERS = TABLE.drop(columns="label")

BAYES: dict[str, weigh.NaiveBayes] = {
    "inferred": weigh.NaiveBayes(),
    "hashed text": weigh.NaiveBayes(columns={"body": weigh.Text(buckets=64, ngrams=(1, 2))}),
    "pruned text": weigh.NaiveBayes(columns={"body": weigh.Text(min_count=920)}),
    "weighted text": weigh.NaiveBayes(columns={"body": weigh.Text(weighting="log-tfidf", norm="l2")}),
    "presence of words": weigh.NaiveBayes(columns={"body": weigh.Text(counts=False)}),
    "bins": weigh.NaiveBayes(columns={"age": weigh.Number(bins=8), "price": "number"}),
    "derived": weigh.NaiveBayes(
        columns={"old": weigh.Derived(lambda row: row["code"] == row["member"], weigh.Flag()), "body": "skip"}
    ),
}


@pytest.mark.parametrize("fan_in", [2, 8])
@pytest.mark.parametrize("n", [1, 7, 64])
@pytest.mark.parametrize("name", BAYES)
def test_naive_bayes_has_the_same_bytes_for_any_partitions(name: str, n: int, fan_in: int):
    local = BAYES[name].fit(CLASSES, "label").model_
    columns = local.schema
    frame = LocalFrame.split(CLASSES, n, fan_in=fan_in)
    assert weigh.NaiveBayes(columns=columns).fit(frame, "label").model_.to_bytes() == local.to_bytes()


def test_kinds_are_inferred_from_the_first_rows():
    local = weigh.NaiveBayes().fit(CLASSES, "label").model_
    assert weigh.NaiveBayes().fit(LocalFrame.split(CLASSES, 5), "label").model_.to_bytes() == local.to_bytes()


@pytest.mark.parametrize("n", [1, 7, 64])
def test_joint_bayes_has_the_same_bytes_for_any_partitions(n: int):
    table = CLASSES.drop(columns=["body", "price"])
    local = weigh.JointBayes().fit(table, "label").model_
    assert weigh.JointBayes().fit(LocalFrame.split(table, n), "label").model_.to_bytes() == local.to_bytes()


def test_the_order_of_partitions_does_not_matter():
    frame = LocalFrame.split(CLASSES, 9)
    schema = weigh.NaiveBayes().fit(frame, "label").schema_
    reverse = LocalFrame(frame.tables[::-1])
    first, second = (weigh.NaiveBayes(columns=schema).fit(each, "label").model_ for each in (frame, reverse))
    assert first.to_bytes() == second.to_bytes()


def test_partial_fit_continues_with_partitions():
    whole = weigh.NaiveBayes().fit(CLASSES, "label")
    half = weigh.NaiveBayes(columns=whole.schema_).fit(CLASSES[:1000], "label")
    half.partial_fit(LocalFrame.split(CLASSES[1000:], 3), "label")
    assert half.model_.to_bytes() == whole.model_.to_bytes()


def test_a_class_in_one_partition_only_is_learned():
    table = CLASSES.copy()
    table.loc[2_990:, "label"] = "perhaps"
    model = weigh.NaiveBayes().fit(LocalFrame.split(table, 8), "label").model_
    assert model.classes == ["no", "perhaps", "yes"]
    assert model.to_bytes() == weigh.NaiveBayes().fit(table, "label").model_.to_bytes()


def test_empty_partitions_are_skipped():
    frame = LocalFrame.split(CLASSES, 4)
    empty = frame.tables[0].slice(0, 0)
    tables = [empty, frame.tables[0], empty, *frame.tables[1:], empty]
    model = weigh.NaiveBayes().fit(LocalFrame(tables), "label").model_
    assert model.to_bytes() == weigh.NaiveBayes().fit(CLASSES, "label").model_.to_bytes()


def test_a_frame_without_rows_is_an_error():
    frame = LocalFrame([pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.string())})])
    with pytest.raises(errors.DataError, match=r"The Local DataFrame has no rows"):
        weigh.NaiveBayes().fit(frame, "y")


def small_frame(*columns: dict[str, Any]) -> LocalFrame:
    return LocalFrame([pa.table(each) for each in columns])


GOOD = {"x": [1.5, 2.5, 3.0], "city": ["a", "b", "a"], "y": ["n", "p", "n"]}


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            {**GOOD, "x": ["u", "v", "w"]},
            "Partition 1 of the Local DataFrame (the first is 0): Column 'x' holds text here and numbers in "
            "the first rows of the frame. Convert it to one type in all partitions.",
        ),
        (
            {"x": GOOD["x"], "y": GOOD["y"]},
            "Partition 1 of the Local DataFrame (the first is 0): The partition has no column 'city'; it has "
            "'x', 'y'.",
        ),
        (
            {**GOOD, "y": ["n", None, "n"]},
            "Partition 1 of the Local DataFrame (the first is 0): The label is missing in 1 of the first 3 "
            "rows (first: row 1). Leave such rows out; of a file, weigh.open(..., drop_missing_labels=True) "
            "does that.",
        ),
    ],
    ids=["type", "column", "label"],
)
def test_errors_name_the_partition(second: dict[str, Any], message: str):
    frame = small_frame(GOOD, second)
    frame.first_rows = lambda n: frame.tables[0]  # type: ignore[method-assign]
    with pytest.raises(errors.DataError) as error:
        weigh.NaiveBayes().fit(frame, "y")
    assert str(error.value) == message


def test_the_first_of_several_errors_is_reported():
    bad = {**GOOD, "y": ["n", None, "n"]}
    frame = small_frame(GOOD, GOOD, bad, GOOD, bad)
    with pytest.raises(errors.LabelError, match=r"^Partition 2 "):
        weigh.NaiveBayes().fit(frame, "y")


def test_whole_numbers_of_one_partition_are_numbers_like_those_of_others():
    frame = small_frame({**GOOD, "x": [1, 2, 3]}, GOOD)
    frame.first_rows = lambda n: frame.tables[1]  # type: ignore[method-assign]
    table = pd.concat([table.to_pandas() for table in frame.tables])
    expected = weigh.NaiveBayes().fit(table, "y").model_
    assert weigh.NaiveBayes().fit(frame, "y").model_.to_bytes() == expected.to_bytes()


def test_a_function_that_cannot_be_sent_is_an_error():
    lock = threading.Lock()

    def is_large(row: Any) -> Any:
        with lock:
            return row["x"] > 2

    learner = weigh.NaiveBayes(columns={"large": weigh.Derived(is_large, weigh.Flag())})
    with pytest.raises(errors.DataError, match=r"derived column \('large'\) cannot be sent to the workers"):
        learner.fit(small_frame(GOOD, GOOD), "y")


def test_lags_need_rows_in_order():
    learner = weigh.NaiveBayes(columns={"before": weigh.Lag("x")})
    with pytest.raises(errors.Unsupported, match="A lag looks back at earlier rows"):
        learner.fit(small_frame(GOOD, GOOD), "y")


def odd_table(n_odd: int) -> pd.DataFrame:
    values = [f"{i}.5" for i in range(2_000)]
    for at in range(n_odd):
        values[1_999 - at] = f"{at} of many"
    return pd.DataFrame({"x": values, "y": ["a", "b"] * 1_000})


def test_odd_cells_are_counted_over_all_partitions():
    # 15 of the 250 rows of the last partition are odd, but less than 1 % of all.
    table, message = odd_table(15), r"Column 'x': 15 of 2,000 cells are not numbers .*partition 7 row 235"
    local = weigh.NaiveBayes(columns={"x": "number"})
    with pytest.warns(errors.OddCells):
        local.fit(table, "y")
    learner = weigh.NaiveBayes(columns=local.schema_)
    with pytest.warns(errors.OddCells, match=message):
        model = learner.fit(LocalFrame.split(table, 8), "y").model_
    assert model.to_bytes() == local.model_.to_bytes()


def test_too_many_odd_cells_are_an_error():
    schema = weigh.NaiveBayes(columns={"x": "number"}).fit(odd_table(0), "y").schema_
    learner = weigh.NaiveBayes(columns=schema)
    with pytest.raises(errors.ColumnError, match=r"60 of 2,000 cells are not numbers, more than 1 %"):
        learner.fit(LocalFrame.split(odd_table(60), 8), "y")


def test_warnings_of_workers_are_issued_here():
    dates = pd.DataFrame({"when": ["2020-01-03", "2020-02-07", "2020-03-11"] * 100, "y": ["a", "b"] * 150})
    dates.loc[290, "when"] = "soon"
    learner = weigh.NaiveBayes(columns={"when": "date"})
    with pytest.warns(errors.OddValues, match=re.escape("'soon'")):
        learner.fit(LocalFrame.split(dates, 3), "y")


def test_learners_that_need_all_rows_say_so():
    with pytest.raises(errors.Unsupported, match=r"Threshold needs all rows in one process"):
        weigh.Threshold().fit(small_frame(GOOD, GOOD), "y")


def test_labels_of_a_frame_are_a_column():
    with pytest.raises(errors.LabelError, match="Give the name of that column"):
        weigh.NaiveBayes().fit(small_frame(GOOD), ["n", "p", "n"])


def test_weights_of_a_frame_are_refused():
    with pytest.raises(errors.DataError, match="leave out the weights"):
        weigh.NaiveBayes().fit(small_frame(GOOD), "y", sample_weight=np.ones(3))


def test_rows_of_a_frame_are_not_read_here():
    source = rows(small_frame(GOOD), "y")
    assert source.prefix(2).n_rows == 2
    with pytest.raises(errors.DataError, match="collect them"):
        next(source.chunk_readers())


def test_engines_run_a_task_on_a_frame():
    source = rows(LocalFrame.split(CLASSES, 3), "label")
    model = run(BayesTask.for_source(source), source)
    assert model.to_bytes() == weigh.NaiveBayes().fit(CLASSES, "label").model_.to_bytes()


# The last two are found by iterations that stop before their last digits.
LINEAR = {
    "none": (None, 1e-9),
    "ridge": (weigh.Normal(1.0), 1e-9),
    "lasso": (weigh.Laplace(1.0), 1e-9),
    "elastic net": (weigh.Penalty(l1=3, l2=2), 1e-6),
    "marginal likelihood": (weigh.Normal("evidence"), 1e-6),
}
COLUMNS = {
    "city": weigh.Category(against="Bonn"),
    "code": weigh.Category(against=0),
    "body": weigh.Text(weighting="log-tfidf", norm="l2"),
    "when": "skip",
}


@pytest.mark.parametrize("n", [1, 16])
@pytest.mark.parametrize("name", LINEAR)
def test_linear_regression_has_the_same_weights(name: str, n: int):
    prior, tolerance = LINEAR[name]
    learner = weigh.LinearRegression(prior=prior, columns=COLUMNS, tol=1e-13)
    local = learner.fit(NUMBERS, "target").model_
    folded = weigh.LinearRegression(prior=prior, columns=local.schema, tol=1e-13)
    folded.fit(LocalFrame.split(NUMBERS, n), "target")
    error = tolerance * np.abs(local.coef).max()
    assert np.allclose(folded.coef_, local.coef, rtol=0, atol=error)
    assert folded.intercept_ == pytest.approx(local.intercept, abs=10 * error)
    assert folded.model_.training_rows.equals(local.training_rows)


@pytest.mark.parametrize("prior", [weigh.Normal("cv"), weigh.Laplace("cv")], ids=["ridge", "lasso"])
def test_cross_validation_does_not_depend_on_the_partitions(prior: Any):
    learners = [
        weigh.LinearRegression(prior=prior, columns=COLUMNS, tol=1e-12).fit(
            LocalFrame.split(NUMBERS, n), "target"
        )
        for n in (1, 6)
    ]
    assert np.allclose(learners[0].coef_, learners[1].coef_, rtol=0, atol=1e-8)


def test_absolute_loss_is_no_sum():
    with pytest.raises(errors.Unsupported, match="Absolute loss has no sums"):
        weigh.LinearRegression(noise="laplace").fit(LocalFrame.split(NUMBERS, 2), "target")


LOGISTIC: dict[str, tuple[str, dict[str, Any]]] = {
    "two classes": ("label", {"prior": weigh.Normal(0.5)}),
    "no prior": ("label", {"prior": None}),
    "no intercept": ("label", {"bias": False, "prior": weigh.Normal(1.0)}),
    "balanced classes": ("label", {"class_weight": "balanced", "prior": weigh.Normal(1.0)}),
    "three classes": ("city", {"prior": weigh.Normal(1.0)}),
}


def logistic_table(label: str) -> pd.DataFrame:
    table = CLASSES if label == "label" else CLASSES.dropna(subset=["city"]).drop(columns="label")
    return table.reset_index(drop=True)


@pytest.mark.parametrize("name", LOGISTIC)
def test_logistic_regression_has_the_same_optimum(name: str):
    label, parameters = LOGISTIC[name]
    table = logistic_table(label)
    columns = {"code": weigh.Category(against=0), "when": "skip"}
    if label == "label":
        columns |= {"city": weigh.Category(against="Bonn")}
    parameters = {"columns": columns, "tol": 1e-11, **parameters}
    local = weigh.LogisticRegression(**parameters).fit(table, label)
    folded = weigh.LogisticRegression(**parameters).fit(LocalFrame.split(table, 7), label)
    assert local.certificate_.converged
    assert folded.certificate_.converged
    size = np.abs(local.coef_).max()
    assert np.allclose(folded.coef_, local.coef_, rtol=0, atol=1e-8 * size)
    assert np.allclose(folded.intercept_, local.intercept_, rtol=0, atol=1e-7 * size)
    assert folded.certificate_.objective == pytest.approx(local.certificate_.objective, rel=1e-11)
    assert folded.model_.training_rows.equals(local.model_.training_rows)


def test_the_scale_of_the_prior_does_not_depend_on_the_partitions():
    table = logistic_table("label").drop(columns=["body", "when"])
    models = [weigh.LogisticRegression(tol=1e-11).fit(LocalFrame.split(table, n), "label") for n in (1, 7)]
    assert models[0].model_.fit.prior == models[1].model_.fit.prior
    assert np.allclose(models[0].coef_, models[1].coef_, rtol=0, atol=1e-8)


def test_the_posterior_of_logistic_regression_is_that_of_the_rows():
    columns = {"age": "number", "member": "flag"}
    table = CLASSES[["age", "member", "label"]]
    parameters: dict[str, Any] = {"columns": columns, "prior": weigh.Normal(1.0), "tol": 1e-11}
    local = weigh.LogisticRegression(**parameters).fit(table, "label").posterior_
    folded = weigh.LogisticRegression(**parameters).fit(LocalFrame.split(table, 5), "label").posterior_
    assert np.allclose(folded.covariance, local.covariance, rtol=1e-7)


def test_l1_logistic_regression_needs_all_rows():
    with pytest.raises(errors.Unsupported, match="one weight at a time"):
        weigh.LogisticRegression(prior=weigh.Laplace(1.0)).fit(LocalFrame.split(CLASSES, 2), "label")


def test_separated_classes_are_an_error():
    table = pd.DataFrame({"x": np.arange(20.0), "z": [0.5, 1.5] * 10, "y": ["a"] * 10 + ["b"] * 10})
    with pytest.raises(errors.Separated, match="A plane separates the classes"):
        weigh.LogisticRegression(prior=None).fit(LocalFrame.split(table, 3), "y")


def test_predictions_have_labels_probabilities_and_reasons():
    learner = weigh.NaiveBayes().fit(CLASSES, "label")
    table = learner.predict(LocalFrame.split(CLASSES, 5), reasons=2)
    assert table.schema.names == ["prediction", "P(no)", "P(yes)", "reason 1", "reason 2"]
    assert table["prediction"].to_pylist() == learner.predict(CLASSES).tolist()
    shares = learner.predict_proba(CLASSES)
    assert table["P(yes)"].to_pylist() == shares[:, 1].tolist()
    evidence = learner.explain(CLASSES[:1])[0]
    strongest = [row for row in evidence.strongest(3) if row.feature != "class prior"][:2]
    assert [table[f"reason {n}"][0].as_py().split(" (")[0] for n in (1, 2)] == [
        row.title.split(" (")[0] for row in strongest
    ]


def test_probabilities_of_partitions_are_those_of_the_rows():
    learner = weigh.NaiveBayes().fit(CLASSES, "label")
    table = learner.predict_proba(LocalFrame.split(CLASSES, 3))
    assert table.schema.names == ["P(no)", "P(yes)"]
    assert np.array_equal(table.to_pandas().to_numpy(), learner.predict_proba(CLASSES))


def test_decisions_apply_to_partitions():
    learner = weigh.NaiveBayes().fit(CLASSES, "label")
    decision = weigh.Decision(unsure=0.9)
    table = learner.predict(LocalFrame.split(CLASSES, 3), decision)
    assert table["prediction"].to_pylist() == learner.predict(CLASSES, decision).tolist()


def test_regressions_predict_partitions():
    columns = {"city": "skip", "code": "skip", "body": "skip", "when": "skip"}
    learner = weigh.LinearRegression(columns=columns).fit(NUMBERS, "target")
    table = learner.predict(LocalFrame.split(NUMBERS, 3), reasons=1)
    assert table.schema.names == ["prediction", "reason 1"]
    assert np.allclose(table["prediction"].to_numpy(), learner.predict(NUMBERS), rtol=1e-14)


def test_a_frame_that_lacks_a_column_is_refused_before_it_is_computed():
    learner = weigh.NaiveBayes().fit(CLASSES, "label")
    with pytest.raises(errors.ColumnError, match="The rows lack the column 'city'"):
        learner.predict(LocalFrame.split(CLASSES.drop(columns="city"), 2))


def test_reasons_belong_to_frames():
    learner = weigh.NaiveBayes().fit(CLASSES, "label")
    with pytest.raises(errors.ParameterError, match=r"use explain\(\)"):
        learner.predict(CLASSES, reasons=2)


def separable_table(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (n, 2))
    side = x @ [1.0, 2.0] - 0.2
    x = x[np.abs(side) > 0.15]
    return pd.DataFrame({"u": x[:, 0], "v": x[:, 1], "y": np.where(x @ [1.0, 2.0] > 0.2, "p", "n")})


MIXED: dict[str, Any] = {"mixing": "uniform", "scale": None, "max_iter": 200, "columns": "number"}


@pytest.mark.parametrize("n", [1, 2, 8])
def test_mixed_perceptrons_separate_within_the_sharded_bound(n: int):
    table = separable_table()
    learner = weigh.Perceptron(keep="last", **MIXED).fit(LocalFrame.split(table, n), "y")
    certificate = learner.certificate_
    assert certificate.converged
    assert certificate.partitions == n
    assert learner.score(table, "y") == 1.0
    bound = weigh.mistake_bound(table[["u", "v"]].to_numpy(), (table.y == "p").to_numpy())
    assert certificate.mistakes / n <= bound.bound
    assert certificate.mistakes / n <= (certificate.radius / certificate.augmented_margin) ** 2


@pytest.mark.parametrize("keep", ["last", "averaged"])
def test_one_partition_is_the_perceptron_of_the_rows(keep: str):
    table = CLASSES[["age", "member", "city", "label"]].dropna().reset_index(drop=True)
    parameters: dict[str, Any] = {"keep": keep, "shuffle": False, "max_iter": 3, "scale": None}
    parameters["columns"] = {"city": weigh.Category(levels=["Bonn", "Cork", "Lyon"])}
    local = weigh.Perceptron(**parameters).fit(table, "label").model_
    mixed = weigh.Perceptron(mixing="uniform", **parameters).fit(LocalFrame.split(table, 1), "label").model_
    assert mixed.certificate.mistakes == local.certificate.mistakes
    rows = table[:100]
    assert np.allclose(mixed.scores(rows), local.scores(rows), rtol=1e-12)


def test_mixing_several_classes_gives_a_model_that_is_saved(tmp_path: Any):
    table = CLASSES[["age", "member", "code", "city"]].dropna().reset_index(drop=True)
    model = weigh.Perceptron(mixing="uniform", max_iter=2).fit(LocalFrame.split(table, 3), "city").model_
    model.save(tmp_path / "mixed.weigh")
    assert weigh.load(tmp_path / "mixed.weigh").certificate == model.certificate
    assert model.classes == ["Bonn", "Cork", "Lyon"]


def test_perceptrons_mix_only_when_asked_to():
    with pytest.raises(errors.Unsupported, match="mixing='uniform'"):
        weigh.Perceptron().fit(LocalFrame.split(CLASSES, 2), "label")
    with pytest.raises(errors.Unsupported, match="no record of updates"):
        weigh.Perceptron(keep="voted", mixing="uniform").fit(LocalFrame.split(CLASSES, 2), "label")
