"""Perceptrons on real data: what of a run predicts best, beside scikit-learn's.

Last, lazy, averaged and voted come from one recorded run. All sides get the same matrix; one row
says what weigh makes of the raw texts by itself. SMS spam has no official split: seed k has the
k-th of five stratified folds as its test part. The others have theirs, and a seed changes the order
of the rows only.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import markdown
from benchmarks.online_choice import KEPT, Choice, Maker, Split, descents, hypotheses, margins, perceptrons
from benchmarks.text_real import NEWS, SMS, Texts, folders, read_folder, read_sms

A9A = "a9a.xz"
EPOCHS = (1, 2, 5, 10)
SEEDS = 5
ANY_LOSS = "SGDClassifier(average=True), loss and all chosen"
LOSSES = ("perceptron", "hinge", "log_loss")


@dataclass
class Course:
    """Accuracies by contestant and number of epochs, one per seed, and the settings that were chosen."""

    epochs: Sequence[int]
    hits: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    settings: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, epochs: int, accuracy: float, setting: str = "") -> None:
        self.hits.setdefault(name, {}).setdefault(epochs, []).append(accuracy)
        self.settings.setdefault(name, []).append(setting)

    def mean(self, name: str, epochs: int) -> float:
        return float(np.mean(self.hits[name][epochs]))

    def best(self, name: str) -> float:
        return max(self.mean(name, epochs) for epochs in self.epochs)

    def best_run(self, name: str) -> npt.NDArray[np.float64]:
        """The accuracies by seed after the number of epochs that was best."""
        return np.array(self.hits[name][max(self.epochs, key=lambda epochs: self.mean(name, epochs))])

    def table(self) -> str:
        head = ["", *(f"{n} epoch{'s' if n > 1 else ''}" for n in self.epochs), "chosen, most often first"]
        rows = [
            [name, *(f"{self.mean(name, n):.4f}" for n in self.epochs), _most_often(self.settings[name])]
            for name in self.hits
        ]
        return markdown(head, rows)

    def verdict(self) -> str:
        """Say how far the averaged runs lead the best of the peers' perceptrons, and their other losses."""
        peers = [name for name in self.hits if not name.startswith("weigh") and name != ANY_LOSS]
        ours = [name for name in self.hits if name.startswith("weigh, averaged")]
        said = [self._leads(ours, peer) for peer in (max(peers, key=self.best), ANY_LOSS)]
        about = "At everyone's best number of epochs on test, with the standard error over seeds"
        return f"{about}: {'; '.join(said)}."

    def _leads(self, ours: Sequence[str], peer: str) -> str:
        parts = []
        for name in ours:
            leads = self.best_run(name) - self.best_run(peer)
            error = np.std(leads, ddof=1) / np.sqrt(len(leads))
            parts.append(f"{name.removeprefix('weigh, ')} {np.mean(leads):+.4f} ± {error:.4f}")
        return f"beside {peer} ({self.best(peer):.4f}) weigh has {', '.join(parts)}"


def _most_often(settings: Sequence[str]) -> str:
    found = dict.fromkeys(setting for setting in settings if setting)
    return "; ".join(sorted(found, key=settings.count, reverse=True)[:3])


@dataclass(frozen=True)
class Case:
    """A collection: its split for every seed, texts if it has any, and what it costs to look at."""

    title: str
    split: Callable[[int], tuple[Split, tuple[Texts, Texts] | None]]
    is_split_by_seed: bool = False
    voting_seeds: int = SEEDS  # every hypothesis decides on every row: dear where there are many
    choosing_seeds: int = 1


def rivals(split: Split, is_binary: bool) -> dict[str, Mapping[str, Maker]]:
    """Return all contestants beside the recorded run, each with the settings it may choose from."""
    import weigh

    found: dict[str, Mapping[str, Maker]] = {"weigh, averaged, margin chosen": margins(split.square)}
    if not is_binary:
        found["weigh, averaged, one-vs-rest"] = {"": partial(weigh.Perceptron, multiclass="one-vs-rest")}
    theirs = perceptrons()
    found["Perceptron"] = {"": theirs["no penalty"]}
    found["Perceptron, penalty chosen"] = theirs
    found["SGDClassifier(loss='perceptron', average=True), chosen"] = descents(["perceptron"])
    found[ANY_LOSS] = descents(LOSSES)
    return found


