"""Accuracy, error detection and speed of the speller, measured through `weigh spell`."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import (
    ProcessCost,
    ProcessTimings,
    format_markdown_table,
    format_megabytes,
    measure_process,
)

SPELL_COMMAND = [sys.executable, "-m", "weigh.cli.main", "spell"]
SET_LISTS = {
    "golding-schabes": "The eighteen sets of Golding & Schabes",
    "banko-brill": "The ten sets of Banko & Brill",
}
# Precision and recall of the 3-gram rule, from LanguageTool's list of English pairs.
LANGUAGETOOL_FIGURES = {
    ("weather", "whether"): (0.999, 0.759),
    ("whether", "weather"): (1.000, 0.629),
    ("then", "than"): (1.000, 0.928),
    ("than", "then"): (0.998, 0.674),
    ("their", "there"): (0.999, 0.913),
    ("there", "their"): (0.996, 0.945),
    ("affect", "effect"): (0.994, 0.470),
    ("effect", "affect"): (1.000, 0.605),
}
LANGUAGETOOL_SYMMETRIC_FIGURES = {
    ("accept", "except"): (0.997, 0.792),
    ("principal", "principle"): (0.992, 0.360),
    ("peace", "piece"): (0.998, 0.634),
}


def comparison_tables(novels: NovelCorpus) -> str:
    """Return the accuracies of every learner and of the majority word, by confusion set."""
    return "\n\n".join(
        f"{title}: % right\n\n{_comparison_table(novels, name)}" for name, title in SET_LISTS.items()
    )


def _comparison_table(novels: NovelCorpus, sets: str) -> str:
    result = _run_json("compare", *_corpus_arguments(novels), "--sets", sets)
    names = [learner["name"] for learner in result["learners"]]
    rows = [
        ["/".join(row["words"]), f"{row['learned']:,}", f"{row['judged']:,}"]
        + [_format_percent(learner["value"]) for learner in row["learners"]]
        + [f"{size:,}" for size in _feature_counts(row)]
        for row in result["sets"]
    ]
    for title, key in (("mean of the sets", "mean"), ("by occurrence", "by_occurrence")):
        rows.append(
            [title, "", "", *(_format_percent(learner[key]) for learner in result["learners"]), "", "", ""]
        )
    head = ["", "learned", "judged", *names, "features", "of perceptrons", "of memory"]
    gains = ", ".join(
        f"{learner['name']} {100 * learner['gain']:+.1f} ± {100 * learner['gain_error']:.1f}"
        for learner in result["learners"][1:]
    )
    note = (
        f"{result['learned_words']:,} words learned from, {result['judged_words']:,} judged. Points above "
        f"the majority ± standard error over the sets: {gains}."
    )
    return f"{format_markdown_table(head, rows)}\n\n{note}"


def _feature_counts(confusion_set: dict[str, Any]) -> list[int]:
    """Return a set's numbers of features: of the perceptron, of memory, and first of all other learners."""
    sizes = {learner["name"]: learner["features"] for learner in confusion_set["learners"]}
    return [sizes[name] for name in ("logistic", "perceptron", "memory")]


def learning_curve_table(novels: NovelCorpus) -> str:
    """Return the accuracies by size of the training text, and their log-linear fits."""
    result = _run_json("curve", *_corpus_arguments(novels))
    curves = result["learners"]
    rows = [
        [f"{words:,}", *(_format_percent(curve["means"][i]) for curve in curves)]
        for i, words in enumerate(result["words"])
    ]
    rows.append(["± at last", *(_format_percent(curve["errors"][-1]) for curve in curves)])
    for title, key in (("all sizes", "law"), ("last tenfold", "late")):
        laws = [curve[key] for curve in curves]
        gains = [f"{100 * law['b']:+.1f} ± {100 * law['error']:.1f}" for law in laws]
        rows.append([f"points for ten times the text, {title}", *gains])
        rows.append(["R² of this law", *("-" if law["r2"] is None else f"{law['r2']:.3f}" for law in laws)])
    title = f"Mean of the {len(result['sets'])} sets of Banko & Brill, % right, over the words learned from"
    return f"{title}\n\n{format_markdown_table(['words', *(curve['name'] for curve in curves)], rows)}"


