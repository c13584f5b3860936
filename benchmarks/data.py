"""The data of the rows: synthetic tables and sparse rows of any size, and the real data in DATA.

Everything is reproducible from a seed. Real data is unpacked into WORK, which also keeps what takes long to
make.
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.job import DATA, WORK

LEVELS = {"size": 3, "region": 5, "month": 12, "state": 50, "product": 300, "customer": 10_000}
NUMBERS = ("amount", "weight", "height", "delay", "score", "rate")
N_COLUMNS = len(LEVELS) + len(NUMBERS)
LABEL = "label"
MISSING_SHARE = 0.05

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


def _level_probabilities(rng: np.random.Generator, n_levels: int, n_classes: int) -> Floats:
    """Return one row of level probabilities per class; columns of many levels follow a Zipf-like law."""
    skew = 1.0 if n_levels >= 1_000 else 0.3
    base = -skew * np.log(np.arange(1, n_levels + 1))
    logits = base + 0.4 * rng.standard_normal((n_classes, n_levels))
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _draw_levels(rng: np.random.Generator, p: Floats, y: Codes) -> Codes:
    """Draw one level per row by inverting the cumulative probabilities of the row's class."""
    u = rng.random(len(y))
    codes = np.empty(len(y), dtype=np.int64)
    for k, row in enumerate(np.cumsum(p, axis=1)):
        in_class = y == k
        codes[in_class] = np.searchsorted(row, u[in_class] * row[-1], side="right")
    return np.asarray(np.minimum(codes, p.shape[1] - 1))


