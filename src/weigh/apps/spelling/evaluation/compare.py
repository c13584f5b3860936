"""Comparison of learners: accuracy on held-out text, by confusion set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.evaluation.held_out import (
    MAJORITY,
    SetScore,
    check_learners,
    read_split,
    score_learner,
)
from weigh.apps.spelling.learners import LEARNERS
from weigh.judge.metrics.confidence_intervals import Measure, proportion
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.paired_tests import Estimate
from weigh.result import LINE_WIDTH, Section, Table, TabularResult, to_json
from weigh.text import format_count, format_quantity, use_minus_sign

PARAMETER_OWNER = "compare_learners"
NAME_WIDTH, WIDE_NAME_WIDTH = 19, 60
MAX_SETS_DRAWN = 60
ABBREVIATIONS = {
    MAJORITY: "major",
    "naive-bayes": "bayes",
    "bernoulli": "bern.",
    "perceptron": "perc.",
}
# Name width, and whether learners are abbreviated; the first layout that fits the page is used.
_LAYOUTS = ((WIDE_NAME_WIDTH, False), (NAME_WIDTH, False), (NAME_WIDTH, True))


@dataclass(frozen=True)
class SetComparison:
    """The number of training (`learned`) and test (`judged`) occurrences of a set, and all scores."""

    words: tuple[str, ...]
    learned: int
    judged: int
    scores: dict[str, SetScore]

    @property
    def name(self) -> str:
        """The words, separated by slashes."""
        return "/".join(self.words)

    def accuracy(self, learner: str) -> float:
        """Return the accuracy of a learner; nan without test occurrences."""
        return self.scores[learner].right / self.judged if self.judged else math.nan

    def measure(self, learner: str) -> Measure:
        """Return the accuracy of a learner with its exact 95 % interval."""
        return proportion(learner, self.scores[learner].right, self.judged)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        return {
            "words": list(self.words),
            "learned": self.learned,
            "judged": self.judged,
            "learners": [
                {**self.measure(name).to_dict(), "right": score.right, "features": score.features}
                for name, score in self.scores.items()
            ],
        }


@dataclass(frozen=True, eq=False, repr=False)
class LearnerComparison(TabularResult):
    """The result of `compare_learners`; prints in 80 columns.

    The first of `learners` is the majority baseline, which always predicts the most frequent word of a set.
    Means are over the sets with test occurrences, equally weighted; by occurrence, frequent sets count more.
    """

    sets: tuple[SetComparison, ...]
    learners: tuple[str, ...]
    learned_words: int
    judged_words: int
    learned_documents: int
    judged_documents: int
    _json = ("learned_words", "judged_words", "learned_documents", "judged_documents", "best", "sets")
    _frames = ("learners",)

    @property
    def judged_sets(self) -> tuple[SetComparison, ...]:
        """The sets with test occurrences."""
        return tuple(one for one in self.sets if one.judged)

    def accuracies(self, learner: str) -> Floats:
        """Return the accuracy of a learner for each set with test occurrences."""
        return np.array([one.accuracy(learner) for one in self.judged_sets])

    def mean(self, learner: str) -> float:
        """Return the mean accuracy over the sets (macro average)."""
        return float(self.accuracies(learner).mean())

    def by_occurrence(self, learner: str) -> float:
        """Return the accuracy over all occurrences (micro average)."""
        n_right = sum(one.scores[learner].right for one in self.judged_sets)
        return n_right / sum(one.judged for one in self.judged_sets)

    def gain(self, learner: str) -> tuple[float, float]:
        """Return the mean gain in accuracy over the majority, and its standard error over the sets."""
        gain = Estimate.of_mean(self.accuracies(learner) - self.accuracies(MAJORITY))
        return gain.mean, gain.standard_error

    @property
    def best(self) -> str:
        """The learner with the highest mean accuracy; the first of several."""
        return max(self.learners[1:], key=self.mean)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        learners = [
            {
                "name": name,
                "mean": self.mean(name),
                "by_occurrence": self.by_occurrence(name),
                "gain": self.gain(name)[0],
                "gain_error": to_json(self.gain(name)[1]),
            }
            for name in self.learners
        ]
        return super().to_dict() | {"learners": learners}

    def plot(self) -> Any:
        """Plot the accuracy of the best learner and of the majority baseline by set, with 95 % intervals."""
        from weigh.pictures import interval_chart

        return interval_chart(
            comparison_plot_rows(self),
            x="accuracy on held-out text",
            title=f"{self.best} and majority (most frequent word), by set",
            what="sets",
            most=MAX_SETS_DRAWN,
        )

    @property
    def headline(self) -> str:
        """The sizes of the training and test text."""
        learned, judged = (
            format_quantity(self.learned_words, "word"),
            format_quantity(self.judged_words, "word"),
        )
        return (
            f"{format_quantity(len(self.sets), 'set')} learned from {learned} of "
            f"{format_quantity(self.learned_documents, 'document')}, judged on {judged} of "
            f"{format_quantity(self.judged_documents, 'other')}"
        )

    def sections(self) -> list[Section]:
        """Return accuracies and numbers of features by set, and notes."""
        return comparison_sections(self)

    def __repr__(self) -> str:
        return self.headline


def compare_learners(
    documents: Iterable[Document],
    test_documents: Iterable[Document] | None = None,
    sets: Any = "english",
    learners: Sequence[str] = LEARNERS,
    *,
    window: int = 6,
    progress: Callable[[int, int], None] | None = None,
) -> LearnerComparison:
    """Train every learner on every set, and measure its accuracy on test documents.

    Parameters
    ----------
    documents : training documents
    test_documents : None holds out the last sixth of the documents
    sets : confusion sets, or an argument of `ConfusionSets.parse`
    learners : names of learners
    window : number of context words on each side
    progress : called with the number of completed steps and of all steps, one for each set and learner
    """
    names = (MAJORITY, *check_learners(learners, PARAMETER_OWNER))
    confusion_sets = ConfusionSets.parse(sets).sets
    split = read_split(documents, test_documents, confusion_sets, window)
    results, n_done, n_steps = [], 0, len(confusion_sets) * len(names)
    for i, words in enumerate(confusion_sets):
        train, test = split.training_occurrences(i), split.test_occurrences(i)
        scores = {}
        for name in names:
            scores[name] = score_learner(name, train, test)
            n_done += 1
            if progress is not None:
                progress(n_done, n_steps)
        results.append(SetComparison(tuple(words), len(train), len(test), scores))
    return LearnerComparison(
        tuple(results),
        names,
        int(split.training_words.sum()),
        int(split.test_words.sum()),
        len(split.training_words),
        len(split.test_words),
    )


def comparison_sections(result: LearnerComparison) -> list[Section]:
    """Return accuracies and numbers of features by set, and notes."""
    layouts = ([_accuracy_table(result, *layout), _feature_table(result, *layout)] for layout in _LAYOUTS)
    accuracies, features = first_tables_that_fit(layouts)
    notes = [*explain_abbreviations(result.learners, accuracies), *_comparison_notes(result)]
    return [
        Section("accuracies", [accuracies]),
        Section("features", [features]),
        Section("notes", notes),
    ]


def first_tables_that_fit(layouts: Iterable[list[Table]]) -> list[Table]:
    """Return the first tables that are not wider than a line, else the last ones."""
    for tables in layouts:
        if all(table.width <= LINE_WIDTH for table in tables):
            break
    return tables


def learner_headings(learners: Sequence[str], is_short: bool) -> list[str]:
    """Return the names of learners as column headings, abbreviated or not."""
    return [ABBREVIATIONS.get(name, name) if is_short else name for name in learners]


def explain_abbreviations(learners: Sequence[str], table: Table) -> list[str]:
    """Return a sentence that explains the abbreviations of a table, if it has any."""
    abbreviated = [name for name in learners if name in ABBREVIATIONS and name not in table.rows[0]]
    explained = ", ".join(f"{ABBREVIATIONS[name]}: {name}" for name in abbreviated)
    return [f"Abbreviations: {explained}."] if abbreviated else []


def format_accuracy(value: float) -> str:
    """Format an accuracy in percent, without the percent sign."""
    return "-" if math.isnan(value) else f"{100 * value:.1f}"


def format_fraction(value: float) -> str:
    """Format a fraction with three digits."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def _accuracy_table(result: LearnerComparison, width: int, is_short: bool) -> Table:
    def row(title: str, judged: str, values: list[float]) -> list[str]:
        return [title, judged, *map(format_accuracy, values)]

    names = result.learners
    rows = [
        ["% right", "judged", *learner_headings(names, is_short)],
        *(row(s.name, format_count(s.judged), [s.accuracy(name) for name in names]) for s in result.sets),
        row("mean of the sets", "", [result.mean(name) for name in names]),
        row("by occurrence", "", [result.by_occurrence(name) for name in names]),
    ]
    return Table(rows, widths=(width,))


