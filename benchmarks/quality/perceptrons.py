"""Accuracy of perceptrons on real data and under label noise, compared with scikit-learn.

The last, lazy, averaged and voted hypotheses come from one recorded run. All learners get the same matrix;
one table row has weigh on the raw texts. SMS spam has no official split: seed k tests on the k-th of five
stratified folds. The other datasets have a split, so a seed changes only the order of their rows.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.data import A9A, A9A_TEST, LabelledTexts, newsgroup_folders, read_folder, read_sms
from benchmarks.job import CORES, DATA
from benchmarks.results import format_markdown_table

EPOCHS = (1, 2, 5, 10)
SEEDS = 5
BEST_SGD = "SGDClassifier(average=True), loss and all chosen"
LOSSES = ("perceptron", "hinge", "log_loss")

LearnerFactory = Callable[..., Any]  # takes random_state and max_iter
SplitAndTexts = tuple["TrainTestSplit", tuple[LabelledTexts, LabelledTexts] | None]


@dataclass
class AccuracyRecord:
    """Accuracies by learner and number of epochs, one per seed, and the selected settings."""

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
        """Return the accuracies by seed at the best number of epochs."""
        return np.array(self.accuracies[name][max(self.epochs, key=lambda epochs: self.mean(name, epochs))])

    def table(self) -> str:
        head = ["", *(f"{n} epoch{'s' if n > 1 else ''}" for n in self.epochs), "chosen, most often first"]
        rows = [
            [name, *(f"{self.mean(name, n):.4f}" for n in self.epochs), _most_frequent(self.settings[name])]
            for name in self.accuracies
        ]
        return format_markdown_table(head, rows)

    def format_leads(self) -> str:
        """Return a sentence with the lead of the averaged runs over the best peer perceptron and SGD."""
        peers = [name for name in self.accuracies if not name.startswith("weigh") and name != BEST_SGD]
        ours = [name for name in self.accuracies if name.startswith("weigh, averaged")]
        leads = [self._format_lead(ours, peer) for peer in (max(peers, key=self.best), BEST_SGD)]
        title = "At everyone's best number of epochs on test, with the standard error over seeds"
        return f"{title}: {'; '.join(leads)}."

    def _format_lead(self, ours: Sequence[str], peer: str) -> str:
        parts = []
        for name in ours:
            leads = self.best_run(name) - self.best_run(peer)
            error = np.std(leads, ddof=1) / np.sqrt(len(leads))
            parts.append(f"{name.removeprefix('weigh, ')} {np.mean(leads):+.4f} ± {error:.4f}")
        return f"beside {peer} ({self.best(peer):.4f}) weigh has {', '.join(parts)}"


def _most_frequent(settings: Sequence[str]) -> str:
    distinct = dict.fromkeys(setting for setting in settings if setting)
    return "; ".join(sorted(distinct, key=settings.count, reverse=True)[:3])


@dataclass(frozen=True)
class Dataset:
    """A dataset: its split by seed, with the texts if it has any, and how many seeds it can afford."""

    title: str
    split: Callable[[int], SplitAndTexts]
    is_split_by_seed: bool = False
    voting_seeds: int = SEEDS  # voting evaluates every hypothesis on every row
    choosing_seeds: int = 1


def peer_grids(split: TrainTestSplit, is_binary: bool) -> dict[str, Mapping[str, LearnerFactory]]:
    """Return the learners besides the recorded run, each with its grid of settings."""
    import weigh

    grids: dict[str, Mapping[str, LearnerFactory]] = {
        "weigh, averaged, margin chosen": margin_perceptrons(split.mean_squared_norm)
    }
    if not is_binary:
        grids["weigh, averaged, one-vs-rest"] = {"": partial(weigh.Perceptron, multiclass="one-vs-rest")}
    sklearn_grid = sklearn_perceptrons()
    grids["Perceptron"] = {"": sklearn_grid["no penalty"]}
    grids["Perceptron, penalty chosen"] = sklearn_grid
    grids["SGDClassifier(loss='perceptron', average=True), chosen"] = sklearn_descents(["perceptron"])
    grids[BEST_SGD] = sklearn_descents(LOSSES)
    return grids


def add_raw_text_run(record: AccuracyRecord, texts: tuple[LabelledTexts, LabelledTexts], seed: int) -> None:
    """Add the accuracies of weigh on the raw texts."""
    import weigh

    train, test = texts
    for epochs in record.epochs:
        learner = weigh.Perceptron(columns=weigh.Text(), random_state=seed, max_iter=epochs)
        predicted = learner.fit(train.texts, train.labels).predict(test.texts)
        record.add("weigh, averaged, from raw text", epochs, float(np.mean(predicted == test.labels)))


def add_recorded_run(record: AccuracyRecord, split: TrainTestSplit, seed: int, *, votes: bool) -> None:
    """Add the hypotheses of one recorded run per number of epochs."""
    hypotheses = HYPOTHESES if votes else HYPOTHESES[:-1]
    for epochs in record.epochs:
        for hypothesis, accuracy in hypothesis_accuracies(
            split, hypotheses, random_state=seed, max_iter=epochs
        ).items():
            record.add(f"weigh, {hypothesis}", epochs, accuracy)


def run_dataset(dataset: Dataset, epochs: Sequence[int], seeds: int) -> AccuracyRecord:
    """Fit every learner with every seed and number of epochs."""
    record = AccuracyRecord(epochs)
    for seed in range(seeds):
        if seed == 0 or dataset.is_split_by_seed:
            split, texts = dataset.split(seed)
            search = SettingSearch(split.validation_split(), dataset.choosing_seeds)
        add_recorded_run(record, split, seed, votes=seed < dataset.voting_seeds)
        if texts is not None:
            add_raw_text_run(record, texts, seed)
        for name, makers in peer_grids(split, len(np.unique(split.y)) == 2).items():
            for n in epochs:
                setting = search.best(makers, n)
                record.add(name, n, split.fit_accuracy(makers[setting], seed, n), setting)
    return record


def vectorise(train: LabelledTexts, test: LabelledTexts, *, weighted: bool) -> TrainTestSplit:
    """Return the texts as word counts, or as unit-length tf-idf vectors."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    vectoriser = TfidfVectorizer(sublinear_tf=True) if weighted else CountVectorizer(dtype=np.float64)
    X = vectoriser.fit_transform(train.texts)
    return TrainTestSplit(X, train.labels, vectoriser.transform(test.texts), test.labels)


