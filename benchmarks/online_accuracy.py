"""Perceptrons on real data: what of a run predicts best, beside scikit-learn's.

Last, lazy, averaged and voted come from one recorded run. All sides get the same matrix; one row
says what weigh makes of the raw texts by itself. SMS spam has no official split: seed k has the
k-th of five stratified folds as its test part. The others have theirs, and a seed changes the order
of the rows only.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import format_markdown_table
from benchmarks.text_peers import CORES
from benchmarks.text_real import NEWS, SMS, LabelledTexts, read_folder, read_sms, unpack_newsgroups

A9A = "a9a.xz"
EPOCHS = (1, 2, 5, 10)
SEEDS = 5
BEST_SGD = "SGDClassifier(average=True), loss and all chosen"
LOSSES = ("perceptron", "hinge", "log_loss")


@dataclass
class AccuracyRecord:
    """Accuracies by contestant and number of epochs, one per seed, and the settings that were chosen."""

    epochs: Sequence[int]
    accuracies: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    settings: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, epochs: int, accuracy: float, setting: str = "") -> None:
        self.accuracies.setdefault(name, {}).setdefault(epochs, []).append(accuracy)
        self.settings.setdefault(name, []).append(setting)

    def mean(self, name: str, epochs: int) -> float:
        return float(np.mean(self.accuracies[name][epochs]))

    def best(self, name: str) -> float:
        return max(self.mean(name, epochs) for epochs in self.epochs)

    def best_run(self, name: str) -> npt.NDArray[np.float64]:
        """The accuracies by seed after the number of epochs that was best."""
        return np.array(self.accuracies[name][max(self.epochs, key=lambda epochs: self.mean(name, epochs))])

    def table(self) -> str:
        head = ["", *(f"{n} epoch{'s' if n > 1 else ''}" for n in self.epochs), "chosen, most often first"]
        rows = [
            [name, *(f"{self.mean(name, n):.4f}" for n in self.epochs), _most_frequent(self.settings[name])]
            for name in self.accuracies
        ]
        return format_markdown_table(head, rows)

    def format_leads(self) -> str:
        """Say how far the averaged runs lead the best of the peers' perceptrons, and their other losses."""
        peers = [name for name in self.accuracies if not name.startswith("weigh") and name != BEST_SGD]
        ours = [name for name in self.accuracies if name.startswith("weigh, averaged")]
        said = [self._format_lead(ours, peer) for peer in (max(peers, key=self.best), BEST_SGD)]
        about = "At everyone's best number of epochs on test, with the standard error over seeds"
        return f"{about}: {'; '.join(said)}."

    def _format_lead(self, ours: Sequence[str], peer: str) -> str:
        parts = []
        for name in ours:
            leads = self.best_run(name) - self.best_run(peer)
            error = np.std(leads, ddof=1) / np.sqrt(len(leads))
            parts.append(f"{name.removeprefix('weigh, ')} {np.mean(leads):+.4f} ± {error:.4f}")
        return f"beside {peer} ({self.best(peer):.4f}) weigh has {', '.join(parts)}"


def _most_frequent(settings: Sequence[str]) -> str:
    found = dict.fromkeys(setting for setting in settings if setting)
    return "; ".join(sorted(found, key=settings.count, reverse=True)[:3])


@dataclass(frozen=True)
class Dataset:
    """A collection: its split for every seed, texts if it has any, and what it costs to look at."""

    title: str
    split: Callable[[int], tuple[TrainTestSplit, tuple[LabelledTexts, LabelledTexts] | None]]
    is_split_by_seed: bool = False
    voting_seeds: int = SEEDS  # every hypothesis decides on every row: dear where there are many
    choosing_seeds: int = 1


def peer_grids(split: TrainTestSplit, is_binary: bool) -> dict[str, Mapping[str, LearnerFactory]]:
    """Return all contestants beside the recorded run, each with the settings it may choose from."""
    import weigh

    found: dict[str, Mapping[str, LearnerFactory]] = {
        "weigh, averaged, margin chosen": margin_perceptrons(split.mean_squared_norm)
    }
    if not is_binary:
        found["weigh, averaged, one-vs-rest"] = {"": partial(weigh.Perceptron, multiclass="one-vs-rest")}
    theirs = sklearn_perceptrons()
    found["Perceptron"] = {"": theirs["no penalty"]}
    found["Perceptron, penalty chosen"] = theirs
    found["SGDClassifier(loss='perceptron', average=True), chosen"] = sklearn_descents(["perceptron"])
    found[BEST_SGD] = sklearn_descents(LOSSES)
    return found


