"""Messages carry advice as data, which every interface writes in its own notation."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import weigh
from tests.test_bad_input import CASES
from weigh import errors
from weigh.advice import Setting
from weigh.cli.notation import STEPS, to_command_line
from weigh.features.blocks import NumberedNames

SOURCES = Path(weigh.__file__).parent
PYTHON_NOTATION = ("columns={", "columns='", "=True", "=False", "missing=[", "quotes=", "encoding=")


def negative_count() -> errors.ColumnError:
    with pytest.raises(errors.ColumnError) as caught:
        weigh.NaiveBayes(columns="count").fit({"bad": [0, -3]}, ["a", "b"])
    return caught.value


def test_an_error_gives_its_advice_as_data() -> None:
    assert json.loads(json.dumps(negative_count().to_dict())) == {
        "error": "ColumnError",
        "message": "Negative values in data: column 'bad' holds counts, but one of them is negative (-3). "
        "Counts start at 0; for other numbers use columns={'bad': 'number'}.",
        "hint": "Counts start at 0; for other numbers use columns={'bad': 'number'}.",
        "advice": [{"parameter": "columns", "value": {"bad": "number"}}],
    }


def test_a_parameter_error_names_parameter_value_and_suggestion() -> None:
    error = errors.parameter_error(
        "Perceptron", "keep", "'averaged' or 'last'", "Averaged", ("averaged", "last")
    )
    assert error.to_dict() == {
        "error": "ParameterError",
        "message": "Perceptron: keep must be 'averaged' or 'last', got 'Averaged'. Did you mean 'averaged'?",
        "parameter": "keep",
        "value": "Averaged",
        "suggestion": "averaged",
    }


def test_errors_survive_pickling_and_copying() -> None:
    place = errors.SourceError("wrong.", "pets.csv", 3, hint=("Give ", Setting("quotes", False), "."))
    separated = errors.Separated(("A plane. ", place), [1], hint=Setting("prior", 1))
    for error in (negative_count(), place, separated, errors.parameter_error("Owner", "f", "a", lambda: 0)):
        for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert (type(twin), str(twin), twin.to_dict()) == (type(error), str(error), error.to_dict())
            assert to_command_line(twin) == to_command_line(error)


@pytest.mark.parametrize("what", CASES)
def test_documented_errors_use_the_notation_of_their_interface(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.WeighError) as caught:
        CASES[what]()
    assert " --" not in str(caught.value)
    advice = to_command_line(caught.value).partition(", got ")[0]
    if isinstance(caught.value.hint, tuple | Setting):
        assert not [sign for sign in PYTHON_NOTATION if sign in advice]


def fit_flat_column() -> None:
    weigh.NaiveBayes(columns=weigh.Number(spread="own")).fit(
        {"a": [0.1] * 25 + [j * 0.7 for j in range(25)]}, ["x"] * 25 + ["y"] * 25
    )


def fit_one_iteration() -> None:
    weigh.LogisticRegression(max_iter=1, scale=None).fit({"a": [1.0, 5.0, 2.0, 3.0]}, ["x", "x", "y", "y"])


@pytest.mark.parametrize(
    ("run", "advice"),
    [
        (
            lambda: weigh.JointBayes(columns={"a": "number"}).fit({"a": [1.0, 2.0]}, ["x", "y"]),
            "--kind 'a=number:bins=10', or use --learner naive-bayes.",
        ),
        (
            lambda: weigh.JointBayes(columns={"a": "count"}).fit({"a": [1, 2]}, ["x", "y"]),
            "--kind 'a=skip', or use --learner naive-bayes.",
        ),
        (
            lambda: weigh.NaiveBayes(columns="count", complement=True, prior=None).fit(
                {"a": [1, 2]}, ["x", "y"]
            ),
            "above 0 with --set complement=true,",
        ),
        (
            lambda: weigh.NaiveBayes(complement=True).fit({"a": [1.5, 2.5]}, ["x", "y"]),
            "complement must be false unless",
        ),
        (
            lambda: weigh.compare(
                {"baseline (majority)": weigh.NaiveBayes()}, {"a": ["u", "v"] * 10}, ["x", "y"] * 10
            ),
            "use --no-baseline.",
        ),
        (fit_flat_column, "--kind 'a=number:spread=shared', or give the column a floor of 0.1"),
        (fit_one_iteration, "Try --set max_iter=10 or a larger tol"),
    ],
)
def test_advice_has_no_python_on_the_command_line(run: Callable[[], object], advice: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((errors.WeighError, errors.WeighWarning)) as caught:
            run()
    text = to_command_line(caught.value)
    assert advice in text
    assert not re.search(r"weigh\.[A-Z]|columns=|\b(True|False)\b|\w= |\w=,", text.partition(", got ")[0])


def test_every_step_has_a_text_on_the_command_line() -> None:
    nodes = [node for path in SOURCES.rglob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    calls = [
        node.args[0] for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "Step"
    ]
    names = {each.value for each in calls if isinstance(each, ast.Constant)}
    # The command line derives the allowed values of a parameter from their wording in Python.
    assert names - {"allowed values"} == set(STEPS)


def test_messages_of_the_library_name_no_options() -> None:
    for path in SOURCES.rglob("*.py"):
        if "cli" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                assert " --" not in ast.unparse(node.exc), f"{path}, line {node.lineno}"


@pytest.mark.parametrize(
    ("name", "choices", "expected"),
    [
        ("AGE", ["age", "ages"], "age"),
        (" age ", ["wage", "age"], "age"),
        ("cafe\u0301", ["cafe", "caf\u00e9"], "caf\u00e9"),
        ("agee", ["age", "sex"], "age"),
        ("zzz", ["age"], ""),
        (3, ["age"], ""),
    ],
)
def test_a_suggestion_prefers_the_same_name_in_another_form(name, choices, expected) -> None:
    assert errors.closest(name, choices) == expected


def test_the_names_of_millions_of_columns_are_not_listed() -> None:
    names = NumberedNames(2**31 - 1)
    assert errors.quote_names(names, 2) == "'x0', 'x1' and 2,147,483,645 more"
    assert errors.quote_names(iter("ab")) == "'a', 'b'"
    assert errors.quote_names([]) == "none"
    assert str(errors.unknown_column_error("X7", names, "The table")) == (
        "The table has no column 'X7'; it has 'x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7' and "
        "2,147,483,639 more. Did you mean 'x7'?"
    )