def from_texts(course: Course, texts: tuple[Texts, Texts], seed: int) -> None:
    """Add what weigh makes of the raw texts."""
    import weigh

    train, test = texts
    for epochs in course.epochs:
        learner = weigh.Perceptron(columns=weigh.Text(), random_state=seed, max_iter=epochs)
        said = learner.fit(train.texts, train.labels).predict(test.texts)
        course.add("weigh, averaged, from raw text", epochs, float(np.mean(said == test.labels)))


def recorded(course: Course, split: Split, seed: int, *, votes: bool) -> None:
    """Add all hypotheses of one recorded run per number of epochs."""
    kept = KEPT if votes else KEPT[:-1]
    for epochs in course.epochs:
        for how, hits in hypotheses(split, kept, random_state=seed, max_iter=epochs).items():
            course.add(f"weigh, {how}", epochs, hits)


def run(case: Case, epochs: Sequence[int], seeds: int) -> Course:
    """Let everyone learn with every seed and number of epochs."""
    course = Course(epochs)
    for seed in range(seeds):
        if seed == 0 or case.is_split_by_seed:
            split, texts = case.split(seed)
            choice = Choice(split.validation(), case.choosing_seeds)
        recorded(course, split, seed, votes=seed < case.voting_seeds)
        if texts is not None:
            from_texts(course, texts, seed)
        for name, makers in rivals(split, len(np.unique(split.y)) == 2).items():
            for n in epochs:
                setting = choice.best(makers, n)
                course.add(name, n, split.hits(makers[setting], seed, n), setting)
    return course


def words(train: Texts, test: Texts, *, weighted: bool) -> Split:
    """Return texts as counts of words, or as their tf-idf of unit length."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    vectoriser = TfidfVectorizer(sublinear_tf=True) if weighted else CountVectorizer(dtype=np.float64)
    X = vectoriser.fit_transform(train.texts)
    return Split(X, train.labels, vectoriser.transform(test.texts), test.labels)


def cases(data: Path, work: Path, most: int | None) -> Iterator[Case]:
    """Yield the collections that are there, with at most so many rows."""
    if (data / SMS).exists():
        sms = read_sms(data / SMS)
        folds = [(sms[a[:most]], sms[b[:most]]) for a, b in sms.folds()]

        def fold(seed: int, *, weighted: bool) -> tuple[Split, tuple[Texts, Texts] | None]:
            return words(*folds[seed], weighted=weighted), None if weighted else folds[seed]

        for name, weighted in (("counts of words", False), ("tf-idf", True)):
            yield Case(f"SMS spam, {name}", partial(fold, weighted=weighted), True, choosing_seeds=3)
    if (data / NEWS).exists():
        parts = [read_folder(folder) for folder in folders(data / NEWS, work)]
        orders = [np.random.default_rng(0).permutation(len(part.texts))[:most] for part in parts]
        train, test = (part[order] for part, order in zip(parts, orders, strict=True))

        def posts(seed: int, *, weighted: bool) -> tuple[Split, tuple[Texts, Texts] | None]:
            return words(train, test, weighted=weighted), None if weighted else (train, test)

        for name, weighted in (("counts of words", False), ("tf-idf", True)):
            title = f"20 Newsgroups, {name} (voted: one seed)"
            yield Case(title, partial(posts, weighted=weighted), voting_seeds=1)
    if (data / A9A).exists():
        split = a9a(data, most)
        yield Case("a9a (voted: one seed)", lambda seed: (split, None), voting_seeds=1, choosing_seeds=3)


def a9a(data: Path, most: int | None) -> Split:
    from sklearn.datasets import load_svmlight_file

    parts: list[Any] = []
    for name in (A9A, A9A.replace("a9a", "a9a.t")):
        with lzma.open(data / name) as file:
            X, y = load_svmlight_file(file, n_features=123)
        parts += [X[:most], y[:most]]
    return Split(*parts)


def job(data: Path, work: Path, *, small: bool) -> str:
    """Return a table for each collection, or a sentence about what is missing."""
    epochs, seeds, most = (EPOCHS[:2], 2, 600) if small else (EPOCHS, SEEDS, None)
    parts = []
    for case in cases(data, work, most):
        course = run(case, epochs, seeds)
        parts.append(f"{case.title}; accuracy on test, mean of {seeds} seeds")
        parts += [course.table(), course.verdict()]
    if absent := [name for name in (SMS, NEWS, A9A) if not (data / name).exists()]:
        parts.append(f"Left out, for --data {data} has no {' and no '.join(absent)}.")
    return "\n\n".join(parts)
