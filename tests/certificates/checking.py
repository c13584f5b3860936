"""Fit a problem and compare its certificate with exact arithmetic and with the weights of other methods."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction

from tests.certificates.exact_objectives import ExactProblem, Floats
from tests.certificates.rivals import rivals
from weigh import LinearRegression, LogisticRegression
from weigh.errors import NotOptimal, Separated
from weigh.model.fit import Optimality
from weigh.priors import Penalty


@dataclass(frozen=True)
class Outcome:
    """Whether a certificate holds, whether it reaches its tolerance, and what was wrong."""

    is_optimal: bool = True
    is_refused: bool = False
    fault: str = ""
    relative_gap: float = 0.0


def fit(problem: ExactProblem) -> tuple[Floats, float, Optimality]:
    """Return weights, intercept and certificate of a problem."""
    prior = Penalty(l1=problem.l1, l2=problem.l2) if problem.l1 or problem.l2 else None
    settings = {"prior": prior, "bias": problem.has_intercept, "columns": "number"}
    if problem.loss == "log":
        classifier = LogisticRegression(**settings).fit(problem.X, problem.y.astype(int), problem.weights)
        return classifier.coef_[0], float(classifier.intercept_[0]), classifier.certificate_
    noise = "laplace" if problem.loss == "absolute" else "normal"
    model = LinearRegression(noise=noise, **settings).fit(problem.X, problem.y, problem.weights)
    return model.coef_, float(model.intercept_), model.certificate_


def check_problem(problem: ExactProblem) -> Outcome:
    """Return what is wrong with the certificate of a problem, if anything."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            w, b, certificate = fit(problem)
        except Separated:
            return Outcome(is_refused=True)
    has_warned = any(issubclass(warning.category, NotOptimal) for warning in caught)
    fault = find_fault(problem, w, b, certificate)
    if not fault and has_warned == certificate.converged:
        fault = "NotOptimal does not agree with the certificate"
    return Outcome(certificate.converged, False, fault, certificate.relative_gap)


def find_fault(problem: ExactProblem, w: Floats, b: float, certificate: Optimality) -> str:
    """Return how a certificate is contradicted, or an empty string."""
    stated, gap = Fraction(certificate.objective), Fraction(certificate.gap)
    low, high = problem.objective(w, b)
    if low > stated + gap or high < stated - gap:
        return f"states {certificate.objective!r} ± {certificate.gap:.2g}, exact {float(low)!r}"
    for name, weights in rivals(problem, w, b):
        if problem.objective(*weights)[1] < stated - gap:
            found = float(problem.objective(*weights)[1])
            return f"states at least {float(stated - gap)!r}, {name} finds {found!r}"
    return ""
