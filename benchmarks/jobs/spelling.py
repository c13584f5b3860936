"""The speller on sixty novels, the last ten held out, beside scikit-learn and LanguageTool's figures.

LanguageTool publishes its figures with its list of English pairs, for a rule that looks at three words in
n-gram data of 8 GB. Its sentences are not novels, its errors are not ours, and its thresholds are chosen pair
by pair.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.data import NOVELS, Novels, read_novels
from benchmarks.job import WORK, Check, Contender, Job, Quality, Row
from benchmarks.results import format_markdown_table

SPELL_COMMAND = (sys.executable, "-m", "weigh.cli.main", "spell")
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
EXIT_CODES = (0, 3)  # with and without suggestions
SENTENCE = "I didn't know weather to laugh or cry.\n"
SIZE, QUICK, GROW = {"novels": 60}, {"novels": 12}, {"novels": 6}
FILES = (NOVELS,)
OURS = "weigh, logistic"
# The classes that a speller learns with, and their peers on the same contexts.
SET_LEARNERS = (
    OURS,
    "weigh, naive-bayes",
    "CountVectorizer + LogisticRegression",
    "LogisticRegression, matrix made before",
    "HashingVectorizer + SGDClassifier",
    "CountVectorizer + MultinomialNB",
    "MultinomialNB, matrix made before",
)


def novels_for(quick: bool) -> Novels:
    return read_novels(**(QUICK if quick else SIZE))


def comparison_tables(quick: bool) -> str:
    """Return the accuracies of every learner and of the majority word, by confusion set."""
    novels = novels_for(quick)
    return "\n\n".join(
        f"{title}: % right\n\n{_comparison_table(novels, name)}" for name, title in SET_LISTS.items()
    )


def _comparison_table(novels: Novels, sets: str) -> str:
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


def learning_curve_table(quick: bool) -> str:
    """Return the accuracies by size of the training text, and their log-linear fits."""
    result = _run_json("curve", *_corpus_arguments(novels_for(quick)))
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


def swap_tables(quick: bool) -> str:
    """Return precision and recall of the default speller on held-out novels with one word in 200 swapped.

    A second table learns from the training novels without the last ones, and is tried on those.
    """
    novels = novels_for(quick)
    n = len(novels.held_out)
    earlier = Novels(novels.training[:-n], novels.training[-n:])
    seeds = (1,) if quick else (1, 2, 3)
    head = ["seed", "swapped", "precision", "recall", "alarms per 10,000 clean words"]
    parts = []
    for corpus in (novels, earlier):
        speller = train_speller(corpus)
        counts = f"the first {len(corpus.training)} novels, tried on the next {len(corpus.held_out)}"
        rows = [_swap_row(corpus, speller, seed) for seed in seeds]
        parts += [f"Learned from {counts}:", format_markdown_table(head, rows)]
    return "\n\n".join(parts)


def _swap_row(novels: Novels, speller: Path, seed: int) -> list[str]:
    paths = [str(path) for path in novels.held_out]
    result = _run_json("evaluate", *paths, "-m", str(speller), "--seed", str(seed))
    shares = [_format_interval(result[name], 3) for name in ("precision", "recall")]
    alarms = _format_interval(result["alarms_per_10000_words"], 2)
    return [str(seed), f"{result['swapped']:,}", *shares, f"{alarms}, promised {result['promised']:.2f}"]


def direction_table(quick: bool) -> str:
    """Return precision and recall by pair, with the figures that LanguageTool publishes."""
    from weigh.apps.spelling.documents import read_documents
    from weigh.apps.spelling.evaluation.directions import evaluate_directions
    from weigh.apps.spelling.speller import Speller

    novels = novels_for(quick)
    result = evaluate_directions(Speller.load(train_speller(novels)), read_documents(novels.held_out))
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
    return format_markdown_table(head, rows)


def _direction_row(name: str, n: int, ours: Sequence[float], theirs: Sequence[float]) -> list[str]:
    return [name, f"{n:,}", *("-" if math.isnan(value) else f"{value:.3f}" for value in (*ours, *theirs))]


def train_speller(novels: Novels) -> Path:
    """Train the default speller on the training novels and return its file."""
    path = WORK / f"speller-{len(novels.training)}.weigh"
    command = [*SPELL_COMMAND, "learn", *map(str, novels.training), "-o", str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return path


def _corpus_arguments(novels: Novels) -> list[str]:
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


def learn_command(learner: str, novels: Novels) -> list[str | Path]:
    return [*SPELL_COMMAND, "learn", *novels.files, "--learner", learner, "-o", speller_file(learner)]


def speller_file(learner: str) -> Path:
    return WORK / f"speller-{learner}.weigh"


def check_command(one_sentence: bool, prepared: tuple[Path, Novels]) -> list[str | Path]:
    speller, novels = prepared
    letter = WORK / "letter.txt"
    letter.write_text(SENTENCE)
    return [*SPELL_COMMAND, "check", "-m", speller, *([letter] if one_sentence else novels.files)]


def learning(learner: str) -> Contender:
    return Contender(
        f"weigh spell learn --learner {learner}",
        command=partial(learn_command, learner),
        role="ours" if learner == "logistic" else "variant",
        answer=lambda novels, output: speller_file(learner).stat().st_size / 1e6,
    )


def checking(name: str, one_sentence: bool) -> Contender:
    return Contender(
        name,
        command=partial(check_command, one_sentence),
        prepare=lambda novels: (train_speller(novels), novels),
        role="ours",
        exit_codes=EXIT_CODES,
    )


def read_tasks(novels: int) -> Any:
    from benchmarks.peers.spelling import read_tasks

    return read_tasks(read_novels(novels))


def fit_sets(name: str, tasks: Any) -> Any:
    from benchmarks.peers.spelling import fit_all

    return fit_all(name, tasks)


def set_learner(name: str) -> Contender:
    def answer(tasks: Any, models: Any) -> Mapping[str, float]:
        from benchmarks.peers.spelling import model_facts

        return model_facts(name, tasks, models)

    # A matrix made beforehand shows the time of the solver alone: less than the work of the others.
    is_less_work = "made before" in name
    role: Any = "ours" if name == OURS else "variant" if name.startswith("weigh") or is_less_work else "peer"
    return Contender(name, partial(fit_sets, name), role=role, answer=answer)


JOBS: list[Row] = [
    *(
        Quality(f"spelling.{letter}", title, tables, FILES)
        for letter, title, tables in (
            ("c", "Every learner on every confusion set: % right", comparison_tables),
            ("g", "Accuracy by size of the training text", learning_curve_table),
            ("e", "One word in 200 swapped inside its set; 95 % intervals", swap_tables),
            ("d", "Each word once written rightly and once wrongly", direction_table),
        )
    ),
    Job(
        "spelling.t.learn", "A speller of 57 sets learned from novels, whole process", read_novels, SIZE,
        QUICK, tuple(map(learning, ("logistic", "naive-bayes", "bernoulli", "perceptron"))),
        lambda novels, size: {"file, MB": size}, grow=GROW, files=FILES, repeats=3,
    ),
    Job(
        "spelling.t.check", "Novels checked, whole process", read_novels, SIZE, QUICK,
        (checking("weigh spell check", False),), grow=GROW, files=FILES, repeats=3,
    ),
    Job(
        "spelling.t.sentence", "One sentence checked, whole process", read_novels, SIZE, QUICK,
        (checking("weigh spell check, one sentence", True),), files=FILES,
    ),
    Job(
        "spelling.p", "The contexts of 18 sets learned, all sets one after the other", read_tasks, SIZE,
        QUICK, tuple(map(set_learner, SET_LEARNERS)), lambda tasks, facts: facts,
        Check("mean of the sets", 0.02), GROW, FILES, repeats=3,
    ),
]  # fmt: skip
