"""Each word once right and once wrong: counted as the speller itself would say."""

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
def found(speller: Speller) -> DirectionEvaluation:
    return evaluate_directions(speller, books(1, sentences=80))


def test_every_word_put_in_by_hand_is_judged_the_same(speller: Speller, found: DirectionEvaluation) -> None:
    text = prose(1, 80)
    _, met = find_set_words(text.encode(), "a.txt", SETS)
    told = {(s[a], s[b]): [0, 0, 0, 0] for s in SETS for a, b in permutations(range(2), 2)}
    for place in met:
        own = SETS[place.set_index][place.member]
        for word in SETS[place.set_index]:
            changed = text[: place.begin] + word + text[place.end :]
            said = [one for one in speller.check(changed) if one.begin == place.begin]
            for meant in SETS[place.set_index]:
                if meant != word and own in (word, meant):
                    is_error = own == meant
                    told[word, meant][0 if is_error else 2] += 1
                    told[word, meant][1 if is_error else 3] += any(
                        one.suggested.lower() == meant for one in said
                    )
    assert {(p.written, p.meant): [p.wrong, p.found, p.right, p.alarms] for p in found.pairs} == told


def test_precision_is_that_of_as_many_errors_as_right_words() -> None:
    pair = DirectionResult("weather", "whether", wrong=100, found=80, right=1000, alarms=10)
    assert pair.recall == 0.8
    assert pair.precision == pytest.approx(0.8 / 0.81)
    assert math.isnan(DirectionResult("a", "b", 0, 0, 5, 0).recall)
    assert math.isnan(DirectionResult("a", "b", 5, 0, 5, 0).precision)


def test_it_prints_within_80_columns_and_as_json(found: DirectionEvaluation) -> None:
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(found).replace(">", "&gt;") in found._repr_html_()
    pairs = json.loads(json.dumps(found.to_dict(), allow_nan=False))["pairs"]
    assert [pair["written"] for pair in pairs] == ["weather", "whether", "than", "then"]
    assert found.plot() is not None


def test_the_picture_begins_with_the_weakest() -> None:
    shares = (5, 1, 3)
    pairs = tuple(DirectionResult("a", str(share), 10, share, 10, 0) for share in shares)
    shown = json.dumps(DirectionEvaluation(pairs, 100, 0.5).plot().to_dict(), ensure_ascii=False)
    assert re.findall(r'"name": "a → (\d)"', shown)[:3] == ["1", "3", "5"]


def test_pairs_are_found_by_their_words(found: DirectionEvaluation) -> None:
    assert found["than", "then"].wrong > 0
    with pytest.raises(errors.ParameterError, match="no set with 'than' and 'weather'"):
        found["than", "weather"]


def test_texts_without_a_word_of_the_sets_are_refused(speller: Speller) -> None:
    with pytest.raises(
        errors.DataError, match="no word of the speller's sets is in the 0 words of the texts"
    ):
        evaluate_directions(speller, [])
