"""Learners by their names on the command line."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weigh.cli.settings import match_classes, read_kinds, read_settings
from weigh.cli.weight_settings import bad_set

if TYPE_CHECKING:
    from weigh.source import Source

ONLINE = ("rate", "shuffle", "random_state")  # what is asked of online learning only
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
    parameters.pop("calibration", None)  # comes after learning
    module, name = TASKS[learner]
    method = parameters.pop("method", "exact")
    if method != "exact":
        module, name = "weigh.learn.online_logistic", "OnlineLogisticTask"
        parameters = _online(method, parameters)
    elif learner == "logistic" and any(name in parameters for name in ONLINE):
        raise bad_set(f"{_and(ONLINE)} are of method=online; give that too, or leave them out.")
    task = getattr(importlib.import_module(module), name)
    return task.over(source, read_kinds(kinds) or "auto", missing=missing, **parameters)


def _online(method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of logistic regression as its online task takes them."""
    from weigh.learn.online_logistic import online_penalty

    if method != "online":
        raise bad_set(f"method is exact or online, got {method!r}.")
    if "folds" in parameters:
        raise bad_set("folds is of method=exact; leave it out.")
    l2 = online_penalty(parameters.get("prior", 1.0), parameters.get("offset"))
    rest = {name: value for name, value in parameters.items() if name not in ("prior", "offset")}
    return {**rest, "l2": l2}


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
