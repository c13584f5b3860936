"""`choose_learner`: choose between naive Bayes and regressions with or without curves on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weigh import errors
from weigh.learn.target_type import find_measurements
from weigh.parameters import check_integer
from weigh.source.memory.table import rows as rows_of
from weigh.source.missing import to_markers
from weigh.trials.choice_candidates import ESTIMATORS, OWNER
from weigh.trials.choice_result import LearnerChoice
from weigh.trials.choice_rules import choose_by_rules, count_labels
from weigh.trials.parallel import capture_warnings, record_thread_warnings

TARGETS = ("auto", "classes", "numbers")


def choose_learner(
    X: Any,
    y: Any = None,
    *,
    target: str = "auto",
    columns: Any = "auto",
    missing: Any = (),
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    excluded: Mapping[str, str] | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> LearnerChoice:
    """Choose a learner for a table by a quick comparison on held-out rows.

    For classes, the candidates are naive Bayes and logistic regression: plain, with curves, and with curves
    and pairs. For numbers they are linear regression in the same three forms. All are cross-validated on the
    same folds of at most about 20,000 rows: 10 folds below 100 rows, 5 below 5,000, 3 above; 2 folds of fewer
    rows if there are very many columns or classes. The candidate with the smallest log loss (for numbers, the
    largest R²) is chosen, or the simplest whose loss is larger by at most one standard error and also by at
    most 5 %. The standard error is that of the mean difference of the rows' losses.

    Some tables need no comparison. Naive Bayes is chosen if text holds more than half of the characters, if
    there are fewer than 20 rows, or a single class. Linear regression without curves is chosen for fewer
    than 20 rows, or if all targets are equal.

    Parameters
    ----------
    X, y : rows, as for `fit`
    target : "classes" or "numbers"; "auto" takes fractions and very many distinct numbers for numbers
    columns, missing : kinds of the columns and markers of missing values, as for the learners
    parameters : mapping from "naive-bayes", "logistic" or "linear" to parameters of that learner
    excluded : mapping from learners that are not tried to the reason, such as "it has no offset"
    seed : determines the sample of larger data, and the folds
    progress : called with the number of finished fits and the total

    Examples
    --------
    >>> import weigh
    >>> table = {"x": [k % 40 / 4 for k in range(400)], "y": [(k % 40 / 4 - 5) ** 2 for k in range(400)]}
    >>> choice = weigh.choose_learner(table, "y")
    >>> choice.name
    'linear regression with curves'
    >>> model = choice.estimator.fit(table, "y")
    """
    if target not in TARGETS:
        raise errors.parameter_error(OWNER, "target", f"one of {errors.quote_names(TARGETS)}", target)
    seed = check_integer(OWNER, "seed", seed, 0)
    for name in (*(parameters or {}), *(excluded or {})):
        errors.find_named(ESTIMATORS, name, f"{OWNER}: there is no learner {name!r}; there are")
    source = rows_of(X, y, missing=to_markers(missing, OWNER))
    is_regression = target == "numbers" or (target == "auto" and find_measurements(source) is not None)
    settings: dict[str, Any] = {
        "is_regression": is_regression,
        "columns": columns,
        "missing": missing,
        "parameters": parameters or {},
        "excluded": excluded or {},
    }
    # What subsets of the rows look like is no news about the table.
    with capture_warnings() as captured, record_thread_warnings(captured):
        n_rows, counts = count_labels(source, is_regression)
        choice = choose_by_rules(source, n_rows, counts, **settings)
        if choice is None:
            # Imported on use: it loads scikit-learn.
            from weigh.trials.learner_comparison import CandidateComparison

            choice = CandidateComparison.of(source, n_rows, seed, **settings).run(seed, progress)
        return choice
