"""How well spellers choose and what they find, by the commands that people use."""

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
# Precision and recall as LanguageTool's list of English pairs has them, of its 3-gram rule.
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
    """Every learner and the majority, set by set."""
    return "\n\n".join(
        f"{title}: % right\n\n{_comparison_table(novels, name)}" for name, title in SET_LISTS.items()
    )


def _comparison_table(novels: NovelCorpus, sets: str) -> str:
    found = _run_json("compare", *_corpus_arguments(novels), "--sets", sets)
    names = [each["name"] for each in found["learners"]]
    rows = [
        ["/".join(each["words"]), f"{each['learned']:,}", f"{each['judged']:,}"]
        + [_format_percent(one["value"]) for one in each["learners"]]
        + [f"{size:,}" for size in _feature_counts(each)]
        for each in found["sets"]
    ]
    for title, key in (("mean of the sets", "mean"), ("by occurrence", "by_occurrence")):
        rows.append([title, "", "", *(_format_percent(one[key]) for one in found["learners"]), "", "", ""])
    head = ["", "learned", "judged", *names, "features", "of perceptrons", "of memory"]
    gains = ", ".join(
        f"{one['name']} {100 * one['gain']:+.1f} ± {100 * one['gain_error']:.1f}"
        for one in found["learners"][1:]
    )
    told = (
        f"{found['learned_words']:,} words learned from, {found['judged_words']:,} judged. Points above the "
        f"majority ± standard error over the sets: {gains}."
    )
    return f"{format_markdown_table(head, rows)}\n\n{told}"


def _feature_counts(found: dict[str, Any]) -> list[int]:
    """Return the features of a set: of all learners alike, but of perceptrons and of memory."""
    sizes = {one["name"]: one["features"] for one in found["learners"]}
    return [sizes[name] for name in ("logistic", "perceptron", "memory")]


def learning_curve_table(novels: NovelCorpus) -> str:
    """Accuracy over the size of the text, and its log-linear law."""
    found = _run_json("curve", *_corpus_arguments(novels))
    curves = found["learners"]
    rows = [
        [f"{words:,}", *(_format_percent(each["means"][at]) for each in curves)]
        for at, words in enumerate(found["words"])
    ]
    rows.append(["± at last", *(_format_percent(each["errors"][-1]) for each in curves)])
    for title, which in (("all sizes", "law"), ("last tenfold", "late")):
        laws = [each[which] for each in curves]
        told = [f"{100 * law['b']:+.1f} ± {100 * law['error']:.1f}" for law in laws]
        rows.append([f"points for ten times the text, {title}", *told])
        rows.append(["R² of this law", *("-" if law["r2"] is None else f"{law['r2']:.3f}" for law in laws)])
    title = f"Mean of the {len(found['sets'])} sets of Banko & Brill, % right, over the words learned from"
    return f"{title}\n\n{format_markdown_table(['words', *(each['name'] for each in curves)], rows)}"


def swap_tables(novels: NovelCorpus, seeds: Sequence[int]) -> str:
    """One word in 200 of novels held out swapped, and checked by the default speller."""
    head = ["seed", "swapped", "precision", "recall", "alarms per 10,000 clean words"]
    parts = ["One word in 200 swapped inside its set; 95 % intervals"]
    for some in (novels, novels.training_split()):
        ensure_speller(some)
        table = format_markdown_table(head, [_swap_row(some, seed) for seed in seeds])
        parts.append(
            f"Learned from the first {len(some.training)} novels, tried on the next {len(some.held_out)}:"
        )
        parts.append(table)
    return "\n\n".join(parts)


def _swap_row(novels: NovelCorpus, seed: int) -> list[str]:
    held = [str(path) for path in novels.held_out]
    found = _run_json("evaluate", *held, "-m", str(novels.speller), "--seed", str(seed))
    shares = [_format_interval(found[name], 3) for name in ("precision", "recall")]
    alarms = _format_interval(found["alarms_per_10000_words"], 2)
    return [str(seed), f"{found['swapped']:,}", *shares, f"{alarms}, promised {found['promised']:.2f}"]


def direction_table(novels: NovelCorpus) -> str:
    """Our precision and recall by pair, beside those that LanguageTool publishes."""
    from weigh.apps.spelling.documents import read_documents
    from weigh.apps.spelling.evaluation.directions import evaluate_directions
    from weigh.apps.spelling.speller import Speller

    ensure_speller(novels)
    found = evaluate_directions(Speller.load(novels.speller), read_documents(novels.held_out))
    known = {(each.written, each.meant) for each in found.pairs}
    rows = []
    for (written, meant), theirs in LANGUAGETOOL_FIGURES.items():
        if (written, meant) not in known:
            continue
        ours = found[written, meant]
        rows.append(_direction_row(f"{written} → {meant}", ours.wrong, (ours.precision, ours.recall), theirs))
    for (one, other), theirs in LANGUAGETOOL_SYMMETRIC_FIGURES.items():
        if (one, other) not in known:
            continue
        pairs = [found[one, other], found[other, one]]
        wrong, hits, alarms = (sum(getattr(p, name) for p in pairs) for name in ("wrong", "found", "alarms"))
        precision = hits / (hits + alarms) if hits + alarms else math.nan
        rows.append(_direction_row(f"{one} ↔ {other}", wrong, (precision, hits / wrong), theirs))
    head = ["", "contexts", "precision", "recall", "LanguageTool's precision", "LanguageTool's recall"]
    return f"Each word once written rightly and once wrongly\n\n{format_markdown_table(head, rows)}"


