"""One example of every result class of the speller, with text that HTML output must escape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from tests.apps.spelling.example_speller import SETS, speller, text
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.evaluation.compare import compare_learners
from weigh.apps.spelling.evaluation.curve import measure_learning_curve
from weigh.apps.spelling.evaluation.directions import evaluate_directions
from weigh.apps.spelling.evaluation.swaps import evaluate_swaps

EVIL = "<script>alert(1)</script>"


@cache
def _speller() -> Any:
    learned = speller()
    return replace(learned, facts=replace(learned.facts, list_name=EVIL))


def _documents(*seeds: int) -> list[Document]:
    return [Document(f"{EVIL} {seed}", iter([text(3_000, seed).encode()])) for seed in seeds]


def _suggestion() -> Any:
    return _speller().check("Nobody asked weather it was so.", name="<b>a</b>")[0]


RESULTS: dict[str, Callable[[], Any]] = {
    "SpellingCurve": lambda: measure_learning_curve(
        _documents(1, 2, 3), _documents(4), SETS, ["logistic"], sizes=[1_000, 5_000]
    ),
    "DirectionEvaluation": lambda: evaluate_directions(_speller(), _documents(5)),
    "LearnerComparison": lambda: compare_learners(
        _documents(1, 2), _documents(4), SETS, ["logistic", "memory"]
    ),
    "Speller": _speller,
    "Suggestion": _suggestion,
    "SwapEvaluation": lambda: evaluate_swaps(_speller(), [(EVIL, text(3_000, 6))]),
}
WITHOUT_PICTURE: dict[str, Callable[[], Any]] = {"ConfusionSets": lambda: ConfusionSets(SETS, EVIL)}
