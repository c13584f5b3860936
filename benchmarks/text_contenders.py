"""The contenders of the text benchmarks, as command lines from file to model to predictions.

Vowpal Wabbit runs as `python -m vowpalwabbit`, which takes the options of its program: one pass, squared loss
(its logistic loss is slower and no better here) and one table for all classes, so that `-b 25` has the size
of 20 tables of 2^20. fastText is its own program with one thread per core and one epoch; of the settings
tried (dimensions 10, 20 and 100, rates 0.1 to 2) this one had the best held-out accuracy and took a third of
the defaults' time. Both read preprocessed words, so their times exclude lower-casing and tokenisation.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import text_corpus
from benchmarks.harness import ProcessCost, measure_process
from benchmarks.text_corpus import CLASSES, LABELS, CorpusFiles
from benchmarks.text_peers import BUCKETS, CORES

Command = list[str]
FASTTEXT_OPTIONS = ["-epoch", "1", "-dim", "20", "-lr", "2.0"]


@dataclass(frozen=True)
class Contender:
    """A program under comparison: what it needs, its command lines, and how to parse a prediction."""

    name: str
    key: str
    needs: tuple[str, ...]
    fit: Callable[[CorpusFiles, Path], Command]
    predict: Callable[[CorpusFiles, Path, Path], Command] | None = None
    label: Callable[[str], str] = str.strip
    is_ours: bool = False
    prints: bool = False  # predictions go to standard output

    @property
    def missing_packages(self) -> list[str]:
        """The required packages and programs that are not installed."""
        return [need for need in self.needs if not is_installed(need)]


def is_installed(need: str) -> bool:
    """Return whether a Python package, or a program written as `bin/name`, is installed."""
    if need.startswith("bin/"):
        return shutil.which(need.removeprefix("bin/")) is not None
    return importlib.util.find_spec(need) is not None


def _python_command(*arguments: str | Path) -> Command:
    return [sys.executable, "-m", *map(str, arguments)]


def weigh_contender(name: str, key: str, kind: str, *options: str) -> Contender:
    def fit(files: CorpusFiles, model: Path) -> Command:
        kinds = ["--kind", f"text={kind}", *options]
        return _python_command("weigh.cli.main", "fit", files.csv, "--label", "label", *kinds, "-o", model)

    def predict(files: CorpusFiles, model: Path, output: Path) -> Command:
        return _python_command("weigh.cli.main", "predict", model, files.csv, "-o", output)

    return Contender(name, key, ("weigh",), fit, predict, lambda line: line.split(",")[0], is_ours=True)


def script_contender(name: str, key: str, *needs: str) -> Contender:
    def fit(files: CorpusFiles, model: Path) -> Command:
        return _python_command("benchmarks.text_scripts", key, "fit", files.csv, model)

    def predict(files: CorpusFiles, model: Path, output: Path) -> Command:
        return _python_command("benchmarks.text_scripts", key, "predict", files.csv, model, output)

    return Contender(name, key, needs, fit, predict)


def _vw_contender(bits: int) -> Contender:
    def fit(files: CorpusFiles, model: Path) -> Command:
        shape = ["--oaa", str(CLASSES), "-b", str(bits)]
        return _python_command("vowpalwabbit", *shape, "-d", files.vw, "-f", model, "--quiet")

    def predict(files: CorpusFiles, model: Path, output: Path) -> Command:
        return _python_command("vowpalwabbit", "-t", "-i", model, "-d", files.vw, "-p", output, "--quiet")

    def label(line: str) -> str:
        return LABELS[int(line) - 1]

    return Contender(f"Vowpal Wabbit, -b {bits}", f"vw{bits}", ("vowpalwabbit",), fit, predict, label)


def _fasttext_contender() -> Contender:
    def fit(files: CorpusFiles, model: Path) -> Command:
        data = ["-input", str(files.fasttext), "-output", str(model), "-verbose", "0"]
        return ["fasttext", "supervised", *data, *FASTTEXT_OPTIONS, "-thread", str(CORES)]

    def predict(files: CorpusFiles, model: Path, output: Path) -> Command:
        return ["fasttext", "predict", f"{model}.bin", str(files.fasttext)]

    def label(line: str) -> str:
        return line.strip().removeprefix("__label__")

    settings = " ".join(FASTTEXT_OPTIONS)
    name = f"fastText, {settings}"
    return Contender(name, "fasttext", ("bin/fasttext",), fit, predict, label, prints=True)


def _polars_contender() -> Contender:
    def fit(files: CorpusFiles, model: Path) -> Command:
        return _python_command("benchmarks.text_scripts", "polars", "fit", files.csv)

    return Contender("Polars, counts only", "polars", ("polars",), fit)


SKLEARN = ("sklearn", "pandas", "pyarrow", "joblib")
HASHED = weigh_contender("weigh, 2^20 buckets", "weigh-hashed", f"text:buckets={BUCKETS}")
VW25 = _vw_contender(25)
CONTENDERS = (
    HASHED,
    weigh_contender(
        "weigh, 2^20 buckets, 1 thread", "weigh-hashed-1", f"text:buckets={BUCKETS}", "--threads", "1"
    ),
    weigh_contender("weigh, exact", "weigh-exact", "text"),
    script_contender("scikit-learn, HashingVectorizer + MultinomialNB", "hashing", *SKLEARN),
    script_contender("the same in chunks, partial_fit", "chunks", *SKLEARN),
    script_contender("scikit-learn, CountVectorizer + MultinomialNB", "counting", *SKLEARN),
    script_contender("scikit-learn, HashingVectorizer + SGDClassifier", "descent", *SKLEARN),
    VW25,
    _vw_contender(20),
    _fasttext_contender(),
    _polars_contender(),
)


def installed_contenders(peers_only: bool) -> list[Contender]:
    """Return the contenders whose packages are installed."""
    return [c for c in CONTENDERS if not c.missing_packages and not (peers_only and c.is_ours)]


def missing_note() -> str:
    """Return a line about what is not installed; empty if nothing is missing."""
    needs = dict.fromkeys(need for c in CONTENDERS for need in c.needs) | {"river": None}
    missing = [need.removeprefix("bin/") for need in needs if not is_installed(need)]
    return f"Not installed, so left out: {', '.join(missing)}." if missing else ""


def installed_distributions(distributions: Sequence[str]) -> list[str]:
    """Return the distributions that are installed, for the line about versions."""

    def is_available(name: str) -> bool:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return importlib.util.find_spec(name) is not None
        return True

    return [name for name in distributions if is_available(name)]


WARM_UP_MEGABYTES = 3  # also the size for river


@dataclass
class TextBench:
    """The arguments of a run, its files, and the models fitted so far."""

    args: argparse.Namespace
    fitted_keys: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.folder: Path = self.args.work
        self.size: int = self.args.size
        self.contenders = installed_contenders(self.args.peers)
        self.models: Path = self.folder / f"models-{self.size}"

    def corpus_files(self) -> tuple[text_corpus.CorpusFiles, text_corpus.CorpusFiles]:
        return text_corpus.ensure_corpus(self.folder, self.size)

    def warm_up_files(self) -> text_corpus.CorpusFiles:
        return text_corpus.ensure_corpus(self.folder, WARM_UP_MEGABYTES)[0]

    def model_path(self, contender: Contender) -> Path:
        self.models.mkdir(exist_ok=True)
        return self.models / f"{contender.key}{'.weigh' if contender.is_ours else ''}"

    def fit(
        self, contender: Contender, files: text_corpus.CorpusFiles, model: Path | None = None
    ) -> ProcessCost:
        model = model or self.model_path(contender)
        return measure_process(contender.fit(files, model), Path(f"{model}.out"))

    def ensure_model(self, contender: Contender) -> None:
        """Fit the model unless this run has; a peer's model from an earlier run is reused."""
        is_saved = not contender.is_ours and self._marker_path(contender).exists()
        if contender.key not in self.fitted_keys and not is_saved:
            self.fit(contender, self.corpus_files()[0])
            self.mark_fitted(contender)

    def mark_fitted(self, contender: Contender) -> None:
        """Record that this run has fitted the model."""
        self.fitted_keys.add(contender.key)
        self._marker_path(contender).touch()

    def warm_up(self, contender: Contender) -> ProcessCost:
        """Fit the first megabytes and discard the model."""
        return self.fit(contender, self.warm_up_files(), self.folder / f"warm-{contender.key}.weigh")

    def predict(
        self, contender: Contender, files: text_corpus.CorpusFiles | None = None
    ) -> tuple[ProcessCost, list[str]]:
        """Predict documents, by default the held-out ones; return the cost and the labels in order."""
        assert contender.predict is not None
        output = Path(f"{self.model_path(contender)}.predictions")
        printed = Path(f"{output}.out")
        files = files or self.corpus_files()[1]
        run = measure_process(contender.predict(files, self.model_path(contender), output), printed)
        lines = (printed if contender.prints else output).read_text().splitlines()
        first = 1 if contender.is_ours else 0  # weigh writes a header
        return run, [contender.label(line) for line in lines[first:]]

    def _marker_path(self, contender: Contender) -> Path:
        return Path(f"{self.model_path(contender)}.done")


def fill_page_cache(path: Path) -> None:
    """Read a file once to bring it into the page cache."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 24):
            pass
