"""The cost of importing and predicting: time, and which libraries are loaded."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import weigh
from weigh.model.file.loading import MODEL_TYPES

HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "pandas", "polars", "click", "rich"}
LEARNERS = {"scipy", "sklearn", "pyarrow", "pandas", "polars"}


def modules_after(program: str, *arguments: str) -> list[str]:
    """Run a program in a fresh process and return the modules it has loaded."""
    program += "\nimport sys, json; print(); print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    modules: list[str] = json.loads(done.stdout.splitlines()[-1])
    return modules


def libraries_after(program: str, *arguments: str) -> set[str]:
    """Run a program in a fresh process and return the heavy libraries it has loaded."""
    return HEAVY & {name.partition(".")[0] for name in modules_after(program, *arguments)}


def own_modules_after(program: str, *arguments: str) -> list[str]:
    """Run a program in a fresh process and return the modules of weigh that it has loaded."""
    return [name for name in modules_after(program, *arguments) if name.partition(".")[0] == "weigh"]


def seconds_of(program: str) -> float:
    """Return the shortest time of several fresh processes."""
    clock = "import time; start = time.perf_counter();"
    runs = [
        subprocess.run(
            [sys.executable, "-c", f"{clock} {program}; print(time.perf_counter() - start)"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        for _ in range(5)
    ]
    return min(float(run.stdout) for run in runs)


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    table = {
        "size": [1.5, 2.5, 0.5, 1.0],
        "colour": ["red", "blue", "red", "red"],
        "body": ["win money now", "see you at noon", "money money for you", "lunch at noon then"],
        "known": [True, False, True, True],
        "spam": ["yes", "no", "yes", "no"],
    }
    path = tmp_path / "mails.weigh"
    weigh.NaiveBayes().fit(table, "spam").model_.save(path)
    return path


def test_importing_loads_no_other_library() -> None:
    assert libraries_after("import weigh") == set()


def test_importing_costs_less_than_thirty_milliseconds_more_than_numpy() -> None:
    assert seconds_of("import weigh") < seconds_of("import numpy") + 0.030


def test_a_saved_model_predicts_a_dict_with_numpy_alone(model_file: Path) -> None:
    row = {"size": 1.0, "colour": "red", "body": "money", "known": True}
    program = (
        f"import sys, weigh; model = weigh.load(sys.argv[1]); model.predict({row}); model.explain({row})"
    )
    assert not libraries_after(program, str(model_file)) & LEARNERS


def test_a_saved_model_predicts_with_few_modules(model_file: Path) -> None:
    row = {"size": 1.0, "colour": "red", "body": "money", "known": True}
    program = f"import sys, weigh; weigh.load(sys.argv[1]).predict({row})"
    loaded = own_modules_after(program, str(model_file))
    assert len(loaded) <= 78, loaded
    others = (
        "perceptron",
        "logistic",
        "regression",
        "calibrat",
        "leave_one_out",
        "specification",
        "source.files",
    )
    assert not [name for name in loaded if any(other in name for other in others)]


COMMAND = "import sys; from weigh.cli.main import run_for_exit_code; run_for_exit_code(sys.argv[1:])"


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_the_list_of_commands_imports_no_command(arguments: list[str]) -> None:
    loaded = own_modules_after(COMMAND, *arguments)
    assert len(loaded) <= 11, loaded
    assert libraries_after(COMMAND, *arguments) == {"click"}


def test_predicting_the_rows_of_a_small_csv_file_loads_few_modules(model_file: Path, tmp_path: Path) -> None:
    data = tmp_path / "new.csv"
    data.write_text("size,colour,body,known\n1.0,red,money,yes\n2.0,blue,at noon,no\n")
    loaded = own_modules_after(COMMAND, "predict", str(model_file), str(data))
    assert len(loaded) <= 105, loaded
    assert libraries_after(COMMAND, "predict", str(model_file), str(data)) == {"click", "numpy"}


def test_filtering_a_message_loads_few_modules(tmp_path: Path) -> None:
    store, message = tmp_path / "store", tmp_path / "message.eml"
    weigh.MailStore.open(store, create=True).learn([b"Subject: prize\n\nfree money"], "spam")
    message.write_bytes(b"Subject: hello\n\nlunch at noon?")
    loaded = own_modules_after(COMMAND, "mail", "filter", "--store", str(store), str(message))
    assert len(loaded) <= 45, loaded


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_a_calibrated_model_predicts_with_numpy_alone(tmp_path: Path, method: str) -> None:
    path = tmp_path / "sure.weigh"
    rows, labels = [[1.0], [1.5], [3.0], [4.0]], ["a", "a", "b", "b"]
    weigh.calibrate(weigh.NaiveBayes().fit(rows, labels), rows[1:], labels[1:], method=method).save(path)
    row = {"x0": 1.0}
    program = (
        f"import sys, weigh; model = weigh.load(sys.argv[1]); model.predict({row}); model.explain({row})"
    )
    assert not libraries_after(program, str(path)) & LEARNERS


def test_a_saved_model_predicts_a_numpy_array_with_numpy_alone(tmp_path: Path) -> None:
    path = tmp_path / "plain.weigh"
    weigh.NaiveBayes().fit([[1.0, 2.0], [3.0, 4.0]], ["a", "b"]).model_.save(path)
    program = (
        "import sys, weigh, numpy as np; model = weigh.load(sys.argv[1]);"
        "model.predict_proba(np.ones((5, 2))); model.predict([[1.0, 2.0]])"
    )
    assert not libraries_after(program, str(path)) & LEARNERS


MAILS = {
    "size": [1.5, 2.5, 0.5, 1.0, 3.0, 2.0, 0.0, 1.0],
    "colour": ["red", "blue", "red", "red", "green", "blue", "green", "red"],
    "body": ["win money now", "see you at noon", "money for you", "lunch at noon"] * 2,
    "cost": [1.0, 2.0, 0.5, 1.5, 2.5, 2.0, 0.5, 1.0],
    "spam": ["yes", "no", "yes", "no", "no", "yes", "no", "yes"],
}


@pytest.mark.parametrize(
    ("learner", "label", "call"),
    [
        (weigh.LinearRegression(1.0), "cost", "model.predict(row, return_std=True)"),
        (weigh.LinearRegression(noise="laplace"), "cost", "model.summary()"),
        (weigh.LogisticRegression(), "spam", "model.predict_proba(row)"),
        (weigh.LogisticRegression(method="online"), "spam", "model.scores(row)"),
    ],
    ids=["linear", "absolute", "logistic", "online"],
)
def test_a_saved_regression_predicts_with_numpy_alone(
    learner: Any, label: str, call: str, tmp_path: Path
) -> None:
    table = {name: values for name, values in MAILS.items() if name in ("size", "colour", "body", label)}
    path = tmp_path / "model.weigh"
    learner.set_params(columns={"body": "text"}).fit(table, label).model_.save(path)
    row = {"size": 1.0, "colour": "red", "body": "money"}
    program = (
        f"import sys, weigh; model = weigh.load(sys.argv[1]); row = {row}; model.predict(row);"
        f"model.explain(row); {call}"
    )
    assert not libraries_after(program, str(path)) & LEARNERS


def test_regression_tasks_do_not_import_scikit_learn() -> None:
    program = (
        "from weigh.learn.linear_regression import LinearTask; from weigh.engines import run;"
        "from weigh.learn.logistic_regression import LogisticTask; from weigh.source import rows;"
        "table = {'a': [1.0, 2.0, 4.0, 3.0], 'y': [0, 1, 1, 0]}; source = rows(table, 'y');"
        "run(LinearTask.for_source(source, prior=1.0), source); run(LogisticTask.for_source(source), source)"
    )
    assert libraries_after(program) & LEARNERS <= {"scipy"}


def test_learning_with_tasks_does_not_import_scikit_learn() -> None:
    program = (
        "from weigh.learn import BayesTask; from weigh.engines import run; from weigh.source import rows;"
        "source = rows({'a': ['x', 'y'], 'spam': [0, 1]}, 'spam'); run(BayesTask.for_source(source), source)"
    )
    assert not libraries_after(program) & LEARNERS


def test_reading_files_imports_only_pyarrow(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,spam\nx,0\ny,1\n")
    program = "import sys, weigh; source = weigh.open(sys.argv[1], label='spam'); list(source.chunks())"
    assert libraries_after(program, str(path)) & LEARNERS <= {"pyarrow"}


@pytest.mark.parametrize("name", [name for name in weigh.__all__ if isinstance(getattr(weigh, name), type)])
def test_every_public_class_says_what_threads_may_do(name: str) -> None:
    assert "threads may" in str(inspect.getdoc(getattr(weigh, name))).lower()


@pytest.mark.parametrize("name", weigh.__all__)
def test_every_public_name_resolves_and_has_a_docstring(name: str) -> None:
    value = getattr(weigh, name)
    assert inspect.getdoc(value)
    first = str(inspect.getdoc(value)).splitlines()[0]
    assert first
    assert len(first) <= 110


def test_all_lists_exactly_the_public_names() -> None:
    assert len(weigh.__all__) == len(set(weigh.__all__))
    assert set(weigh.__all__) <= set(dir(weigh))
    with pytest.raises(AttributeError, match="has no attribute 'NavieBayes'"):
        weigh.NavieBayes  # noqa: B018


@pytest.mark.parametrize(
    "package_name", ["estimators", "features", "judge", "learn", "model", "priors", "source"]
)
def test_subpackages_export_the_names_in_all(package_name: str) -> None:
    package = importlib.import_module(f"weigh.{package_name}")
    assert all(hasattr(package, name) for name in package.__all__)


def public_methods() -> list[tuple[str, str]]:
    """Return the public methods and properties of the public classes."""
    return [
        (owner, name)
        for owner in weigh.__all__
        if inspect.isclass(getattr(weigh, owner, None))
        for name, value in vars(getattr(weigh, owner)).items()
        if not name.startswith("_") and (callable(value) or isinstance(value, property))
    ]


@pytest.mark.parametrize(("owner", "name"), public_methods())
def test_every_public_method_has_a_docstring(owner: str, name: str) -> None:
    assert inspect.getdoc(getattr(getattr(weigh, owner), name))


@pytest.mark.parametrize(("type_name", "class_name"), MODEL_TYPES.items())
def test_the_classes_of_model_files_are_found_by_their_type(type_name: str, class_name: str) -> None:
    assert getattr(weigh, class_name).type_name == type_name
