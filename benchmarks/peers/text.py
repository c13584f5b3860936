"""scikit-learn's text classification pipelines, Polars and river, as calls and as programs.

    python -m benchmarks.peers.text hashing fit train.csv model
    python -m benchmarks.peers.text hashing predict held-out.csv model predictions.txt

Labels are encoded before the learner sees them; counts are float32, which makes the matrix smaller at no
cost in time. `SGDClassifier` gets hashed words with signs and unit length, averages its weights (alpha
1e-6, or 1e-5 for several passes) and uses one thread per core over the classes. With the perceptron loss it
gets plain counts, a learning rate of 1 and no penalty. Of the settings tried for perceptron and hinge loss
on 30 MB (counts and unit length, alpha 1e-4 to 1e-6, for the perceptron also rate 1) these were within
0.001 of the best accuracy on 8,000 held-out documents. pandas reads with its C engine, the fastest one
here, into a list of Python strings. Polars runs its streaming engine on all cores and tokenises with the
regular expression of `CountVectorizer`; removing this corpus's punctuation and splitting at blanks would be
faster, but would not work on other texts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.job import CORES

BUCKETS = 2**20
ROWS_AT_A_TIME = 20_000
LOSSES = ("perceptron", "hinge")  # of SGDClassifier
PASSES = (1, 5)


def hashing_vectoriser() -> Any:
    import numpy as np
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=BUCKETS, alternate_sign=False, norm=None, dtype=np.float32)


def count_vectoriser() -> Any:
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(dtype=np.float32)


def signed_hashing_vectoriser() -> Any:
    import numpy as np
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=BUCKETS, dtype=np.float32)


class ParallelVectoriser:
    """A stateless vectoriser that distributes its texts over one process per core."""

    def __init__(self, vectoriser: Any) -> None:
        self.vectoriser = vectoriser

    def fit_transform(self, texts: list[str]) -> Any:
        import scipy.sparse as sp

        joblib = import_module("joblib")
        chunk_size = -(-len(texts) // CORES)
        parts = [texts[start : start + chunk_size] for start in range(0, len(texts), chunk_size)]
        matrices = joblib.Parallel(CORES)(joblib.delayed(self.vectoriser.transform)(part) for part in parts)
        return sp.vstack(matrices, format="csr")

    def transform(self, texts: list[str]) -> Any:
        return self.vectoriser.transform(texts)


class TextPipeline:
    """A vectoriser, a classifier of sparse rows, and the class names."""

    def __init__(self, vectoriser: Any, learner: Any) -> None:
        self.vectoriser, self.learner = vectoriser, learner
        self.names: Any = None

    def fit(self, texts: list[str], labels: Any) -> TextPipeline:
        import numpy as np
        import pandas as pd

        y, self.names = pd.factorize(np.asarray(labels, dtype=object), sort=True)
        self.learner.fit(self.vectoriser.fit_transform(texts), y)
        return self

    def fit_in_chunks(self, chunks: Iterator[Any], names: list[str]) -> TextPipeline:
        import numpy as np

        self.names = np.array(names, dtype=object)
        codes = {name: k for k, name in enumerate(names)}
        for frame in chunks:
            y = frame["label"].map(codes).to_numpy()
            X = self.vectoriser.transform(frame["text"].tolist())
            self.learner.partial_fit(X, y, classes=range(len(names)))
        return self

    def predict(self, texts: list[str]) -> Any:
        return self.names[self.learner.predict(self.vectoriser.transform(texts))]


def naive_bayes_pipeline(vectoriser: Any) -> TextPipeline:
    from sklearn.naive_bayes import MultinomialNB

    return TextPipeline(vectoriser, MultinomialNB())


def sgd_pipeline(loss: str = "log_loss", passes: int = 1) -> TextPipeline:
    from sklearn.linear_model import SGDClassifier

    settings = {"max_iter": passes, "tol": None, "average": True, "n_jobs": CORES, "random_state": 0}
    if loss == "perceptron":
        constant_rate = {"learning_rate": "constant", "eta0": 1.0, "penalty": None}
        return TextPipeline(hashing_vectoriser(), SGDClassifier(loss=loss, **constant_rate, **settings))
    alpha = 1e-6 if passes == 1 else 1e-5
    return TextPipeline(signed_hashing_vectoriser(), SGDClassifier(loss=loss, alpha=alpha, **settings))


LEARNERS: dict[str, Callable[[], TextPipeline]] = {
    "hashing": lambda: naive_bayes_pipeline(hashing_vectoriser()),
    "halved": lambda: naive_bayes_pipeline(ParallelVectoriser(hashing_vectoriser())),
    "counting": lambda: naive_bayes_pipeline(count_vectoriser()),
    "chunks": lambda: naive_bayes_pipeline(hashing_vectoriser()),
    "descent": sgd_pipeline,
    **{f"{loss}-{passes}": partial(sgd_pipeline, loss, passes) for loss in LOSSES for passes in PASSES},
}


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

        names = sorted(pd.read_csv(data, engine="c", usecols=["label"])["label"].unique())
        learner.fit_in_chunks(pd.read_csv(data, engine="c", chunksize=ROWS_AT_A_TIME), names)
    else:
        learner.fit(*read_texts(data))
    import_module("joblib").dump(learner, model)


def predict(data: Path, model: Path, output: Path) -> None:
    predicted = import_module("joblib").load(model).predict(read_texts(data)[0])
    output.write_text("\n".join(predicted) + "\n")


def count_words(data: Path) -> None:
    """Count the words of every class with Polars, without saving a model."""
    import polars as pl

    words = pl.col("text").str.to_lowercase().str.extract_all(r"\b\w\w+\b")
    query = pl.scan_csv(data).select("label", words.alias("word")).explode("word")
    query.group_by("label", "word").len().collect(engine="streaming")


class RiverModel:
    """river's naive Bayes, which learns one document at a time."""

    def __init__(self) -> None:
        extraction, bayes = import_module("river.feature_extraction"), import_module("river.naive_bayes")
        self.model = extraction.BagOfWords(lowercase=True) | bayes.MultinomialNB()

    def fit(self, texts: list[str], labels: list[str]) -> RiverModel:
        for text, label in zip(texts, labels, strict=True):
            self.model.learn_one(text, label)
        return self

    def predict(self, texts: list[str]) -> list[str]:
        return [self.model.predict_one(text) for text in texts]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.text")
    parser.add_argument("name", choices=[*LEARNERS, "polars"])
    parser.add_argument("action", choices=["fit", "predict"])
    parser.add_argument("files", type=Path, nargs="+")
    args = parser.parse_args()
    if args.name == "polars":
        count_words(*args.files)
    elif args.action == "fit":
        fit(args.name, *args.files)
    else:
        predict(*args.files)


if __name__ == "__main__":
    main()