def load_datasets(max_rows: int | None) -> Iterator[Dataset]:
    """Yield the datasets, with at most `max_rows` rows per part."""
    sms = read_sms()
    folds = [(sms[a[:max_rows]], sms[b[:max_rows]]) for a, b in sms.folds()]

    def fold(seed: int, *, weighted: bool) -> SplitAndTexts:
        return vectorise(*folds[seed], weighted=weighted), None if weighted else folds[seed]

    parts = [read_folder(folder) for folder in newsgroup_folders()]
    orders = [np.random.default_rng(0).permutation(len(part.texts))[:max_rows] for part in parts]
    train, test = (part[order] for part, order in zip(parts, orders, strict=True))

    def posts(seed: int, *, weighted: bool) -> SplitAndTexts:
        return vectorise(train, test, weighted=weighted), None if weighted else (train, test)

    for name, weighted in (("counts of words", False), ("tf-idf", True)):
        yield Dataset(f"SMS spam, {name}", partial(fold, weighted=weighted), True, choosing_seeds=3)
    for name, weighted in (("counts of words", False), ("tf-idf", True)):
        title = f"20 Newsgroups, {name} (voted: one seed)"
        yield Dataset(title, partial(posts, weighted=weighted), voting_seeds=1)
    split = load_a9a(max_rows)
    yield Dataset("a9a (voted: one seed)", lambda seed: (split, None), voting_seeds=1, choosing_seeds=3)


def load_a9a(max_rows: int | None) -> TrainTestSplit:
    from sklearn.datasets import load_svmlight_file

    parts: list[Any] = []
    for name in (A9A, A9A_TEST):
        with lzma.open(DATA / name) as file:
            X, y = load_svmlight_file(file, n_features=123)
        parts += [X[:max_rows], y[:max_rows]]
    return TrainTestSplit(*parts)


