"""`--learner auto`: the learners that the options allow, and the choice between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from weigh.parameters.learners import LEARNERS

if TYPE_CHECKING:
    from weigh.source.base import Source
    from weigh.trials.choice_result import LearnerChoice

AUTO = "auto"


def choose_learner(
    source: Source,
    settings: Sequence[str],
    kinds: Sequence[str],
    missing: Sequence[str],
    *,
    is_regression: bool,
) -> LearnerChoice:
    """Choose the learner of a source among those that have the parameters of --set."""
    from weigh.cli.output.progress import show_job_progress
    from weigh.cli.settings import match_classes, read_kinds
    from weigh.source.chunk import to_pylist
    from weigh.trials import learner_choice
    from weigh.trials.choice_candidates import CLASS_LEARNERS, NUMBER_LEARNERS

    learners = NUMBER_LEARNERS if is_regression else CLASS_LEARNERS
    parameters, excluded = _read_settings(settings, learners)
    labels = dict.fromkeys(to_pylist(source.prefix().labels))
    with show_job_progress("fits") as progress:
        return learner_choice.choose_learner(
            source,
            target="numbers" if is_regression else "classes",
            columns=read_kinds(tuple(kinds)) or "auto",
            missing=tuple(missing),
            parameters={name: match_classes(values, labels) for name, values in parameters.items()},
            excluded=excluded,
            progress=progress,
        )


def _read_settings(
    settings: Sequence[str], learners: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return the parameters of the learners that have them all, and why the others are left out."""
    from weigh.cli.settings import read_settings

    parameters: dict[str, dict[str, Any]] = {}
    excluded: dict[str, str] = {}
    problems: dict[str, click.BadParameter] = {}
    names = {text.partition("=")[0].strip().partition(".")[0] for text in settings}
    for learner in learners:
        unknown = sorted(names - set(LEARNERS[learner].settings))
        try:
            parameters[learner] = read_settings(settings, learner)
        except click.BadParameter as error:
            problems[learner] = error
            reason = f"it has no parameter {unknown[0]!r}" if unknown else error.message
            excluded[learner] = reason.partition(". ")[0]
    if not parameters:
        having = [learner for learner in learners if names <= set(LEARNERS[learner].settings)]
        raise problems[having[0]] if having else _no_learner_error(names, learners)
    return parameters, excluded


def _no_learner_error(names: set[str], learners: Sequence[str]) -> click.BadParameter:
    """Return a usage error that names a learner with the parameters, if there is one."""
    others = [name for name, table in LEARNERS.items() if names <= set(table.settings)]
    compared = f"{AUTO} compares {' and '.join(learners)} here"
    missing = f"the parameter{'s' * (len(names) > 1)} {' and '.join(map(repr, sorted(names)))}"
    having = f"and {'neither has' if len(learners) > 1 else 'it does not have'} {missing}"
    advice = (
        f"Name the learner: --learner {others[0]}"
        if others
        else f"Leave {'some' if len(names) > 1 else 'it'} out"
    )
    return click.BadParameter(f"{compared}, {having}. {advice}.", param_hint="'--learner'")


def write_options(choice: LearnerChoice) -> str:
    """Return the options that give the chosen learner without a comparison."""
    added: Mapping[str, Any] = choice.parameters
    return " ".join(
        [f"--learner {choice.learner}", *(f"--set {name}={value}" for name, value in added.items())]
    )