def swap_tables(novels: NovelCorpus, seeds: Sequence[int]) -> str:
    """Return precision and recall of the default speller on held-out novels with one word in 200 swapped."""
    head = ["seed", "swapped", "precision", "recall", "alarms per 10,000 clean words"]
    parts = ["One word in 200 swapped inside its set; 95 % intervals"]
    for corpus in (novels, novels.training_split()):
        ensure_speller(corpus)
        table = format_markdown_table(head, [_swap_row(corpus, seed) for seed in seeds])
        parts.append(
            f"Learned from the first {len(corpus.training)} novels, tried on the next {len(corpus.held_out)}:"
        )
        parts.append(table)
    return "\n\n".join(parts)


def _swap_row(novels: NovelCorpus, seed: int) -> list[str]:
    paths = [str(path) for path in novels.held_out]
    result = _run_json("evaluate", *paths, "-m", str(novels.speller), "--seed", str(seed))
    shares = [_format_interval(result[name], 3) for name in ("precision", "recall")]
    alarms = _format_interval(result["alarms_per_10000_words"], 2)
    return [str(seed), f"{result['swapped']:,}", *shares, f"{alarms}, promised {result['promised']:.2f}"]


def direction_table(novels: NovelCorpus) -> str:
    """Return precision and recall by pair, with the figures that LanguageTool publishes."""
    from weigh.apps.spelling.documents import read_documents
    from weigh.apps.spelling.evaluation.directions import evaluate_directions
    from weigh.apps.spelling.speller import Speller

    ensure_speller(novels)
    result = evaluate_directions(Speller.load(novels.speller), read_documents(novels.held_out))
    measured = {(pair.written, pair.meant) for pair in result.pairs}
    rows = []
    for (written, meant), theirs in LANGUAGETOOL_FIGURES.items():
        if (written, meant) not in measured:
            continue
        ours = result[written, meant]
        rows.append(_direction_row(f"{written} → {meant}", ours.wrong, (ours.precision, ours.recall), theirs))
    for (one, other), theirs in LANGUAGETOOL_SYMMETRIC_FIGURES.items():
        if (one, other) not in measured:
            continue
        pairs = [result[one, other], result[other, one]]
        wrong, hits, alarms = (
            sum(counts) for counts in zip(*((p.wrong, p.found, p.alarms) for p in pairs), strict=True)
        )
        precision = hits / (hits + alarms) if hits + alarms else math.nan
        rows.append(_direction_row(f"{one} ↔ {other}", wrong, (precision, hits / wrong), theirs))
    head = ["", "contexts", "precision", "recall", "LanguageTool's precision", "LanguageTool's recall"]
    return f"Each word once written rightly and once wrongly\n\n{format_markdown_table(head, rows)}"


def _direction_row(name: str, n: int, ours: Sequence[float], theirs: Sequence[float]) -> list[str]:
    return [name, f"{n:,}", *("-" if math.isnan(value) else f"{value:.3f}" for value in (*ours, *theirs))]


