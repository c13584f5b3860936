"""Real texts: 20 Newsgroups (its official split) and SMS spam (five stratified folds).

Both libraries get the same texts, splits and grid of pseudo-counts; the selected one has the best accuracy
in five folds of the training part, which for SMS spam is nested cross-validation. scikit-learn counts words
once per fold for all its learners.
"""

from __future__ import annotations

import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import format_duration, format_markdown_table

GRID = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
FORMS = ("multinomial", "Bernoulli", "complement")
NEWS = "20news_bydate.tar.xz"
SMS = "sms_spam.tsv"

RowIndices = npt.NDArray[np.int64]
Setting = tuple[str, float]
Accuracies = dict[Setting, float]


@dataclass(frozen=True)
class LabelledTexts:
    """Texts and their labels, indexable by row numbers."""

    texts: list[str]
    labels: npt.NDArray[Any]

    def __getitem__(self, indices: RowIndices) -> LabelledTexts:
        return LabelledTexts([self.texts[i] for i in indices], self.labels[indices])

    def folds(self) -> Iterator[tuple[RowIndices, RowIndices]]:
        from sklearn.model_selection import StratifiedKFold

        return iter(StratifiedKFold(5, shuffle=True, random_state=0).split(self.texts, self.labels))


AccuracyFunction = Callable[[LabelledTexts, LabelledTexts, Sequence[Setting]], Accuracies]


def weigh_accuracies(train: LabelledTexts, test: LabelledTexts, settings: Sequence[Setting]) -> Accuracies:
    """Return the test accuracy of weigh under every setting."""
    import weigh

    accuracies = {}
    for form, prior in settings:
        columns = weigh.Text(counts=form != "Bernoulli")
        learner = weigh.NaiveBayes(columns=columns, prior=prior, complement=form == "complement")
        predicted = learner.fit(train.texts, train.labels).predict(test.texts)
        accuracies[form, prior] = float(np.mean(predicted == test.labels))
    return accuracies


def sklearn_accuracies(train: LabelledTexts, test: LabelledTexts, settings: Sequence[Setting]) -> Accuracies:
    """Return the test accuracy of scikit-learn under every setting."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

    learners = {"multinomial": MultinomialNB, "Bernoulli": BernoulliNB, "complement": ComplementNB}
    vectoriser = CountVectorizer()
    X = vectoriser.fit_transform(train.texts)
    X_test = vectoriser.transform(test.texts)
    accuracies = {}
    for form, prior in settings:
        predicted = learners[form](alpha=prior).fit(X, train.labels).predict(X_test)
        accuracies[form, prior] = float(np.mean(predicted == test.labels))
    return accuracies


def select_pseudo_counts(side: AccuracyFunction, train: LabelledTexts) -> dict[str, float]:
    """Return the pseudo-count with the best cross-validated accuracy on `train`, by form of naive Bayes."""
    settings = [(form, prior) for form in FORMS for prior in GRID]
    folds = [side(train[a], train[b], settings) for a, b in train.folds()]
    mean = {setting: np.mean([fold[setting] for fold in folds]) for setting in settings}
    return {form: max(GRID, key=lambda prior: mean[form, prior]) for form in FORMS}


def accuracy_rows(
    name: str, side: AccuracyFunction, splits: Sequence[tuple[LabelledTexts, LabelledTexts]]
) -> list[list[str]]:
    """Return the mean accuracies over the splits with pseudo-count 1 and with the selected ones."""
    default: list[Accuracies] = []
    best: list[tuple[dict[str, float], Accuracies]] = []
    for train, test in splits:
        priors = select_pseudo_counts(side, train)
        settings = {(form, 1.0) for form in FORMS} | set(priors.items())
        hits = side(train, test, sorted(settings))
        default.append(hits)
        best.append((priors, hits))
    rows = []
    for form in FORMS:
        plain = np.mean([hits[form, 1.0] for hits in default])
        tuned = np.mean([hits[form, priors[form]] for priors, hits in best])
        chosen = ", ".join(dict.fromkeys(f"{priors[form]:g}" for priors, _ in best))
        rows.append([f"{name}, {form}", f"{plain:.4f}", f"{tuned:.4f}", chosen])
    return rows


def format_accuracy_table(
    title: str, splits: Sequence[tuple[LabelledTexts, LabelledTexts]], peers_only: bool
) -> str:
    sides: dict[str, AccuracyFunction] = {} if peers_only else {"weigh": weigh_accuracies}
    sides["scikit-learn"] = sklearn_accuracies
    head = ["", "accuracy, pseudo-count 1", "accuracy, chosen", "chosen"]
    body = [row for name, side in sides.items() for row in accuracy_rows(name, side, splits)]
    return f"{title}\n\n{format_markdown_table(head, body)}"


def read_sms(path: Path) -> LabelledTexts:
    pairs = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines()]
    return LabelledTexts([text for _, text in pairs], np.array([label for label, _ in pairs]))


def read_folder(folder: Path) -> LabelledTexts:
    from sklearn.datasets import load_files

    data = load_files(str(folder), encoding="latin-1", shuffle=False)
    return LabelledTexts(data.data, np.array(data.target_names)[data.target])


def unpack_newsgroups(archive: Path, work: Path) -> tuple[Path, Path]:
    """Return the folders of the training and test parts, unpacking the archive on first use."""
    target = work / "20news"
    if not target.exists():
        draft = work / "20news.part"
        with tarfile.open(archive) as file:
            file.extractall(draft, filter="data")
        draft.rename(target)
    train, test = (next(target.glob(f"*-{part}")) for part in ("train", "test"))
    return train, test


def folder_table(train: Path, test: Path, peers_only: bool) -> str:
    """Return the time from a folder of files to a model with all defaults, and its test accuracy."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    def peer() -> tuple[Any, float]:
        start = time.perf_counter()
        data = read_folder(train)
        model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(data.texts, data.labels)
        return model, time.perf_counter() - start

    model, seconds = peer()
    new = read_folder(test)
    body = [
        ["scikit-learn", format_duration(seconds), f"{np.mean(model.predict(new.texts) == new.labels):.4f}"]
    ]
    note = ""
    if not peers_only:
        import weigh

        start = time.perf_counter()
        try:
            fitted = weigh.NaiveBayes().fit(weigh.open(train, encoding="latin-1"))
            seconds = time.perf_counter() - start
            score = fitted.score(weigh.open(test, encoding="latin-1"))
            body.insert(0, ["weigh", format_duration(seconds), f"{score:.4f}"])
        except weigh.errors.WeighError as error:
            note = f"\n\nLeft out because it failed: weigh: {error}"
    head = ["", "folder → model, once, after the files were read", "accuracy"]
    return format_markdown_table(head, body) + note


def real_text_tables(data: Path, work: Path, peers_only: bool) -> str:
    """Return the tables of both collections, and a sentence about missing files."""
    parts = []
    if (data / NEWS).exists():
        train, test = unpack_newsgroups(data / NEWS, work)
        splits = [(read_folder(train), read_folder(test))]
        parts.append(format_accuracy_table("20 Newsgroups, official split", splits, peers_only))
        parts.append(folder_table(train, test, peers_only))
    if (data / SMS).exists():
        sms = read_sms(data / SMS)
        splits = [(sms[a], sms[b]) for a, b in sms.folds()]
        parts.append(format_accuracy_table("SMS spam, means of five folds", splits, peers_only))
    missing = [name for name in (NEWS, SMS) if not (data / name).exists()]
    if missing:
        parts.append(f"Left out because --data {data} has no {' and no '.join(missing)}.")
    return "\n\n".join(parts)
