"""Bad input raises the errors and messages listed in docs/bad-input.md."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

import weigh
from tests.apps.mail.evaluation.scripted_filter import Scripted
from tests.apps.spelling.example_speller import speller
from tests.judge.metrics.scripted import evaluate_scripted
from weigh.apps.mail.audit import audit_mails
from weigh.apps.mail.evaluation.mail_stream import Mail
from weigh.apps.mail.evaluation.online_evaluation import evaluate_filters
from weigh.apps.mail.filter import Costs, Filter, new_ledger
from weigh.apps.mail.serving.server import listening_socket
from weigh.apps.mail.settings import StoreSettings
from weigh.apps.mail.storage import check_ledger
from weigh.apps.mail.store import MailStore
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.documents import read_documents
from weigh.apps.spelling.evaluation.compare import compare_learners
from weigh.apps.spelling.evaluation.swaps import evaluate_swaps
from weigh.model.file import store as model_file
from weigh.source.mail import RawMessage, messages, read

PAGE = Path(__file__).resolve().parent.parent / "docs" / "bad-input.md"

PETS = {
    "legs": ["four", "two", "four", "none"],
    "weight": [4.0, 0.1, 30.0, 1.5],
    "pet": ["cat", "bird", "dog", "fish"],
}
HOMES = {
    "area": [50.0, 80.0, 65.0, 120.0, 95.0],
    "rooms": [2.0, 3.0, 3.0, 4.0, 4.0],
    "rent": [600.0, 900.0, 800.0, 1350.0, 1000.0],
}
LETS = {"area": HOMES["area"], "rooms": HOMES["rooms"], "let": ["no", "yes", "no", "yes", "yes"]}
WORDS = {"good": [2, 0, 1], "bad": [0, 3, 1], "like": ["yes", "no", "yes"]}

Case = Callable[[], object]
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    """Register a case under its name on the page."""

    def register(function: Case) -> Case:
        assert name not in CASES
        CASES[name] = function
        return function

    return register


def hundred_rows() -> tuple[Any, Any]:
    return np.arange(100.0)[:, None] % 7, ["a", "b"] * 50


def fit(table: Any, label: Any = "pet", **settings: Any) -> weigh.NaiveBayes:
    return weigh.NaiveBayes(**settings).fit(table, label)


def perceptron(table: Any = PETS, **settings: Any) -> weigh.Perceptron:
    return weigh.Perceptron(**settings).fit(table, "pet")


def linear(table: Any = HOMES, label: Any = "rent", **settings: Any) -> weigh.LinearRegression:
    return weigh.LinearRegression(**settings).fit(table, label)


def logistic(table: Any = LETS, label: Any = "let", **settings: Any) -> weigh.LogisticRegression:
    return weigh.LogisticRegression(**settings).fit(table, label)


def with_column(name: str, values: Any, table: dict[str, Any] = PETS) -> dict[str, Any]:
    return {**table, name: values}


def write_file(text: str | bytes, name: str = "pets.csv") -> str:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return name


@case("The label column is not in the table")
def _() -> object:
    return fit(PETS, "pets")


@case("No labels at all")
def _() -> object:
    return weigh.NaiveBayes().fit(PETS)


@case("A label is missing in some rows")
def _() -> object:
    return fit(with_column("pet", ["cat", None, "dog", None]))


@case("More or fewer labels than rows")
def _() -> object:
    return fit({"legs": PETS["legs"]}, ["cat", "bird"])


@case("Several labels per row, as a matrix")
def _() -> object:
    return fit({"legs": PETS["legs"]}, np.eye(4, dtype=int))


@case("Several labels per row, as lists")
def _() -> object:
    return fit({"legs": PETS["legs"]}, [["cat", "pet"], ["bird"], ["dog", "pet"], ["fish"]])


@case("Numbers that are not whole as labels of a classifier")
def _() -> object:
    return fit({"legs": PETS["legs"]}, [0.5, 1.0, 2.5, 3.0])


@case("Complex numbers as labels")
def _() -> object:
    return fit({"legs": PETS["legs"]}, np.array([1j, 2, 1j, 2]))


@case("A sparse matrix as labels")
def _() -> object:
    return fit({"legs": PETS["legs"]}, sp.csr_matrix([[0], [1], [0], [1]]))


@case("A label name for a bare array")
def _() -> object:
    return fit(np.ones((4, 2)), "pet")


@case("A weight that is negative or not finite")
def _() -> object:
    return weigh.NaiveBayes().fit(PETS, "pet", sample_weight=[1, 1, -1, 1])


@case("A weight that is too large or too small")
def _() -> object:
    return weigh.NaiveBayes().fit(PETS, "pet", sample_weight=[1, 1, 1e308, 1])


@case("A weight that is too large once it is multiplied by that of its class")
def _() -> object:
    return weigh.Perceptron(class_weight={"cat": 1e40}).fit(PETS, "pet", sample_weight=[1e40] * 4)


@case("A table without rows")
def _() -> object:
    return fit({"legs": [], "pet": []})


@case("Columns of different lengths")
def _() -> object:
    return fit(with_column("legs", ["four", "two"]))


@case("A list of rows of different lengths")
def _() -> object:
    return fit([[1, 2], [3]], ["cat", "dog"])


@case("A one-dimensional array")
def _() -> object:
    return fit(np.arange(4.0), ["a", "b", "a", "b"])


@case("A path where a table belongs")
def _() -> object:
    return fit("pets.csv")


@case("Columns without any value")
def _() -> object:
    return fit({"legs": [None] * 4, "weight": [None] * 4, "pet": PETS["pet"]})


@case("Infinity")
def _() -> object:
    return fit(with_column("weight", [4.0, np.inf, 30.0, 1.5]))


@case("Bytes that are not text")
def _() -> object:
    return fit(with_column("legs", np.array([b"\xff", "two", "four", "none"], dtype=object)))


@case("A list that contains itself")
def _() -> object:
    itself: list[Any] = []
    itself.append(itself)
    return fit(with_column("legs", [itself, ["two"], ["four"], ["none"]]))


@case("An Arrow dictionary with a code that it lacks")
def _() -> object:
    codes, words = pa.array([0, 7, 0, 1]), pa.array(["four", "two"])
    return fit(with_column("legs", pa.DictionaryArray.from_arrays(codes, words, safe=False)))


@case("A pandas category with a code that it lacks")
def _() -> object:
    legs = pd.Categorical.from_codes([0, 1, 0, 1], categories=["four", "two"])
    legs._ndarray[1] = 7
    return fit(with_column("legs", legs))


@case("An entry outside a sparse matrix")
def _() -> object:
    matrix = sp.coo_matrix(np.eye(4))
    matrix.coords = (np.array([0, 1, 2, 1_000_000], np.int32), matrix.coords[1])
    return fit(matrix, PETS["pet"])


@case("A sparse matrix with a negative indptr")
def _() -> object:
    matrix = sp.csc_matrix(np.ones((4, 2)))
    matrix.indptr[-1] = -5
    return fit(matrix, PETS["pet"])


@case("NaN in a sparse matrix of flags or counts")
def _() -> object:
    return fit(sp.csr_matrix([[1.0, np.nan], [1.0, 2.0]]), ["a", "b"], columns="count")


@case("A negative count")
def _() -> object:
    return fit(with_column("bad", [0, -3, 1], WORDS), "like", columns="count")


@case("Text among numbers")
def _() -> object:
    return fit(with_column("weight", ["4", "heavy", "30", "1"]), columns={"weight": "number"})


@case("A wide sparse matrix without a kind")
def _() -> object:
    return fit(sp.eye(2000, format="csr"), np.arange(2000) % 2)


def wide_rows(n_columns: int) -> object:
    return sp.csr_matrix(([1.0, 1.0, 1.0], ([0, 0, 1], [0, n_columns - 1, 1])), (2, n_columns))


@case("Numbers in very many sparse columns")
def _() -> object:
    return fit(wide_rows(2_000_000), [1, -1], columns="number")


@case("More sparse columns than any model could use")
def _() -> object:
    return fit(wide_rows(2**31 - 1), [1, -1], columns="count")


@case("A kind for a column that does not exist")
def _() -> object:
    return fit(PETS, columns={"wieght": "number"})


@case("A kind that does not exist")
def _() -> object:
    return fit(PETS, columns={"weight": "numeric"})


@case("At prediction, a column is lacking")
def _() -> object:
    return fit(PETS).predict({"weight": 3.0})


@case("At prediction, an array of another width")
def _() -> object:
    return fit(np.ones((4, 3)) * [[1], [2], [3], [4]], [0, 1, 0, 1]).predict(np.ones((1, 2)))


@case("A derived column whose function was not given again")
def _() -> object:
    heavy = weigh.Derived(lambda rows: rows["weight"] > 3, "flag")
    fit(PETS, columns={"heavy": heavy}).model_.save("pets.weigh")
    return weigh.load("pets.weigh").predict({"legs": "two", "weight": 3.0})


@case("A prior that is not above zero")
def _() -> object:
    return fit(PETS, prior=0)


@case("A prior for a column that does not exist")
def _() -> object:
    return fit(PETS, prior={"leg": 2})


@case("Class probabilities without their classes")
def _() -> object:
    return weigh.NaiveBayes(class_prior=[0.4, 0.3, 0.2, 0.1]).fit(PETS, "pet")


@case("Class probabilities that do not sum to 1")
def _() -> object:
    half = {"cat": 0.5, "bird": 0.5, "dog": 0.5, "fish": 0.5}
    return fit(PETS, class_prior=half).predict({"legs": "two", "weight": 1.0})


@case("The complement with a prior that adds nothing")
def _() -> object:
    return fit(WORDS, "like", columns="count", complement=True, prior=weigh.Dirichlet(1))


@case("The complement with other columns than counts and text")
def _() -> object:
    return fit(PETS, complement=True)


@case("Evidence that is impossible in every class (prior=None)")
def _() -> object:
    days = {"sky": ["sun", "rain"], "wind": ["weak", "strong"], "play": ["yes", "no"]}
    return fit(days, "play", prior=None).predict({"sky": "sun", "wind": "strong"})


@case("Merging models whose kinds differ")
def _() -> object:
    first = fit(PETS)
    return first.merge(fit(PETS, columns={"weight": weigh.Number(bins=[2, 10])}))


@case("Forgetting rows that were never learned")
def _() -> object:
    return fit(PETS).forget(with_column("legs", ["six", "six", "six", "six"]), "pet")


@case("The linear form of a model that is not linear")
def _() -> object:
    return fit({"weight": [4.0, 5.0, 30.0, 50.0], "pet": ["cat", "cat", "dog", "dog"]}).model_.linear()


@case("Rows of one class for a perceptron")
def _() -> object:
    return perceptron(with_column("pet", ["cat", "cat", "cat", "cat"]))


@case("A hypothesis that is misspelt")
def _() -> object:
    return perceptron(keep="avereged")


@case("A hypothesis that does not exist")
def _() -> object:
    return perceptron(keep="best")


@case("Another hypothesis of a run that was not recorded")
def _() -> object:
    return perceptron().model_.keep("voted")


@case("The weights of a vote")
def _() -> object:
    return perceptron(keep="voted").coef_


@case("A margin below zero")
def _() -> object:
    return perceptron(margin=-1)


@case("A class weight for a class that does not exist")
def _() -> object:
    return perceptron(class_weight={"cow": 2})


@case("A class that a recorded perceptron meets too late")
def _() -> object:
    return perceptron(record=True).partial_fit({"legs": ["four"], "weight": [90.0], "pet": ["sheep"]}, "pet")


@case("A setting that changes while a run goes on")
def _() -> object:
    return perceptron(warm_start=True).set_params(keep="last").fit(PETS, "pet")


@case("Probabilities of a perceptron")
def _() -> object:
    return perceptron().model_.predict_proba(PETS)


@case("A decision by costs of a perceptron")
def _() -> object:
    return perceptron().predict(PETS, weigh.Decision(unsure=0.1))


@case("The exact fractions of a perceptron")
def _() -> object:
    return perceptron().explain(PETS)[0].worked()


@case("Values too large to be squared")
def _() -> object:
    return perceptron(with_column("weight", [4.0, 1e200, 30.0, 1.5]))


@case("Products that make too many features")
def _() -> object:
    return weigh.Perceptron(columns=weigh.Products(3)).fit(np.ones((2, 200)), [0, 1])


@case("A product that is too large")
def _() -> object:
    return weigh.Perceptron(columns=weigh.Products(2)).fit(np.full((2, 2), 1e200), [0, 1])


@case("A trace of another learner")
def _() -> object:
    return weigh.trace(weigh.NaiveBayes(), PETS, "pet")


@case("A trace of too many steps")
def _() -> object:
    return weigh.trace(weigh.Perceptron(), np.ones((5000, 2)), np.arange(5000) % 2)


@case("A picture of a trace that has more than two features")
def _() -> object:
    return weigh.trace(weigh.Perceptron(), PETS, "pet").plot()


@case("The margin of more than two classes")
def _() -> object:
    return weigh.margin(PETS, "pet")


@case("A mistake bound for a run with a margin")
def _() -> object:
    cats = with_column("pet", ["cat", "bird", "cat", "bird"])
    return weigh.mistake_bound(cats, "pet", learner=perceptron(cats, margin=1))


@case("Regions over one column of numbers")
def _() -> object:
    return weigh.regions(fit(PETS), PETS, up="weight")


@case("A trace with an unknown positive class")
def _() -> object:
    return weigh.trace(weigh.Perceptron(), {"a": [1, 2], "y": ["no", "yes"]}, "y", positive="yess")


@case("A trace of an exact logistic regression")
def _() -> object:
    return weigh.trace(weigh.LogisticRegression(), {"a": [1, 2], "y": ["no", "yes"]}, "y")


@case("Regions along a category")
def _() -> object:
    return weigh.regions(fit(PETS), PETS, across="legs")


@case("Regions of a regression")
def _() -> object:
    return weigh.regions(linear(), HOMES)


@case("Regions of rows of a range beyond all squares")
def _() -> object:
    lets = fit(LETS, "let")
    return weigh.regions(lets, with_column("area", [1e307, 2e307, 3e307, 4e307, 5e307], LETS))


@case("More successes than trials")
def _() -> object:
    return weigh.surface(weigh.Beta(1, 1), successes=5, trials=4)


@case("A surface of no belief")
def _() -> object:
    return weigh.surface("coin")


@case("A surface of numbers that are all the same")
def _() -> object:
    return weigh.surface(weigh.Normal, [2.0, 2.0, 2.0])


@case("A surface over an unknown weight")
def _() -> object:
    return weigh.surface(linear(), HOMES, across="aera")


@case("A surface of a model with curves")
def _() -> object:
    return weigh.surface(linear(curves="auto"), HOMES)


@case("Pairs without curves or levels")
def _() -> object:
    return linear(pairs="auto")


@case("Pairs of a column that does not exist")
def _() -> object:
    return linear(curves="auto", pairs=[("area", "room")])


@case("Curves of an online learner")
def _() -> object:
    return logistic(method="online", curves="auto")


@case("A curve in a perceptron")
def _() -> object:
    return weigh.Perceptron(columns={"area": weigh.Curve()}).fit(LETS, "let")


@case("A curve in naive Bayes")
def _() -> object:
    return weigh.NaiveBayes(columns={"area": weigh.Curve()}).fit(LETS, "let")


@case("Curves with absolute loss")
def _() -> object:
    return linear(curves="auto", noise="laplace")


@case("Curves of a sparse matrix")
def _() -> object:
    from scipy.sparse import csr_array

    return weigh.LinearRegression(curves="auto").fit(csr_array(np.eye(3)), [1.0, 2.0, 3.0])


@case("A curve of dates with settings")
def _() -> object:
    table = {"day": ["2024-01-02", "2024-02-03", "2024-03-04"], "y": [1.0, 2.0, 2.5]}
    return linear(table, "y", columns={"day": weigh.Curve(monotone="up")})


@case("The difference between two types of models")
def _() -> object:
    return weigh.diff(fit(PETS), perceptron())


@case("The difference between a classifier and a regression")
def _() -> object:
    return weigh.diff(logistic(), linear())


@case("The difference between models of other classes")
def _() -> object:
    return weigh.diff(logistic(), logistic(PETS, "pet"))


@case("A scorecard of a number with one weight")
def _() -> object:
    return logistic(columns={"area": "value", "rooms": "skip"}).model_.scorecard()


@case("A scorecard of more than two classes")
def _() -> object:
    return logistic(PETS, "pet").model_.scorecard()


@case("A scorecard of a regression")
def _() -> object:
    return linear().model_.scorecard()


@case("A scorecard whose points change nothing")
def _() -> object:
    return logistic().model_.scorecard(odds=1)


@case("Words where a regression needs numbers")
def _() -> object:
    return linear(with_column("rent", ["600", "900", "dear", "1350", "1000"], HOMES))


@case("A missing number to be predicted")
def _() -> object:
    return linear(with_column("rent", [600.0, None, 800.0, 1350.0, 1000.0], HOMES))


@case("NaN in y")
def _() -> object:
    return linear(np.eye(3), [1.0, np.nan, 2.0])


@case("Several numbers per row for a regression")
def _() -> object:
    return linear(np.eye(3), np.eye(3)[:, :2])


@case("Weights that are all zero")
def _() -> object:
    return weigh.LinearRegression().fit(HOMES, "rent", sample_weight=[0, 0, 0, 0, 0])


@case("Rows of one class for a logistic regression")
def _() -> object:
    return logistic(with_column("let", ["yes"] * 5, LETS))


@case("Rows of one class that count")
def _() -> object:
    return weigh.LogisticRegression().fit(LETS, "let", sample_weight=[0, 1, 0, 1, 1])


@case("Classes that a plane separates, without a prior")
def _() -> object:
    return logistic(prior=None)


@case("A feature that only one class has, without a prior")
def _() -> object:
    heat = {"heat": ["gas", "oil", "gas", "oil", "coal"], "let": ["no", "no", "yes", "yes", "yes"]}
    return logistic(heat, prior=None)


@case("A prior of weights that is none")
def _() -> object:
    return linear(prior="ridge")


@case("A scale of a prior that is not above zero")
def _() -> object:
    return linear(prior=weigh.Normal(0))


@case("A penalty below zero")
def _() -> object:
    return linear(prior=weigh.Penalty(l1=-1))


@case("The evidence of a Laplace prior")
def _() -> object:
    return linear(prior=weigh.Laplace("evidence"))


@case("The evidence of a logistic regression")
def _() -> object:
    return logistic(prior=weigh.Normal("evidence"))


@case("A prior of weights for a column that does not exist")
def _() -> object:
    return linear(prior={"aera": 1})


@case("Scales to be chosen column by column")
def _() -> object:
    return linear(prior={"area": weigh.Normal("cv")})


@case("A scale to be chosen beside absolute loss")
def _() -> object:
    return linear(prior=weigh.Normal("cv"), noise="laplace")


@case("A noise that does not exist")
def _() -> object:
    return linear(noise="gaussian")


@case("A noise that is to be chosen")
def _() -> object:
    return linear(noise=weigh.Normal("cv"))


@case("A scaling that does not exist")
def _() -> object:
    return linear(scale="standard")


@case("An offset that is no column")
def _() -> object:
    return linear(offset="garden")


@case("A single fold")
def _() -> object:
    return linear(folds=1)


@case("Leaving out row by row in logistic regression")
def _() -> object:
    return logistic(prior=weigh.Normal("cv"), folds="loo")


@case("Leaving out row by row with a Laplace prior")
def _() -> object:
    return linear(prior=weigh.Laplace("cv"), folds="loo")


@case("More folds than rows")
def _() -> object:
    return linear(prior=weigh.Normal("cv"), folds=10)


@case("A tolerance of zero")
def _() -> object:
    return linear(tol=0)


@case("Noise that too few rows must tell, with a Laplace prior")
def _() -> object:
    return linear(np.eye(3, 5), [1.0, 2.0, 3.0], prior=weigh.Laplace(1))


@case("The posterior of an absolute loss")
def _() -> object:
    return linear(noise="laplace").predict(HOMES, return_std=True)


@case("The posterior of an interpolation")
def _() -> object:
    return linear(np.eye(3, 5), [1.0, 2.0, 3.0]).posterior_


@case("A method that does not exist")
def _() -> object:
    return logistic(method="sgd")


@case("A Laplace prior online")
def _() -> object:
    return logistic(method="online", prior=weigh.Laplace(1))


@case("A prior by column online")
def _() -> object:
    return logistic(method="online", prior={"area": 1})


@case("An offset online")
def _() -> object:
    return logistic(method="online", offset="rooms")


@case("A rate below zero")
def _() -> object:
    return logistic(method="online", rate=-1)


@case("The certificate of an online run")
def _() -> object:
    return logistic(method="online").certificate_


@case("The path of a regression without a prior")
def _() -> object:
    return weigh.path(weigh.LinearRegression(), HOMES, "rent")


@case("The path of an absolute loss")
def _() -> object:
    return weigh.path(weigh.LinearRegression(1, noise="laplace"), HOMES, "rent")


@case("A report on rows whose labels the model does not know")
def _() -> object:
    return weigh.report_on(fit(PETS), {**PETS, "pet": [kind.capitalize() for kind in PETS["pet"]]})


@case("A report without any mistakes listed")
def _() -> object:
    return weigh.report_on(fit(PETS), PETS, most=0)


@case("A target that is neither classes nor numbers")
def _() -> object:
    return weigh.choose_learner(PETS, "pet", target="ranks")


@case("Parameters of a learner that is not compared")
def _() -> object:
    return weigh.choose_learner(PETS, "pet", parameters={"linaer": {"noise": "laplace"}})


@case("A choice of learners of which all are excluded")
def _() -> object:
    return weigh.choose_learner(HOMES, "rent", target="numbers", excluded={"linear": "it is slow"})


@case("A choice of learners for rows without a label")
def _() -> object:
    return weigh.choose_learner(with_column("pet", ["cat", None, "dog", None]), "pet")


@case("The path of another learner")
def _() -> object:
    return weigh.path(weigh.Perceptron(), PETS, "pet")


@case("A learning curve with more rows than are left")
def _() -> object:
    return weigh.learning_curve("naive-bayes", *hundred_rows(), sizes=[10, 5000])


@case("A learning curve of too few rows")
def _() -> object:
    return weigh.learning_curve("naive-bayes", PETS, "pet")


@case("A loss of probabilities that a learner has not")
def _() -> object:
    return weigh.learning_curve("perceptron", *hundred_rows(), loss="log_loss")


@case("Classifiers and regressions on one curve")
def _() -> object:
    return weigh.learning_curve(["linear", "tree"], *hundred_rows())


@case("A learner that does not exist")
def _() -> object:
    return weigh.learning_curve("naive_bayes", *hundred_rows())


@case("More rows asked of a curve without a law")
def _() -> object:
    return weigh.learning_curve("naive-bayes", *hundred_rows(), sizes=[20, 80]).at(1000)


@case("One answer asked of several curves")
def _() -> object:
    return weigh.learning_curve(["naive-bayes", "tree"], *hundred_rows(), sizes=[20]).diagnosis


@case("A file that does not exist")
def _() -> object:
    return weigh.open("pest.csv")


@case("An empty file")
def _() -> object:
    return weigh.open(write_file(""))


@case("A file that changes while it is read")
def _() -> object:
    source = weigh.open(write_file("legs,pet\nfour,cat\ntwo,bird\n"), label="pet")
    write_file("legs,pet\nfour,cat\n")
    return fit(source, None)


@case("A file with a header only")
def _() -> object:
    return weigh.open(write_file("legs,weight,pet\n"))


@case("An ending that tells no format")
def _() -> object:
    return weigh.open(write_file("legs,pet\ntwo,bird\n", "pets.data"))


@case("The label column is not in the file")
def _() -> object:
    return weigh.open(write_file("legs,weight,pet\ntwo,0.1,bird\n"), label="animal")


@case("A CSV row with too few or too many fields")
def _() -> object:
    return fit(weigh.open(write_file("legs,weight,pet\nfour,4,cat\ntwo,bird\n"), label="pet"), None)


@case("A quote that is never closed")
def _() -> object:
    return fit(
        weigh.open(write_file('legs,weight,pet\nfour,4,cat\n"two,0.1,bird\nnone,1,fish\n'), label="pet"), None
    )


@case("A CSV row longer than a block")
def _() -> object:
    return fit(
        weigh.open(write_file("legs,pet\nfour,cat\n" + "x" * (33 << 20) + ",dog\n"), label="pet"), None
    )


@case("A quote that is open for longer than a block")
def _() -> object:
    return fit(weigh.open(write_file('legs,pet\nfour,cat\n"' + "two,bird\n" * (4 << 20)), label="pet"), None)


@case("A damaged Parquet file")
def _() -> object:
    pq.write_table(pa.table({name: values[:2] for name, values in PETS.items()}), "pets.parquet")
    # The number of rows, a variable-length integer before the list of row groups.
    content = Path("pets.parquet").read_bytes().replace(b"\x16\x04\x19\x1c", b"\x16\x08\x19\x1c", 1)
    return fit(weigh.open(write_file(content, "pets.parquet")))


@case("Later CSV values that are no numbers")
def _() -> object:
    rows = "".join(f"four,{row},cat\n" for row in range(20_000)) + "two,heavy,bird\n" * 300
    return fit(weigh.open(write_file(f"legs,weight,pet\n{rows}"), label="pet"), None)


@case("Text that is not UTF-8")
def _() -> object:
    return fit(
        weigh.open(
            write_file("legs,pet\ntwo,oiseau\nfour,chien bâtard\n".encode("latin-1")),
            label="pet",
            encoding="utf-8",
        ),
        None,
    )


@case("Probabilities that do not sum to 1")
def _() -> object:
    return evaluate_scripted([0, 1], [[1.0, 1.0], [1.0, 1.0]])


@case("A prediction that is no number")
def _() -> object:
    ridge = Ridge().fit([[1.0], [2.0]], [1.0, 2.0])
    ridge.coef_ = np.array([np.nan])
    return weigh.evaluate(ridge, np.ones((2, 1)), [1.0, 2.0])


@case("A picture that an evaluation has not")
def _() -> object:
    return weigh.evaluate(fit(PETS), PETS).plot("pie")


@case("A calibration picture without probabilities")
def _() -> object:
    return weigh.evaluate(perceptron(), PETS).plot("reliability")


@case("A line that is not JSON")
def _() -> object:
    return weigh.open(
        write_file('{"legs": "two", "pet": "bird"}\n{"legs": "four" "pet": "cat"}\n', "pets.jsonl")
    )


@case("A pattern that no file matches")
def _() -> object:
    return weigh.open("pets-*.csv")


@case("Standard input without its format")
def _() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"legs,pet\ntwo,bird\n")))
        return weigh.open("-")


@case("Several labels in a fastText line")
def _() -> object:
    return fit(
        weigh.open(write_file("__label__cat purrs\n__label__dog __label__pet barks\n", "pets.ft")), None
    )


@case("A fastText label after other words")
def _() -> object:
    return fit(weigh.open(write_file("__label__cat purrs\nbarks __label__dog\n", "pets.ft")), None)


@case("A line longer than a block")
def _() -> object:
    path = write_file("__label__cat purrs\n__label__dog" + " barks" * 200, "pets.ft")
    return fit(weigh.open(path, block=999), None)


@case("A cost-sensitive VW label")
def _() -> object:
    return fit(weigh.open(write_file("1 |legs four\n1:0.5 |legs two\n", "pets.vw")), None)


@case("A VW value that is no number")
def _() -> object:
    return fit(weigh.open(write_file("1 |legs n:4\n2 |legs no:two\n", "pets.vw")), None)


@case("A VW namespace that the first rows lack")
def _() -> object:
    return fit(weigh.open(write_file("1 |legs 4\n" * 10_000 + "2 |legs 2 |colour red\n", "pets.vw")), None)


@case("LIBSVM indices that do not ascend")
def _() -> object:
    return fit(weigh.open(write_file("1 1:4 2:4\n2 2:2 1:0.1\n", "pets.svm")), None)


@case("A LIBSVM label that is no number")
def _() -> object:
    return fit(weigh.open(write_file("1 1:4 2:4\nbird 1:2 2:0.1\n", "pets.svm")), None)


@case("A LIBSVM query")
def _() -> object:
    return fit(weigh.open(write_file("1 qid:7 1:4 2:4\n", "pets.svm")), None)


@case("A folder without a folder per class")
def _() -> object:
    Path("pets").mkdir()
    write_file("legs,pet\ntwo,bird\n", "pets/birds.csv")
    return weigh.open("pets")


@case("A file in a folder that is not UTF-8")
def _() -> object:
    Path("pets/dog").mkdir(parents=True)
    write_file("bâtard".encode("latin-1"), "pets/dog/1.txt")
    return fit(weigh.open("pets"), None)


@case("A folder of mail without its format")
def _() -> object:
    Path("pets").mkdir()
    write_file("Subject: cat\n", "pets/1.eml")
    return weigh.open("pets")


@case("A mailbox without messages")
def _() -> object:
    return weigh.open(write_file("", "pets.mbox"))


@case("An empty path")
def _() -> object:
    return messages("")


@case("A pipe where mail is expected")
def _() -> object:
    os.mkfifo("pipe")
    return messages("pipe")


@case("A packed mailbox that is cut short")
def _() -> object:
    return list(messages(write_file(gzip.compress(b"From cat\nSubject: milk\n")[:-9], "pets.mbox.gz")))


@case("A compressed message that is too long")
def _() -> object:
    return list(messages(write_file(gzip.compress(bytes((64 << 20) + 1), 1), "bomb.gz")))


@case("Classifiers compared on numbers")
def _() -> object:
    return weigh.compare(None, PETS, PETS["weight"])


@case("A learner to compare that does not exist")
def _() -> object:
    return weigh.compare(["naive-bayes", "forest"], PETS, "pet")


@case("Classifiers beside regressions")
def _() -> object:
    return weigh.compare(["naive-bayes", "linear"], PETS, "pet")


@case("A learner called like the baseline")
def _() -> object:
    return weigh.compare({"baseline (majority)": "tree"}, PETS, "pet")


@case("A learner of another library that fails")
def _() -> object:
    from sklearn.neighbors import KNeighborsClassifier

    learners = {"neighbours": KNeighborsClassifier(9)}
    return weigh.compare(learners, {"legs": [2.0, 4.0] * 2}, ["bird", "dog"] * 2, folds=2)


@case("A reference that is none of the learners")
def _() -> object:
    return weigh.compare(["naive-bayes", "tree"], PETS, "pet", reference="bayes")


@case("Losses of probabilities without probabilities")
def _() -> object:
    return weigh.compare(["naive-bayes", "perceptron"], PETS, "pet", loss="log_loss")


@case("A loss without bias and variance")
def _() -> object:
    return weigh.bias_variance("naive-bayes", PETS, "pet", loss="log_loss")


@case("Too few rows for bias and variance")
def _() -> object:
    return weigh.bias_variance("naive-bayes", PETS, "pet", test=0.8)


@case("True probabilities that do not sum to 1")
def _() -> object:
    return weigh.bias_variance("naive-bayes", PETS, "pet", truth=[[1.0, 1.0, 0.0, 0.0]] * 4)


@case("A model file cut short")
def _() -> object:
    fit(PETS).model_.save("pets.weigh")
    whole = Path("pets.weigh").read_bytes()
    Path("pets.weigh").write_bytes(whole[:-100])
    return weigh.load("pets.weigh")


@case("A model file with a changed byte")
def _() -> object:
    fit(PETS).model_.save("pets.weigh")
    whole = bytearray(Path("pets.weigh").read_bytes())
    whole[-65] ^= 1
    Path("pets.weigh").write_bytes(whole)
    return weigh.load("pets.weigh")


@case("A model file with other contents and correct digests")
def _() -> object:
    meta, arrays = fit(PETS).model_.to_store()
    model_file.write("pets.weigh", {"model": "naive-bayes", **meta}, {**arrays, "rows": -arrays["rows"]})
    return weigh.load("pets.weigh")


@case("A file that is no model")
def _() -> object:
    return weigh.load(write_file("legs,weight,pet\n"))


def calibrated(method: str = "temperature") -> weigh.CalibratedModel:
    rows = {name: values[:-1] for name, values in LETS.items()}
    return weigh.calibrate(fit(LETS, "let"), rows, method=method)


@case("A calibration that does not exist")
def _() -> object:
    return fit(PETS, calibration="beta")


@case("Calibrating without a row to spare")
def _() -> object:
    return fit(PETS, calibration="temperature")


@case("Calibrating on a label that is no class")
def _() -> object:
    return weigh.calibrate(fit(PETS), {**PETS, "pet": ["cat", "rat", "dog", "fish"]})


@case("Calibrating without labels")
def _() -> object:
    return weigh.calibrate(fit(np.eye(4), PETS["pet"]), np.eye(4))


@case("Calibrating probabilities of zero")
def _() -> object:
    return weigh.calibrate(fit(PETS, prior=None), {name: values[:1] for name, values in PETS.items()})


@case("Calibrating a regression")
def _() -> object:
    return weigh.calibrate(linear(), HOMES)


@case("Learning on with a calibrated model")
def _() -> object:
    return calibrated().learn(LETS)


@case("The linear form of a model whose cut was moved")
def _() -> object:
    return calibrated("platt").linear()


@case("The fractions of a calibrated probability")
def _() -> object:
    return calibrated().explain(LETS)[0].worked()


@case("Auditing rows as learned that were not")
def _() -> object:
    return weigh.audit(fit(PETS), with_column("legs", ["six", "six", "six", "six"]), "pet", seen=True)


@case("Auditing rows of which none has company")
def _() -> object:
    return weigh.audit(fit(PETS), PETS, "pet")


@case("Auditing a regression")
def _() -> object:
    return weigh.audit(linear(), HOMES, "rent")


@case("Flipping several rows")
def _() -> object:
    return weigh.flip(fit(PETS), {"legs": ["two", "four"], "weight": [1.0, 2.0]})


@case("Flipping to the verdict itself")
def _() -> object:
    return weigh.flip(fit(PETS), {"legs": "two", "weight": 0.1}, to="bird")


@case("Flipping to a class that does not exist")
def _() -> object:
    return weigh.flip(fit(PETS), {"legs": "two", "weight": 0.1}, to="cow")


@case("Flipping a regression")
def _() -> object:
    return weigh.flip(linear(), {"area": 50.0, "rooms": 2.0})


@case("Serving mail where a server runs")
def _() -> object:
    with listening_socket("serve.sock"), listening_socket("serve.sock") as second:
        return second


@case("Serving mail in the place of a file")
def _() -> object:
    with listening_socket(write_file("milk", "serve.sock")) as listener:
        return listener


@case("Serving mail in a folder that does not exist")
def _() -> object:
    with listening_socket("mail/serve.sock") as listener:
        return listener


@case("Trying a mail filter on no mails")
def _() -> object:
    return evaluate_filters([Scripted()], [])


@case("Trying a mail filter in time on mails without one")
def _() -> object:
    return evaluate_filters([Scripted()], [Mail(b"1.0", "inbox.mbox, message 1", "ham")])


@case("Trying a mail filter on another label")
def _() -> object:
    return evaluate_filters([Scripted()], [Mail(b"1.0", "inbox.mbox, message 1", "junk")])


@case("Trying a mail filter without a mail to judge")
def _() -> object:
    return evaluate_filters(
        [Scripted()], [Mail(b"1.0", "inbox.mbox, message 1", "ham")], order="given", warm=1
    )


@case("Looking for doubtful mail of one kind alone")
def _() -> object:
    return audit_mails({"spam": lambda: [RawMessage(b"Subject: hello", "inbox.mbox, message 1")]})


@case("A mail filter without a learner of that name")
def _() -> object:
    return new_ledger("bayes")


@case("A mistake of a mail filter that costs nothing")
def _() -> object:
    return Costs(ham_lost=0)


@case("Learning mail under another label")
def _() -> object:
    return Filter().learn([b"Subject: hello"], ["junk"])


@case("Learning mail with too few labels")
def _() -> object:
    return Filter().learn([b"Subject: hello", b"Subject: money"], ["ham"])


@case("Unlearning mail that was never learned")
def _() -> object:
    return Filter().unlearn([b"Subject: hello"], ["ham"])


@case("Unlearning mail where order matters")
def _() -> object:
    return Filter(ledger=new_ledger("logistic")).unlearn([b"Subject: hello"], ["ham"])


@case("A mail store that is not there")
def _() -> object:
    return MailStore.open("mail")


@case("A mail store among other files")
def _() -> object:
    os.mkdir("mail")
    write_file("words", "mail/thesis.txt")
    return MailStore.open("mail", create=True)


@case("A mail store that learns otherwise")
def _() -> object:
    MailStore.open("mail", create=True)
    return MailStore.open("mail", learner="logistic")


@case("A mail store of a later weigh")
def _() -> object:
    MailStore.open("mail", create=True)
    write_file('{"format": 3}', "mail/settings.json")
    return MailStore.open("mail")


@case("A mail store that saw other features")
def _() -> object:
    MailStore.open("mail", create=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weigh.apps.mail.settings.FEATURES_VERSION", 0)
        StoreSettings().write("mail/settings.json")
    return MailStore.open("mail")


@case("A mail store whose settings are not its own")
def _() -> object:
    MailStore.open("mail", create=True)
    write_file("[settings]", "mail/settings.json")
    return MailStore.open("mail")


@case("A mail store whose key was changed")
def _() -> object:
    MailStore.open("mail", create=True)
    path = Path("mail/settings.json")
    document = json.loads(path.read_text())
    document["features"]["salt"] = "0123456789abcdef"
    path.write_text(json.dumps(document))
    return MailStore.open("mail")


@case("A mail store whose ledger is damaged")
def _() -> object:
    store = MailStore.open("mail", create=True)
    store.learn([b"Subject: hello\n\nlunch?"], "ham")
    store.fold()
    ledger = Path("mail/ledger")
    ledger.write_bytes(ledger.read_bytes()[:4100] + b"x" + ledger.read_bytes()[4101:])
    return check_ledger("mail")


@case("More text of a message than can be held")
def _() -> object:
    return read(b"Subject: hello\n\nlunch?", text_bytes=2**64 - 1)


@case("A text where a raw message is expected")
def _() -> object:
    return MailStore.open("mail", create=True).judge(["Subject: hello"])


def sets(*groups: Any) -> object:
    return ConfusionSets.parse(groups)


def texts(path: str = "letters", **settings: Any) -> object:
    return [list(document.pieces) for document in read_documents(path, **settings)]


@case("A confusion set of one word")
def _() -> object:
    return sets(["weather", "whether"], ["their"])


@case("A word twice in a confusion set")
def _() -> object:
    return sets(["weather", "whether", "weather"])


@case("A word twice in a confusion set, once with a capital")
def _() -> object:
    return sets(["seit", "Seite", "Seit"])


@case("A word in two confusion sets")
def _() -> object:
    return sets(["their", "there"], ["there", "they're"])


@case("A confusion set of more words than one has")
def _() -> object:
    return sets(list("abcdefghi"))


@case("A word with a hyphen in a confusion set")
def _() -> object:
    return sets(["everyday", "every-day"])


@case("A phrase in a confusion set")
def _() -> object:
    return sets("would of, would have")


@case("A word with combining marks in a confusion set")
def _() -> object:
    return sets(["की", "कि"])


@case("No confusion set")
def _() -> object:
    return sets()


@case("A list of confusion sets that does not exist")
def _() -> object:
    return ConfusionSets.parse("klingon")


@case("A list of confusion sets whose name is misspelt")
def _() -> object:
    return ConfusionSets.parse("englisch")


@case("Neither a list of confusion sets nor its name")
def _() -> object:
    return ConfusionSets.parse(18)


@case("A list of confusion sets with a word alone on its line")
def _() -> object:
    return ConfusionSets.parse(write_file("# mine\nweather whether\ntheir\n", "mine.txt"))


@case("A list of confusion sets with phrases")
def _() -> object:
    return ConfusionSets.parse(write_file("would of, would have\n", "mine.txt"))


@case("A list of confusion sets without a set")
def _() -> object:
    return ConfusionSets.parse(write_file("# nothing yet\n", "mine.txt"))


@case("A list of confusion sets that is not UTF-8")
def _() -> object:
    return ConfusionSets.parse(write_file(b"weather whether\ncaf\xe9 cafe\n", "mine.txt"))


@case("Texts that are not there")
def _() -> object:
    return texts()


@case("A binary file where text is expected")
def _() -> object:
    return texts(write_file(b"GIF89a\0\0", "letters"))


@case("A text in another encoding than was said")
def _() -> object:
    return texts(write_file(b"their\nth\xe9re\n", "letters"))


@case("Texts in an encoding that does not exist")
def _() -> object:
    return texts(write_file("their", "letters"), encoding="klingon")


@case("Source code where prose is expected")
def _() -> object:
    return texts(write_file("their = there", "letters.py"))


@case("A folder without text")
def _() -> object:
    Path("letters").mkdir()
    return texts()


@case("A pipe where text is expected")
def _() -> object:
    os.mkfifo("letters")
    return texts()


@case("A packed text that is cut short")
def _() -> object:
    return texts(write_file(gzip.compress(b"their" * 100)[:-9], "letters.gz"))


@case("A speller where a model is expected")
def _() -> object:
    speller().save("en.weigh")
    return weigh.load("en.weigh")


@case("A model where a speller is expected")
def _() -> object:
    fit(PETS).model_.save("pets.weigh")
    return weigh.Speller.load("pets.weigh")


@case("A speller's file with a changed byte")
def _() -> object:
    whole = bytearray(speller().to_bytes())
    whole[-65] ^= 1
    return weigh.Speller.load(write_file(bytes(whole), "en.weigh"))


@case("Checking what is no text")
def _() -> object:
    return speller().check(["a text"])  # type: ignore[arg-type]


@case("Checking with a threshold that is no probability")
def _() -> object:
    return speller().check("a text", threshold=98)


@case("Checking bytes that are no text")
def _() -> object:
    return speller().check("Grüße".encode("latin-1"))


@case("Checking a file in another encoding")
def _() -> object:
    return speller().check_file(write_file("Zeile\nGrüße".encode("latin-1"), "brief.txt"))


@case("Checking a binary file")
def _() -> object:
    return speller().check_file(write_file(b"\x7fELF\0\0\0", "program"))


@case("Fixing a packed file")
def _() -> object:
    wrong = gzip.compress(b"I didn't know weather to laugh.")
    return speller().fix_file(write_file(wrong, "letter.txt.gz"))


@case("Fixing a text that is not the one that was checked")
def _() -> object:
    found = speller().check("I didn't know weather to laugh.")
    return speller().fixed("I did not know weather to laugh.", found)


def learn_speller(text: str | bytes, sets: Any = (("weather", "whether"),), **settings: Any) -> weigh.Speller:
    return weigh.Speller.learn(write_file(text, "corpus.txt"), sets, **settings)


@case("A speller by a learner that gives no weights")
def _() -> object:
    return learn_speller("a text", learner="voted")


@case("A speller without any false alarm")
def _() -> object:
    return learn_speller("a text", alarms=0)


@case("A speller from no text")
def _() -> object:
    return learn_speller("")


@case("A speller from too little text")
def _() -> object:
    return learn_speller("I know whether it rains.")


@case("A speller from text that lacks the words of its sets")
def _() -> object:
    return learn_speller("It rains. " * 3000)


@case("Comparing learners of a speller on a single text")
def _() -> object:
    return compare_learners(read_documents(write_file("I know whether it rains.", "corpus.txt")))


@case("Judging learners of a speller by a text that they learn from")
def _() -> object:
    texts = [write_file("I know whether it rains.", name) for name in ("one.txt", "two.txt")]
    return compare_learners(read_documents(texts), read_documents(texts[1]))


@case("Comparing learners that spellers have not")
def _() -> object:
    texts = [write_file("I know whether it rains.", name) for name in ("one.txt", "two.txt")]
    return compare_learners(read_documents(texts), learners=["forest"])


@case("Putting errors into text that has none of the words")
def _() -> object:
    return evaluate_swaps(speller(), [("letter.txt", "It rains. " * 300)])


def documented_cases() -> dict[str, tuple[str, str]]:
    """Return the error's name and message of every case on the page."""
    cells = [
        re.split(r"(?<!\\) \| ", line.strip("|\n "))
        for line in PAGE.read_text("utf-8").splitlines()
        if line[:2] == "| "
    ]
    rows = [[cell.strip() for cell in row] for row in cells if len(row) == 3][1:]
    return {what: (error.strip("`"), message) for what, error, message in rows}


