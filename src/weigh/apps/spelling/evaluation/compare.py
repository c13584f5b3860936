"""Learners side by side: how often each chooses the right word of every set, on text held out."""

from __future__ import annotations

import math
import textwrap
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
    proportion,
    read_split,
    score_learner,
    standard_error_over_sets,
)
from weigh.apps.spelling.learners import LEARNERS
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.losses import Floats
from weigh.text import (
    display_width,
    format_count,
    format_quantity,
    html_paragraph,
    html_table,
    text_table,
    to_json_value,
    truncate,
    use_minus_sign,
)

PARAMETER_OWNER = "compared"


@dataclass(frozen=True)
class SetComparison:
    """What was found of one set: occurrences learned and judged, and the hits of each learner."""

    words: tuple[str, ...]
    learned: int
    judged: int
    scores: dict[str, SetScore]

    @property
    def name(self) -> str:
        """The words as people name a set."""
        return "/".join(self.words)

    def accuracy(self, learner: str) -> float:
        """The share of right choices; nan where nothing was judged."""
        return self.scores[learner].right / self.judged if self.judged else math.nan

    def measure(self, learner: str) -> Measure:
        """The share of right choices with its exact 95 % interval."""
        return proportion(learner, self.scores[learner].right, self.judged)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "words": list(self.words),
            "learned": self.learned,
            "judged": self.judged,
            "learners": [
                {**self.measure(name).to_dict(), "right": each.right, "features": each.features}
                for name, each in self.scores.items()
            ],
        }


@dataclass(frozen=True, eq=False, repr=False)
class LearnerComparison:
    """The result of `compared`; prints within 80 columns.

    `learners` begin with the majority, which always writes the commonest word of a set. Means are over the
    sets of which something was judged, each with the same weight; by occurrence, frequent sets count more.
    """

    sets: tuple[SetComparison, ...]
    learners: tuple[str, ...]
    learned_words: int
    judged_words: int
    learned_documents: int
    judged_documents: int

    @property
    def judged_sets(self) -> tuple[SetComparison, ...]:
        """The sets of which something was judged."""
        return tuple(each for each in self.sets if each.judged)

    def accuracies(self, learner: str) -> Floats:
        """The accuracy of a learner for each set judged."""
        return np.array([each.accuracy(learner) for each in self.judged_sets])

    def mean(self, learner: str) -> float:
        """The mean over the sets."""
        return float(self.accuracies(learner).mean())

    def by_occurrence(self, learner: str) -> float:
        """The share of all occurrences that were right."""
        return sum(each.scores[learner].right for each in self.judged_sets) / sum(
            s.judged for s in self.judged_sets
        )

    def gain(self, learner: str) -> tuple[float, float]:
        """How far the mean is above that of the majority, and the standard error of it over the sets."""
        more = self.accuracies(learner) - self.accuracies(MAJORITY)
        return float(more.mean()), float(standard_error_over_sets(more))

    @property
    def best(self) -> str:
        """The learner with the highest mean over the sets; the first of equals."""
        return max(self.learners[1:], key=self.mean)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "learned_words": self.learned_words,
            "judged_words": self.judged_words,
            "learned_documents": self.learned_documents,
            "judged_documents": self.judged_documents,
            "best": self.best,
            "learners": [
                {
                    "name": name,
                    "mean": self.mean(name),
                    "by_occurrence": self.by_occurrence(name),
                    "gain": self.gain(name)[0],
                    "gain_error": to_json_value(self.gain(name)[1]),
                }
                for name in self.learners
            ],
            "sets": [each.to_dict() for each in self.sets],
        }

    def plot(self) -> Any:
        """Draw the accuracy of the best learner and of the majority for every set, with their intervals."""
        from weigh.pictures import interval_chart

        return interval_chart(
            comparison_plot_rows(self),
            x="accuracy on text held out",
            title=f"{self.best} and majority, the commonest word, by set",
            what="sets",
            most=MAX_SETS_DRAWN,
        )

    def __str__(self) -> str:
        return format_comparison(self)

    def __repr__(self) -> str:
        return comparison_headline(self)

    def _repr_html_(self) -> str:
        return comparison_html(self)


def compare_learners(
    documents: Iterable[Document],
    held: Iterable[Document] | None = None,
    sets: Any = "english",
    learners: Sequence[str] = LEARNERS,
    *,
    window: int = 6,
    progress: Callable[[int, int], None] | None = None,
) -> LearnerComparison:
    """Learn every set with every learner, and count right choices on text held out.

    Parameters
    ----------
    documents : texts to learn from
    held : texts to judge by; None holds out the last sixth of the documents
    sets : confusion sets, or what `ConfusionSets.given` takes
    learners : names of learners
    window : words seen on each side
    progress : called with the steps done and all steps, one for each set and learner
    """
    names = (MAJORITY, *check_learners(learners, PARAMETER_OWNER))
    chosen = ConfusionSets.parse(sets)
    texts = read_split(documents, held, chosen.sets, window, PARAMETER_OWNER)
    found, done, total = [], 0, len(chosen.sets) * len(names)
    for at, words in enumerate(chosen.sets):
        train, test = texts.training_occurrences(at), texts.test_occurrences(at)
        scores = {}
        for name in names:
            scores[name] = score_learner(name, train, test)
            done += 1
            if progress is not None:
                progress(done, total)
        found.append(SetComparison(tuple(words), len(train), len(test), scores))
    return LearnerComparison(
        tuple(found),
        names,
        int(texts.training_words.sum()),
        int(texts.test_words.sum()),
        len(texts.training_words),
        len(texts.test_words),
    )