def ensure_speller(novels: NovelCorpus) -> None:
    """Train the speller on the training novels unless its file exists."""
    if not novels.speller.exists():
        command = [
            *SPELL_COMMAND,
            "learn",
            *(str(path) for path in novels.training),
            "-o",
            str(novels.speller),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _corpus_arguments(novels: NovelCorpus) -> list[str]:
    held_out = [argument for path in novels.held_out for argument in ("--on", str(path))]
    return [*(str(path) for path in novels.training), *held_out]


def _run_json(*command: str | Path) -> dict[str, Any]:
    output = subprocess.run(
        [*SPELL_COMMAND, *map(str, command), "--json"], check=True, stdout=subprocess.PIPE
    ).stdout
    result: dict[str, Any] = json.loads(output)
    return result


def _format_percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _format_interval(measure: dict[str, Any], digits: int) -> str:
    value, low, high = (f"{measure[name]:.{digits}f}" for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


LEARNERS = ("logistic", "naive-bayes", "bernoulli", "perceptron")
EXPECTED_EXIT_CODES = (0, 3)  # with and without suggestions
SENTENCE = "I didn't know weather to laugh or cry.\n"


def speed_tables(novels: NovelCorpus, repeats: int) -> str:
    """Time learning from all novels, checking all novels, and checking one sentence."""
    ensure_speller(novels)
    paths = [str(path) for path in (*novels.training, *novels.held_out)]
    letter = novels.scratch / "letter.txt"
    letter.write_text(SENTENCE)
    learning = {f"weigh spell learn --learner {name}": _learn_call(novels, paths, name) for name in LEARNERS}
    check = [*SPELL_COMMAND, "check", "-m", str(novels.speller)]
    checking = {"weigh spell check": _process_call([*check, *paths], novels.scratch / "checked")}
    single = {"weigh spell check, one sentence": _process_call([*check, str(letter)], novels.scratch / "one")}
    parts = []
    for calls, size in (
        (learning, novels.size_in_bytes()),
        (checking, novels.size_in_bytes()),
        (single, len(SENTENCE)),
    ):
        timings = _time_after_warm_up(calls, repeats)
        files = {
            name: format_megabytes(_speller_file(novels, name).stat().st_size)
            for name in timings.runs
            if calls is learning
        }
        rates = {name: _format_rate(size, runs) for name, runs in timings.runs.items() if calls is not single}
        extra = {head: column for head, column in (("text per second", rates), ("file", files)) if column}
        parts.append(timings.format_table(extra))
    size_text = format_megabytes(novels.size_in_bytes())
    title = f"{len(paths)} novels, {size_text}, whole processes; one round before is not counted"
    return "\n\n".join([title, *parts])


def _time_after_warm_up(calls: dict[str, Callable[[], ProcessCost]], repeats: int) -> ProcessTimings:
    for call in calls.values():
        call()
    return ProcessTimings.run_in_turns(calls, repeats)


def _speller_file(novels: NovelCorpus, name: str) -> Path:
    return novels.scratch / f"{name.split()[-1]}.weigh"


def _learn_call(novels: NovelCorpus, paths: list[str], learner: str) -> Callable[[], ProcessCost]:
    command = [
        *SPELL_COMMAND,
        "learn",
        *paths,
        "--learner",
        learner,
        "-o",
        str(_speller_file(novels, learner)),
    ]
    return _process_call(command, novels.scratch / f"{learner}.said")


def _process_call(command: list[str], output: Path) -> Callable[[], ProcessCost]:
    return lambda: measure_process(command, output, EXPECTED_EXIT_CODES)


def _format_rate(size: int, runs: list[ProcessCost]) -> str:
    return format_megabytes(size / min(run.seconds for run in runs))


N_HELD_OUT = 10
N_SMALL = 12  # novels of --size small, two of them held out


@dataclass(frozen=True)
class NovelCorpus:
    """The training and held-out novels, sorted by name, and a scratch folder."""

    training: tuple[Path, ...]
    held_out: tuple[Path, ...]
    scratch: Path

    @classmethod
    def unpack(cls, data: Path, folder: Path, size: str) -> NovelCorpus:
        """Unpack the novels into folders of training and held-out novels."""
        with tarfile.open(data / "novels60.tar.xz") as archive:
            archive.extractall(folder / "novels", filter="data")
        files = sorted(path for path in (folder / "novels").rglob("*.txt") if path.is_file())
        if size == "small":
            files = files[: N_SMALL - 2] + files[-2:]
        n_held_out = N_HELD_OUT if size == "full" else 2
        return cls(
            _move_files(files[:-n_held_out], folder / "learned"),
            _move_files(files[-n_held_out:], folder / "held"),
            folder,
        )

    @property
    def speller(self) -> Path:
        """The file of the speller trained on the training novels."""
        return self.scratch / "en.weigh"

    def training_split(self) -> NovelCorpus:
        """Return the training novels alone, with as many of them held out."""
        folder, n_held_out = self.scratch / "earlier", len(self.held_out)
        folder.mkdir(exist_ok=True)
        return NovelCorpus(self.training[:-n_held_out], self.training[-n_held_out:], folder)

    def size_in_bytes(self) -> int:
        """Return the size of all novels."""
        return sum(path.stat().st_size for path in (*self.training, *self.held_out))


def _move_files(files: list[Path], folder: Path) -> tuple[Path, ...]:
    folder.mkdir()
    return tuple(file.rename(folder / file.name) for file in files)
