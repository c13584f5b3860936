"""weigh: naive Bayes, perceptrons, logistic and linear regression from tables, text and mail, with reasons.

Names are resolved when they are first used, so that `import weigh` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "weigh.apps.mail.store": ("MailStore",),
    "weigh.apps.spelling.speller": ("Speller",),
    "weigh.estimators": (
        "JointBayes",
        "LinearRegression",
        "LogisticRegression",
        "NaiveBayes",
        "Perceptron",
        "TextVectorizer",
        "Threshold",
        "calibrate",
        "expected_failed_checks",
        "path",
        "tune",
    ),
    "weigh.explain": (
        "flip",
        "regions",
        "strongest",
        "surface",
        "trace",
        "unfamiliar",
    ),
    "weigh.features": (
        "Category",
        "Count",
        "Derived",
        "Flag",
        "Lag",
        "Number",
        "Products",
        "Schema",
        "Skip",
        "Text",
        "Tokens",
    ),
    "weigh.judge": (
        "Evaluation",
        "audit",
        "diff",
        "evaluate",
        "margin",
        "mistake_bound",
        "verify",
    ),
    "weigh.model": (
        "BayesModel",
        "CalibratedModel",
        "Decision",
        "Evidence",
        "JointModel",
        "LinearModel",
        "LogisticModel",
        "PerceptronModel",
        "ProbabilityTable",
        "RegressionModel",
        "ThresholdModel",
        "VotedModel",
        "load",
    ),
    "weigh.priors": ("Beta", "Dirichlet", "Laplace", "Normal", "Penalty"),
    "weigh.report": ("Report", "report_on"),
    "weigh.source": ("Source", "open", "rows"),
    "weigh.trials": (
        "bias_variance",
        "compare",
        "learning_curve",
    ),
}
_PLACES = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["errors", *sorted(_PLACES)]


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module("weigh.errors")
    if name not in _PLACES:
        raise AttributeError(f"module 'weigh' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
