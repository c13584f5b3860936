"""Check the certificates of many random problems and count the outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.certificates.checking import check_problem
from tests.certificates.random_problems import random_problem


@dataclass(frozen=True)
class Survey:
    """Numbers of problems by loss and penalty, by difficulty, and in total ("all").

    `missed` counts fits that did not reach their tolerance, which `NotOptimal` said, and `refused` those
    without a finite optimum. `faults` are the certificates that were beaten, by seed.
    """

    problems: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    faults: dict[int, str] = field(default_factory=dict)


def survey_problems(seeds: Iterable[int]) -> Survey:
    """Return the outcomes of the problems of seeds."""
    survey = Survey()
    for seed in seeds:
        case = random_problem(seed)
        outcome = check_problem(case.problem)
        groups = (f"{case.problem.loss}, {case.penalty}", case.difficulty, "all")
        survey.problems.update(groups)
        survey.missed.update(groups if not outcome.is_optimal else ())
        survey.refused.update(groups if outcome.is_refused else ())
        if outcome.fault:
            survey.faults[seed] = f"{groups[0]}, {groups[1]}: {outcome.fault}"
    return survey
