"""Injected errors, checked by spellers that find all, none or everything."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tests.apps.spelling.evaluation.sentences import SETS, books, prose
from weigh import errors
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.evaluation.swaps import (
    SwapCounts,
    SwapEvaluation,
    evaluate_swaps,
    find_set_words,
    swap_words,
    swaps_plot_rows,
)
from weigh.apps.spelling.false_alarms import FalseAlarmBound
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.speller_data import SpellerSettings, TrainingStatistics
from weigh.apps.spelling.suggestions import Suggestion
from weigh.apps.spelling.training import train_speller

TRIPLE = (("than", "then"), ("their", "there", "they're"))
OTHERS = {"weather": "whether", "whether": "weather", "than": "then", "then": "than"}
MEMBER = re.compile(r"\b(?:weather|whether|than|then)\b", re.IGNORECASE)
TEXTS = [(f"{seed}.txt", prose(seed)) for seed in (1, 2, 3)]
RIGHT = {name: MEMBER.findall(text) for name, text in TEXTS}
Rule = Callable[[str, int, str], bool]


@dataclass(frozen=True, eq=False)
class RuleSpeller(Speller):
    """A speller that suggests the other word where a rule of text name, index and word says so."""

    rule: Rule

    def check(self, text: str | bytes, *, name: str = "text.txt") -> list[Suggestion]:
        assert isinstance(text, str)
        return [
            Suggestion(name, 1, 1, match.start(), match.end(), match[0], OTHERS[match[0].lower()], 0.99, ())
            for number, match in enumerate(MEMBER.finditer(text))
            if self.rule(name, number, match[0])
        ]


def evaluate(
    rule: Rule, texts: list[tuple[str, str]] = TEXTS, one_in: int = 50, seed: int = 1
) -> SwapEvaluation:
    classifiers = tuple(LinearWordClassifier.constant(words) for words in SETS)
    promise = FalseAlarmBound(0.5, 0.9, 100_000, 4, 0.5)
    return evaluate_swaps(
        RuleSpeller(classifiers, promise, SpellerSettings(), TrainingStatistics(0, 0, "", ()), rule),
        texts,
        one_in=one_in,
        seed=seed,
    )


def everything(name: str, number: int, word: str) -> bool:
    return True


def only_errors(name: str, number: int, word: str) -> bool:
    return word != RIGHT[name][number]


def test_perfect_speller_has_precision_and_recall_one() -> None:
    found = evaluate(only_errors)
    assert found.words == sum(len(re.findall(r"\w+", text)) for _, text in TEXTS)
    assert found.total.swapped == found.total.right == found.words // 50
    assert (found.precision.value, found.recall.value, found.clean_alarms) == (1.0, 1.0, 0)


def test_speller_that_flags_everything_is_right_about_errors_only() -> None:
    found = evaluate(everything)
    members = sum(map(len, RIGHT.values()))
    assert found.clean_alarms == found.total.occurrences == found.total.suggestions == members
    assert found.total.right == found.total.swapped
    assert found.total.false == members - found.total.swapped
    assert found.alarms.value == pytest.approx(10_000 * members / found.words)


def test_silent_speller_has_no_precision() -> None:
    found = evaluate(lambda *_: False)
    assert math.isnan(found.precision.value)
    assert found.recall.value == 0.0
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["precision"]["value"] is None
    assert "precision  unknown" in str(found)


def test_counts_of_sets_add_up_to_the_total() -> None:
    found = evaluate(everything)
    for kind in ("occurrences", "swapped", "right", "misnamed", "false"):
        assert sum(getattr(counts, kind) for _, counts in found.sets) == getattr(found.total, kind)


def test_intervals_are_exact() -> None:
    counts = SwapCounts(occurrences=900, swapped=50, right=40, misnamed=1, false=3)
    for measure, k, n in ((counts.precision, 40, 44), (counts.recall, 40, 50)):
        exact = binomtest(k, n).proportion_ci(0.95, "exact")
        assert (measure.value, measure.low, measure.high) == pytest.approx((k / n, exact.low, exact.high))


def test_seed_determines_the_swapped_words() -> None:
    assert evaluate(only_errors).to_dict() == evaluate(only_errors).to_dict()
    assert evaluate(only_errors).to_dict()["sets"] != evaluate(only_errors, seed=2).to_dict()["sets"]


def test_at_most_half_of_the_set_words_are_swapped() -> None:
    found = evaluate(only_errors, one_in=2)
    assert found.total.swapped == sum(len(words) // 2 for words in RIGHT.values())


def test_swap_rate_applies_to_all_texts_together() -> None:
    lines = [(f"{at}.txt", "He asked whether the weather was warmer than then.") for at in range(100)]
    found = evaluate(lambda *_: False, lines, one_in=200)
    assert (found.words, found.total.swapped) == (900, 4)


def test_text_too_short_for_a_swap_raises() -> None:
    with pytest.raises(errors.DataError, match=r"No word was swapped: 1 of 2 words .* one word in 200"):
        evaluate(everything, [("a.txt", "whether so")], one_in=200)
    with pytest.raises(errors.ParameterError, match="one_in must be at least 2"):
        evaluate(everything, one_in=1)


def test_code_is_not_swapped() -> None:
    page = "He asked `whether` it was so.\n" + "And then he asked whether it was.\n" * 20
    _, found = find_set_words(page.encode(), "page.md", SETS)
    assert len(found) == 40


@given(
    st.lists(
        st.sampled_from(["Than", "then", "THERE", "they’re", "Their", "é", "x.", "\n\n", "“a”"]), max_size=30
    )
)
def test_swaps_have_correct_offsets_and_change_nothing_else(words: list[str]) -> None:
    text = " ".join(words)
    _, found = find_set_words(text.encode(), "a.txt", TRIPLE)
    changed, swaps = swap_words(text.encode(), found, TRIPLE, np.random.default_rng(0))
    restored, last = [], 0
    for swap in swaps:
        assert changed[swap.begin :].startswith(swap.written)
        assert swap.written.lower() != swap.original.lower()
        assert swap.written[0].isupper() == swap.original[0].isupper()
        restored += [changed[last : swap.begin], swap.original]
        last = swap.begin + len(swap.written)
    assert "".join([*restored, changed[last:]]) == text
    assert len(swaps) == len(found)


def test_suggestion_of_the_wrong_word_counts_as_misnamed() -> None:
    text = "Than they’re THERE. " * 40
    classifiers = tuple(LinearWordClassifier.constant(words) for words in TRIPLE)

    class Their(Speller):
        def check(self, text: str | bytes, *, name: str = "text.txt") -> list[Suggestion]:
            assert isinstance(text, str)
            found = re.finditer(r"\b(there|they’re)\b", text, re.IGNORECASE)
            return [Suggestion(name, 1, 1, m.start(), m.end(), m[0], "their", 0.9, ()) for m in found]

    promise = FalseAlarmBound(0.5, 0.9, 100_000, 4, 0.5)
    found = evaluate_swaps(
        Their(classifiers, promise, SpellerSettings(), TrainingStatistics(0, 0, "", ())),
        [("a.txt", text)],
        one_in=4,
    )
    triple = found.sets[1][1]
    # The text has no 'their', so suggesting it is never right.
    assert (triple.right, triple.suggestions) == (0, triple.misnamed + triple.false)
    assert triple.misnamed > 0


def test_trained_speller_finds_most_errors() -> None:
    sets = ConfusionSets.parse(SETS)
    speller = train_speller(books(*range(10, 40)), sets, SpellerSettings(alarms=5.0))
    found = evaluate_swaps(speller, TEXTS, one_in=50)
    assert found.recall.value > 0.9
    assert found.precision.value > 0.98
    assert found.alarms.value <= 5.0


def test_result_prints_in_80_columns() -> None:
    found = evaluate(everything)
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(found) in found._repr_html_()
    lines = str(found).splitlines()
    alarms = next(i for i, line in enumerate(lines) if line.startswith("alarms"))
    assert lines[alarms + 1].startswith("  ")
    assert "promised: at most 0.5 with the threshold P = 0.9000" in " ".join(str(found).split())
    assert found.plot() is not None


BROKEN = "More false alarms than promised: this text differs from the training text."


def test_promise_is_broken_if_the_interval_is_entirely_above() -> None:
    found = evaluate(everything)
    assert found.alarms.low > found.promise.rate
    assert not found.is_kept
    assert BROKEN in str(found)
    assert BROKEN in found._repr_html_()
    assert found.to_dict()["is_kept"] is False


def test_promise_is_kept_if_the_interval_includes_it() -> None:
    one = evaluate(lambda name, number, word: (name, number) == ("1.txt", 0))
    assert one.alarms.low < one.promise.rate < one.alarms.value
    assert one.is_kept
    assert BROKEN not in str(one)
    # A text too short to show the requested rate has a larger promised rate.
    weak = replace(evaluate(everything), promise=FalseAlarmBound(0.5, 0.9, 1, 0, 9_500.0))
    assert weak.is_kept
    assert weak.to_dict()["is_kept"] is True


def test_progress_is_reported_per_text() -> None:
    steps: list[tuple[int, int]] = []
    classifiers = tuple(LinearWordClassifier.constant(words) for words in SETS)
    speller = RuleSpeller(
        classifiers,
        FalseAlarmBound(0.5, 0.9, 1, 0, 1.0),
        SpellerSettings(),
        TrainingStatistics(0, 0, "", ()),
        everything,
    )
    evaluate_swaps(speller, TEXTS, progress=lambda *step: steps.append(step))
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_plot_starts_with_the_sets_with_most_swaps() -> None:
    found = evaluate(everything)
    shown = [row["name"] for row in swaps_plot_rows(found)]
    assert shown == ["/".join(w) for w, counts in sorted(found.sets, key=lambda one: -one[1].swapped)]
