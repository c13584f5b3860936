"""Errors put into a text and found again: by spellers that know them all, none, or complain of everything."""

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
class Scripted(Speller):
    """A speller that suggests the other word where a rule says so, by text, number and word."""

    complains: Rule

    def check(self, text: str | bytes, *, name: str = "text.txt") -> list[Suggestion]:
        assert isinstance(text, str)
        return [
            Suggestion(name, 1, 1, match.start(), match.end(), match[0], OTHERS[match[0].lower()], 0.99, ())
            for number, match in enumerate(MEMBER.finditer(text))
            if self.complains(name, number, match[0])
        ]


def tried(
    complains: Rule, texts: list[tuple[str, str]] = TEXTS, one_in: int = 50, seed: int = 1
) -> SwapEvaluation:
    choosers = tuple(LinearWordClassifier.constant(words) for words in SETS)
    promise = FalseAlarmBound(0.5, 0.9, 100_000, 4, 0.5)
    return evaluate_swaps(
        Scripted(choosers, promise, SpellerSettings(), TrainingStatistics(0, 0, "", ()), complains),
        texts,
        one_in=one_in,
        seed=seed,
    )


def everything(name: str, number: int, word: str) -> bool:
    return True


def errors_alone(name: str, number: int, word: str) -> bool:
    return word != RIGHT[name][number]


def test_who_knows_the_text_finds_every_error_and_nothing_else() -> None:
    found = tried(errors_alone)
    assert found.words == sum(len(re.findall(r"\w+", text)) for _, text in TEXTS)
    assert found.total.swapped == found.total.right == found.words // 50
    assert (found.precision.value, found.recall.value, found.clean_alarms) == (1.0, 1.0, 0)


def test_who_complains_of_everything_is_right_of_the_errors_alone() -> None:
    found = tried(everything)
    members = sum(map(len, RIGHT.values()))
    assert found.clean_alarms == found.total.occurrences == found.total.suggestions == members
    assert found.total.right == found.total.swapped
    assert found.total.false == members - found.total.swapped
    assert found.alarms.value == pytest.approx(10_000 * members / found.words)


def test_who_says_nothing_has_no_precision() -> None:
    found = tried(lambda *_: False)
    assert math.isnan(found.precision.value)
    assert found.recall.value == 0.0
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["precision"]["value"] is None
    assert "precision  unknown" in str(found)


def test_sets_add_up_to_all() -> None:
    found = tried(everything)
    for kind in ("occurrences", "swapped", "right", "misnamed", "false"):
        assert sum(getattr(counts, kind) for _, counts in found.sets) == getattr(found.total, kind)


def test_intervals_are_exact() -> None:
    counts = SwapCounts(occurrences=900, swapped=50, right=40, misnamed=1, false=3)
    for measure, k, n in ((counts.precision, 40, 44), (counts.recall, 40, 50)):
        exact = binomtest(k, n).proportion_ci(0.95, "exact")
        assert (measure.value, measure.low, measure.high) == pytest.approx((k / n, exact.low, exact.high))


def test_the_seed_says_which_words_are_swapped() -> None:
    assert tried(errors_alone).to_dict() == tried(errors_alone).to_dict()
    assert tried(errors_alone).to_dict()["sets"] != tried(errors_alone, seed=2).to_dict()["sets"]


