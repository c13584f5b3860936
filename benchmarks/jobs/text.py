"""Naive Bayes on text, beside scikit-learn, Vowpal Wabbit, fastText, Polars and river.

Vowpal Wabbit runs as `python -m vowpalwabbit`, which takes the options of its program: one pass, squared loss
(its logistic loss is slower and no better here) and one table for all classes, so that `-b 25` has the size
of 20 tables of 2^20. fastText is its own program with one thread per core and one epoch; of the settings
tried (dimensions 10, 20 and 100, rates 0.1 to 2) this one had the best held-out accuracy and took a third of
the defaults' time. Both read preprocessed words, so their times exclude lower-casing and tokenisation.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.corpus import Corpus, CorpusFiles, read_corpus
from benchmarks.data import NEWS, SMS, newsgroup_folders, read_folder
from benchmarks.job import CORES, ROOT, Check, Contender, Job, Quality, Role, Row
from benchmarks.peers.text import BUCKETS, LEARNERS, RiverModel

Command = Sequence[str | Path]
FASTTEXT_OPTIONS = ("-epoch", "1", "-dim", "20", "-lr", "2.0")
SHORT_TEXT_LENGTH = 80  # characters
PACKAGES = ("weigh", "numpy", "pyarrow", "pandas", "scikit-learn")
SIZE = {"megabytes": 300, "classes": 20, "words": 500_000}
QUICK = {"megabytes": 3, "classes": 20, "words": 50_000}
GROW = {"megabytes": 30, "classes": 20, "words": 50_000}
WARM_UP = {"megabytes": 3}


@dataclass(frozen=True)
class Program:
    """A learner as programs from file to model and from model to predictions."""

    name: str
    fit: Callable[[CorpusFiles, Path], Command]
    predict: Callable[[CorpusFiles, Path, Path], Command]
    label: Callable[[str], str] = str.strip
    role: Role = "peer"
    environment: str = "project"
    needs: tuple[str, ...] = ()
    prints: bool = False  # predictions go to standard output

    def model(self, corpus: Corpus) -> Path:
        return corpus.folder / f"model-{corpus.megabytes}-{self.name.replace(' ', '-')}.weigh"

    def output(self, corpus: Corpus) -> Path:
        return Path(f"{self.model(corpus)}.predictions")

    def predict_held_out(self, corpus: Corpus, _: Any = None) -> list[str]:
        """Run the prediction of the held-out documents; return the labels in order."""
        output = self.output(corpus)
        command = [str(part) for part in self.predict(corpus.held_out, self.model(corpus), output)]
        done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
        return self.read_labels(done.stdout if self.prints else output.read_text())

    def read_labels(self, text: str) -> list[str]:
        header = 1 if self.role in ("ours", "variant") else 0
        return [self.label(line) for line in text.splitlines()[header:]]

    def fitting(self) -> Contender:
        """Return the contender from a file to a saved model."""
        return self._contender(
            command=lambda corpus: self.fit(corpus.train, self.model(corpus)), answer=self.predict_held_out
        )

    def predicting(self, part: str) -> Contender:
        """Return the contender that predicts the documents of a part; the model is fitted beforehand."""

        def prepare(corpus: Corpus) -> Corpus:
            command = [str(argument) for argument in self.fit(corpus.train, self.model(corpus))]
            subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
            return corpus

        def read(corpus: Corpus, printed: Path) -> list[str]:
            return self.read_labels((printed if self.prints else self.output(corpus)).read_text())

        return self._contender(
            prepare=prepare,
            command=lambda corpus: self.predict(
                getattr(corpus, part), self.model(corpus), self.output(corpus)
            ),
            answer=read,
        )

    def _contender(self, **fields: Any) -> Contender:
        return Contender(self.name, role=self.role, environment=self.environment, needs=self.needs, **fields)


def weigh_program(name: str, kind: str, *options: str, role: Role = "variant") -> Program:
    weigh = (sys.executable, "-m", "weigh.cli.main")
    return Program(
        name,
        lambda files, model: [
            *weigh, "fit", files.csv, "--label", "label", "--kind", f"text={kind}", *options, "-o", model,
        ],
        lambda files, model, output: [*weigh, "predict", model, files.csv, "-o", output],
        lambda line: line.split(",")[0],
        role,
    )  # fmt: skip


def sklearn_program(name: str, key: str) -> Program:
    script = (sys.executable, "-m", "benchmarks.peers.text", key)
    return Program(
        name,
        lambda files, model: [*script, "fit", files.csv, model],
        lambda files, model, output: [*script, "predict", files.csv, model, output],
    )


def vw_program(bits: int) -> Program:
    vw = (sys.executable, "-m", "vowpalwabbit")
    return Program(
        f"Vowpal Wabbit, -b {bits}",
        lambda files, model: [
            *vw, "--oaa", str(SIZE["classes"]), "-b", str(bits), "-d", files.vw, "-f", model, "--quiet",
        ],
        lambda files, model, output: [*vw, "-t", "-i", model, "-d", files.vw, "-p", output, "--quiet"],
        lambda line: f"class-{int(line):02d}",
        environment="peers",
        needs=("vowpalwabbit",),
    )  # fmt: skip


FASTTEXT = Program(
    f"fastText, {' '.join(FASTTEXT_OPTIONS)}",
    lambda files, model: [
        "fasttext", "supervised", "-input", files.fasttext, "-output", model, "-verbose", "0",
        *FASTTEXT_OPTIONS, "-thread", str(CORES),
    ],
    lambda files, model, output: ["fasttext", "predict", f"{model}.bin", files.fasttext],
    lambda line: line.strip().removeprefix("__label__"),
    needs=("bin/fasttext",),
    prints=True,
)  # fmt: skip
HASHED = f"text:buckets={BUCKETS}"
HASHING, COUNTING = (
    f"scikit-learn, {name} + MultinomialNB" for name in ("HashingVectorizer", "CountVectorizer")
)
PROGRAMS = (
    weigh_program("weigh, 2^20 buckets", HASHED, role="ours"),
    weigh_program("weigh, exact", "text"),
    sklearn_program(HASHING, "hashing"),
    sklearn_program(COUNTING, "counting"),
    sklearn_program("scikit-learn, HashingVectorizer + SGDClassifier", "descent"),
    vw_program(25),
    vw_program(20),
    FASTTEXT,
)
FITTED_ONLY = (
    weigh_program("weigh, 2^20 buckets, 1 thread", HASHED, "--threads", "1"),
    sklearn_program("the same in chunks, partial_fit", "chunks"),
)
POLARS = Contender(
    "Polars, counts only",
    command=lambda corpus: [sys.executable, "-m", "benchmarks.peers.text", "polars", "fit", corpus.train.csv],
    role="floor",
)


def accuracy(corpus: Corpus, predicted: Sequence[str]) -> Mapping[str, float]:
    """Return the accuracy on the held-out documents, or on the training documents if they were predicted."""
    labels = corpus.held_out.read()[1]
    labels = labels if len(labels) == len(predicted) else corpus.train.read()[1]
    return {"accuracy": sum(a == b for a, b in zip(predicted, labels, strict=True)) / len(labels)}


@dataclass(frozen=True)
class TextLists:
    """Training and held-out texts and labels, in memory."""

    texts: list[str]
    labels: list[str]
    held_out: list[str]
    held_out_labels: list[str]

    @property
    def short_texts(self) -> list[str]:
        return [text[:SHORT_TEXT_LENGTH].rsplit(" ", 1)[0] for text in self.held_out[:200]]


def read_lists(**size: int) -> TextLists:
    corpus = read_corpus(**size)
    return TextLists(*corpus.train.read(), *corpus.held_out.read())


def list_accuracy(lists: TextLists, predicted: Sequence[str]) -> Mapping[str, float]:
    hits = sum(a == b for a, b in zip(predicted, lists.held_out_labels, strict=False))
    return {"accuracy": hits / len(predicted)}


def make_naive_bayes(threads: int | None = None, **settings: Any) -> Any:
    import weigh

    return weigh.NaiveBayes(columns=weigh.Text(**settings), threads=threads)


def fit_lists(name: str, make: Callable[[], Any], **fields: Any) -> Contender:
    """Return the contender from lists in memory to a fitted model."""
    return Contender(
        name,
        lambda lists: make().fit(lists.texts, lists.labels),
        answer=lambda lists, model: model.predict(lists.held_out),
        **fields,
    )


def predict_lists(name: str, make: Callable[[], Any], one_by_one: bool, role: Role) -> Contender:
    """Return the contender that predicts held-out texts at once, or short texts one by one."""

    def run(pair: tuple[Any, TextLists]) -> Any:
        model, lists = pair
        if one_by_one:
            return [model.predict([text])[0] for text in lists.short_texts]
        return model.predict(lists.held_out)

    def prepare(lists: TextLists) -> tuple[Any, TextLists]:
        return make().fit(lists.texts, lists.labels), lists

    return Contender(name, run, role=role, prepare=prepare)


BAYES_LEARNERS: dict[str, tuple[Callable[[], Any], Role]] = {
    "weigh, 2^20 buckets": (partial(make_naive_bayes, buckets=BUCKETS), "ours"),
    "weigh, exact": (make_naive_bayes, "variant"),
    HASHING: (LEARNERS["hashing"], "peer"),
    COUNTING: (LEARNERS["counting"], "peer"),
}


def fit_folder(folders: tuple[Path, Path]) -> Any:
    import weigh

    return weigh.NaiveBayes().fit(weigh.open(folders[0], encoding="latin-1"))


def fit_folder_peer(folders: tuple[Path, Path]) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    data = read_folder(folders[0])
    return make_pipeline(CountVectorizer(), MultinomialNB()).fit(data.texts, data.labels)


def folder_accuracy(folders: tuple[Path, Path], model: Any) -> Mapping[str, float]:
    test = read_folder(folders[1])
    return {"test accuracy": float((model.predict(test.texts) == test.labels).mean())}


def real_tables(quick: bool) -> str:
    from benchmarks.quality.texts import real_text_tables

    return real_text_tables(quick)


def predict_job(name: str, title: str, contenders: Sequence[Contender], **fields: Any) -> Job:
    return Job(
        f"text.c.{name}", title, size=SIZE, quick=QUICK, contenders=tuple(contenders),
        check=Check("accuracy", 0.2), keep_alive=False, packages=PACKAGES, repeats=3, **fields,
    )  # fmt: skip


LISTS: dict[str, Any] = {"data": read_lists, "facts": list_accuracy, "grow": {"megabytes": 10, "classes": 20}}
FILES: dict[str, Any] = {"data": read_corpus, "facts": accuracy}
SAME = Check("accuracy", 0.03)
JOBS: list[Row] = [
    Job(
        "text.a", "Texts as a list of str → fitted model", read_lists, SIZE, QUICK,
        (
            *(fit_lists(name, make, role=role) for name, (make, role) in BAYES_LEARNERS.items()),
            fit_lists("weigh, 2^20 buckets, 1 thread", partial(make_naive_bayes, 1, buckets=BUCKETS),
                      role="variant"),
            fit_lists(f"the same, hashing in {CORES} processes (memory: without theirs)", LEARNERS["halved"]),
        ),
        list_accuracy, SAME, GROW, warm_up=WARM_UP, keep_alive=False, repeats=3, packages=PACKAGES,
    ),
    Job(
        "text.b", "File → fitted and saved model, whole process", read_corpus, SIZE, QUICK,
        (*(program.fitting() for program in (*PROGRAMS, *FITTED_ONLY)), POLARS),
        accuracy, Check("accuracy", 0.1), GROW, warm_up=WARM_UP, keep_alive=False, repeats=3,
        packages=PACKAGES,
    ),
    predict_job(
        "memory", "Held-out documents of 1 kB, raw text → labels, models in memory",
        [predict_lists(name, make, False, role) for name, (make, role) in BAYES_LEARNERS.items()], **LISTS,
    ),
    predict_job(
        "single", "200 short texts, one call each, models in memory",
        [predict_lists(name, make, True, role) for name, (make, role) in BAYES_LEARNERS.items()], **LISTS,
    ),
    predict_job(
        "process", "Held-out documents of 1 kB, whole process from file to file",
        [program.predicting("held_out") for program in PROGRAMS], **FILES,
    ),
    predict_job(
        "train", "The training documents, whole process from file to file",
        [p.predicting("train") for p in PROGRAMS if "scikit-learn" not in p.name], **FILES, grow=GROW,
    ),
    Quality("text.f.accuracy", "Real texts: the official split of 20 Newsgroups and SMS spam", real_tables,
            (NEWS, SMS), packages=PACKAGES),
    Job(
        "text.f.folder", "20 Newsgroups, folder of files → fitted model", newsgroup_folders, {}, {},
        (Contender("weigh", fit_folder, role="ours"),
         Contender("scikit-learn, CountVectorizer + MultinomialNB", fit_folder_peer)),
        folder_accuracy, Check("test accuracy", 1e-3), files=(NEWS,), repeats=3, packages=PACKAGES,
    ),
    Job(
        "text.g", "Texts as a list of str → fitted model, beside a learner of one document at a time",
        read_lists, {**SIZE, "megabytes": 3}, QUICK,
        (fit_lists("weigh, exact", make_naive_bayes, role="ours"),
         fit_lists("river, BagOfWords | MultinomialNB", RiverModel, environment="peers", needs=("river",))),
        list_accuracy, Check("accuracy", 0.02), {"megabytes": 1}, repeats=3, packages=PACKAGES,
    ),
]  # fmt: skip
