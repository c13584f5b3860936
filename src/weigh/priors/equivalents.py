"""Equivalent parameters of the same prior in other packages.

Here the penalty l1 ‖w‖₁ + ½ l2 ‖w‖² is added to ½‖y − Xw‖² or to the sum of the log loss. A package that
averages the loss over n rows divides l1 and l2 by n; one that multiplies the loss by C has C = 1 / (l1 + l2).

====================================  ===============================================================
scikit-learn Ridge                    alpha = l2
scikit-learn Lasso, ElasticNet, SGD   alpha = (l1 + l2) / n, l1_ratio = l1 / (l1 + l2)
scikit-learn LogisticRegression       C = 1 / (l1 + l2), l1_ratio = l1 / (l1 + l2)
LIBLINEAR -s 0, 6, 7                  c = 1 / (l1 + l2), where one of them is 0
LIBLINEAR -s 11 -p 0                  c = 1 / (2 l2), as its loss is (y − w·x)²
glmnet, binomial                      lambda = (l1 + l2) / n, alpha = l1 / (l1 + l2)
glmnet, gaussian                      the same with l2 · sd(y): it divides y by sd(y), and lambda too
statsmodels OLS, GLM                  alpha = (l1 + l2) / n, L1_wt = l1 / (l1 + l2)
statsmodels Logit                     alpha = l1
====================================  ===============================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from weigh import errors
from weigh.priors import exact
from weigh.result import Facts, Part, Result, Section, Table

STANDARDISED_NOTE = (
    "Standardise the numbers first, for example with StandardScaler, and leave indicators as they are."
)
_SGD_NOTE = "the optimum is only approached; n counts rows even where they are weighted"
_SAGA_NOTE = "before scikit-learn 1.8 also penalty='elasticnet'"
_LIBLINEAR_NOTE = "-B 1 adds an intercept and penalises it, unless -R is given too"
_STATSMODELS_NOTE = "a constant column is penalised like any other: give alpha by column, 0 for it"
_STANDARDIZE_NOTE = "without standardize=FALSE the columns are scaled first"
_GLMNET_SCALE_NOTE = (
    "y is divided by its standard deviation (1/n), taken to be {}: lambda·(1 − alpha) = l2·sd(y)/n"
)


class HasPenalty(Protocol):
    """A prior that has a penalty, and may be centred at zero."""

    @property
    def is_centred(self) -> bool: ...

    def exact_penalty(self, sigma: float = 1.0) -> tuple[Fraction, Fraction]: ...


@dataclass(frozen=True)
class Equivalent(Facts):
    """A call of another package with the parameters of the same prior, and a note on its use."""

    package: str
    call: str
    parameters: dict[str, Any]
    note: str = ""

    def __str__(self) -> str:
        if self.package == "LIBLINEAR":
            return " ".join(f"{key} {_format_value(value)}" for key, value in self.parameters.items())
        arguments = ", ".join(f"{key}={_format_value(value)}" for key, value in self.parameters.items())
        if self.package == "glmnet":
            arguments = arguments.replace("False", "FALSE")  # as in R
        return f"{self.call}({arguments})"


@dataclass(frozen=True, repr=False)
class Equivalents(Result):
    """A prior as the penalty l1 ‖w‖₁ + ½ l2 ‖w‖², and in the conventions of other packages."""

    prior: str
    task: str
    n: float
    l1: float
    l2: float
    is_centred: bool
    others: tuple[Equivalent, ...]
    is_standardised: bool = False

    def __getitem__(self, call: str) -> Equivalent:
        for other in self.others:
            if other.call == call:
                return other
        calls = errors.quote_names(other.call for other in self.others)
        raise errors.parameter_error("equivalents", "name", f"one of {calls}", call)

    @property
    def headline(self) -> str:
        """The prior and the objective that is minimised."""
        loss = "½‖y − Xw‖²" if self.task == "linear" else "Σ log loss"
        deviation = "w" if self.is_centred else "w − mean"
        l1 = f" + {_format_value(self.l1)} ‖{deviation}‖₁" if self.l1 else ""
        l2 = f" + ½ · {_format_value(self.l2)} ‖{deviation}‖²" if self.l2 else ""
        on = ", on standardised numbers" if self.is_standardised else ""
        problem = f"{self.prior} in {self.task} regression{on}, n = {_format_value(self.n)}"
        return f"{problem}: minimise {loss}{l1}{l2}"

    def sections(self) -> list[Section]:
        """Return the calls of other packages with their notes."""
        rows = [[other.package, str(other), other.note] for other in self.others]
        table = Table([["package", "equivalent", "note"], *rows], left=3)
        notes: list[Part] = list(self._notes())
        return [Section("equivalents", [table, *notes])]

    def _notes(self) -> Iterator[str]:
        if not self.is_centred:
            yield _nonzero_mean_note(self.task)
        if self.is_standardised:
            yield STANDARDISED_NOTE

    def __str__(self) -> str:
        """Return lines with complete calls, which can be copied."""
        lines, previous = [self.headline], ""
        for other in self.others:
            lines.append(f"  {other.package if other.package != previous else '':12}  {other}")
            lines += [f"{'':18}{other.note}"] if other.note else []
            previous = other.package
        return "\n".join([*lines, *self._notes()])


def find_equivalents(prior: HasPenalty, task: str, n: float, sigma: float, spread: float) -> Equivalents:
    """Return the equivalents of a prior for a task over n rows; `spread` is the standard deviation of y."""
    if task not in ("linear", "logistic"):
        raise errors.parameter_error("equivalents", "task", "'linear' or 'logistic'", task)
    n_rows, sd_y = _check_positive("n", n), _check_positive("spread", spread)
    if task == "logistic" and sigma != 1:
        raise errors.parameter_error(
            "equivalents", "sigma", "left out: logistic regression has no such noise", sigma
        )
    l1, l2 = prior.exact_penalty(sigma)
    if not l1 and not l2:
        raise errors.Unsupported(f"{prior!r} penalises nothing: its equivalent is any fit without a penalty.")
    others = (
        _linear_equivalents(l1, l2, n_rows, sd_y)
        if task == "linear"
        else _logistic_equivalents(l1, l2, n_rows)
    )
    return Equivalents(
        repr(prior), task, float(n_rows), float(l1), float(l2), prior.is_centred, tuple(others)
    )


def summarise_penalty(l1: Fraction, l2: Fraction, noise: str = "") -> str:
    """Return the penalty and its scikit-learn equivalents in one line; `noise` is a factor of both."""
    if not l1 and not l2:
        return "no penalty"
    parts = [(name, exact.format_fraction(number)) for name, number in (("l1", l1), ("l2", l2)) if number]
    total, ratio = exact.format_fraction(l1 + l2), _format_value(float(l1 / (l1 + l2)))
    penalty = ", ".join(f"{name}={number}" for name, number in parts)
    scaled_penalty = ", ".join(f"{number}{noise}" for _, number in parts) if noise else "the same"
    l1_ratio = f", l1_ratio={ratio}" if l1 else ""
    logistic = f"LogisticRegression(C={_format_value(_to_float(1 / (l1 + l2)))}{l1_ratio})"
    if not l1:
        linear = f"Ridge(alpha={total}{noise})"
    else:
        linear = f"ElasticNet(alpha={total}{noise}/n{l1_ratio})" if l2 else f"Lasso(alpha={total}{noise}/n)"
    return f"{penalty} with the log loss, {logistic}; {scaled_penalty} with ½‖y − Xw‖², {linear}"


def _linear_equivalents(l1: Fraction, l2: Fraction, n: Fraction, sd_y: Fraction) -> list[Equivalent]:
    if not l1:
        first = Equivalent("scikit-learn", "Ridge", {"alpha": float(l2)})
    elif not l2:
        first = Equivalent("scikit-learn", "Lasso", {"alpha": _to_float(l1 / n)})
    else:
        parameters = {"alpha": _to_float((l1 + l2) / n), "l1_ratio": float(l1 / (l1 + l2))}
        first = Equivalent("scikit-learn", "ElasticNet", parameters)
    equivalents = [first, Equivalent("scikit-learn", "SGDRegressor", _sgd_parameters(l1, l2, n), _SGD_NOTE)]
    if not l1:
        options = {"-s": 11, "-p": 0, "-c": _to_float(1 / (2 * l2))}
        equivalents.append(Equivalent("LIBLINEAR", "liblinear", options, _LIBLINEAR_NOTE))
    note = _STANDARDIZE_NOTE
    if l2:
        note += f"; {_GLMNET_SCALE_NOTE.format(_format_value(float(sd_y)))}"
    return [
        *equivalents,
        Equivalent("glmnet", "glmnet", _glmnet_parameters("gaussian", l1, l2 * sd_y, n), note),
        Equivalent(
            "statsmodels", "OLS.fit_regularized", _statsmodels_parameters(l1, l2, n), _STATSMODELS_NOTE
        ),
    ]


def _logistic_equivalents(l1: Fraction, l2: Fraction, n: Fraction) -> list[Equivalent]:
    c, ratio = _to_float(1 / (l1 + l2)), float(l1 / (l1 + l2))
    if l1:
        first = Equivalent(
            "scikit-learn", "LogisticRegression", {"C": c, "l1_ratio": ratio, "solver": "saga"}, _SAGA_NOTE
        )
    else:
        first = Equivalent("scikit-learn", "LogisticRegression", {"C": c})
    sgd = Equivalent(
        "scikit-learn", "SGDClassifier", {"loss": "log_loss", **_sgd_parameters(l1, l2, n)}, _SGD_NOTE
    )
    equivalents = [first, sgd]
    if not l1:
        note = f"or -s 7, which has no -R; {_LIBLINEAR_NOTE}"
        equivalents.append(Equivalent("LIBLINEAR", "liblinear", {"-s": 0, "-c": c}, note))
    elif not l2:
        equivalents.append(Equivalent("LIBLINEAR", "liblinear", {"-s": 6, "-c": c}, _LIBLINEAR_NOTE))
    glmnet = _glmnet_parameters("binomial", l1, l2, n)
    equivalents.append(Equivalent("glmnet", "glmnet", glmnet, _STANDARDIZE_NOTE))
    if not l2:
        equivalents.append(
            Equivalent("statsmodels", "Logit.fit_regularized", {"alpha": float(l1)}, _STATSMODELS_NOTE)
        )
    glm = _statsmodels_parameters(l1, l2, n)
    return [*equivalents, Equivalent("statsmodels", "GLM.fit_regularized", glm, _STATSMODELS_NOTE)]


def _sgd_parameters(l1: Fraction, l2: Fraction, n: Fraction) -> dict[str, Any]:
    alpha = {"alpha": _to_float((l1 + l2) / n)}
    if l1 and l2:
        return {"penalty": "elasticnet", **alpha, "l1_ratio": float(l1 / (l1 + l2))}
    return {"penalty": "l1" if l1 else "l2", **alpha}


def _glmnet_parameters(family: str, l1: Fraction, l2: Fraction, n: Fraction) -> dict[str, Any]:
    alpha, lambda_ = float(l1 / (l1 + l2)), _to_float((l1 + l2) / n)
    return {"family": family, "alpha": alpha, "lambda": lambda_, "standardize": False}


def _statsmodels_parameters(l1: Fraction, l2: Fraction, n: Fraction) -> dict[str, Any]:
    return {"alpha": _to_float((l1 + l2) / n), "L1_wt": float(l1 / (l1 + l2))}


def _nonzero_mean_note(task: str) -> str:
    if task == "linear":
        return "The other packages shrink towards zero: fit y − X·mean, and add the mean to the weights."
    return (
        "The other packages shrink towards zero: use the offset X·mean where possible, and add the mean to w."
    )


def _check_positive(name: str, value: object) -> Fraction:
    number = exact.positive_fraction(value)
    if number is None:
        raise errors.parameter_error("equivalents", name, "a positive, finite number", value)
    return number


def _to_float(number: Fraction) -> float:
    """Return the nearest float, which is infinite if the number is beyond the range of floats."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _format_value(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else repr(value)
