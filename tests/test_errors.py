"""Messages carry advice as data, and warnings are shown once at the user's line."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import weigh
from tests.test_bad_input import CASES
from weigh import errors
from weigh.advice import Setting
from weigh.cli.notation import STEPS, to_command_line

SOURCES = Path(weigh.__file__).parent
PYTHON_NOTATION = ("columns={", "columns='", "=True", "=False", "missing=[", "quotes=", "encoding=")
TWINS = np.random.default_rng(0).normal(size=(60, 1)).repeat(2, axis=1)
LABELS = ["a", "b"] * 30


def negative_count() -> errors.ColumnError:
    with pytest.raises(errors.ColumnError) as caught:
        weigh.NaiveBayes(columns="count").fit({"bad": [0, -3]}, ["a", "b"])
    return caught.value


def test_an_error_gives_its_advice_as_data() -> None:
    assert json.loads(json.dumps(negative_count().to_dict())) == {
        "error": "ColumnError",
        "message": "Column 'bad' holds counts, but one of them is negative (-3). Counts start at 0; for "
        "other numbers use columns={'bad': 'number'}.",
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


def fit_twins(rows: int) -> None:
    weigh.NaiveBayes().fit(TWINS[:rows], LABELS[:rows])


def test_a_line_shows_a_warning_once_although_its_numbers_differ() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for rows in (60, 50, 40):
            fit_twins(rows)
    assert [(each.category, each.filename) for each in caught] == [(errors.DependentColumns, __file__)]


def test_another_column_at_the_same_line_is_shown() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for name in ("a", "a", "b"):
            errors.warn(errors.OddValues(f"Column {name!r} is odd."), [name])
    assert [str(each.message) for each in caught] == ["Column 'a' is odd.", "Column 'b' is odd."]


def test_every_recording_sees_the_warning() -> None:
    for _ in range(2):
        with pytest.warns(errors.DependentColumns):
            fit_twins(60)


def test_the_filters_always_and_error_apply_to_every_warning() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            fit_twins(60)
    assert len(caught) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(errors.DependentColumns):
                fit_twins(60)


def test_a_grid_search_shows_a_warning_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        GridSearchCV(weigh.NaiveBayes(), {"prior": [0.5, 1, 2, 3]}, cv=5).fit(TWINS, LABELS)
    assert [each.category for each in caught] == [errors.DependentColumns]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        cross_val_score(weigh.NaiveBayes(), TWINS, LABELS, cv=5)
    assert [each.category for each in caught] == [errors.DependentColumns]


@pytest.mark.skipif(
    sys.platform != "linux", reason="worker processes agree by abstract sockets, which Linux has"
)
def test_worker_processes_show_a_warning_once() -> None:
    code = (
        "import numpy as np, weigh\n"
        "from sklearn.model_selection import GridSearchCV\n"
        "X = np.random.default_rng(0).normal(size=(60, 1)).repeat(2, axis=1)\n"
        "grid = GridSearchCV(weigh.NaiveBayes(), {'prior': [1, 2]}, cv=3, n_jobs=2)\n"
        "grid.fit(X, ['a', 'b'] * 30)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("DependentColumns: ") == 1
