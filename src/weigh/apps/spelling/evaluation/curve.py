"""Learning curves: accuracy over the number of training words, as in the figure of Banko & Brill (2001)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.contexts import Occurrences
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.evaluation.compare import (
    explain_abbreviations,
    first_tables_that_fit,
    format_accuracy,
    learner_headings,
)
from weigh.apps.spelling.evaluation.held_out import (
    MAJORITY,
    HeldOutSplit,
    Ints,
    check_learners,
    read_split,
    score_learner,
)
from weigh.apps.spelling.learners import LEARNERS
from weigh.immutable import ImmutablePart
from weigh.judge.metrics.confidence_intervals import standard_error
from weigh.judge.metrics.learning_curve_laws import LogLinearLaw, fit_log_linear_law, law_chart_rows
from weigh.judge.metrics.losses import Floats
from weigh.parameters import check_integer
from weigh.result import Facts, Result, Section, Table, to_frame
from weigh.text import format_percent, format_quantity

PARAMETER_OWNER = "measure_learning_curve"
LAST_ERROR_HEADING = "± of last"
MAX_ERROR_BANDS = 2  # more bands would cover each other
BLOCK_WORDS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class LearnerCurve(Facts, ImmutablePart):
    """Accuracies [n_sizes, n_sets] of one learner, and log-linear fits to all sizes and to the last tenfold.

    A fit to fewer than three sizes is None.
    """

    name: str
    accuracies: Floats
    law: LogLinearLaw | None
    tail_law: LogLinearLaw | None
    _json = ("name", "means", "errors", "accuracies", "law", ("late", "tail_law"))

    @classmethod
    def from_accuracies(cls, name: str, words: Sequence[int], accuracies: Floats) -> LearnerCurve:
        """Fit the accuracies at these numbers of training words."""
        first = sum(10 * n_words < words[-1] for n_words in words)
        tail_law = fit_log_linear_law(words[first:], accuracies[first:])
        return cls(name, accuracies, fit_log_linear_law(words, accuracies), tail_law)

    @property
    def means(self) -> Floats:
        """The mean over the sets at every size."""
        return np.asarray(self.accuracies.mean(axis=1))

    @property
    def errors(self) -> Floats:
        """The standard error of the mean over the sets at every size; nan for a single set."""
        return standard_error(self.accuracies)


@dataclass(frozen=True, eq=False, repr=False)
class SpellingCurve(Result):
    """The result of `measure_learning_curve`; prints in 80 columns.

    `words` are the sizes of the training texts, each of which contains the smaller ones. Every point is the
    mean over `sets`, the sets that occur in the held-out text. `sampling_fractions` has the fraction of
    occurrences kept of each set; below 1, the accuracy at small sizes is underestimated. The first of
    `learners` is the majority baseline.
    """

    words: tuple[int, ...]
    sets: tuple[tuple[str, ...], ...]
    learners: tuple[LearnerCurve, ...]
    left_out: tuple[tuple[str, ...], ...]
    judged_words: int
    documents: int
    judged_documents: int
    seed: int
    sampling_fractions: tuple[float, ...]
    _json = (
        "words",
        "sets",
        "left_out",
        "judged_words",
        "documents",
        "judged_documents",
        "seed",
        ("taken", "sampling_fractions"),
        "learners",
    )

    def __getitem__(self, name: str) -> LearnerCurve:
        learners = {learner.name: learner for learner in self.learners}
        return errors.find_named(learners, name, f"There is no curve for {name!r}; there are")

    def plot(self) -> Any:
        """Plot accuracy over training words on a logarithmic axis, with dashed log-linear fits."""
        from weigh.pictures import line_chart

        has_fits = any(learner.law for learner in self.learners)
        return line_chart(
            curve_plot_rows(self),
            x="training words",
            y="accuracy on held-out text",
            title=f"Accuracy, mean over {format_quantity(len(self.sets), 'set')}",
            more="thin dashed lines: the log-linear fit of each learner" if has_fits else "",
            log=True,
        )

    @property
    def headline(self) -> str:
        """The sizes of the training and test text."""
        learned, judged = format_quantity(self.words[-1], "word"), format_quantity(self.judged_words, "word")
        return (
            f"{format_quantity(len(self.sets), 'set')} learned from up to {learned} of "
            f"{format_quantity(self.documents, 'document')}, judged on {judged} of "
            f"{format_quantity(self.judged_documents, 'other')}"
        )

    def to_frame(self) -> Any:
        """Return the mean accuracy of every learner at every size as a pandas DataFrame."""
        return to_frame(
            [
                {"learner": learner.name, "words": words, "accuracy": mean, "error": error}
                for learner in self.learners
                for words, mean, error in zip(
                    self.words, learner.means.tolist(), learner.errors.tolist(), strict=True
                )
            ]
        )

    def sections(self) -> list[Section]:
        """Return the accuracies by size, the log-linear fits, and notes."""
        return curve_sections(self)

    def __repr__(self) -> str:
        return self.headline


def measure_learning_curve(
    documents: Iterable[Document],
    test_documents: Iterable[Document] | None = None,
    sets: Any = "banko-brill",
    learners: Sequence[str] = LEARNERS,
    *,
    sizes: Sequence[int] | None = None,
    seed: int = 1,
    window: int = 6,
    progress: Callable[[int, int], None] | None = None,
) -> SpellingCurve:
    """Measure the accuracy of learners over the number of training words.

    Parameters
    ----------
    documents : training documents
    test_documents : None holds out the last sixth of the documents
    sets : confusion sets, or an argument of `ConfusionSets.parse`
    learners : names of learners; the majority baseline is always added
    sizes : numbers of words; None means 1, 2 and 5 times each power of ten from 10,000 on, and all words
    seed : of the random order of the blocks of 1,000 words from which the training texts are made
    window : number of context words on each side
    progress : called with the number of completed steps and of all steps, one for each size and set
    """
    names = (MAJORITY, *check_learners(learners, PARAMETER_OWNER))
    confusion_sets, seed = ConfusionSets.parse(sets).sets, check_integer(PARAMETER_OWNER, "seed", seed, 0)
    split = read_split(documents, test_documents, confusion_sets, window)
    blocks = NestedBlocks.draw(split.training_words, seed)
    checked_sizes = _check_sizes(sizes, int(split.training_words.sum()))
    judged = [i for i in range(len(confusion_sets)) if len(split.test_occurrences(i))]
    accuracies = _measure_accuracies(split, blocks, checked_sizes, judged, names, progress)
    words = tuple(blocks.count_words(size) for size in checked_sizes)
    return SpellingCurve(
        words,
        tuple(confusion_sets[i] for i in judged),
        tuple(LearnerCurve.from_accuracies(name, words, accuracies[k]) for k, name in enumerate(names)),
        tuple(one for i, one in enumerate(confusion_sets) if i not in judged),
        int(split.test_words.sum()),
        len(split.training_words),
        len(split.test_words),
        seed,
        tuple(split.occurrences[i].sampling_fraction for i in judged),
    )


def _check_sizes(sizes: Sequence[int] | None, n_words: int) -> tuple[int, ...]:
    if sizes is None:
        return default_sizes(n_words)
    checked = sorted({check_integer(PARAMETER_OWNER, "sizes", size, 1) for size in sizes})
    if not checked or checked[-1] > n_words:
        must = f"numbers of words up to {n_words:,}, the size of the training text"
        raise errors.parameter_error(PARAMETER_OWNER, "sizes", must, list(sizes))
    return tuple(checked)


def _measure_accuracies(
    split: HeldOutSplit,
    blocks: NestedBlocks,
    sizes: Sequence[int],
    judged: Sequence[int],
    names: Sequence[str],
    progress: Callable[[int, int], None] | None,
) -> Floats:
    """Return the accuracies [n_learners, n_sizes, n_sets]."""
    accuracies = np.empty((len(names), len(sizes), len(judged)))
    for column, i in enumerate(judged):
        train, test = split.training_occurrences(i), split.test_occurrences(i)
        for row, size in enumerate(sizes):
            part = train.select(blocks.contains(train, size))
            accuracies[:, row, column] = [score_learner(name, part, test).right / len(test) for name in names]
            if progress is not None:
                progress(column * len(sizes) + row + 1, len(sizes) * len(judged))
    return accuracies


def curve_sections(result: SpellingCurve) -> list[Section]:
    """Return the accuracies by size, the log-linear fits, and notes."""
    layouts = ([Table(_accuracy_rows(result, is_short), left=0)] for is_short in (False, True))
    (points,) = first_tables_that_fit(layouts)
    has_fits = any(learner.law for learner in result.learners)
    fits = [Section("fits", [Table(_fit_rows(result), left=2)])] if has_fits else []
    names = [learner.name for learner in result.learners]
    notes = [*explain_abbreviations(names, points), *_curve_notes(result)]
    return [Section("accuracies", [points]), *fits, Section("notes", notes)]


def _accuracy_rows(result: SpellingCurve, is_short: bool) -> list[list[str]]:
    names = [learner.name for learner in result.learners]
    means = np.array([learner.means for learner in result.learners])
    rows = [
        [f"{words:,}", *map(format_accuracy, means[:, i].tolist())] for i, words in enumerate(result.words)
    ]
    table = [["words", *learner_headings(names, is_short)], *rows]
    if len(result.sets) > 1:
        errors_at_last = (format_accuracy(float(learner.errors[-1])) for learner in result.learners)
        table.append([LAST_ERROR_HEADING, *errors_at_last])
    return table


def _fit_rows(result: SpellingCurve) -> list[list[str]]:
    rows = [
        [learner.name, str(learner.law), "-" if learner.tail_law is None else learner.tail_law.gain_text]
        for learner in result.learners
        if learner.law is not None
    ]
    return [["", "log-linear fit of the accuracy, all sizes", "last tenfold"], *rows]


def _curve_notes(result: SpellingCurve) -> list[str]:
    notes = ["% right, mean of the sets; majority: always the most frequent word of the training text."]
    if len(result.sets) > 1:
        notes[0] += f" {LAST_ERROR_HEADING}: the standard errors over the sets at the last size."
    if any(learner.law for learner in result.learners):
        notes.append(
            "The factor of log10 is the gain from ten times the text. last tenfold: this gain in percentage "
            "points, "
            "fitted to the sizes from a tenth of all words on."
        )
    sampled = [
        f"{'/'.join(words)} ({format_percent(fraction)} kept)"
        for words, fraction in zip(result.sets, result.sampling_fractions, strict=True)
        if fraction < 1
    ]
    if sampled:
        notes.append(
            "Sets so frequent that only a sample of their occurrences was kept, so that small sizes are "
            f"underestimated: {', '.join(sampled)}."
        )
    if result.left_out:
        names = ", ".join("/".join(words) for words in result.left_out)
        notes.append(f"Not in the held-out text, and left out: {names}.")
    return notes


def curve_plot_rows(result: SpellingCurve) -> list[dict[str, Any]]:
    """Return the rows of the plot: means, with error bands for at most two learners, and the fits."""
    has_band = len(result.learners) <= MAX_ERROR_BANDS
    rows = [
        row for learner in result.learners for row in _measured_points(result, learner, has_band=has_band)
    ]
    return rows + [
        row
        for learner in result.learners
        if learner.law is not None and learner.name != MAJORITY
        for row in law_chart_rows(learner.name, learner.law, result.words[0], result.words[-1])
    ]


def _measured_points(result: SpellingCurve, learner: LearnerCurve, *, has_band: bool) -> list[dict[str, Any]]:
    points = zip(result.words, learner.means.tolist(), learner.errors.tolist(), strict=True)
    return [
        {"series": learner.name, "x": words, "y": mean}
        | ({"low": mean - error, "high": min(mean + error, 1.0)} if has_band else {})
        for words, mean, error in points
    ]


def default_sizes(n_words: int) -> tuple[int, ...]:
    """Return 1, 2 and 5 times each power of ten from 10,000 words on, and all words."""
    steps = [factor * 10**power for power in range(4, 19) for factor in (1, 2, 5)]
    return (*(size for size in steps if size < n_words), n_words)


@dataclass(frozen=True, eq=False)
class NestedBlocks:
    """The blocks of 1,000 words of all documents in random order; each size consists of the first blocks.

    `first_block` has the index of each document's first block, `words_before` the number of words before each
    block in the random order, and `ends` the cumulative number of words in the random order.
    """

    first_block: Ints
    words_before: Ints
    ends: Ints

    @classmethod
    def draw(cls, words: Ints, seed: int) -> NestedBlocks:
        """Split documents with these numbers of words into blocks and draw their order."""
        n_blocks = -(-words // BLOCK_WORDS)
        first_block = np.concatenate([[0], np.cumsum(n_blocks)])
        sizes = np.full(int(first_block[-1]), BLOCK_WORDS, np.int64)
        has_words = n_blocks > 0
        last_block = first_block[1:][has_words] - 1
        sizes[last_block] = words[has_words] - (n_blocks[has_words] - 1) * BLOCK_WORDS
        order = np.random.default_rng(seed).permutation(len(sizes))
        ends = np.cumsum(sizes[order])
        words_before = np.empty_like(ends)
        words_before[order] = ends - sizes[order]
        return cls(first_block, words_before, ends)

    def count_words(self, size: int) -> int:
        """Return the number of words of the first blocks that have at least `size` words."""
        return int(self.ends[min(int(np.searchsorted(self.ends, size)), len(self.ends) - 1)])

    def contains(self, rows: Occurrences, size: int) -> npt.NDArray[np.bool_]:
        """Return which occurrences are in the first blocks that have at least `size` words."""
        block = self.first_block[rows.documents] + rows.positions // BLOCK_WORDS
        return np.asarray(self.words_before[block] < size)
