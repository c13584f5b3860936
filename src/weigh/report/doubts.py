"""Rows that are no good to judge a model by: too few, of one class, or with labels that it does not know."""

from __future__ import annotations

from collections.abc import Iterator

from weigh import errors
from weigh.judge import Evaluation, RegressionEvaluation
from weigh.text import counted, cut

FEWEST = 10  # rows below which nothing is compared
NAME = 60
NAMED = 3


def doubts(found: Evaluation | RegressionEvaluation) -> Iterator[str]:
    """Yield what speaks against judging by these rows, each with what to do about it."""
    n = found.n_rows if isinstance(found, RegressionEvaluation) else found.n
    if isinstance(found, Evaluation) and found.unseen:
        yield _strangers(found)
    if n < FEWEST:
        are = "is" if n == 1 else "are"
        yield f"Judge it on more rows: {counted(n, 'row')} {are} too few to tell how good it is."
    elif isinstance(found, Evaluation) and only_label(found):
        yield f"Judge it on rows of other classes too: these are all of {only_label(found)}."


def _strangers(found: Evaluation) -> str:
    rows = sum(rows for _, rows in found.unseen)
    names = ", ".join(cut(label, NAME) for label, _ in found.unseen[:NAMED])
    more = " …" if len(found.unseen) > NAMED else ""
    have, they = ("has a label", "it is a class") if rows == 1 else ("have labels", "they are classes")
    return (
        f"{counted(rows, 'row')} of {found.n:,} {have} that the model does not know ({names}{more}): learn "
        f"from such rows if {they} of their own, or mend the spelling."
    )


def only_label(found: Evaluation) -> str:
    """The one label that all rows have, or nothing."""
    here = [row.label for row in found.per_class if row.support]
    return cut(here[0], NAME) if len(here) == 1 and not found.unseen else ""


def constant_accuracy(found: Evaluation) -> float | None:
    """The accuracy of always giving the label that is most frequent here, whether the model knows it or not.

    None where there is nothing to compare: too few rows, or a single label.
    """
    if found.n < FEWEST or only_label(found):
        return None
    strange = max((rows for _, rows in found.unseen), default=0)
    return max(float(found.confusion.support().max()), float(strange)) / found.weight


def refuse_strangers(found: Evaluation) -> None:
    """Refuse rows of which not one has a label that the model knows."""
    if found.unseen and not found.confusion.support().any():
        raise errors.LabelError(
            f"The model knows none of the labels of these rows. It knows {errors.listing(found.classes)}, "
            f"they have {errors.listing(label for label, _ in found.unseen)}. Compare spelling, blanks and "
            f"types, or name another column as label."
        )
