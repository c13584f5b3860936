"""Who takes part in the benchmarks of text, as command lines from file to model to predictions.

Vowpal Wabbit runs as `python -m vowpalwabbit`, which takes the options of its program: one pass,
squared loss (its logistic loss is slower and no better here), one table for all classes, so that
`-b 25` is the size that 20 tables of 2^20 would have. fastText is its own program with a thread
per core and one epoch; of the settings tried (dimensions 10, 20 and 100, rates 0.1 to 2) this one
had the best accuracy on held-out documents and took a third of the defaults' time. Both read
ready-made words, a gift: lower-casing and splitting is not in their time.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus import CLASSES, LABELS, Files
from benchmarks.text_peers import BUCKETS, CORES

Command = list[str]
FASTTEXT = ["-epoch", "1", "-dim", "20", "-lr", "2.0"]


@dataclass(frozen=True)
class Contender:
    """A name, what must be installed, its command lines, and how a line of predictions reads."""

    name: str
    key: str
    needs: tuple[str, ...]
    fit: Callable[[Files, Path], Command]
    predict: Callable[[Files, Path, Path], Command] | None = None
    label: Callable[[str], str] = str.strip
    is_ours: bool = False
    prints: bool = False  # predictions go to standard output

    @property
    def lacks(self) -> list[str]:
        """What it needs and is not there."""
        return [need for need in self.needs if not installed(need)]


def installed(need: str) -> bool:
    """Say whether a Python package can be found, or a program when it is written `bin/name`."""
    if need.startswith("bin/"):
        return shutil.which(need.removeprefix("bin/")) is not None
    return importlib.util.find_spec(need) is not None


def _python(*arguments: str | Path) -> Command:
    return [sys.executable, "-m", *map(str, arguments)]


def ours(name: str, key: str, kind: str, *options: str) -> Contender:
    def fit(files: Files, model: Path) -> Command:
        kinds = ["--kind", f"text={kind}", *options]
        return _python("weigh.cli.main", "fit", files.csv, "--label", "label", *kinds, "-o", model)

    def predict(files: Files, model: Path, output: Path) -> Command:
        return _python("weigh.cli.main", "predict", model, files.csv, "-o", output)

    return Contender(name, key, ("weigh",), fit, predict, lambda line: line.split(",")[0], is_ours=True)


def script(name: str, key: str, *needs: str) -> Contender:
    def fit(files: Files, model: Path) -> Command:
        return _python("benchmarks.text_scripts", key, "fit", files.csv, model)

    def predict(files: Files, model: Path, output: Path) -> Command:
        return _python("benchmarks.text_scripts", key, "predict", files.csv, model, output)

    return Contender(name, key, needs, fit, predict)


def _vw(bits: int) -> Contender:
    def fit(files: Files, model: Path) -> Command:
        shape = ["--oaa", str(CLASSES), "-b", str(bits)]
        return _python("vowpalwabbit", *shape, "-d", files.vw, "-f", model, "--quiet")

    def predict(files: Files, model: Path, output: Path) -> Command:
        return _python("vowpalwabbit", "-t", "-i", model, "-d", files.vw, "-p", output, "--quiet")

    def label(line: str) -> str:
        return LABELS[int(line) - 1]

    return Contender(f"Vowpal Wabbit, -b {bits}", f"vw{bits}", ("vowpalwabbit",), fit, predict, label)


def _fasttext() -> Contender:
    def fit(files: Files, model: Path) -> Command:
        data = ["-input", str(files.fasttext), "-output", str(model), "-verbose", "0"]
        return ["fasttext", "supervised", *data, *FASTTEXT, "-thread", str(CORES)]

    def predict(files: Files, model: Path, output: Path) -> Command:
        return ["fasttext", "predict", f"{model}.bin", str(files.fasttext)]

    def label(line: str) -> str:
        return line.strip().removeprefix("__label__")

    settings = " ".join(FASTTEXT)
    name = f"fastText, {settings}"
    return Contender(name, "fasttext", ("bin/fasttext",), fit, predict, label, prints=True)


def _polars() -> Contender:
    def fit(files: Files, model: Path) -> Command:
        return _python("benchmarks.text_scripts", "polars", "fit", files.csv)

    return Contender("Polars, counts only", "polars", ("polars",), fit)


SKLEARN = ("sklearn", "pandas", "pyarrow", "joblib")
HASHED = ours("weigh, 2^20 buckets", "weigh-hashed", f"text:buckets={BUCKETS}")
VW25 = _vw(25)
ALL = (
    HASHED,
    ours("weigh, 2^20 buckets, 1 thread", "weigh-hashed-1", f"text:buckets={BUCKETS}", "--threads", "1"),
    ours("weigh, exact", "weigh-exact", "text"),
    script("scikit-learn, HashingVectorizer + MultinomialNB", "hashing", *SKLEARN),
    script("the same in chunks, partial_fit", "chunks", *SKLEARN),
    script("scikit-learn, CountVectorizer + MultinomialNB", "counting", *SKLEARN),
    script("scikit-learn, HashingVectorizer + SGDClassifier", "descent", *SKLEARN),
    VW25,
    _vw(20),
    _fasttext(),
    _polars(),
)


def present(peers_only: bool) -> list[Contender]:
    """Return the contenders that can run here."""
    return [c for c in ALL if not c.lacks and not (peers_only and c.is_ours)]


def absence() -> str:
    """Return one line about what is not installed, empty when all is."""
    needs = dict.fromkeys(need for c in ALL for need in c.needs) | {"river": None}
    absent = [need.removeprefix("bin/") for need in needs if not installed(need)]
    return f"Not installed, so left out: {', '.join(absent)}." if absent else ""


def packages(distributions: Sequence[str]) -> list[str]:
    """Return the distributions that are installed, for the line about versions."""

    def there(name: str) -> bool:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return importlib.util.find_spec(name) is not None
        return True

    return [name for name in distributions if there(name)]
