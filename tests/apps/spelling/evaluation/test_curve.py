"""Learning curves: points, fits, nested sizes, printing and errors."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import sem

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
    measure_learning_curve,
)
from weigh.judge.metrics.learning_curve_laws import fit_log_linear_law

SIZES = (1_000, 2_000, 5_000)


@pytest.fixture(scope="module")
def result() -> SpellingCurve:
    return measure_learning_curve(books(1, 2, 3, sentences=400), books(4), SETS, sizes=SIZES)


def test_curve_at_all_words_equals_the_comparison() -> None:
    drawn = measure_learning_curve(books(1, 2, 3), books(4), SETS)
    whole = compare_learners(books(1, 2, 3), books(4), SETS)
    assert drawn.words == (whole.learned_words,)
    for each in drawn.learners:
        assert each.accuracies[0] == pytest.approx(whole.accuracies(each.name))
        assert each.law is None


def test_points_are_means_with_standard_errors_over_the_sets(result: SpellingCurve) -> None:
    each = result["memory"]
    assert each.accuracies.shape == (3, 2)
    assert each.means == pytest.approx(each.accuracies.mean(axis=1))
    assert each.errors == pytest.approx(sem(each.accuracies, axis=1))


def test_tail_fit_uses_the_last_tenfold() -> None:
    words, accuracies = (99, 1000, 2000, 10_000), np.array([[0.5, 0.1], [0.6, 0.3], [0.6, 0.4], [0.9, 0.8]])
    each = LearnerCurve.from_accuracies("memory", words, accuracies)
    assert each.tail_law == fit_log_linear_law(words[1:], accuracies[1:])
    assert each.law == fit_log_linear_law(words, accuracies)
    assert each.tail_law is not None
    assert each.tail_law.gain_text == f"+{100 * each.tail_law.b:.1f} ± {100 * each.tail_law.error:.1f}"
    assert LearnerCurve.from_accuracies("memory", words[:3], accuracies[:3]).tail_law is None


def test_reported_sizes_are_whole_blocks(result: SpellingCurve) -> None:
    assert all(size <= words < size + 1000 for size, words in zip(SIZES, result.words, strict=True))


def test_the_same_seed_gives_the_same_curve(result: SpellingCurve) -> None:
    again = measure_learning_curve(books(1, 2, 3, sentences=400), books(4), SETS, sizes=SIZES)
    assert again.to_dict() == result.to_dict()
    other = measure_learning_curve(
        books(1, 2, 3, sentences=400), books(4), SETS, ["memory"], sizes=SIZES, seed=2
    )
    assert other.seed == 2


def test_result_prints_in_80_columns_with_fits(result: SpellingCurve) -> None:
    text = str(result)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("· log10(words)") == 7
    assert text.count("\nlogistic ") == 1
    assert repr(result) in result._repr_html_()
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["words"] == list(result.words)


def test_sets_without_test_occurrences_are_left_out_and_reported() -> None:
    result = measure_learning_curve(books(1, 2), None, [*SETS, ("peace", "piece")], ["memory"], sizes=[1000])
    assert result.sets == SETS
    assert "Not in the held-out text, and left out: peace/piece." in str(result)


def test_plot_has_a_series_per_learner(result: SpellingCurve) -> None:
    shown = json.dumps(result.plot().to_dict())
    assert all(f'"series": "{each.name}"' in shown for each in result.learners)
    assert "thin dashed lines: the log-linear fit of each learner" in shown
    brief = measure_learning_curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert "log-linear" not in json.dumps(brief.plot().to_dict())


def test_learner_names_are_abbreviated_only_if_necessary(result: SpellingCurve) -> None:
    head = "words majority logistic naive-bayes bernoulli perceptron voted memory"
    assert head in " ".join(str(result).split())
    assert "Abbreviations" not in str(result)
    wide = replace(result, words=tuple(10**7 * each for each in result.words))
    head = "words major logistic bayes bern. perc. voted memory"
    assert head in " ".join(str(wide).split())
    assert (
        "Abbreviations: major: majority, bayes: naive-bayes, bern.: bernoulli, perc.: perceptron."
        in " ".join(str(wide).split())
    )


def test_sampled_sets_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "weigh.apps.spelling.contexts.ContextReader", partial(ContextReader, max_occurrences=64)
    )
    sampled = measure_learning_curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert max(sampled.sampling_fractions) < 1
    assert sampled.to_dict()["taken"] == list(sampled.sampling_fractions)
    output = " ".join(str(sampled).split())
    kept = f"{100 * sampled.sampling_fractions[0]:.2f} % kept"
    assert f"small sizes are underestimated: weather/whether ({kept}), " in output
    monkeypatch.undo()
    whole = measure_learning_curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert (whole.sampling_fractions, "kept" in str(whole)) == ((1.0, 1.0), False)


def test_two_learners_have_error_bands() -> None:
    result = measure_learning_curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert '"low"' in json.dumps(result.plot().to_dict())


def test_one_set_has_no_standard_error() -> None:
    result = measure_learning_curve(books(1, 2), None, SETS[:1], ["memory"], sizes=[500, 1000])
    assert np.isnan(result["memory"].errors).all()
    assert "±" not in str(result)
    assert result.to_dict()["learners"][0]["errors"] == [None, None]
    assert result.plot() is not None


def test_progress_is_reported_per_size_and_set() -> None:
    steps: list[tuple[int, int]] = []
    measure_learning_curve(
        books(1, 2), None, SETS, ["memory"], sizes=[500, 1000], progress=lambda *step: steps.append(step)
    )
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_sizes_beyond_the_training_text_raise() -> None:
    with pytest.raises(
        errors.ParameterError,
        match=r"measure_learning_curve: sizes must be numbers of words up to 1,\d+, the",
    ):
        measure_learning_curve(books(1, 2), None, SETS, sizes=[10**6])


def test_unknown_learner_of_a_curve_raises(result: SpellingCurve) -> None:
    with pytest.raises(errors.ParameterError, match=r"There is no curve for 'memry'.*Did you mean 'memory'"):
        result["memry"]


LENGTHS = st.lists(st.integers(0, 5 * BLOCK_WORDS), min_size=1, max_size=6).filter(any)


@given(LENGTHS, st.integers(0, 99), st.integers(1, 20 * BLOCK_WORDS))
def test_size_uses_the_smallest_sufficient_number_of_blocks(words: list[int], seed: int, size: int) -> None:
    blocks = NestedBlocks.draw(np.array(words), seed)
    assert blocks.count_words(sum(words)) == sum(words)
    n_words = blocks.count_words(min(size, sum(words)))
    assert min(size, sum(words)) <= n_words < size + BLOCK_WORDS


def test_sizes_are_nested_and_the_last_has_all_occurrences() -> None:
    corpus = Corpus.read(books(1, 2, 3, sentences=900), SETS, 6)
    rows, blocks = corpus.occurrences[0], NestedBlocks.draw(np.array(corpus.document_words), 1)
    selected = [
        set(np.flatnonzero(blocks.contains(rows, size)))
        for size in (2_000, 5_000, 10_000, sum(corpus.document_words))
    ]
    assert selected[0] < selected[1] < selected[2] < selected[3] == set(range(len(rows)))


def test_blocks_are_selected_as_a_whole() -> None:
    corpus = Corpus.read(books(1, 2, 3, sentences=900), SETS, 6)
    rows, blocks = corpus.occurrences[0], NestedBlocks.draw(np.array(corpus.document_words), 1)
    selected = blocks.contains(rows, 5_000)
    blocks_of_rows = list(zip(rows.documents.tolist(), (rows.positions // BLOCK_WORDS).tolist(), strict=True))
    inside = {
        block for block, is_selected in zip(blocks_of_rows, selected.tolist(), strict=True) if is_selected
    }
    outside = {
        block for block, is_selected in zip(blocks_of_rows, selected.tolist(), strict=True) if not is_selected
    }
    assert inside
    assert outside
    assert not inside & outside
    ends = {(at, words // BLOCK_WORDS): words % BLOCK_WORDS for at, words in enumerate(corpus.document_words)}
    assert sum(ends.get(block, BLOCK_WORDS) for block in inside) == blocks.count_words(5_000)


def test_seed_determines_the_order_of_blocks() -> None:
    words = np.array([50 * BLOCK_WORDS])
    assert (NestedBlocks.draw(words, 1).words_before != NestedBlocks.draw(words, 2).words_before).any()
    assert (NestedBlocks.draw(words, 1).words_before == NestedBlocks.draw(words, 1).words_before).all()


def test_default_sizes_are_one_two_and_five_times_powers_of_ten() -> None:
    assert default_sizes(120_000) == (10_000, 20_000, 50_000, 100_000, 120_000)
    assert default_sizes(100_000) == (10_000, 20_000, 50_000, 100_000)
    assert default_sizes(700) == (700,)
