"""Accuracy over the size of the text learned from, as in the figure of Banko & Brill."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.contexts import Occurrences
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.evaluation.compare import (
    PAGE_WIDTH,
    explain_abbreviations,
    first_table_that_fits,
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
    standard_error_over_sets,
)
from weigh.apps.spelling.learners import LEARNERS
from weigh.features.validation import check_integer
from weigh.judge.metrics.losses import Floats
from weigh.text import (
    format_percent,
    format_quantity,
    html_paragraph,
    html_table,
    text_table,
    to_json_value,
    use_minus_sign,
)

PARAMETER_OWNER = "curve"


@dataclass(frozen=True, eq=False, repr=False)
class LearnerCurve:
    """Accuracies [sizes, sets] of one learner, the law of their mean, and that of the last tenfold.

    Laws of fewer than three sizes are None.
    """

    name: str
    accuracies: Floats
    law: LogLinearFit | None
    tail_law: LogLinearFit | None

    @classmethod
    def from_accuracies(cls, name: str, words: Sequence[int], accuracies: Floats) -> LearnerCurve:
        """The curve of accuracies at these sizes."""
        first = sum(10 * each < words[-1] for each in words)
        late = fit_log_linear(words[first:], accuracies[first:])
        return cls(name, accuracies, fit_log_linear(words, accuracies), late)

    @property
    def means(self) -> Floats:
        """The mean over the sets at every size."""
        return np.asarray(self.accuracies.mean(axis=1))

    @property
    def errors(self) -> Floats:
        """The standard error of the mean over the sets at every size; nan of one set."""
        return standard_error_over_sets(self.accuracies)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "name": self.name,
            "means": self.means.tolist(),
            "errors": [to_json_value(each) for each in self.errors.tolist()],
            "accuracies": self.accuracies.tolist(),
            "law": None if self.law is None else self.law.to_dict(),
            "late": None if self.tail_law is None else self.tail_law.to_dict(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class SpellingCurve:
    """The result of `curve`; prints within 80 columns.

    `words` are the sizes of the texts learned from, each of which contains the smaller ones. Every point is
    the mean over `sets`, the sets that are in the text held out; of each the share `taken` of its occurrences
    was kept, and less than all makes small sizes seem to teach less. `learners` begin with the majority.
    """

    words: tuple[int, ...]
    sets: tuple[tuple[str, ...], ...]
    learners: tuple[LearnerCurve, ...]
    left_out: tuple[tuple[str, ...], ...]
    judged_words: int
    documents: int
    judged_documents: int
    seed: int
    taken: tuple[float, ...]

    def __getitem__(self, name: str) -> LearnerCurve:
        for each in self.learners:
            if each.name == name:
                return each
        known = [each.name for each in self.learners]
        raise errors.ParameterError(
            f"{PARAMETER_OWNER}: there is no curve of {name!r}; there are {errors.quote_names(known)}."
            f"{errors.did_you_mean(str(name), known)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "words": list(self.words),
            "sets": [list(each) for each in self.sets],
            "left_out": [list(each) for each in self.left_out],
            "judged_words": self.judged_words,
            "documents": self.documents,
            "judged_documents": self.judged_documents,
            "seed": self.seed,
            "taken": list(self.taken),
            "learners": [each.to_dict() for each in self.learners],
        }

    def plot(self) -> Any:
        """Draw accuracy over words on a logarithmic axis, the laws dashed."""
        from weigh.pictures import line_chart

        has_laws = any(each.law for each in self.learners)
        return line_chart(
            curve_plot_rows(self),
            x="words learned from",
            y="accuracy on text held out",
            title=f"Accuracy, mean over {format_quantity(len(self.sets), 'set')}",
            more="thin dashed lines: the log-linear law of each learner" if has_laws else "",
            log=True,
        )

    def __str__(self) -> str:
        return format_curve(self)

    def __repr__(self) -> str:
        return curve_headline(self)

    def _repr_html_(self) -> str:
        return curve_html(self)


def measure_learning_curve(
    documents: Iterable[Document],
    held: Iterable[Document] | None = None,
    sets: Any = "banko-brill",
    learners: Sequence[str] = LEARNERS,
    *,
    sizes: Sequence[int] | None = None,
    seed: int = 1,
    window: int = 6,
    progress: Callable[[int, int], None] | None = None,
) -> SpellingCurve:
    """Measure the accuracy of learners over the number of words that they learn from.

    Parameters
    ----------
    documents : texts to learn from
    held : texts to judge by; None holds out the last sixth of the documents
    sets : confusion sets, or what `ConfusionSets.given` takes
    learners : names of learners; the majority is always measured too
    sizes : numbers of words; None takes 1, 2 and 5 times each power of ten from 10,000 on, and all words
    seed : which blocks of a thousand words, drawn over all documents, a size takes
    window : words seen on each side
    progress : called with the steps done and all steps, one for each size and set
    """
    names = (MAJORITY, *check_learners(learners, PARAMETER_OWNER))
    chosen, seed = ConfusionSets.parse(sets), check_integer(PARAMETER_OWNER, "seed", seed, 0)
    texts = read_split(documents, held, chosen.sets, window, PARAMETER_OWNER)
    blocks = NestedBlocks.draw(texts.training_words, seed)
    steps = _check_sizes(sizes, int(texts.training_words.sum()))
    judged = [at for at in range(len(chosen.sets)) if len(texts.test_occurrences(at))]
    found = _measure_accuracies(texts, blocks, steps, judged, names, progress)
    words = tuple(blocks.count_words(size) for size in steps)
    return SpellingCurve(
        words,
        tuple(chosen.sets[at] for at in judged),
        tuple(LearnerCurve.from_accuracies(name, words, found[i]) for i, name in enumerate(names)),
        tuple(each for at, each in enumerate(chosen.sets) if at not in judged),
        int(texts.test_words.sum()),
        len(texts.training_words),
        len(texts.test_words),
        seed,
        tuple(texts.occurrences[at].sampling_fraction for at in judged),
    )


def _check_sizes(given: Sequence[int] | None, words: int) -> tuple[int, ...]:
    if given is None:
        return default_sizes(words)
    found = sorted({check_integer(PARAMETER_OWNER, "sizes", size, 1) for size in given})
    if not found or found[-1] > words:
        raise errors.parameter_error(
            PARAMETER_OWNER,
            "sizes",
            f"numbers of words up to {words:,}, all there are to learn from",
            list(given),
        )
    return tuple(found)


def _measure_accuracies(
    texts: HeldOutSplit,
    blocks: NestedBlocks,
    sizes: Sequence[int],
    judged: Sequence[int],
    names: Sequence[str],
    progress: Callable[[int, int], None] | None,
) -> Floats:
    """Return the accuracies [learners, sizes, sets]."""
    found = np.empty((len(names), len(sizes), len(judged)))
    for column, at in enumerate(judged):
        train, test = texts.training_occurrences(at), texts.test_occurrences(at)
        for line, size in enumerate(sizes):
            part = train.select(blocks.contains(train, size))
            found[:, line, column] = [score_learner(name, part, test).right / len(test) for name in names]
            if progress is not None:
                progress(column * len(sizes) + line + 1, len(sizes) * len(judged))
    return found


LAST_ERROR_HEADING = "± of last"
MAX_ERROR_BANDS = 2  # more of them cover each other
LAW_STEPS = 20


def format_curve(found: SpellingCurve) -> str:
    """The whole curve as text."""
    points = first_table_that_fits(
        *(text_table(_accuracy_rows(found, is_short), left=0) for is_short in (False, True))
    )
    parts = [textwrap.fill(curve_headline(found), PAGE_WIDTH), points]
    if any(each.law for each in found.learners):
        parts.append(text_table(_law_rows(found), left=2))
    notes = [*explain_abbreviations([each.name for each in found.learners], points), *_curve_notes(found)]
    return "\n\n".join([*parts, "\n".join(textwrap.fill(note, PAGE_WIDTH) for note in notes)])


def curve_html(found: SpellingCurve) -> str:
    """The curve as HTML tables with its sentences."""
    tables = [html_table(curve_headline(found), _accuracy_rows(found), left=0)]
    if any(each.law for each in found.learners):
        tables.append(html_table("", _law_rows(found), left=2))
    return f"<div>{''.join([*tables, *map(html_paragraph, _curve_notes(found))])}</div>"


def curve_headline(found: SpellingCurve) -> str:
    """What was learned and judged, in one sentence."""
    return (
        f"{format_quantity(len(found.sets), 'set')} learned from up to {format_quantity(found.words[-1], 'word')} of "
        f"{format_quantity(found.documents, 'document')}, judged on {format_quantity(found.judged_words, 'word')} of "
        f"{format_quantity(found.judged_documents, 'other')}"
    )


def _accuracy_rows(found: SpellingCurve, is_short: bool = False) -> list[list[str]]:
    names = [each.name for each in found.learners]
    means = np.array([each.means for each in found.learners])
    rows = [
        [f"{words:,}", *map(format_accuracy, means[:, at].tolist())] for at, words in enumerate(found.words)
    ]
    table = [["words", *learner_headings(names, is_short)], *rows]
    if len(found.sets) > 1:
        table.append(
            [LAST_ERROR_HEADING, *(format_accuracy(float(each.errors[-1])) for each in found.learners)]
        )
    return table


def _law_rows(found: SpellingCurve) -> list[list[str]]:
    rows = [
        [each.name, str(each.law), "-" if each.tail_law is None else each.tail_law.gain_text]
        for each in found.learners
        if each.law is not None
    ]
    return [["", "log-linear law of the accuracy, all sizes", "last tenfold"], *rows]


def _curve_notes(found: SpellingCurve) -> list[str]:
    notes = ["% right, mean of the sets; majority: always the commonest word of what was learned from."]
    if len(found.sets) > 1:
        notes[0] += f" {LAST_ERROR_HEADING}: the standard errors over the sets at the last size."
    if any(each.law for each in found.learners):
        notes.append(
            "The number before log10 is what ten times the text brings. last tenfold: the points that it "
            "brings by the law of the sizes from a tenth of all words on."
        )
    if thinned := [each for each in zip(found.sets, found.taken, strict=True) if each[1] < 1]:
        names = ", ".join(f"{'/'.join(words)} ({format_percent(taken)} kept)" for words, taken in thinned)
        notes.append(
            "So frequent that not all of their occurrences are kept, and that small sizes teach less of them "
            f"than so many words would: {names}."
        )
    if found.left_out:
        names = ", ".join("/".join(words) for words in found.left_out)
        notes.append(f"Not in the text held out, and left out: {names}.")
    return notes


def curve_plot_rows(found: SpellingCurve) -> list[dict[str, Any]]:
    """Rows of a picture: means, of two lines at most with a standard error to each side, and the laws."""
    has_band = len(found.learners) <= MAX_ERROR_BANDS
    rows = [row for each in found.learners for row in _measured_points(found, each, has_band=has_band)]
    return rows + [
        row for each in found.learners if each.name != MAJORITY for row in _law_points(found, each)
    ]


def _measured_points(found: SpellingCurve, learner: LearnerCurve, *, has_band: bool) -> list[dict[str, Any]]:
    points = zip(found.words, learner.means.tolist(), learner.errors.tolist(), strict=True)
    return [
        {"series": learner.name, "x": words, "y": mean}
        | ({"low": mean - error, "high": min(mean + error, 1.0)} if has_band and error >= 0 else {})
        for words, mean, error in points
    ]


def _law_points(found: SpellingCurve, learner: LearnerCurve) -> list[dict[str, Any]]:
    if learner.law is None:
        return []
    steps = np.geomspace(found.words[0], found.words[-1], LAW_STEPS).tolist()
    return [{"series": learner.name, "x": x, "y": learner.law.predict(x), "fitted": True} for x in steps]


BLOCK_WORDS = 1000


def default_sizes(words: int) -> tuple[int, ...]:
    """1, 2 and 5 times each power of ten from 10,000 words on, and all words."""
    steps = [times * 10**power for power in range(4, 19) for times in (1, 2, 5)]
    return (*(size for size in steps if size < words), words)


@dataclass(frozen=True, eq=False)
class NestedBlocks:
    """The blocks of documents in a random order; a size takes the first of them, so it contains all smaller.

    `start` is the number of each document's first block, `before` how many words the blocks ahead of each
    block have in the random order.
    """

    first_block: Ints
    words_before: Ints
    ends: Ints

    @classmethod
    def draw(cls, words: Ints, seed: int) -> NestedBlocks:
        """Cut documents of so many words each."""
        counts = -(-words // BLOCK_WORDS)
        start = np.concatenate([[0], np.cumsum(counts)])
        sizes = np.full(int(start[-1]), BLOCK_WORDS, np.int64)
        last = start[1:][counts > 0] - 1
        sizes[last] = words[counts > 0] - (counts[counts > 0] - 1) * BLOCK_WORDS
        order = np.random.default_rng(seed).permutation(len(sizes))
        ends = np.cumsum(sizes[order])
        before = np.empty_like(ends)
        before[order] = ends - sizes[order]
        return cls(start, before, ends)

    def count_words(self, size: int) -> int:
        """The words of the first blocks that have at least so many."""
        return int(self.ends[min(int(np.searchsorted(self.ends, size)), len(self.ends) - 1)])

    def contains(self, rows: Occurrences, size: int) -> npt.NDArray[np.bool_]:
        """Whether each occurrence is in the first blocks of so many words."""
        block = self.first_block[rows.documents] + rows.at // BLOCK_WORDS
        return np.asarray(self.words_before[block] < size)


MIN_SIZES = 3  # sizes
VARIANCE_TOLERANCE = 1e-24  # what rounding leaves of a variance of zero


@dataclass(frozen=True)
class LogLinearFit:
    """The accuracy a + b · log10(words), fitted by least squares to the mean over the sets.

    `error` is the standard error of b over the sets, each of which has a slope of its own, b their mean; with
    one set it is nan. Errors around the line would tell less: texts of all sizes are judged by the same
    occurrences, and the larger ones contain the smaller. `r2` is the share of the variance of the mean over
    the sizes that the line explains.
    """

    a: float
    b: float
    error: float
    r2: float

    def predict(self, words: float) -> float:
        """The accuracy that the law gives to so many words."""
        return self.a + self.b * math.log10(words)

    @property
    def gain_text(self) -> str:
        """What ten times the text brings, in points."""
        known = "" if math.isnan(self.error) else f" ± {100 * self.error:.1f}"
        # Zero has no sign to tell, nor has what is rounded to it.
        return use_minus_sign(f"{round(100 * self.b, 1) + 0.0:+.1f}{known}")

    def to_dict(self) -> dict[str, Any]:
        """The law for JSON."""
        return {name: to_json_value(value) for name, value in asdict(self).items()}

    def __str__(self) -> str:
        known = "" if math.isnan(self.error) else f" (± {self.error:.4f})"
        told = "" if math.isnan(self.r2) else f", R² {self.r2:.3f}"
        sign = "−" if round(self.b, 4) < 0 else "+"
        return use_minus_sign(f"{self.a:.3f} {sign} {abs(self.b):.4f}{known} · log10(words){told}")


def fit_log_linear(words: Sequence[int], accuracies: Floats) -> LogLinearFit | None:
    """Return the law of accuracies [sizes, sets], or None of fewer than three sizes."""
    x = np.log10(np.asarray(words, np.float64))
    if len(x) < MIN_SIZES:
        return None
    away = x - x.mean()
    slopes = away @ accuracies / float(away @ away)
    means = accuracies.mean(axis=1)
    b = float(slopes.mean())
    a = float(means.mean() - b * x.mean())
    total = float(np.square(means - means.mean()).sum())
    rest = float(np.square(means - a - b * x).sum())
    return LogLinearFit(
        a,
        b,
        float(standard_error_over_sets(slopes)),
        1.0 - rest / total if total > VARIANCE_TOLERANCE else math.nan,
    )