def make_mixed_table(rows: int, features: int, classes: int, part: int = 0) -> Any:
    """Return an Arrow table of strings and numbers; another part has new rows of the same distribution.

    Six string columns with 3, 5, 12, 50, 300 and 10,000 levels (the last one skewed) and six numeric
    columns with 5 % missing values, repeated until there are `features` columns. Every column depends on
    the class, and only on the class: naive Bayes is the right model, and a low accuracy reveals a wrong
    fit.
    """
    import pyarrow as pa

    distribution = np.random.default_rng([0, classes])
    rng = np.random.default_rng([0, classes, part + 1])
    y = rng.choice(classes, size=rows, p=distribution.dirichlet(np.full(classes, 5.0)))
    columns: dict[str, Any] = {}
    for suffix in [""] + [f"-{k}" for k in range(1, features // N_COLUMNS)]:
        for name, n_levels in LEVELS.items():
            codes = _draw_levels(rng, _level_probabilities(distribution, n_levels, classes), y)
            names = pa.array([f"{name}-{i:05d}" for i in range(n_levels)])
            columns[name + suffix] = names.take(pa.array(codes))
        for name in NUMBERS:
            mean, spread = distribution.normal(0.0, 0.3, classes), distribution.uniform(0.7, 1.4, classes)
            values = 100.0 + 15.0 * (mean[y] + spread[y] * rng.standard_normal(rows))
            columns[name + suffix] = pa.array(values, mask=rng.random(rows) < MISSING_SHARE)
    columns[LABEL] = pa.array([f"class-{k}" for k in range(classes)]).take(pa.array(y))
    return pa.table(columns)


@dataclass(frozen=True)
class MixedTable:
    """A pandas frame, and new rows of the same distribution."""

    frame: Any
    new: Any

    @property
    def categories(self) -> list[str]:
        return [name for name in self.frame.columns if name.split("-")[0] in LEVELS]

    @property
    def numbers(self) -> list[str]:
        return [name for name in self.frame.columns if name.split("-")[0] in NUMBERS]


def read_mixed(storage: str, rows: int, features: int, classes: int) -> MixedTable:
    """Return the table as a pandas frame, made on first use.

    `storage` "str" is pandas 3's default for strings (Arrow-backed), "object" uses Python strings.
    """
    import pandas as pd
    import pyarrow.feather as feather

    frames = []
    for part, n in enumerate((rows, min(rows, 100_000))):
        path = WORK / "mixed" / f"{n}-{features}-{classes}-{part}.arrow"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            table = make_mixed_table(n, features, classes, part)
            feather.write_feather(table, str(path), compression="uncompressed")
        frames.append(pd.read_feather(path))
    if storage == "object":
        strings = [name for name in frames[0].columns if name.split("-")[0] not in NUMBERS]
        frames = [frame.astype(dict.fromkeys(strings, object)) for frame in frames]
    return MixedTable(*frames)


ADULT = "adult/train.csv"
ADULT_TEST = "adult/test.csv"
ADULT_LABEL = "income"
ADULT_NUMBERS = [
    "age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week",
]  # fmt: skip
ADULT_CATEGORIES = [
    "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex",
    "native_country",
]  # fmt: skip


def read_adult(path: Path, rows: int | None = None) -> tuple[Any, Any]:
    """Read the features and the 0/1 labels; engine="pyarrow" is no faster on a file of 3.5 MB."""
    import pandas as pd

    frame = pd.read_csv(path, nrows=rows)
    return frame, (frame.pop(ADULT_LABEL) == ">50K").to_numpy(dtype=np.int64)


def first_lines(path: Path, rows: int) -> Path:
    """Return a CSV file with the first rows of another, written on first use."""
    target = WORK / f"{path.stem}-{rows}.csv"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        target.write_text("".join(lines[: rows + 1]), encoding="utf-8")
    return target


N_INFORMATIVE_RANGES = 12  # column ranges whose halves depend on the class
LABEL_NOISE = 0.3


@dataclass(frozen=True)
class Rows:
    """Rows as an array or a CSR matrix, and labels −1 and 1 or targets."""

    X: Any
    y: Any


def make_sparse_rows(rows: int, features: int, entries: int = 75, *, with_noise: bool = False) -> Rows:
    """Return rows like bags of words, separable or with 30 % of the labels flipped.

    Entry j of a row is drawn from the j-th of `entries` column ranges that widen geometrically, as in
    Zipf's law: the first columns are frequent and the last ones rare. In some ranges the class decides
    which half is drawn.
    """
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    edges = np.geomspace(4, features, entries + 1).astype(np.int64)
    edges[0] = 0
    edges = np.maximum(edges, 2 * np.arange(entries + 1))
    y = np.where(rng.random(rows) < 0.5, -1, 1).astype(np.int8)
    position = rng.random((rows, entries))
    informative = np.linspace(0, entries - 1, N_INFORMATIVE_RANGES).astype(int)
    position[:, informative] = (position[:, informative] + (y[:, None] > 0)) / 2
    indices = (edges[:-1] + (position * np.diff(edges)).astype(np.int64)).astype(np.int32)
    values = rng.integers(1, 4, rows * entries).astype(np.float64)
    indptr = np.arange(0, rows * entries + 1, entries, dtype=np.int32)
    if with_noise:
        y = np.where(np.random.default_rng(1).random(rows) < LABEL_NOISE, -y, y).astype(np.int8)
    return Rows(sp.csr_matrix((values, indices.ravel(), indptr), shape=(rows, features)), y)


def make_wide_sparse(rows: int, features: int, entries: int = 75) -> Rows:
    """Return text-like sparse rows and noisy targets that depend on 200 columns."""
    X = make_sparse_rows(rows, features, entries).X
    rng = np.random.default_rng(2)
    w = np.zeros(features)
    w[rng.choice(features // 10, 200, replace=False)] = rng.standard_normal(200)
    signal = X @ w
    return Rows(X, np.asarray(signal + 0.5 * signal.std() * rng.standard_normal(rows)))


COLUMN_CORRELATION = 0.5  # correlation of neighbouring columns of the dense tables
INFORMATIVE_SHARE = 0.2  # share of the dense columns with a non-zero weight


def make_dense(rows: int, features: int) -> Rows:
    """Return rows of correlated normal columns with different means; a fifth of them are informative."""
    from scipy.signal import lfilter

    rng = np.random.default_rng(0)
    gain = np.sqrt(1 - COLUMN_CORRELATION**2)
    X = lfilter([gain], [1.0, -COLUMN_CORRELATION], rng.standard_normal((rows, features)), axis=1)
    X += rng.standard_normal(features)
    w = rng.standard_normal(features) * (rng.random(features) < INFORMATIVE_SHARE)
    return Rows(np.ascontiguousarray(X), X @ w + 10.0 * rng.standard_normal(rows))


def make_wide(rows: int, features: int) -> Rows:
    """Return few rows of many normal columns, 50 of them informative, in Fortran order."""
    rng = np.random.default_rng(1)
    X = np.asfortranarray(rng.standard_normal((rows, features)))
    w = np.zeros(features)
    w[rng.choice(features, 50, replace=False)] = rng.standard_normal(50)
    return Rows(X, X @ w + rng.standard_normal(rows))


NEWS = "20news_bydate.tar.xz"
SMS = "sms_spam.tsv"
A9A, A9A_TEST = "a9a.xz", "a9a.t.xz"
MAILS = "spamassassin.tar.xz"
NOVELS = "novels60.tar.xz"
RECORDING = "contdata95.mat"


@dataclass(frozen=True)
class LabelledTexts:
    """Texts and their labels, indexable by row numbers."""

    texts: list[str]
    labels: npt.NDArray[Any]

    def __getitem__(self, indices: Codes) -> LabelledTexts:
        return LabelledTexts([self.texts[i] for i in indices], self.labels[indices])

    def folds(self) -> Iterator[tuple[Codes, Codes]]:
        from sklearn.model_selection import StratifiedKFold

        return iter(StratifiedKFold(5, shuffle=True, random_state=0).split(self.texts, self.labels))


def read_sms() -> LabelledTexts:
    pairs = [line.split("\t", 1) for line in (DATA / SMS).read_text(encoding="utf-8").splitlines()]
    return LabelledTexts([text for _, text in pairs], np.array([label for label, _ in pairs]))


def read_folder(folder: Path) -> LabelledTexts:
    from sklearn.datasets import load_files

    data = load_files(str(folder), encoding="latin-1", shuffle=False)
    return LabelledTexts(data.data, np.array(data.target_names)[data.target])


def unpack(archive: str) -> Path:
    """Return the folder of an archive's files, unpacked on first use."""
    target = WORK / archive.split(".")[0]
    if not target.exists():
        draft = target.with_suffix(".part")
        shutil.rmtree(draft, ignore_errors=True)
        with tarfile.open(DATA / archive) as file:
            file.extractall(draft, filter="data")
        draft.rename(target)
    return target


def newsgroup_folders() -> tuple[Path, Path]:
    """Return the folders of the training and test parts."""
    train, test = (next(unpack(NEWS).glob(f"*-{part}")) for part in ("train", "test"))
    return train, test


@dataclass(frozen=True)
class Mails:
    """The first mails of the SpamAssassin corpus: a folder by label, and lists of their files."""

    folder: Path

    def files(self, label: str) -> list[str]:
        return sorted(str(file) for file in (self.folder / label).iterdir())

    @property
    def options(self) -> list[str]:
        """The folders as options of `weigh mail`."""
        return ["--ham", str(self.folder / "ham"), "--spam", str(self.folder / "spam")]

    def list_file(self, *labels: str) -> Path:
        """Return a file with the paths of the mails with these labels, one per line."""
        path = self.folder / f"{'-'.join(labels)}.list"
        path.write_text("".join(f"{file}\n" for label in labels for file in self.files(label)))
        return path


def read_mails(mails: int) -> Mails:
    """Link every k-th mail of the corpus into a folder of its label, so that `mails` of them are left."""
    folder = WORK / f"mails-{mails}"
    if not folder.exists():
        draft = folder.with_suffix(".part")
        shutil.rmtree(draft, ignore_errors=True)
        files = sorted(path for path in unpack(MAILS).rglob("*") if path.is_file())
        for k in np.linspace(0, len(files) - 1, min(mails, len(files))).astype(int):
            label = "spam" if files[k].parent.name.startswith("spam") else "ham"
            (draft / label).mkdir(parents=True, exist_ok=True)
            (draft / label / f"{files[k].parent.name}-{files[k].name}").hardlink_to(files[k])
        draft.rename(folder)
    return Mails(folder)


@dataclass(frozen=True)
class Novels:
    """Training and held-out novels, sorted by name."""

    training: tuple[Path, ...]
    held_out: tuple[Path, ...]

    @property
    def files(self) -> tuple[Path, ...]:
        return (*self.training, *self.held_out)


def read_novels(novels: int) -> Novels:
    """Return the first novels with a sixth of them, the last ones by name, held out."""
    files = sorted(path for path in unpack(NOVELS).rglob("*.txt") if path.is_file())
    n_held_out = max(novels // 6, 1)
    return Novels(tuple(files[: novels - n_held_out]), tuple(files[-n_held_out:]))
