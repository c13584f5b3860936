"""Measure one contender of the rows `additive` on some cases, in a process of its own.

    python -m benchmarks.quality.additive_worker CASES CONTENDER FOLDER SECONDS INDEX...

Writes a JSON file per case. The alarm ends the process when a case takes longer than these seconds, native
code included; the process that started this one notes that. Times and memory are those of `fit`: seconds of
the processor, which other work on the machine does not change, and of the clock, both the median of the
splits; and the largest growth of the resident memory, as in the timed rows.
"""

from __future__ import annotations

import inspect
import json
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality.additive_cases import Case, load_cases
from benchmarks.quality.additive_contenders import find_contender
from benchmarks.quality.default_settings import TRIAL_ROWS, Contender
from benchmarks.quality.default_summary import (
    LOG_LOSS,
    SQUARED_ERRORS,
    Record,
    expected_calibration_error,
    fit_temperature,
)
from benchmarks.quality.defaults import MIN_PROBABILITY, class_codes, split_losses
from benchmarks.quality.public_tables import Task
from benchmarks.worker import read_status, release_memory

GAUSSIAN_LOG_LOSS = "Gaussian log loss, standardised"
RELATIVE_ERRORS = "squared error ÷ that of the mean"


def main() -> None:
    cases, key, folder, limit, *indices = sys.argv[1:]
    warnings.simplefilter("ignore")
    loaded = load_cases(Path(cases))
    warm_up(find_contender(key, loaded[0].table.task))
    for index in map(int, indices):
        case = loaded[index]
        signal.alarm(int(limit))
        record = measure_case(find_contender(key, case.table.task), case)
        signal.alarm(0)
        result_path(Path(folder), case, key).write_text(json.dumps(record))


def warm_up(contender: Contender) -> None:
    """Fit a small table, so that imports are not timed; its classes overlap, because pyGAM needs that."""
    X, _ = TRIAL_ROWS
    contender.make(X).fit(X, np.arange(len(X)) % 2)


def result_path(folder: Path, case: Case, key: str) -> Path:
    """Return where the result of a contender on a case is stored."""
    return folder / f"{case.name}--{key}.json"


def describe_case(case: Case) -> Record:
    table = case.table
    return {
        "case": case.name,
        "table": table.name,
        "task": table.task,
        "half": table.half,
        "rows": len(table.y),
        "columns": table.X.shape[1],
        "classes": len(np.unique(table.y)) if table.task == "classification" else 0,
    }


def measure_case(contender: Contender, case: Case) -> Record:
    """Return the losses and the cost of a contender, or its failure."""
    names = {"name": contender.name, "role": contender.role, "learner": contender.learner}
    try:
        return {**describe_case(case), **names, **measure_splits(contender, case)}
    except Exception as error:  # one case must not end the run; the summary lists the failures
        return {**describe_case(case), **names, "failure": f"{type(error).__name__}: {error}"}


def measure_splits(contender: Contender, case: Case) -> Record:
    """Fit all splits, then predict all of them."""
    table = case.table
    fits = [fit_split(contender, case, train) for train, _ in case.splits]
    start = time.process_time()
    answers = [
        predict(model, table.task, table.X.iloc[test])
        for (model, _), (_, test) in zip(fits, case.splits, strict=True)
    ]
    predicting = (time.process_time() - start) / len(fits)
    losses = [
        split_losses(table, test, answer) | deviation_losses(case, test, answer, deviations)
        for (answer, deviations), (_, test) in zip(answers, case.splits, strict=True)
    ]
    costs = [cost for _, cost in fits]
    return {
        "losses": relate_to_mean(case, {name: [each[name] for each in losses] for name in losses[0]}),
        "seconds": float(np.median([cost["processor"] for cost in costs])),
        "clock seconds": float(np.median([cost["clock"] for cost in costs])),
        "predict seconds": predicting,
        "memory": max(cost["memory"] for cost in costs),
        **(judge_probabilities(case, [answer for answer, _ in answers]) if LOG_LOSS in losses[0] else {}),
    }


def relate_to_mean(case: Case, losses: dict[str, list[float]]) -> dict[str, list[float]]:
    """Replace squared errors by their ratio to those of the training mean on the same test rows.

    The variance of all rows suits all folds together only: when some of the folds are measured, the outliers
    of a skewed label are among their test rows or not.
    """
    if SQUARED_ERRORS not in losses:
        return losses
    y = case.table.y
    means = [
        split_losses(case.table, test, np.full(len(test), y[train].mean()))[SQUARED_ERRORS]
        for train, test in case.splits
    ]
    ratios = [loss / float(np.mean(means)) for loss in losses[SQUARED_ERRORS]]
    return {RELATIVE_ERRORS: ratios, **{k: v for k, v in losses.items() if k != SQUARED_ERRORS}}


def fit_split(contender: Contender, case: Case, train: Any) -> tuple[Any, dict[str, float]]:
    """Return the model of a training part and what it cost."""
    X, y = case.table.X.iloc[train], case.table.y[train]
    model = contender.make(case.table.X)
    release_memory()
    Path("/proc/self/clear_refs").write_text("5")
    resident = read_status("VmRSS")
    clock, processor = time.perf_counter(), time.process_time()
    model.fit(X, y)
    cost = {"clock": time.perf_counter() - clock, "processor": time.process_time() - processor}
    return model, {**cost, "memory": max(read_status("VmHWM") - resident, 0)}


def predict(model: Any, task: Task, X: Any) -> tuple[Any, Any]:
    """Return probabilities or numbers, and the predictive standard deviations of a model that has them."""
    if task == "classification":
        return np.asarray(model.predict_proba(X)), None
    if "return_std" in inspect.signature(model.predict).parameters:
        numbers, deviations = model.predict(X, return_std=True)
        return np.asarray(numbers), np.asarray(deviations)
    return np.asarray(model.predict(X)), None


def deviation_losses(case: Case, test: Any, answer: Any, deviations: Any) -> dict[str, float]:
    """Return the Gaussian log loss of numbers with deviations, as if the label had variance 1."""
    if deviations is None:
        return {}
    scores = (case.table.y[test] - answer) / deviations
    relative = deviations / np.std(case.table.y)
    return {GAUSSIAN_LOG_LOSS: float(np.mean(0.5 * np.log(2 * np.pi * relative**2) + 0.5 * scores**2))}


def judge_probabilities(case: Case, answers: list[Any]) -> Record:
    """Return the calibration of all predictions, and the log loss of every row of a stated test part."""
    P = np.concatenate(answers)
    codes = np.concatenate([class_codes(case.table.y)[test] for _, test in case.splits])
    facts: Record = {
        "calibration error": expected_calibration_error(P, codes),
        "temperature": fit_temperature(P, codes),
    }
    if case.has_stated_split:
        losses = -np.log(np.maximum(P[np.arange(len(P)), codes], MIN_PROBABILITY))
        facts["row losses"] = losses.round(5).tolist()
    return facts


if __name__ == "__main__":
    main()
