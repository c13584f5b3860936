"""Learners that do not suit the label are refused before the work begins; --kind of the label insists."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import weigh
from weigh.model.regression import RegressionModel

CLASSIFIERS = ["naive-bayes", "joint", "threshold", "logistic", "perceptron"]


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    draw = random.Random(0)
    lines = [f"{draw.gauss(0, 1):.3f},{draw.choice('ab')},{1000 + i},{i / 7:.3f},{i % 12}" for i in range(60)]
    (tmp_path / "homes.csv").write_text("\n".join(["x,town,price,rate,month", *lines]) + "\n")
    return tmp_path


def refusal(label: str) -> str:
    return (
        f"weigh: '{label}' has 60 distinct numbers in the first 60 rows, and a classifier would treat each "
        "as a class. To predict numbers, use --learner linear. If they are classes, say so: "
        f"--kind '{label}=category'."
    )


@pytest.mark.parametrize("label", ["price", "rate"])
@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_measurements_are_no_classes(run: Any, homes: Path, learner: str, label: str) -> None:
    result = run("fit", "homes.csv", "--label", label, "--learner", learner)
    assert (result.exit_code, " ".join(result.stderr.split())) == (1, refusal(label))
    assert not (homes / "homes.weigh").exists()


@pytest.mark.parametrize("command", ["compare", "curve", "bias-variance", "tune"])
def test_trials_stop_before_the_first_fit(
    run: Any, homes: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weigh.NaiveBayes, "fit", None)
    grid = ["--grid", "prior=1,2"] if command == "tune" else []
    result = run(command, "homes.csv", "--label", "price", *grid)
    assert (result.exit_code, " ".join(result.stderr.split())) == (1, refusal("price"))


@pytest.mark.parametrize(("label", "classes"), [("price", "1000"), ("rate", "0.000"), ("month", "0")])
def test_the_kind_category_insists(run: Any, homes: Path, label: str, classes: str) -> None:
    result = run("fit", "homes.csv", "--label", label, "--kind", f"{label}=category", "--kind", "x=number")
    assert result.exit_code == 0, result.output
    model = weigh.load(homes / "homes.weigh")
    assert model.classes[0] == classes
    assert run("evaluate", "homes.weigh", "homes.csv").exit_code == 0


def test_the_kind_category_insists_in_tune(run: Any, homes: Path) -> None:
    grid = ("--grid", "prior=1,2", "-o", "best.weigh")
    result = run("tune", "homes.csv", "--label", "month", "--kind", "month=category", *grid)
    assert result.exit_code == 0, result.output
    assert weigh.load(homes / "best.weigh").classes[0] == "0"


def test_few_integers_are_classes(run: Any, homes: Path) -> None:
    assert run("fit", "homes.csv", "--label", "month").exit_code == 0
    assert weigh.load(homes / "homes.weigh").classes == list(range(12))


def test_the_kind_number_of_the_label_calls_for_a_regression(run: Any, homes: Path) -> None:
    kind = ("--kind", "month=number")
    refused = run("fit", "homes.csv", "--label", "month", *kind, "--learner", "naive-bayes")
    assert "To predict numbers, use --learner linear." in " ".join(refused.stderr.split())
    for options in (("--learner", "linear"), ()):
        done = run("fit", "homes.csv", "--label", "month", *kind, *options)
        assert done.exit_code == 0, done.output
        assert isinstance(weigh.load(homes / "homes.weigh"), RegressionModel)


def test_the_label_has_no_other_kind(run: Any, homes: Path) -> None:
    result = run("fit", "homes.csv", "--label", "town", "--kind", "town=text")
    assert result.exit_code == 2
    assert "'town' is the label; its kind is category or number, not text." in " ".join(result.stderr.split())


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_regression_of_texts_names_the_classifiers(run: Any, homes: Path, command: str) -> None:
    result = run(command, "homes.csv", "--label", "town", "--learner", "linear")
    assert result.exit_code == 1
    assert "is not a number. For classes use --learner logistic, naive-bayes or perceptron." in " ".join(
        result.stderr.split()
    )


@pytest.mark.parametrize("command", [["fit"], ["tune", "--grid", "prior=normal:1,laplace:1"]])
def test_a_regression_refuses_a_label_of_classes(run: Any, homes: Path, command: list[str]) -> None:
    options = ("--label", "price", "--learner", "linear", "--kind", "price=category")
    result = run(*command, "homes.csv", *options)
    assert result.exit_code == 2
    assert (
        "Invalid value for '--kind': --learner linear predicts numbers, and price=category says that they "
        "are classes. Leave one of both out."
    ) in result.stderr


@pytest.mark.parametrize(
    ("write", "example"),
    [(lambda price: f"${price:,}", "$1,000"), (lambda price: f"{price:,} €".replace(",", "\xa0"), "1 000 €")],
)
def test_measurements_that_are_written_as_text_are_no_classes(
    run: Any, tmp_path: Path, write: Any, example: str
) -> None:
    lines = [f"{i};{write(1000 + 7 * i)}" for i in range(60)]
    (tmp_path / "homes.csv").write_text("\n".join(["x;price", *lines]) + "\n")
    for options in ([], ["--kind", "price=number"]):
        options = [*options, "--learner", "naive-bayes"]
        result = run("fit", "homes.csv", "--label", "price", *options)
        assert (result.exit_code, " ".join(result.stderr.split())) == (
            1,
            f"weigh: 'price' has 60 distinct numbers in the first 60 rows, written as text such as "
            f"'{example}', and a classifier would treat each as a class. To predict numbers, use --learner "
            "linear. If they are classes, say so: --kind 'price=category'.",
        )
    assert run("fit", "homes.csv", "--label", "price", "--learner", "linear").exit_code == 0
    assert run("predict", "homes.weigh", "homes.csv").output.splitlines()[1] == "1000"