def dataset_tables(quick: bool) -> str:
    """Return a table for each dataset."""
    epochs, seeds, max_rows = (EPOCHS[:2], 2, 600) if quick else (EPOCHS, SEEDS, None)
    parts = []
    for dataset in load_datasets(max_rows):
        record = run_dataset(dataset, epochs, seeds)
        parts.append(f"{dataset.title}; accuracy on test, mean of {seeds} seeds")
        parts += [record.table(), record.format_leads()]
    return "\n\n".join(parts)


MARGINS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # as multiples of the mean squared norm of a row
HYPOTHESES = ("last", "lazy", "averaged", "voted")
PENALTY_STRENGTHS = (1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class TrainTestSplit:
    """Training rows and test rows, the same matrices for all learners."""

    X: Any
    y: npt.NDArray[Any]
    X_new: Any
    y_new: npt.NDArray[Any]

    def validation_split(self) -> TrainTestSplit:
        """Return a stratified split of the training rows with a fifth of them for validation."""
        from sklearn.model_selection import train_test_split

        indices = np.arange(len(self.y))
        train, validation = train_test_split(indices, test_size=0.2, random_state=0, stratify=self.y)
        return TrainTestSplit(self.X[train], self.y[train], self.X[validation], self.y[validation])

    def accuracy(self, model: Any) -> float:
        return float(np.mean(model.predict(self.X_new) == self.y_new))

    def fit_accuracy(self, maker: LearnerFactory, seed: int, epochs: int) -> float:
        """Fit for `epochs` epochs and return the accuracy on the test rows."""
        return self.accuracy(maker(random_state=seed, max_iter=epochs).fit(self.X, self.y))

    @property
    def mean_squared_norm(self) -> float:
        """The mean squared norm of a training row."""
        return float(np.sum(np.square(getattr(self.X, "data", self.X))) / self.X.shape[0])


@dataclass
class SettingSearch:
    """Summed validation accuracies by setting and number of epochs, computed once."""

    split: TrainTestSplit
    seeds: int
    scores: dict[tuple[str, int], float] = field(default_factory=dict)

    def best(self, makers: Mapping[str, LearnerFactory], epochs: int) -> str:
        """Return the setting with the best mean validation accuracy; empty if there is no choice."""
        return max(makers, key=lambda name: self._mean(name, makers[name], epochs)) if len(makers) > 1 else ""

    def _mean(self, name: str, maker: LearnerFactory, epochs: int) -> float:
        key = (name, epochs)
        if key not in self.scores:
            self.scores[key] = sum(self.split.fit_accuracy(maker, seed, epochs) for seed in range(self.seeds))
        return self.scores[key]


def hypothesis_accuracies(
    split: TrainTestSplit, hypotheses: Iterable[str], **settings: Any
) -> dict[str, float]:
    """Return the accuracies of hypotheses of one recorded run."""
    import weigh

    model = weigh.Perceptron(record=True, **settings).fit(split.X, split.y).model_
    return {hypothesis: split.accuracy(model.keep(hypothesis)) for hypothesis in hypotheses}


def margin_perceptrons(mean_squared_norm: float) -> dict[str, partial[Any]]:
    """Return averaged perceptrons by margin, in multiples of the mean squared norm of a row."""
    import weigh

    return {
        f"margin {share:g} · mean ‖x‖²": partial(weigh.Perceptron, margin=share * mean_squared_norm)
        for share in MARGINS
    }


def sklearn_perceptrons() -> dict[str, LearnerFactory]:
    """Return scikit-learn's Perceptron by penalty."""
    from sklearn.linear_model import Perceptron

    make = partial(Perceptron, tol=None, n_jobs=CORES)
    learners: dict[str, LearnerFactory] = {"no penalty": make}
    for penalty in ("l2", "l1"):
        for alpha in PENALTY_STRENGTHS[1:]:
            learners[f"{penalty} {alpha:g}"] = partial(make, penalty=penalty, alpha=alpha)
    return learners


def sklearn_descents(losses: Iterable[str]) -> dict[str, LearnerFactory]:
    """Return scikit-learn's averaged SGDClassifier by loss, learning rate and penalty."""
    from sklearn.linear_model import SGDClassifier

    make = partial(SGDClassifier, average=True, tol=None, n_jobs=CORES)
    learners: dict[str, LearnerFactory] = {}
    for loss in losses:
        if loss == "perceptron":
            constant_rate = partial(make, loss=loss, learning_rate="constant", eta0=1.0)
            learners["perceptron, rate 1, no penalty"] = partial(constant_rate, penalty=None)
            learners["perceptron, rate 1, alpha 1e-06"] = partial(constant_rate, alpha=1e-6)
        for alpha in PENALTY_STRENGTHS:
            learners[f"{loss}, alpha {alpha:g}"] = partial(make, loss=loss, alpha=alpha)
    return learners


NOISE_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3)
NOISE_ROWS, NOISE_DIMENSIONS, NOISE_TEST_ROWS = 10_000, 50, 2_000
NOISE_PASSES, NOISE_SEEDS = 5, 5
MARGIN_HYPOTHESES = ("last", "averaged")

