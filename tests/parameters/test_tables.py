"""Signatures, tasks, kinds, --set, --kind and --help have the names and defaults of the parameter tables."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import click
import pytest
from click.testing import CliRunner

import weigh
from weigh.cli.commands.fit import command
from weigh.cli.settings import read_kinds, read_settings
from weigh.features.kind_registry import KINDS_BY_NAME
from weigh.learn import BayesTask, JointTask, PerceptronTask, ThresholdTask
from weigh.learn.linear_regression import LinearTask
from weigh.learn.logistic_regression import LogisticTask
from weigh.learn.perceptron_state import PerceptronSettings
from weigh.learn.sgd import OnlineLogisticTask, SgdSettings
from weigh.model.calibration import CALIBRATION_TYPES
from weigh.parameters import ParameterTable
from weigh.parameters.kinds import KINDS
from weigh.parameters.learners import CALIBRATION_METHODS, LEARNERS

TABLES = [*LEARNERS.values(), *KINDS.values()]
each_learner = pytest.mark.parametrize("table", LEARNERS.values(), ids=LEARNERS)
each_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)

# Parameters that are used before a task is made, or by the estimator.
OUTSIDE_TASKS = {"columns", "missing", "number", "threads", "calibration", "warm_start", "method"}
# Fields of tasks that hold a converted value of a parameter, and fields that are no parameters.
CONVERTED = {"seed": "random_state", "separate": "multiclass", "l2": "prior"}
NO_PARAMETERS = {"schema", "settings", "warns", "classes", "chooses_prior_scale"}


def signature(callable_: Any) -> dict[str, Any]:
    parameters = inspect.signature(callable_).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


@each_learner
def test_the_signature_of_a_learner_is_its_table(table: ParameterTable) -> None:
    defaults = table.defaults | {each.name: None for each in table if each.is_optional}
    assert signature(getattr(weigh, table.owner)) == defaults


@pytest.mark.parametrize("table", KINDS.values(), ids=KINDS)
def test_the_signature_of_a_kind_is_its_table(table: ParameterTable) -> None:
    assert signature(KINDS_BY_NAME[table.name]) == table.defaults
    assert table.owner == KINDS_BY_NAME[table.name].__name__


def test_kinds_without_a_table_have_no_parameters() -> None:
    assert [name for name in KINDS_BY_NAME if signature(KINDS_BY_NAME[name])] == [
        name for name in KINDS_BY_NAME if name in KINDS
    ]


@pytest.mark.parametrize(
    ("learner", "method", "classes", "elsewhere"),
    [
        ("naive-bayes", None, [BayesTask], set()),
        ("joint", None, [JointTask], set()),
        ("threshold", None, [ThresholdTask], set()),
        # The schema standardises numbers; online learning refuses an offset.
        ("perceptron", None, [PerceptronTask, PerceptronSettings], {"scale"}),
        ("logistic", "exact", [LogisticTask], set()),
        ("logistic", "online", [OnlineLogisticTask, SgdSettings], {"scale", "offset"}),
        ("linear", None, [LinearTask], set()),
    ],
)
def test_the_fields_of_a_task_are_the_parameters_of_its_table(
    learner: str, method: str | None, classes: list[Any], elsewhere: set[str]
) -> None:
    table = LEARNERS[learner].for_method(method) if method else LEARNERS[learner]
    fields = {field.name for each in classes for field in dataclasses.fields(each)} - NO_PARAMETERS
    assert {CONVERTED.get(name, name) for name in fields} == {*table.names} - OUTSIDE_TASKS - elsewhere


@each_learner
def test_set_takes_every_parameter_without_an_option_of_its_own(table: ParameterTable) -> None:
    options = {option for each in command.params for option in each.opts}
    assert {each.option for each in table if each.option} <= options
    with pytest.raises(click.BadParameter) as excinfo:
        read_settings(["no such parameter=1"], table.name)
    settings = [name for name in table.names if name in table.settings]
    assert f"a parameter of {table.name}: {', '.join(settings) or 'it has none'}." in excinfo.value.message


@each_table
def test_every_default_that_help_shows_can_be_given_and_is_the_default(table: ParameterTable) -> None:
    rows = {each.name: each for each in table if each.option == "--set"}
    for name, text in shown_defaults(table):
        if table.name in LEARNERS:
            parsed = read_settings([f"{name}={text}"], table.name)[name]
        else:
            parsed = getattr(read_kinds([f"column={table.name}:{name}={text}"])["column"], name)  # type: ignore[index]
        allowed = [each.default for each in table if each.name == name]
        assert rows[name].allowed.check(table.owner, name, parsed) in [
            rows[name].allowed.check(table.owner, name, default) for default in allowed
        ]


@each_table
def test_help_lists_the_parameters_in_the_order_of_the_table(table: ParameterTable) -> None:
    names = [name for name, _ in shown_defaults(table, with_text=False)]
    assert names == [each.name for each in table if each.option == "--set"]


def shown_defaults(table: ParameterTable, with_text: bool = True) -> list[tuple[str, str]]:
    """The names and defaults of the table's parameters in the help of `weigh fit`."""
    sections = CliRunner().invoke(command, ["--help"]).stdout.split("\n\n")
    heading, prefix = f"--set, for {table.name} ", ""
    if table.name in KINDS:
        heading, prefix = "--kind, for columns ", rf"(?:\w+\|)*{table.name}(?:\|\w+)*:"
    text = next((section for section in sections if section.startswith(heading)), "")
    rows = re.findall(rf"^  {prefix}(\w+)(?:=(\S+))?(?: |$)", text, re.MULTILINE)
    return [row for row in rows if row[1] or not with_text]


def test_calibrations_are_those_that_models_have() -> None:
    assert list(CALIBRATION_TYPES) == list(CALIBRATION_METHODS)