def add_raw_text_run(course: AccuracyRecord, texts: tuple[LabelledTexts, LabelledTexts], seed: int) -> None:
    """Add what weigh makes of the raw texts."""
    import weigh

    train, test = texts
    for epochs in course.epochs:
        learner = weigh.Perceptron(columns=weigh.Text(), random_state=seed, max_iter=epochs)
        said = learner.fit(train.texts, train.labels).predict(test.texts)
        course.add("weigh, averaged, from raw text", epochs, float(np.mean(said == test.labels)))


def add_recorded_run(course: AccuracyRecord, split: TrainTestSplit, seed: int, *, votes: bool) -> None:
    """Add all hypotheses of one recorded run per number of epochs."""
    kept = HYPOTHESES if votes else HYPOTHESES[:-1]
    for epochs in course.epochs:
        for how, hits in hypothesis_accuracies(split, kept, random_state=seed, max_iter=epochs).items():
            course.add(f"weigh, {how}", epochs, hits)


def run_dataset(case: Dataset, epochs: Sequence[int], seeds: int) -> AccuracyRecord:
    """Let everyone learn with every seed and number of epochs."""
    course = AccuracyRecord(epochs)
    for seed in range(seeds):
        if seed == 0 or case.is_split_by_seed:
            split, texts = case.split(seed)
            choice = SettingSearch(split.validation_split(), case.choosing_seeds)
        add_recorded_run(course, split, seed, votes=seed < case.voting_seeds)
        if texts is not None:
            add_raw_text_run(course, texts, seed)
        for name, makers in peer_grids(split, len(np.unique(split.y)) == 2).items():
            for n in epochs:
                setting = choice.best(makers, n)
                course.add(name, n, split.fit_accuracy(makers[setting], seed, n), setting)
    return course


