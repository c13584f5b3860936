"""Accuracy over the size of the text learned from, as in the figure of Banko & Brill."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.apps.spelling.confusion import ConfusionSets
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.learners import LEARNERS
from weigh.apps.spelling.trial import curve_text
from weigh.apps.spelling.trial.blocks import Blocks, usual_sizes
from weigh.apps.spelling.trial.law import LogLaw, log_law
from weigh.apps.spelling.trial.scoring import MAJORITY, error_over_sets, hits
from weigh.apps.spelling.trial.texts import Texts, checked_learners, read
from weigh.features.settings import whole
from weigh.judge.measures.losses import Floats
from weigh.text import counted, plain

OWNER = "curve"


@dataclass(frozen=True, eq=False, repr=False)
class LearnerCurve:
    """Accuracies [sizes, sets] of one learner, the law of their mean, and that of the last tenfold.

    Laws of fewer than three sizes are None.
    """

    name: str
    accuracies: Floats
    law: LogLaw | None
    late: LogLaw | None

    @classmethod
    def of(cls, name: str, words: Sequence[int], accuracies: Floats) -> LearnerCurve:
        """The curve of accuracies at these sizes."""
        first = sum(10 * each < words[-1] for each in words)
        late = log_law(words[first:], accuracies[first:])
        return cls(name, accuracies, log_law(words, accuracies), late)

    @property
    def means(self) -> Floats:
        """The mean over the sets at every size."""
        return np.asarray(self.accuracies.mean(axis=1))

    @property
    def errors(self) -> Floats:
        """The standard error of the mean over the sets at every size; nan of one set."""
        return error_over_sets(self.accuracies)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "name": self.name,
            "means": self.means.tolist(),
            "errors": [plain(each) for each in self.errors.tolist()],
            "accuracies": self.accuracies.tolist(),
            "law": None if self.law is None else self.law.to_dict(),
            "late": None if self.late is None else self.late.to_dict(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
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
            f"{OWNER}: there is no curve of {name!r}; there are {errors.listing(known)}."
            f"{errors.hint(str(name), known)}"
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
        from weigh.pictures import curves

        has_laws = any(each.law for each in self.learners)
        return curves(
            curve_text.drawn(self),
            x="words learned from",
            y="accuracy on text held out",
            title=f"Accuracy, mean over {counted(len(self.sets), 'set')}",
            more="thin dashed lines: the log-linear law of each learner" if has_laws else "",
            log=True,
        )

    def __str__(self) -> str:
        return curve_text.text(self)

    def __repr__(self) -> str:
        return curve_text.headline(self)

    def _repr_html_(self) -> str:
        return curve_text.markup(self)


def curve(
    documents: Iterable[Document],
    held: Iterable[Document] | None = None,
    sets: Any = "banko-brill",
    learners: Sequence[str] = LEARNERS,
    *,
    sizes: Sequence[int] | None = None,
    seed: int = 1,
    window: int = 6,
    progress: Callable[[int, int], None] | None = None,
) -> Curve:
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
    names = (MAJORITY, *checked_learners(learners, OWNER))
    chosen, seed = ConfusionSets.given(sets), whole(OWNER, "seed", seed, 0)
    texts = read(documents, held, chosen.sets, window, OWNER)
    blocks = Blocks.of(texts.learnable, seed)
    steps = _sizes(sizes, int(texts.learnable.sum()))
    judged = [at for at in range(len(chosen.sets)) if len(texts.to_judge(at))]
    found = _measured(texts, blocks, steps, judged, names, progress)
    words = tuple(blocks.words(size) for size in steps)
    return Curve(
        words,
        tuple(chosen.sets[at] for at in judged),
        tuple(LearnerCurve.of(name, words, found[i]) for i, name in enumerate(names)),
        tuple(each for at, each in enumerate(chosen.sets) if at not in judged),
        int(texts.held.sum()),
        len(texts.learnable),
        len(texts.held),
        seed,
        tuple(texts.rows[at].taken for at in judged),
    )


def _sizes(given: Sequence[int] | None, words: int) -> tuple[int, ...]:
    if given is None:
        return usual_sizes(words)
    found = sorted({whole(OWNER, "sizes", size, 1) for size in given})
    if not found or found[-1] > words:
        raise errors.parameter(
            OWNER, "sizes", f"numbers of words up to {words:,}, all there are to learn from", list(given)
        )
    return tuple(found)


def _measured(
    texts: Texts,
    blocks: Blocks,
    sizes: Sequence[int],
    judged: Sequence[int],
    names: Sequence[str],
    progress: Callable[[int, int], None] | None,
) -> Floats:
    """Return the accuracies [learners, sizes, sets]."""
    found = np.empty((len(names), len(sizes), len(judged)))
    for column, at in enumerate(judged):
        train, test = texts.to_learn(at), texts.to_judge(at)
        for line, size in enumerate(sizes):
            part = train.where(blocks.holds(train, size))
            found[:, line, column] = [hits(name, part, test).right / len(test) for name in names]
            if progress is not None:
                progress(column * len(sizes) + line + 1, len(sizes) * len(judged))
    return found
