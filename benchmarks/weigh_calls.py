"""The library's side of the benchmarks: the calls a user would write, in one place."""

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
    """Return the defaults, and the settings that the folds on the training file chose."""
    import weigh

    values = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
    chosen = {
        "columns": {**dict.fromkeys(values, "category"), "fnlwgt": weigh.Number(bins=32)},
        "prior": 0.0001,
        "class_prior": {"<=50K": 0.955, ">50K": 0.045},
    }
    return {"weigh": {}, "weigh, settings chosen by the same folds": chosen}


def weigh_accuracies(folder: Path, label: str, **settings: Any) -> tuple[float, float]:
    """Return cross-validated and test accuracy on the folds that the peers use."""
    import pandas as pd
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    import weigh

    train = pd.read_csv(folder / "train.csv", na_values=MISSING_VALUES)
    test = pd.read_csv(folder / "test.csv", na_values=MISSING_VALUES)
    learner = weigh.NaiveBayes(**settings)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    by_folds = cross_val_score(learner, train.drop(columns=label), train[label], cv=folds).mean()
    return float(by_folds), float(learner.fit(train, label).score(test, label))