def _feature_table(result: LearnerComparison, width: int, is_short: bool) -> Table:
    """Return the number of features by set; learners with the same numbers share a column."""
    columns: dict[tuple[int, ...], list[str]] = {}
    for name in result.learners[1:]:
        columns.setdefault(tuple(one.scores[name].features for one in result.sets), []).append(name)
    rows = [
        [one.name, format_count(one.learned), *(format_count(column[i]) for column in columns)]
        for i, one in enumerate(result.sets)
    ]
    learned = sum(one.learned for one in result.sets)
    headings = (", ".join(learner_headings(names, is_short)) for names in columns.values())
    totals = ["all sets", format_count(learned), *(format_count(sum(column)) for column in columns)]
    return Table([["features", "learned", *headings], *rows, totals], widths=(width,), caption="Features")


def _comparison_notes(result: LearnerComparison) -> list[str]:
    gains = []
    for name in result.learners[1:]:
        gain, error = result.gain(name)
        error_text = "" if math.isnan(error) else f" ± {100 * error:.1f}"
        gains.append(f"{name} {use_minus_sign(f'{100 * gain:+.1f}')}{error_text}")
    notes = [
        "majority: always the most frequent word of a set. Gain over it in percentage points, mean of the "
        "sets"
        f"{' ± standard error' if len(result.judged_sets) > 1 else ''}: {', '.join(gains)}.",
        "learned, judged: number of occurrences.",
    ]
    if not_judged := [one.name for one in result.sets if not one.judged]:
        notes.append(f"Not in the held-out text, and in no mean: {', '.join(not_judged)}.")
    return notes


def comparison_plot_rows(result: LearnerComparison) -> list[dict[str, Any]]:
    """Return one row for the best learner and one for the majority baseline of every set."""
    return [
        one.measure(name).chart_row(name=one.name, series=name)
        for one in result.judged_sets
        for name in (result.best, MAJORITY)
    ]
