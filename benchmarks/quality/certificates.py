"""Certificates of random problems beside exact arithmetic, and digits on NIST's reference sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tests.certificates.random_problems import DIFFICULTIES, LOSSES, PENALTIES
from tests.certificates.survey import Survey, survey_problems
from tests.figures.nist import correct_digits, reference_sets

import weigh
from benchmarks.results import format_markdown_table

N_PROBLEMS, N_QUICK = 10_000, 216


def certificate_tables(quick: bool) -> str:
    """Return how many certificates are beaten, and how many fits miss their tolerance."""
    survey = survey_problems(range(N_QUICK if quick else N_PROBLEMS))
    by_loss = [
        [loss, *(_share_missed(survey, f"{loss}, {penalty}") for penalty in PENALTIES)] for loss in LOSSES
    ]
    by_difficulty = [
        [name, f"{survey.problems[name]:,}", _share_missed(survey, name), f"{survey.refused[name]:,}"]
        for name in DIFFICULTIES
    ]
    summary = (
        f"{survey.problems['all']:,} problems: {len(survey.faults)} certificates are beaten; "
        f"{_share_missed(survey, 'all')} of the fits warn that they miss their tolerance (NotOptimal), "
        f"{survey.refused['all']:,} are refused because they have no finite optimum."
    )
    tables = (
        format_markdown_table(["NotOptimal, by loss", *(f"penalty: {name}" for name in PENALTIES)], by_loss),
        format_markdown_table(["difficulty", "problems", "NotOptimal", "refused"], by_difficulty),
    )
    return "\n\n".join((summary, *tables))


def _share_missed(survey: Survey, group: str) -> str:
    return f"{survey.missed[group] / survey.problems[group]:.1%}"


def reference_table(quick: bool) -> str:
    """Return the correct digits of the worst coefficient of each reference set."""
    rows = []
    for name, data in reference_sets().items():
        design = np.column_stack([np.ones(len(data.y)), data.X])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # statsmodels: nearly singular
            found = [fit(design, data.y) for fit in CONTENDERS.values()]
        rows.append([name, *(f"{max(0.0, correct_digits(each, data.certified)):.1f}" for each in found)])
    return format_markdown_table(["correct digits", *CONTENDERS], rows)


def _fit_weigh(design: Any, y: Any) -> Any:
    model = weigh.LinearRegression(columns="number").fit(design[:, 1:], y)
    return np.append(model.intercept_, model.coef_)


def _fit_numpy(design: Any, y: Any) -> Any:
    return np.linalg.lstsq(design, y, rcond=None)[0]


def _fit_sklearn(design: Any, y: Any) -> Any:
    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit(design[:, 1:], y)
    return np.append(model.intercept_, model.coef_)


def _fit_statsmodels(method: str) -> Callable[[Any, Any], Any]:
    def fit(design: Any, y: Any) -> Any:
        from statsmodels.regression.linear_model import OLS

        return OLS(y, design).fit(method=method).params

    return fit


CONTENDERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "weigh": _fit_weigh,
    "NumPy lstsq": _fit_numpy,
    "scikit-learn": _fit_sklearn,
    "statsmodels, pinv": _fit_statsmodels("pinv"),
    "statsmodels, QR": _fit_statsmodels("qr"),
}
