"""Results by direction equal those of checking every swapped text."""

from __future__ import annotations

import json
import math
import re
from itertools import permutations

import pytest

from tests.apps.spelling.evaluation.sentences import SETS, books, prose
from weigh import errors
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.evaluation.directions import (
    DirectionEvaluation,
    DirectionResult,
    evaluate_directions,
)
from weigh.apps.spelling.evaluation.swaps import find_set_words
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.speller_data import SpellerSettings
from weigh.apps.spelling.training import train_speller


@pytest.fixture(scope="module")
def speller() -> Speller:
    return train_speller(
        books(*range(10, 30)), ConfusionSets.parse(SETS), SpellerSettings(alarms=6.0, at_least=2)
    )


@pytest.fixture(scope="module")
def result(speller: Speller) -> DirectionEvaluation:
    return evaluate_directions(speller, books(1, sentences=80))


def test_counts_equal_checking_every_swapped_text(speller: Speller, result: DirectionEvaluation) -> None:
    text = prose(1, 80)
    _, positions = find_set_words(text.encode(), "a.txt", SETS)
    expected = {(s[a], s[b]): [0, 0, 0, 0] for s in SETS for a, b in permutations(range(2), 2)}
    for position in positions:
        original = SETS[position.set_index][position.member]
        for word in SETS[position.set_index]:
            changed = text[: position.begin] + word + text[position.end :]
            suggestions = [one for one in speller.check(changed) if one.begin == position.begin]
            for meant in SETS[position.set_index]:
                if meant != word and original in (word, meant):
                    is_error = original == meant
                    expected[word, meant][0 if is_error else 2] += 1
                    expected[word, meant][1 if is_error else 3] += any(
                        one.suggested.lower() == meant for one in suggestions
                    )
    assert {(p.written, p.meant): [p.wrong, p.found, p.right, p.alarms] for p in result.pairs} == expected


def test_precision_assumes_as_many_errors_as_right_words() -> None:
    pair = DirectionResult("weather", "whether", wrong=100, found=80, right=1000, alarms=10)
    assert pair.recall == 0.8
    assert pair.precision == pytest.approx(0.8 / 0.81)
    assert math.isnan(DirectionResult("a", "b", 0, 0, 5, 0).recall)
    assert math.isnan(DirectionResult("a", "b", 5, 0, 5, 0).precision)


def test_result_prints_in_80_columns_and_as_json(result: DirectionEvaluation) -> None:
    assert max(map(len, str(result).splitlines())) <= 80
    assert repr(result).replace(">", "&gt;") in result._repr_html_()
    pairs = json.loads(json.dumps(result.to_dict(), allow_nan=False))["pairs"]
    assert [pair["written"] for pair in pairs] == ["weather", "whether", "than", "then"]
    assert result.plot() is not None


def test_plot_starts_with_the_lowest_recall() -> None:
    shares = (5, 1, 3)
    pairs = tuple(DirectionResult("a", str(share), 10, share, 10, 0) for share in shares)
    shown = json.dumps(DirectionEvaluation(pairs, 100, 0.5).plot().to_dict(), ensure_ascii=False)
    assert re.findall(r'"name": "a → (\d)"', shown)[:3] == ["1", "3", "5"]


def test_results_are_indexed_by_pairs_of_words(result: DirectionEvaluation) -> None:
    assert result["than", "then"].wrong > 0
    with pytest.raises(errors.ParameterError, match="no set with 'than' and 'weather'"):
        result["than", "weather"]


def test_texts_without_set_words_raise(speller: Speller) -> None:
    with pytest.raises(errors.DataError, match="No word of the speller's sets occurs in the 0 words of text"):
        evaluate_directions(speller, [])