def vectorise(train: LabelledTexts, test: LabelledTexts, *, weighted: bool) -> TrainTestSplit:
    """Return texts as counts of words, or as their tf-idf of unit length."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    vectoriser = TfidfVectorizer(sublinear_tf=True) if weighted else CountVectorizer(dtype=np.float64)
    X = vectoriser.fit_transform(train.texts)
    return TrainTestSplit(X, train.labels, vectoriser.transform(test.texts), test.labels)


def load_datasets(data: Path, work: Path, most: int | None) -> Iterator[Dataset]:
    """Yield the collections that are there, with at most so many rows."""
    if (data / SMS).exists():
        sms = read_sms(data / SMS)
        folds = [(sms[a[:most]], sms[b[:most]]) for a, b in sms.folds()]

        def fold(
            seed: int, *, weighted: bool
        ) -> tuple[TrainTestSplit, tuple[LabelledTexts, LabelledTexts] | None]:
            return vectorise(*folds[seed], weighted=weighted), None if weighted else folds[seed]

        for name, weighted in (("counts of words", False), ("tf-idf", True)):
            yield Dataset(f"SMS spam, {name}", partial(fold, weighted=weighted), True, choosing_seeds=3)
    if (data / NEWS).exists():
        parts = [read_folder(folder) for folder in unpack_newsgroups(data / NEWS, work)]
        orders = [np.random.default_rng(0).permutation(len(part.texts))[:most] for part in parts]
        train, test = (part[order] for part, order in zip(parts, orders, strict=True))

        def posts(
            seed: int, *, weighted: bool
        ) -> tuple[TrainTestSplit, tuple[LabelledTexts, LabelledTexts] | None]:
            return vectorise(train, test, weighted=weighted), None if weighted else (train, test)

        for name, weighted in (("counts of words", False), ("tf-idf", True)):
            title = f"20 Newsgroups, {name} (voted: one seed)"
            yield Dataset(title, partial(posts, weighted=weighted), voting_seeds=1)
    if (data / A9A).exists():
        split = load_a9a(data, most)
        yield Dataset("a9a (voted: one seed)", lambda seed: (split, None), voting_seeds=1, choosing_seeds=3)


def load_a9a(data: Path, most: int | None) -> TrainTestSplit:
    from sklearn.datasets import load_svmlight_file

    parts: list[Any] = []
    for name in (A9A, A9A.replace("a9a", "a9a.t")):
        with lzma.open(data / name) as file:
            X, y = load_svmlight_file(file, n_features=123)
        parts += [X[:most], y[:most]]
    return TrainTestSplit(*parts)


def dataset_tables(data: Path, work: Path, *, small: bool) -> str:
    """Return a table for each collection, or a sentence about what is missing."""
    epochs, seeds, most = (EPOCHS[:2], 2, 600) if small else (EPOCHS, SEEDS, None)
    parts = []
    for case in load_datasets(data, work, most):
        course = run_dataset(case, epochs, seeds)
        parts.append(f"{case.title}; accuracy on test, mean of {seeds} seeds")
        parts += [course.table(), course.format_leads()]
    if absent := [name for name in (SMS, NEWS, A9A) if not (data / name).exists()]:
        parts.append(f"Left out, for --data {data} has no {' and no '.join(absent)}.")
    return "\n\n".join(parts)


MARGINS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # in mean squared lengths of a row
HYPOTHESES = ("last", "lazy", "averaged", "voted")
PENALTY_STRENGTHS = (1e-4, 1e-5, 1e-6)

LearnerFactory = Callable[..., Any]  # takes random_state and max_iter


@dataclass(frozen=True)
class TrainTestSplit:
    """Rows to learn from and rows to be judged by, as the same matrix for all."""

    X: Any
    y: npt.NDArray[Any]
    X_new: Any
    y_new: npt.NDArray[Any]

    def validation_split(self) -> TrainTestSplit:
        """Return the training rows alone, a fifth of them to be judged by."""
        from sklearn.model_selection import train_test_split

        places = np.arange(len(self.y))
        kept, judged = train_test_split(places, test_size=0.2, random_state=0, stratify=self.y)
        return TrainTestSplit(self.X[kept], self.y[kept], self.X[judged], self.y[judged])

    def accuracy(self, model: Any) -> float:
        return float(np.mean(model.predict(self.X_new) == self.y_new))

    def fit_accuracy(self, maker: LearnerFactory, seed: int, epochs: int) -> float:
        """Return the accuracy of a learner after so many epochs."""
        return self.accuracy(maker(random_state=seed, max_iter=epochs).fit(self.X, self.y))

    @property
    def mean_squared_norm(self) -> float:
        """The mean squared length of a training row."""
        return float(np.sum(np.square(getattr(self.X, "data", self.X))) / self.X.shape[0])


@dataclass
class SettingSearch:
    """What was found on a validation part, by setting and number of epochs."""

    split: TrainTestSplit
    seeds: int
    scores: dict[tuple[str, int], float] = field(default_factory=dict)

    def best(self, makers: Mapping[str, LearnerFactory], epochs: int) -> str:
        """Return the name of the learner with the best mean accuracy."""
        return max(makers, key=lambda name: self._mean(name, makers[name], epochs)) if len(makers) > 1 else ""

    def _mean(self, name: str, maker: LearnerFactory, epochs: int) -> float:
        key = (name, epochs)
        if key not in self.scores:
            self.scores[key] = sum(self.split.fit_accuracy(maker, seed, epochs) for seed in range(self.seeds))
        return self.scores[key]


def hypothesis_accuracies(split: TrainTestSplit, kept: Iterable[str], **settings: Any) -> dict[str, float]:
    """Return the accuracy of several hypotheses of one recorded run."""
    import weigh

    model = weigh.Perceptron(record=True, **settings).fit(split.X, split.y).model_
    return {how: split.accuracy(model.keep(how)) for how in kept}


def margin_perceptrons(square: float) -> dict[str, partial[Any]]:
    """Return averaged perceptrons by their margin, in mean squared lengths of a row."""
    import weigh

    return {
        f"margin {share:g} · mean ‖x‖²": partial(weigh.Perceptron, margin=share * square) for share in MARGINS
    }


def sklearn_perceptrons() -> dict[str, LearnerFactory]:
    """Return scikit-learn's Perceptron, without and with penalties."""
    from sklearn.linear_model import Perceptron

    make = partial(Perceptron, tol=None, n_jobs=CORES)
    found: dict[str, LearnerFactory] = {"no penalty": make}
    for penalty in ("l2", "l1"):
        for alpha in PENALTY_STRENGTHS[1:]:
            found[f"{penalty} {alpha:g}"] = partial(make, penalty=penalty, alpha=alpha)
    return found


def sklearn_descents(losses: Iterable[str]) -> dict[str, LearnerFactory]:
    """Return scikit-learn's SGDClassifier with averaged weights, by loss, rate and penalty."""
    from sklearn.linear_model import SGDClassifier

    make = partial(SGDClassifier, average=True, tol=None, n_jobs=CORES)
    found: dict[str, LearnerFactory] = {}
    for loss in losses:
        if loss == "perceptron":
            steady = partial(make, loss=loss, learning_rate="constant", eta0=1.0)
            found["perceptron, rate 1, no penalty"] = partial(steady, penalty=None)
            found["perceptron, rate 1, alpha 1e-06"] = partial(steady, alpha=1e-6)
        for alpha in PENALTY_STRENGTHS:
            found[f"{loss}, alpha {alpha:g}"] = partial(make, loss=loss, alpha=alpha)
    return found


