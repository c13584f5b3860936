"""Learners by their names on the command line."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

from weigh.cli.settings import match_classes, read_kinds, read_settings
from weigh.cli.weight_settings import bad_set

if TYPE_CHECKING:
    from weigh.source import Source

# Imported when they are asked for: regressions bring solvers along that counting does without.
TASKS = {
    "naive-bayes": ("weigh.learn", "BayesTask"),
    "joint": ("weigh.learn", "JointTask"),
    "perceptron": ("weigh.learn", "PerceptronTask"),
    "threshold": ("weigh.learn", "ThresholdTask"),
    "logistic": ("weigh.learn.regress.logistic_task", "LogisticTask"),
    "linear": ("weigh.learn.regress.linear", "LinearTask"),
}


def task_of(
    learner: str,
    source: Source,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
) -> Any:
    """Return the task of a learner for a source, its settings read from texts."""
    from weigh.source.chunk import to_pylist

    parameters = read_settings(settings, learner)
    for name in ("class_prior", "class_weight"):
        if isinstance(parameters.get(name), dict):
            labels = list(dict.fromkeys(to_pylist(source.prefix().labels)))
            parameters[name] = match_classes(parameters[name], labels)
    module, name = TASKS[learner]
    over = getattr(importlib.import_module(module), name).over
    columns: Any = read_kinds(kinds) or "auto"
    return over(source, columns, missing=missing, **_with_method(parameters, over))


def _with_method(parameters: dict[str, Any], over: Any) -> dict[str, Any]:
    """Return the parameters; the method goes to tasks that have several only."""
    if "method" not in parameters or "method" in inspect.signature(over).parameters:
        return parameters
    if parameters["method"] != "exact":
        raise bad_set(f"method must be exact, got {parameters['method']!r}.")
    return {name: value for name, value in parameters.items() if name != "method"}