PAGE_WIDTH = 80
NAME_WIDTH, WIDE_NAME_WIDTH = 19, 60
MAX_SETS_DRAWN = 60  # sets
# Six learners side by side may leave no room for whole names.
ABBREVIATIONS = {
    MAJORITY: "major",
    "naive-bayes": "bayes",
    "bernoulli": "bern.",
    "perceptron": "perc.",
}


# Widths of names, and whether learners have short ones: the first that fit.
_LAYOUTS = ((WIDE_NAME_WIDTH, False), (NAME_WIDTH, False), (NAME_WIDTH, True))


def format_comparison(found: LearnerComparison) -> str:
    """The whole comparison as text."""
    tables = first_table_that_fits(*("\n\n".join(_format_tables(found, *shape)) for shape in _LAYOUTS))
    parts = [
        textwrap.fill(comparison_headline(found), PAGE_WIDTH),
        tables,
        "\n".join(
            textwrap.fill(note, PAGE_WIDTH)
            for note in _comparison_notes(found, explain_abbreviations(found.learners, tables))
        ),
    ]
    return "\n\n".join(parts)


def _format_tables(found: LearnerComparison, width: int, is_short: bool) -> list[str]:
    return [
        text_table(_accuracy_rows(found, width, is_short)),
        text_table(_feature_rows(found, width, is_short)),
    ]


def comparison_html(found: LearnerComparison) -> str:
    """The comparison as HTML tables with its sentences."""
    tables = [
        html_table(comparison_headline(found), _accuracy_rows(found, WIDE_NAME_WIDTH)),
        html_table("Features", _feature_rows(found, WIDE_NAME_WIDTH)),
    ]
    return f"<div>{''.join([*tables, *map(html_paragraph, _comparison_notes(found))])}</div>"


def comparison_headline(found: LearnerComparison) -> str:
    """What was learned and judged, in one sentence."""
    learned = f"{format_quantity(found.learned_words, 'word')} of {format_quantity(found.learned_documents, 'document')}"
    judged = (
        f"{format_quantity(found.judged_words, 'word')} of {format_quantity(found.judged_documents, 'other')}"
    )
    return f"{format_quantity(len(found.sets), 'set')} learned from {learned}, judged on {judged}"


def first_table_that_fits(*tables: str) -> str:
    """The first of some tables that is no wider than a page, else the last."""
    narrow = (table for table in tables if max(map(display_width, table.splitlines())) <= PAGE_WIDTH)
    return next(narrow, tables[-1])


def learner_headings(learners: Sequence[str], is_short: bool) -> list[str]:
    """Names of learners as heads of columns."""
    return [ABBREVIATIONS.get(name, name) if is_short else name for name in learners]


def explain_abbreviations(learners: Sequence[str], table: str) -> list[str]:
    """The sentence that says which names a table has short, if it has any."""
    head = table.partition("\n")[0].split()
    names = [
        f"{ABBREVIATIONS[name]}: {name}" for name in learners if name in ABBREVIATIONS and name not in head
    ]
    return [f"Names in short: {', '.join(names)}."] if names else []


def format_accuracy(value: float) -> str:
    """A share in percent without its sign."""
    return "-" if math.isnan(value) else f"{100 * value:.1f}"


def format_fraction(value: float) -> str:
    """A share with three digits."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def _accuracy_rows(found: LearnerComparison, width: int, is_short: bool = False) -> list[list[str]]:
    def row(title: str, judged: str, values: list[float]) -> list[str]:
        return [truncate(title, width), judged, *map(format_accuracy, values)]

    names = found.learners
    return [
        ["% right", "judged", *learner_headings(names, is_short)],
        *(row(s.name, format_count(s.judged), [s.accuracy(name) for name in names]) for s in found.sets),
        row("mean of the sets", "", [found.mean(name) for name in names]),
        row("by occurrence", "", [found.by_occurrence(name) for name in names]),
    ]


def _feature_rows(found: LearnerComparison, width: int, is_short: bool = False) -> list[list[str]]:
    """Return the features by set; learners that keep the same ones share a column."""
    same: dict[tuple[int, ...], list[str]] = {}
    for name in found.learners[1:]:
        same.setdefault(tuple(each.scores[name].features for each in found.sets), []).append(name)
    rows = [
        [truncate(each.name, width), format_count(each.learned), *(format_count(sizes[at]) for sizes in same)]
        for at, each in enumerate(found.sets)
    ]
    learned = sum(each.learned for each in found.sets)
    head = ["features", "learned", *(", ".join(learner_headings(names, is_short)) for names in same.values())]
    return [head, *rows, ["all sets", format_count(learned), *(format_count(sum(sizes)) for sizes in same)]]


def _comparison_notes(found: LearnerComparison, first: Sequence[str] = ()) -> list[str]:
    gains = []
    for name in found.learners[1:]:
        more, error = found.gain(name)
        known = "" if math.isnan(error) else f" ± {100 * error:.1f}"
        gains.append(f"{name} {use_minus_sign(f'{100 * more:+.1f}')}{known}")
    notes = [
        *first,
        "majority: the commonest word of a set, always. Points above it, mean of the sets"
        f"{' ± standard error' if len(found.judged_sets) > 1 else ''}: {', '.join(gains)}.",
        "features: how many a learner keeps; learned, judged: occurrences.",
    ]
    if left := [each.name for each in found.sets if not each.judged]:
        notes.append(f"Not in the text held out, and in no mean: {', '.join(left)}.")
    return notes


def comparison_plot_rows(found: LearnerComparison) -> list[dict[str, Any]]:
    """A dot for the best learner and one for the majority of every set judged."""
    return [
        {"name": each.name, "series": name, "value": value.value, "low": value.low, "high": value.high}
        for each in found.judged_sets
        for name in (found.best, MAJORITY)
        for value in (each.measure(name),)
    ]
