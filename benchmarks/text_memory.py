"""Time one fit, or the predictions of several models, on texts in memory; print JSON.

python -m benchmarks.text_memory fit hashing train.csv [held-out.csv]
python -m benchmarks.text_memory predict held-out.csv NAME=MODEL ...
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.harness import TimedCall, measure_peak_growth, time_in_turns
from benchmarks.text_peers import BUCKETS, CORES, LEARNERS, LOSSES, PASSES

WARM_UP_DOCUMENTS = 1_000
SGD_PIPELINE = "HashingVectorizer + SGDClassifier"
SHORT_TEXT_LENGTH = 80  # characters
N_SINGLE_TEXTS, ROUNDS = 200, 5


def read_texts(path: Path) -> tuple[list[str], list[str]]:
    import pyarrow.csv as pc

    table = pc.read_csv(path)
    return table["text"].to_pylist(), table["label"].to_pylist()


def make_naive_bayes(threads: int | None = None, **settings: Any) -> Any:
    import weigh

    return weigh.NaiveBayes(columns=weigh.Text(**settings), threads=threads)


def make_perceptron(passes: int) -> Any:
    import weigh

    return weigh.Perceptron(columns=weigh.Text(buckets=BUCKETS), max_iter=passes)


def online_fitters() -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return perceptrons and their peers by number of passes."""
    fitters: dict[str, tuple[str, Callable[[], Any]]] = {}
    for number in PASSES:
        passes = f"{number} pass{'es' if number > 1 else ''}"
        name = f"weigh, perceptron, 2^20 buckets, {passes}"
        fitters[f"weigh-perceptron-{number}"] = (name, partial(make_perceptron, number))
        for loss in LOSSES:
            key = f"{loss}-{number}"
            fitters[key] = (f"scikit-learn, {SGD_PIPELINE}, {loss}, {passes}", LEARNERS[key])
    return fitters


FITTERS: dict[str, tuple[str, Callable[[], Any]]] = {
    "weigh-hashed": ("weigh, 2^20 buckets", partial(make_naive_bayes, buckets=BUCKETS)),
    "weigh-hashed-1": ("weigh, 2^20 buckets, 1 thread", partial(make_naive_bayes, 1, buckets=BUCKETS)),
    "weigh-exact": ("weigh, exact", make_naive_bayes),
    "hashing": ("scikit-learn, HashingVectorizer + MultinomialNB", LEARNERS["hashing"]),
    "halved": (f"the same, hashing in {CORES} processes (memory: without theirs)", LEARNERS["halved"]),
    "counting": ("scikit-learn, CountVectorizer + MultinomialNB", LEARNERS["counting"]),
    **online_fitters(),
}


def measure_fit(name: str, path: Path, held_out: Path | None = None) -> dict[str, float]:
    """Measure the seconds and the added memory of one fit, after a warm-up on the first documents.

    With held-out documents the result includes the accuracy on them.
    """
    make = FITTERS[name][1]
    seconds = []
    models: list[Any] = []

    def work(data: tuple[list[str], list[str]]) -> object:
        start = time.perf_counter()
        fitted = make().fit(*data)
        seconds.append(time.perf_counter() - start)
        if data is not warm:
            # A model kept from the warm-up would count as memory used before.
            models.append(fitted)
        return fitted

    texts, labels = read_texts(path)
    warm = texts[:WARM_UP_DOCUMENTS], labels[:WARM_UP_DOCUMENTS]
    del texts, labels
    memory = measure_peak_growth(lambda: read_texts(path), work, warm)
    result = {"seconds": seconds[-1], "peak": memory["before"] + memory["growth"], "growth": memory["growth"]}
    if held_out is not None:
        new, true = read_texts(held_out)
        hits = sum(a == b for a, b in zip(models[-1].predict(new), true, strict=True))
        result["accuracy"] = hits / len(true)
    return result


def load_model(path: Path) -> Any:
    if path.suffix == ".weigh":
        import weigh

        return weigh.load(path)
    return import_module("joblib").load(path)


def measure_predictions(path: Path, models: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Time predicting all documents at once and one short text at a time, the models in turns."""
    texts, _ = read_texts(path)
    calls = [TimedCall(name, partial(model.predict, texts)) for name, model in models.items()]
    many = {t.name: t.seconds for t in time_in_turns(calls, repeats)}
    short = [text[:SHORT_TEXT_LENGTH].rsplit(" ", 1)[0] for text in texts[:N_SINGLE_TEXTS]]
    single: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(ROUNDS):
        for name, model in models.items():
            single[name] += _time_each(model.predict, short)
    return {"many": many, "single": {name: statistics.median(seconds) for name, seconds in single.items()}}


def _time_each(call: Callable[[list[str]], object], texts: Sequence[str]) -> list[float]:
    seconds = []
    for text in texts:
        start = time.perf_counter()
        call([text])
        seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text_memory")
    parser.add_argument("action", choices=["fit", "predict"])
    parser.add_argument("arguments", nargs="+", help="fit: KEY TRAIN [HELD_OUT]; predict: FILE NAME=MODEL …")
    parser.add_argument("--repeats", type=int, default=3, help="timed repetitions")
    args = parser.parse_args()
    if args.action == "fit":
        name, *paths = args.arguments
        print(json.dumps(measure_fit(name, *map(Path, paths))))
        return
    path, *named = args.arguments
    pairs = [pair.split("=", 1) for pair in named]
    models = {name: load_model(Path(model)) for name, model in pairs}
    print(json.dumps(measure_predictions(Path(path), models, args.repeats)))


if __name__ == "__main__":
    main()
