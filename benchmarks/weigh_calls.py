"""weigh's side of the table benchmarks, written as a user would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

MISSING_VALUES = ("?",)


def fit_frame(frame: Any, label: str) -> Any:
    import weigh

    return weigh.NaiveBayes().fit(frame, label)


def fit_file(path: Path, label: str, **settings: Any) -> Any:
    import weigh

    return weigh.NaiveBayes(**settings).fit(weigh.open(path, label=label, missing=MISSING_VALUES))


def adult_settings() -> dict[str, dict[str, Any]]:
    """Return the defaults, and the settings selected by cross-validation on the training file."""
    import weigh

    discrete = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
    chosen = {
        "columns": {**dict.fromkeys(discrete, "category"), "fnlwgt": weigh.Number(bins=32)},
        "prior": 0.0001,
        "class_prior": {"<=50K": 0.955, ">50K": 0.045},
    }
    return {"weigh": {}, "weigh, settings chosen by the same folds": chosen}


def weigh_accuracies(folder: Path, label: str, **settings: Any) -> tuple[float, float]:
    """Return the cross-validated and test accuracy, with the same folds as the peers."""
    import pandas as pd
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    import weigh

    train = pd.read_csv(folder / "train.csv", na_values=MISSING_VALUES)
    test = pd.read_csv(folder / "test.csv", na_values=MISSING_VALUES)
    learner = weigh.NaiveBayes(**settings)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    by_folds = cross_val_score(learner, train.drop(columns=label), train[label], cv=folds).mean()
    return float(by_folds), float(learner.fit(train, label).score(test, label))