def test_the_page_lists_exactly_the_cases_that_are_tested() -> None:
    assert list(documented_cases()) == list(CASES)


@pytest.mark.parametrize("what", CASES)
def test_bad_input_raises_the_documented_message(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, message = documented_cases()[what]
    with pytest.raises(weigh.errors.WeighError) as refused:
        CASES[what]()
    assert (type(refused.value).__name__, str(refused.value)) == (name, message)


def test_a_refused_batch_leaves_the_learner_unchanged() -> None:
    learner = fit(PETS)
    before = learner.model_.to_bytes()
    with pytest.raises(weigh.errors.ColumnError):
        learner.partial_fit(with_column("weight", ["light", "light", "heavy", "light"]), "pet")
    with pytest.raises(weigh.errors.MergeError):
        learner.forget(with_column("legs", ["six", "six", "six", "six"]), "pet")
    with pytest.raises(weigh.errors.MergeError):
        learner.merge(fit(PETS, columns={"legs": "skip"}))
    assert learner.model_.to_bytes() == before


def test_a_refused_save_leaves_the_file_unchanged(tmp_path: Path) -> None:
    folder = tmp_path / "pets.weigh"
    folder.mkdir()
    with pytest.raises(weigh.errors.ModelFileError):
        fit(PETS).model_.save(folder)
    assert list(tmp_path.iterdir()) == [folder]