def test_at_most_half_of_the_words_are_swapped() -> None:
    found = tried(errors_alone, one_in=2)
    assert found.total.swapped == sum(len(words) // 2 for words in RIGHT.values())


def test_short_texts_share_their_errors() -> None:
    lines = [(f"{at}.txt", "He asked whether the weather was warmer than then.") for at in range(100)]
    found = tried(lambda *_: False, lines, one_in=200)
    assert (found.words, found.total.swapped) == (900, 4)


def test_text_too_short_for_an_error_is_refused() -> None:
    with pytest.raises(
        errors.DataError, match=r"no word was replaced in 2 words, of which 1 .* one word in 200"
    ):
        tried(everything, [("a.txt", "whether so")], one_in=200)
    with pytest.raises(errors.ParameterError, match="one_in must be at least 2"):
        tried(everything, one_in=1)


def test_what_is_quoted_as_code_is_not_swapped() -> None:
    page = "He asked `whether` it was so.\n" + "And then he asked whether it was.\n" * 20
    _, found = find_set_words(page.encode(), "page.md", SETS)
    assert len(found) == 40


@given(
    st.lists(
        st.sampled_from(["Than", "then", "THERE", "they’re", "Their", "é", "x.", "\n\n", "“a”"]), max_size=30
    )
)
def test_swapped_words_stand_where_it_is_told_and_the_rest_stays(words: list[str]) -> None:
    text = " ".join(words)
    _, found = find_set_words(text.encode(), "a.txt", TRIPLE)
    changed, made = swap_words(text.encode(), found, TRIPLE, np.random.default_rng(0))
    back, last = [], 0
    for swap in made:
        assert changed[swap.begin :].startswith(swap.written)
        assert swap.written.lower() != swap.original.lower()
        assert swap.written[0].isupper() == swap.original[0].isupper()
        back += [changed[last : swap.begin], swap.original]
        last = swap.begin + len(swap.written)
    assert "".join([*back, changed[last:]]) == text
    assert len(made) == len(found)


def test_a_third_word_is_no_find() -> None:
    text = "Than they’re THERE. " * 40
    choosers = tuple(LinearWordClassifier.constant(words) for words in TRIPLE)

    class Their(Speller):
        def check(self, text: str | bytes, *, name: str = "text.txt") -> list[Suggestion]:
            assert isinstance(text, str)
            found = re.finditer(r"\b(there|they’re)\b", text, re.IGNORECASE)
            return [Suggestion(name, 1, 1, m.start(), m.end(), m[0], "their", 0.9, ()) for m in found]

    promise = FalseAlarmBound(0.5, 0.9, 100_000, 4, 0.5)
    found = evaluate_swaps(
        Their(choosers, promise, SpellerSettings(), TrainingStatistics(0, 0, "", ())),
        [("a.txt", text)],
        one_in=4,
    )
    triple = found.sets[1][1]
    # What was swapped was never their, so their is never right.
    assert (triple.right, triple.suggestions) == (0, triple.misnamed + triple.false)
    assert triple.misnamed > 0


def test_a_learned_speller_finds_most_errors() -> None:
    sets = ConfusionSets.parse(SETS)
    speller = train_speller(books(*range(10, 40)), sets, SpellerSettings(alarms=5.0))
    found = evaluate_swaps(speller, TEXTS, one_in=50)
    assert found.recall.value > 0.9
    assert found.precision.value > 0.98
    assert found.alarms.value <= 5.0


def test_it_prints_within_80_columns() -> None:
    found = tried(everything)
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(found) in found._repr_html_()
    assert "promised: 0.5 by suggesting above P = 0.9000" in str(found)
    assert found.plot() is not None


BROKEN = "More alarms than promised: this text is not like the text that was learned."


def test_a_promise_is_broken_where_the_whole_interval_lies_above_it() -> None:
    told = tried(everything)
    assert told.alarms.low > told.promise.rate
    assert not told.is_kept
    assert BROKEN in str(told)
    assert BROKEN in told._repr_html_()
    assert told.to_dict()["is_kept"] is False


def test_a_promise_may_be_kept_where_the_interval_reaches_down_to_it() -> None:
    one = tried(lambda name, number, word: (name, number) == ("1.txt", 0))
    assert one.alarms.low < one.promise.rate < one.alarms.value
    assert one.is_kept
    assert BROKEN not in str(one)
    # What was promised is more than what was asked for where the text could not show it.
    doubtful = replace(tried(everything), promise=FalseAlarmBound(0.5, 0.9, 1, 0, 9_500.0))
    assert doubtful.is_kept
    assert doubtful.to_dict()["is_kept"] is True


def test_every_text_is_a_step() -> None:
    steps: list[tuple[int, int]] = []
    choosers = tuple(LinearWordClassifier.constant(words) for words in SETS)
    speller = Scripted(
        choosers,
        FalseAlarmBound(0.5, 0.9, 1, 0, 1.0),
        SpellerSettings(),
        TrainingStatistics(0, 0, "", ()),
        everything,
    )
    evaluate_swaps(speller, TEXTS, progress=lambda *step: steps.append(step))
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_the_picture_begins_with_the_sets_of_which_most_was_swapped() -> None:
    found = tried(everything)
    shown = [row["name"] for row in swaps_plot_rows(found)]
    assert shown == ["/".join(w) for w, counts in sorted(found.sets, key=lambda one: -one[1].swapped)]