def _direction_row(name: str, n: int, ours: Sequence[float], theirs: Sequence[float]) -> list[str]:
    return [name, f"{n:,}", *("-" if math.isnan(value) else f"{value:.3f}" for value in (*ours, *theirs))]


def ensure_speller(novels: NovelCorpus) -> None:
    """Learn the novels that are not held out, unless that was done."""
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
    held = [word for path in novels.held_out for word in ("--on", str(path))]
    return [*(str(path) for path in novels.training), *held]


def _run_json(*command: str | Path) -> dict[str, Any]:
    said = subprocess.run(
        [*SPELL_COMMAND, *map(str, command), "--json"], check=True, stdout=subprocess.PIPE
    ).stdout
    found: dict[str, Any] = json.loads(said)
    return found


def _format_percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _format_interval(measure: dict[str, Any], digits: int) -> str:
    value, low, high = (f"{measure[name]:.{digits}f}" for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


LEARNERS = ("logistic", "naive-bayes", "bernoulli", "perceptron")
EXPECTED_EXIT_CODES = (0, 3)  # with and without suggestions
SENTENCE = "I didn't know weather to laugh or cry.\n"


def speed_tables(novels: NovelCorpus, repeats: int) -> str:
    """Learn from all novels, check all novels, and check one sentence."""
    ensure_speller(novels)
    paths = [str(path) for path in (*novels.training, *novels.held_out)]
    letter = novels.scratch / "letter.txt"
    letter.write_text(SENTENCE)
    learning = {f"weigh spell learn --learner {name}": _learn_call(novels, paths, name) for name in LEARNERS}
    check = [*SPELL_COMMAND, "check", "-m", str(novels.speller)]
    checking = {"weigh spell check": _process_call([*check, *paths], novels.scratch / "checked")}
    one = {"weigh spell check, one sentence": _process_call([*check, str(letter)], novels.scratch / "one")}
    parts = []
    for calls, size in (
        (learning, novels.size_in_bytes()),
        (checking, novels.size_in_bytes()),
        (one, len(SENTENCE)),
    ):
        turns = _time_after_warm_up(calls, repeats)
        files = {
            name: format_megabytes(_speller_file(novels, name).stat().st_size)
            for name in turns.runs
            if calls is learning
        }
        rates = {name: _format_rate(size, runs) for name, runs in turns.runs.items() if calls is not one}
        extra = {head: each for head, each in (("text per second", rates), ("file", files)) if each}
        parts.append(turns.format_table(extra))
    title = f"{len(paths)} novels, {format_megabytes(novels.size_in_bytes())}, whole processes; one round before is not counted"
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
N_SMALL = 12  # novels of which two are held out, where people only look whether it works


@dataclass(frozen=True)
class NovelCorpus:
    """Where the novels lie, one after the other by name, and a folder for what is made of them."""

    training: tuple[Path, ...]
    held_out: tuple[Path, ...]
    scratch: Path

    @classmethod
    def unpack(cls, data: Path, folder: Path, size: str) -> NovelCorpus:
        """Unpack the novels into folders of those to learn from and those held out."""
        with tarfile.open(data / "novels60.tar.xz") as packed:
            packed.extractall(folder / "novels", filter="data")
        files = sorted(path for path in (folder / "novels").rglob("*.txt") if path.is_file())
        if size == "small":
            files = files[: N_SMALL - 2] + files[-2:]
        held = N_HELD_OUT if size == "full" else 2
        return cls(
            _move_files(files[:-held], folder / "learned"),
            _move_files(files[-held:], folder / "held"),
            folder,
        )

    @property
    def speller(self) -> Path:
        """The file of the speller that knows the novels to learn from."""
        return self.scratch / "en.weigh"

    def training_split(self) -> NovelCorpus:
        """The novels to learn from alone: as many of them held out, by which nothing of the rest is known."""
        folder, held = self.scratch / "earlier", len(self.held_out)
        folder.mkdir(exist_ok=True)
        return NovelCorpus(self.training[:-held], self.training[-held:], folder)

    def size_in_bytes(self) -> int:
        """The size of all novels."""
        return sum(path.stat().st_size for path in (*self.training, *self.held_out))


def _move_files(files: list[Path], folder: Path) -> tuple[Path, ...]:
    folder.mkdir()
    return tuple(file.rename(folder / file.name) for file in files)