NOISE_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3)
NOISE_ROWS, NOISE_DIMENSIONS, NOISE_TEST_ROWS = 10_000, 50, 2_000
NOISE_PASSES, NOISE_SEEDS = 5, 5
MARGIN_HYPOTHESES = ("last", "averaged")

NoiseAccuracies = dict[str, float]


def draw_separable(seed: int, rows: int) -> TrainTestSplit:
    """Return rows whose classes a plane tells."""
    rng = np.random.default_rng([2, seed])
    plane = rng.standard_normal(NOISE_DIMENSIONS)
    X = rng.standard_normal((rows + NOISE_TEST_ROWS, NOISE_DIMENSIONS))
    y = (X @ plane > 0).astype(np.int64)
    return TrainTestSplit(X[:rows], y[:rows], X[rows:], y[rows:])


def flip_labels(split: TrainTestSplit, at: Any) -> TrainTestSplit:
    """Return the split with the training labels wrong at some places."""
    y = split.y.copy()
    y[at] = 1 - y[at]
    return TrainTestSplit(split.X, y, split.X_new, split.y_new)


def select_margin(split: TrainTestSplit, passes: int) -> float:
    """Return the margin that is best on a validation part of the training rows."""
    makers = margin_perceptrons(split.mean_squared_norm)
    return float(makers[SettingSearch(split.validation_split(), 1).best(makers, passes)].keywords["margin"])


def noise_accuracies(split: TrainTestSplit, margin: float, **settings: Any) -> NoiseAccuracies:
    """Return the accuracy of all hypotheses of a run, and of a run with a margin."""
    found = hypothesis_accuracies(split, HYPOTHESES, **settings)
    thick = hypothesis_accuracies(split, MARGIN_HYPOTHESES, margin=margin, **settings)
    return found | {f"{how}, margin chosen": hits for how, hits in thick.items()}


def format_noise_table(columns: Mapping[str, Sequence[NoiseAccuracies]]) -> str:
    """Return the mean accuracy by hypothesis and column, with the worst seed in brackets."""
    names = next(iter(columns.values()))[0]
    body = []
    for name in names:
        seen = [[hits[name] for hits in runs] for runs in columns.values()]
        body.append([name, *(f"{np.mean(found):.4f} ({min(found):.4f})" for found in seen)])
    return format_markdown_table(["", *columns], body)


def label_noise_table(rows: int, seeds: int) -> str:
    columns: dict[str, list[NoiseAccuracies]] = {}
    for share in NOISE_SHARES:
        for seed in range(seeds):
            wrong = np.random.default_rng([3, seed]).random(rows) < share
            split = flip_labels(draw_separable(seed, rows), wrong)
            hits = noise_accuracies(
                split, select_margin(split, NOISE_PASSES), max_iter=NOISE_PASSES, random_state=seed
            )
            columns.setdefault(f"{share:.0%}", []).append(hits)
    return format_noise_table(columns)


def late_mistake_table(rows: int, seeds: int) -> str:
    columns: dict[str, list[NoiseAccuracies]] = {"without": [], "with": []}
    for seed in range(seeds):
        split = draw_separable(seed, rows)
        margin = select_margin(split, 1)
        for name, found in (("without", split), ("with", flip_labels(split, [rows - 1]))):
            columns[name].append(noise_accuracies(found, margin, max_iter=1, shuffle=False))
    return format_noise_table(columns)


def noise_tables(*, small: bool) -> str:
    """Return the tables of both kinds of noise."""
    rows, seeds = (1_000, 2) if small else (NOISE_ROWS, NOISE_SEEDS)
    about = f"{rows:,} rows of {NOISE_DIMENSIONS} numbers, accuracy on {NOISE_TEST_ROWS:,} rows without noise"
    told = f"mean of {seeds} seeds, the worst in brackets"
    return "\n\n".join(
        [
            f"Share of wrong labels; {about}; {NOISE_PASSES} shuffled passes; {told}",
            label_noise_table(rows, seeds),
            f"A wrong label in example {rows:,}, the last; {about}; one pass in order; {told}",
            late_mistake_table(rows, seeds),
        ]
    )
