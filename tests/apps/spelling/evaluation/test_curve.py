"""Accuracy over the size of the text: the last point is the comparison, the first one knows little."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress, sem

from tests.apps.spelling.evaluation.sentences import SETS, books
from weigh import errors
from weigh.apps.spelling.contexts import ContextReader, Corpus
from weigh.apps.spelling.evaluation.compare import compare_learners
from weigh.apps.spelling.evaluation.curve import (
    BLOCK_WORDS,
    LearnerCurve,
    NestedBlocks,
    SpellingCurve,
    default_sizes,
    fit_log_linear,
    measure_learning_curve,
)

SIZES = (1_000, 2_000, 5_000)


@pytest.fixture(scope="module")
def found() -> SpellingCurve:
    return measure_learning_curve(books(1, 2, 3, sentences=400), books(4), SETS, sizes=SIZES)


def test_all_words_give_what_the_comparison_gives() -> None:
    drawn = measure_learning_curve(books(1, 2, 3), books(4), SETS)
    whole = compare_learners(books(1, 2, 3), books(4), SETS)
    assert drawn.words == (whole.learned_words,)
    for each in drawn.learners:
        assert each.accuracies[0] == pytest.approx(whole.accuracies(each.name))
        assert each.law is None


def test_points_are_means_with_standard_errors_over_the_sets(found: SpellingCurve) -> None:
    each = found["memory"]
    assert each.accuracies.shape == (3, 2)
    assert each.means == pytest.approx(each.accuracies.mean(axis=1))
    assert each.errors == pytest.approx(sem(each.accuracies, axis=1))


def test_the_late_law_is_that_of_the_last_tenfold() -> None:
    words, accuracies = (99, 1000, 2000, 10_000), np.array([[0.5, 0.1], [0.6, 0.3], [0.6, 0.4], [0.9, 0.8]])
    each = LearnerCurve.from_accuracies("memory", words, accuracies)
    assert each.tail_law == fit_log_linear(words[1:], accuracies[1:])
    assert each.law == fit_log_linear(words, accuracies)
    assert each.tail_law is not None
    assert each.tail_law.gain_text == f"+{100 * each.tail_law.b:.1f} ± {100 * each.tail_law.error:.1f}"
    assert LearnerCurve.from_accuracies("memory", words[:3], accuracies[:3]).tail_law is None


def test_the_sizes_told_are_those_of_whole_blocks(found: SpellingCurve) -> None:
    assert all(size <= words < size + 1000 for size, words in zip(SIZES, found.words, strict=True))


def test_the_same_seed_gives_the_same_curve(found: SpellingCurve) -> None:
    again = measure_learning_curve(books(1, 2, 3, sentences=400), books(4), SETS, sizes=SIZES)
    assert again.to_dict() == found.to_dict()
    other = measure_learning_curve(
        books(1, 2, 3, sentences=400), books(4), SETS, ["memory"], sizes=SIZES, seed=2
    )
    assert other.seed == 2


def test_it_prints_within_80_columns_and_tells_the_laws(found: SpellingCurve) -> None:
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("· log10(words)") == 7
    assert text.count("\nlogistic ") == 1
    assert repr(found) in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["words"] == list(found.words)


def test_a_set_that_is_not_judged_is_left_out_and_told() -> None:
    found = measure_learning_curve(books(1, 2), None, [*SETS, ("peace", "piece")], ["memory"], sizes=[1000])
    assert found.sets == SETS
    assert "Not in the text held out, and left out: peace/piece." in str(found)


def test_the_picture_tells_all_learners_apart(found: SpellingCurve) -> None:
    shown = json.dumps(found.plot().to_dict())
    assert all(f'"series": "{each.name}"' in shown for each in found.learners)
    assert "thin dashed lines: the log-linear law of each learner" in shown
    brief = measure_learning_curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert "law" not in json.dumps(brief.plot().to_dict())


def test_learners_have_short_names_where_whole_ones_find_no_room(found: SpellingCurve) -> None:
    head = "words majority logistic naive-bayes bernoulli perceptron voted memory"
    assert head in " ".join(str(found).split())
    assert "Names in short" not in str(found)
    wide = replace(found, words=tuple(10**7 * each for each in found.words))
    head = "words major logistic bayes bern. perc. voted memory"
    assert head in " ".join(str(wide).split())
    assert (
        "Names in short: major: majority, bayes: naive-bayes, bern.: bernoulli, perc.: perceptron."
        in " ".join(str(wide).split())
    )


def test_a_set_of_which_not_all_is_kept_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weigh.apps.spelling.contexts.ContextReader", partial(ContextReader, most=64))
    thinned = measure_learning_curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert max(thinned.taken) < 1
    assert thinned.to_dict()["taken"] == list(thinned.taken)
    told = " ".join(str(thinned).split())
    assert f"than so many words would: weather/whether ({100 * thinned.taken[0]:.2f} % kept), " in told
    monkeypatch.undo()
    whole = measure_learning_curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert (whole.taken, "kept" in str(whole)) == ((1.0, 1.0), False)


def test_two_lines_have_bands() -> None:
    found = measure_learning_curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert '"low"' in json.dumps(found.plot().to_dict())


def test_one_set_has_no_standard_error() -> None:
    found = measure_learning_curve(books(1, 2), None, SETS[:1], ["memory"], sizes=[500, 1000])
    assert np.isnan(found["memory"].errors).all()
    assert "±" not in str(found)
    assert found.to_dict()["learners"][0]["errors"] == [None, None]
    assert found.plot() is not None


def test_every_size_and_set_is_a_step() -> None:
    steps: list[tuple[int, int]] = []
    measure_learning_curve(
        books(1, 2), None, SETS, ["memory"], sizes=[500, 1000], progress=lambda *step: steps.append(step)
    )
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_more_words_than_there_are_cannot_be_asked_for() -> None:
    with pytest.raises(
        errors.ParameterError, match=r"curve: sizes must be numbers of words up to 1,\d+, all"
    ):
        measure_learning_curve(books(1, 2), None, SETS, sizes=[10**6])


def test_an_unknown_curve_is_told(found: SpellingCurve) -> None:
    with pytest.raises(errors.ParameterError, match=r"there is no curve of 'memry'.*Did you mean 'memory'"):
        found["memry"]


WORDS = (10_000, 20_000, 50_000, 100_000, 1_000_000)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_the_law_is_that_of_least_squares(seed: int, sets: int) -> None:
    accuracies = np.random.default_rng(seed).random((len(WORDS), sets))
    law = fit_log_linear(WORDS, accuracies)
    assert law is not None
    line = linregress(np.log10(WORDS), accuracies.mean(axis=1))
    slopes = [linregress(np.log10(WORDS), one).slope for one in accuracies.T]
    found = (law.a, law.b, law.r2, law.error)
    assert found == pytest.approx((line.intercept, line.slope, line.rvalue**2, sem(slopes)), abs=1e-10)
    assert law.predict(10_000) == pytest.approx(line.intercept + 4 * line.slope)


def test_a_straight_line_is_found_again_and_printed() -> None:
    straight = np.stack([0.3 + 0.1 * np.log10(WORDS), 0.5 + 0.06 * np.log10(WORDS)], axis=1)
    law = fit_log_linear(WORDS, straight)
    assert str(law) == "0.400 + 0.0800 (± 0.0200) · log10(words), R² 1.000"
    assert law is not None
    assert law.to_dict() == pytest.approx({"a": 0.4, "b": 0.08, "error": 0.02, "r2": 1.0})


def test_a_falling_law_has_one_sign() -> None:
    falling = fit_log_linear(WORDS, (0.9 - 0.1 * np.log10(WORDS))[:, None])
    assert str(falling) == "0.900 − 0.1000 · log10(words), R² 1.000"


def test_one_set_has_no_error_over_sets() -> None:
    law = fit_log_linear(WORDS, np.linspace(0.5, 0.9, 5)[:, None])
    assert law is not None
    assert math.isnan(law.error)
    assert law.to_dict()["error"] is None


def test_what_does_not_change_has_no_share_to_explain() -> None:
    flat = fit_log_linear(WORDS, np.full((5, 2), 0.7))
    assert str(flat) == "0.700 + 0.0000 (± 0.0000) · log10(words)"
    assert flat is not None
    assert flat.gain_text == "+0.0 ± 0.0"
    assert flat.to_dict()["r2"] is None


def test_two_sizes_have_no_law() -> None:
    assert fit_log_linear(WORDS[:2], np.ones((2, 3))) is None


LENGTHS = st.lists(st.integers(0, 5 * BLOCK_WORDS), min_size=1, max_size=6).filter(any)


@given(LENGTHS, st.integers(0, 99), st.integers(1, 20 * BLOCK_WORDS))
def test_a_size_takes_the_fewest_blocks_that_have_so_many_words(
    words: list[int], seed: int, size: int
) -> None:
    blocks = NestedBlocks.draw(np.array(words), seed)
    assert blocks.count_words(sum(words)) == sum(words)
    told = blocks.count_words(min(size, sum(words)))
    assert min(size, sum(words)) <= told < size + BLOCK_WORDS


def test_sizes_are_nested_and_the_last_has_everything() -> None:
    corpus = Corpus.read(books(1, 2, 3, sentences=900), SETS, 6)
    rows, blocks = corpus.occurrences[0], NestedBlocks.draw(np.array(corpus.document_words), 1)
    taken = [
        set(np.flatnonzero(blocks.contains(rows, size)))
        for size in (2_000, 5_000, 10_000, sum(corpus.document_words))
    ]
    assert taken[0] < taken[1] < taken[2] < taken[3] == set(range(len(rows)))


def test_an_occurrence_comes_with_its_block() -> None:
    corpus = Corpus.read(books(1, 2, 3, sentences=900), SETS, 6)
    rows, blocks = corpus.occurrences[0], NestedBlocks.draw(np.array(corpus.document_words), 1)
    taken = blocks.contains(rows, 5_000)
    places = list(zip(rows.documents.tolist(), (rows.at // BLOCK_WORDS).tolist(), strict=True))
    inside = {place for place, is_taken in zip(places, taken.tolist(), strict=True) if is_taken}
    outside = {place for place, is_taken in zip(places, taken.tolist(), strict=True) if not is_taken}
    assert inside
    assert outside
    assert not inside & outside
    ends = {(at, words // BLOCK_WORDS): words % BLOCK_WORDS for at, words in enumerate(corpus.document_words)}
    assert sum(ends.get(place, BLOCK_WORDS) for place in inside) == blocks.count_words(5_000)


def test_another_seed_takes_other_blocks() -> None:
    words = np.array([50 * BLOCK_WORDS])
    assert (NestedBlocks.draw(words, 1).words_before != NestedBlocks.draw(words, 2).words_before).any()
    assert (NestedBlocks.draw(words, 1).words_before == NestedBlocks.draw(words, 1).words_before).all()


def test_the_usual_sizes_are_one_two_and_five_times_powers_of_ten() -> None:
    assert default_sizes(120_000) == (10_000, 20_000, 50_000, 100_000, 120_000)
    assert default_sizes(100_000) == (10_000, 20_000, 50_000, 100_000)
    assert default_sizes(700) == (700,)
