"""Run the peers that are libraries as programs, from a CSV file to a saved model and to predictions.

    python -m benchmarks.text_scripts hashing fit train.csv model
    python -m benchmarks.text_scripts hashing predict held-out.csv model predictions.txt

pandas reads with its C engine, the fastest one here, into a list of Python strings. Polars runs its streaming
engine on all cores and tokenises with the regular expression of `CountVectorizer`; removing this corpus's
punctuation and splitting at blanks would be faster, but would not work on other texts. The scikit-learn
pipelines are in `text_peers`.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.text_peers import LEARNERS

ROWS_AT_A_TIME = 20_000
RIVER_PREDICTS = 1_000  # held-out documents; each takes milliseconds


def read_texts(path: Path) -> tuple[list[str], Any]:
    """Read the texts as a list of str and the labels as an array."""
    import pandas as pd

    frame = pd.read_csv(path, engine="c")
    return frame["text"].tolist(), frame["label"].to_numpy(dtype=object)


def fit(name: str, data: Path, model: Path) -> None:
    """Fit a scikit-learn pipeline and save it uncompressed with joblib."""
    learner = LEARNERS[name]()
    if name == "chunks":
        import pandas as pd

        from benchmarks.text_corpus import LABELS

        chunks = pd.read_csv(data, engine="c", chunksize=ROWS_AT_A_TIME)
        learner.fit_in_chunks(chunks, list(LABELS))
    else:
        learner.fit(*read_texts(data))
    import_module("joblib").dump(learner, model)


def predict(name: str, data: Path, model: Path, output: Path) -> None:
    predicted = import_module("joblib").load(model).predict(read_texts(data)[0])
    output.write_text("\n".join(predicted) + "\n")


def count_words(data: Path) -> None:
    """Count the words of every class with Polars, without saving a model."""
    import polars as pl

    words = pl.col("text").str.to_lowercase().str.extract_all(r"\b\w\w+\b")
    query = pl.scan_csv(data).select("label", words.alias("word")).explode("word")
    query.group_by("label", "word").len().collect(engine="streaming")


def run_river(data: Path, held_out: Path) -> None:
    """Learn document by document with river; print seconds and accuracy. Imports are not timed."""
    import csv

    extraction, bayes = import_module("river.feature_extraction"), import_module("river.naive_bayes")

    def rows(path: Path) -> list[dict[str, str]]:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    train, new = rows(data), rows(held_out)[:RIVER_PREDICTS]
    model = extraction.BagOfWords(lowercase=True) | bayes.MultinomialNB()
    start = time.perf_counter()
    for row in train:
        model.learn_one(row["text"], row["label"])
    learned = time.perf_counter()
    hits = sum(model.predict_one(row["text"]) == row["label"] for row in new)
    facts = {"fit": learned - start, "predict": time.perf_counter() - learned, "hits": hits / len(new)}
    print(json.dumps(facts))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text_scripts")
    parser.add_argument("name", choices=[*LEARNERS, "polars", "river"])
    parser.add_argument("action", choices=["fit", "predict"])
    parser.add_argument("files", type=Path, nargs="+")
    args = parser.parse_args()
    if args.name == "polars":
        count_words(*args.files)
    elif args.name == "river":
        run_river(*args.files)
    elif args.action == "fit":
        fit(args.name, *args.files)
    else:
        predict(args.name, *args.files)


if __name__ == "__main__":
    main()