NoiseAccuracies = dict[str, float]


def draw_separable(seed: int, rows: int) -> TrainTestSplit:
    """Return normal rows whose classes a hyperplane through the origin separates."""
    rng = np.random.default_rng([2, seed])
    w = rng.standard_normal(NOISE_DIMENSIONS)
    X = rng.standard_normal((rows + NOISE_TEST_ROWS, NOISE_DIMENSIONS))
    y = (X @ w > 0).astype(np.int64)
    return TrainTestSplit(X[:rows], y[:rows], X[rows:], y[rows:])


def flip_labels(split: TrainTestSplit, rows: Any) -> TrainTestSplit:
    """Return the split with the training labels of `rows` flipped."""
    y = split.y.copy()
    y[rows] = 1 - y[rows]
    return TrainTestSplit(split.X, y, split.X_new, split.y_new)


def select_margin(split: TrainTestSplit, passes: int) -> float:
    """Return the margin with the best accuracy on a validation part of the training rows."""
    makers = margin_perceptrons(split.mean_squared_norm)
    return float(makers[SettingSearch(split.validation_split(), 1).best(makers, passes)].keywords["margin"])


def noise_accuracies(split: TrainTestSplit, margin: float, **settings: Any) -> NoiseAccuracies:
    """Return the accuracies of all hypotheses of a run, and of a run with a margin."""
    plain = hypothesis_accuracies(split, HYPOTHESES, **settings)
    with_margin = hypothesis_accuracies(split, MARGIN_HYPOTHESES, margin=margin, **settings)
    return plain | {f"{hypothesis}, margin chosen": accuracy for hypothesis, accuracy in with_margin.items()}


def format_noise_table(columns: Mapping[str, Sequence[NoiseAccuracies]]) -> str:
    """Return the mean accuracy by hypothesis and column, with the minimum over seeds in brackets."""
    names = next(iter(columns.values()))[0]
    body = []
    for name in names:
        accuracies = [[hits[name] for hits in runs] for runs in columns.values()]
        body.append([name, *(f"{np.mean(values):.4f} ({min(values):.4f})" for values in accuracies)])
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
        for name, data in (("without", split), ("with", flip_labels(split, [rows - 1]))):
            columns[name].append(noise_accuracies(data, margin, max_iter=1, shuffle=False))
    return format_noise_table(columns)


def noise_tables(quick: bool) -> str:
    """Return the tables of random label noise and of a single late error."""
    rows, seeds = (1_000, 2) if quick else (NOISE_ROWS, NOISE_SEEDS)
    data = f"{rows:,} rows of {NOISE_DIMENSIONS} numbers, accuracy on {NOISE_TEST_ROWS:,} rows without noise"
    seeds_note = f"mean of {seeds} seeds, the worst in brackets"
    return "\n\n".join(
        [
            f"Share of wrong labels; {data}; {NOISE_PASSES} shuffled passes; {seeds_note}",
            label_noise_table(rows, seeds),
            f"A wrong label in example {rows:,}, the last; {data}; one pass in order; {seeds_note}",
            late_mistake_table(rows, seeds),
        ]
    )
