"""Online logistic regression beside scikit-learn's, and beside the exact solver.

Nine tenths of the rows are learned from, the others judge. The objective is Σ log loss + ½‖w‖², which is
alpha = 1/n for SGDClassifier; its distance from the minimum is told as a share of the minimum that the
exact solver proves. SGDClassifier runs with its own rate ("optimal") and with the constant one of several
that leaves the lowest objective, found before anything is timed; with and without averaging.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Contestant, duration, markdown, race
from benchmarks.regression_data import Floats, labelled
from benchmarks.regression_judge import Logistic

SIZES = {"full": (200_000, 500_000, 75), "small": (4_000, 20_000, 75)}
PASSES = (1, 5)
RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
EXACT = "weigh, exact"


def contestants(X: Any, y: Any) -> dict[str, Callable[[], Any]]:
    from sklearn.linear_model import SGDClassifier

    import weigh

    n = X.shape[0]
    found: dict[str, Callable[[], Any]] = {}

    def fit(make: Callable[..., Any], **settings: Any) -> Any:
        return make(random_state=0, **settings).fit(X, y)

    sgd = partial(SGDClassifier, loss="log_loss", alpha=1 / n, fit_intercept=False, tol=None)

    def chosen(**settings: Any) -> Callable[[], Any]:
        judge = Logistic(X, y, l2=1.0)
        make = partial(sgd, learning_rate="constant", **settings)
        found = {rate: judge.objective(fit(make, eta0=rate).coef_) for rate in RATES}
        return partial(fit, make, eta0=min(found, key=lambda rate: found[rate]))

    for passes in PASSES:
        said = f"{passes} pass{'es' * (passes > 1)}"
        online = partial(weigh.LogisticRegression, method="online", bias=False, tol=0.0)
        found[f"weigh, online, {said}"] = partial(fit, online, max_iter=passes)
        for average in (True, False):
            how = "averaged" if average else "last"
            settings = {"max_iter": passes, "average": average}
            found[f"SGDClassifier, {how}, {said}"] = partial(fit, sgd, **settings)
            found[f"SGDClassifier, rate chosen, {how}, {said}"] = chosen(**settings)
    found[EXACT] = partial(fit, weigh.LogisticRegression, bias=False)
    return found


def compared(X: Any, y: Floats, repeats: int) -> str:
    """Return the table of seconds, objective, and log loss and accuracy on held-out rows."""
    cut = X.shape[0] * 9 // 10
    judge = Logistic(X[:cut], y[:cut], l2=1.0)
    calls = contestants(X[:cut], y[:cut])
    timings = race([Contestant(name, call) for name, call in calls.items()], repeats)
    weights = {timing.name: np.ravel(timing.result.coef_) for timing in timings}
    least = judge.objective(weights[EXACT])
    body = []
    for timing in timings:
        w = weights[timing.name]
        scores = y[cut:] * (X[cut:] @ w)
        kept = [f"{np.logaddexp(0.0, -scores).mean():.4f}", f"{np.mean(scores > 0):.4f}"]
        ratio = f"{timing.best / timings[0].best:.2f}"
        above = f"{judge.objective(w) / least - 1:.1e}"
        body.append([timing.name, duration(timing.best), duration(timing.median), ratio, above, *kept])
    head = [
        "",
        "min",
        "median",
        f"min ÷ {timings[0].name}",
        "above the minimum",
        "held-out log loss",
        "accuracy",
    ]
    return markdown(head, body)


def job(size: str, repeats: int) -> str:
    """Return a table for each kind of labels."""
    parts = [
        "{:,} × {:,}, {} non-zeros a row, no bias; one thread but for the exact solver".format(*SIZES[size])
    ]
    for name, with_noise in (("Separable labels", False), ("A third of the labels flipped", True)):
        parts += [name, compared(*labelled(*SIZES[size], with_noise=with_noise), repeats)]
    return "\n\n".join(parts)
