"""The test of words: new rows of the same source have words that training has not seen."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats
from scipy.special import chdtrc

import weigh
from weigh.explain import distribution_shift
from weigh.explain.chi_square import chi_square_tail
from weigh.explain.distribution_shift import (
    ROW_GROUPS,
    ColumnShift,
    NumberShiftCounter,
    _f_test_p_value,
    _overdispersion,
)
from weigh.features.blocks import NumberBlock


def zipf_texts(rng, n, words=100_000, length=12, ends=""):
    """Rows of words of which a few are frequent and very many rare, as in language."""
    shares = 1.0 / np.arange(1, words + 1)
    ranks = np.searchsorted((shares / shares.sum()).cumsum(), rng.random((n, length)))
    return [" ".join(f"w{rank}{ends if at % 3 == 0 else ''}" for at, rank in enumerate(row)) for row in ranks]


def bursty_texts(rng, n):
    """Rows that say each of their words again and again."""
    return [f"{text} {text} {text}" for text in zipf_texts(rng, n, 5_000, 6)]


def shift(first, second, kind="text"):
    table = {"t": first, "y": ["a", "b"] * (len(first) // 2)}
    model = weigh.NaiveBayes(columns={"t": kind}).fit(table, "y")
    (result,) = weigh.unfamiliar(model, {"t": second}).columns
    return result


KINDS = {
    "words": weigh.Text(),
    "pruned": weigh.Text(min_count=2),
    "pairs": weigh.Text(ngrams=(1, 2)),
    "hashed": weigh.Text(buckets=2**12),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("texts", [zipf_texts, bursty_texts])
@pytest.mark.parametrize("sizes", [(600, 300), (100, 600), (600, 30)])
def test_a_random_split_is_no_shift(kind, texts, sizes):
    rng = np.random.default_rng(5)
    result = shift(texts(rng, sizes[0]), texts(rng, sizes[1]), kind)
    assert result.effect < 0.06
    assert result.p > 1e-3
    assert not result.shifted


def test_p_values_of_random_splits_are_uniform():
    rng = np.random.default_rng(6)
    result = [shift(zipf_texts(rng, 200), zipf_texts(rng, 100)).p for _ in range(60)]
    assert stats.kstest(result, "uniform").pvalue > 0.01


def test_a_shift_to_new_words_is_reported_with_the_expected_share():
    rng = np.random.default_rng(7)
    texts = zipf_texts(rng, 1000, 5_000)
    result = shift(texts, zipf_texts(rng, 300, 5_000, ends="x"))
    _, counts = np.unique(" ".join(texts).split(), return_counts=True)
    assert result.shifted
    assert result.before == f"new words {(counts == 1).sum() / counts.sum():.2%}".replace("%", " %")
    assert result.now.startswith("new words ")
    assert float(result.now.split()[-2]) > 25


def test_the_effect_of_other_frequent_words_is_their_share():
    rng = np.random.default_rng(8)

    def texts(hours):
        return [f"{text} {hours[at % 2]}" for at, text in enumerate(zipf_texts(rng, 400, 50, 3))]

    result = shift(texts(["early", "late"]), texts(["late", "late"]))
    assert result.shifted
    assert result.effect == pytest.approx(0.125, abs=0.02)
    assert {result.before, result.now} in (
        {"early 12.50 %", "early 0.00 %"},
        {"late 12.50 %", "late 25.00 %"},
    )


def test_the_rows_of_training_have_fewer_new_words_and_no_shift():
    texts = zipf_texts(np.random.default_rng(9), 200)
    assert shift(texts, texts).p == 1.0


def test_a_few_long_texts_are_too_few_rows():
    rng = np.random.default_rng(10)
    model = weigh.NaiveBayes(columns={"t": "text"}).fit({"t": zipf_texts(rng, 40), "y": ["a", "b"] * 20}, "y")
    assert weigh.unfamiliar(model, {"t": zipf_texts(rng, 19, length=200)}).columns == ()
    assert len(weigh.unfamiliar(model, {"t": zipf_texts(rng, 20, length=200)}).columns) == 1


@pytest.mark.parametrize(("freedom", "f"), [(1, 6.0), (3, 5.0), (40, 1.9), (300, 1.2)])
def test_the_p_value_is_that_of_fishers_f(freedom, f):
    expected = stats.f.sf(f, freedom, freedom * (ROW_GROUPS - 1))
    assert _f_test_p_value(f * freedom * 2.5, freedom, 2.5) == pytest.approx(expected, rel=0.1)


def test_overdispersion_is_one_for_single_draws_and_the_multiplicity_for_repeated_ones():
    rng = np.random.default_rng(11)
    groups = rng.multinomial(10_000, np.full(200, 1 / 200), size=ROW_GROUPS).astype(float)
    assert _overdispersion(groups, 199) == pytest.approx(1.0, abs=0.05)
    assert _overdispersion(3 * groups, 199) == pytest.approx(3.0, abs=0.15)


def test_a_p_value_is_never_printed_as_zero():
    assert ColumnShift("c", "G", 0.0, 1.0, "", "").p_text == "< 1e-300"
    assert ColumnShift("c", "G", 2.34e-12, 1.0, "", "").p_text == "2.3e-12"


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 10, 37, 200, 1_001, 20_000, 300_000])
@pytest.mark.parametrize("share", [1e-6, 0.1, 0.5, 0.9, 0.99, 1.0, 1.001, 1.01, 1.1, 1.5, 3.0, 20.0])
def test_the_chi_square_tail_equals_that_of_scipy(freedom, share):
    x = share * freedom
    assert chi_square_tail(x, freedom) == pytest.approx(float(chdtrc(freedom, x)), rel=1e-8, abs=1e-300)


def test_with_two_degrees_of_freedom_it_is_an_exponential():
    for x in (0.01, 1.0, 5.0, 100.0, 1000.0):
        assert chi_square_tail(x, 2) == pytest.approx(math.exp(-x / 2), rel=1e-12)


def test_with_one_degree_of_freedom_it_is_the_tail_of_a_squared_normal():
    for x in (0.01, 1.0, 5.0, 100.0):
        assert chi_square_tail(x, 1) == pytest.approx(math.erfc(math.sqrt(x / 2)), rel=1e-12)


def test_the_chi_square_tail_is_one_at_zero_and_zero_at_infinity():
    assert chi_square_tail(0.0, 3) == 1.0
    assert chi_square_tail(math.inf, 3) == 0.0
    assert chi_square_tail(1e6, 3) == 0.0


def test_explaining_imports_neither_scipy_nor_scikit_learn():
    code = (
        "import sys, weigh.explain.novelty_detection, weigh.source, weigh.learn, weigh.engines\n"
        "columns = {'a': ['u', 'v'] * 30, 'y': ['p', 'q'] * 30}\n"
        "source = weigh.source.rows(columns, 'y')\n"
        "model = weigh.engines.run(weigh.learn.BayesTask.for_source(source, 'auto'), source)\n"
        "result = weigh.explain.novelty_detection.unfamiliar(model, {'a': ['u'] * 60})\n"
        "assert result.shifted, result\n"
        "assert not {'scipy', 'sklearn'} & set(sys.modules), sorted(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_shift_of_numbers_far_from_zero_is_measured_from_their_mean() -> None:
    rng = np.random.default_rng(0)
    x, same, shifted = (1e9 + 1e-6 * (rng.normal(size=2000) + shift) for shift in (0, 0, 1))
    gaussian = weigh.NaiveBayes().fit(x[:, None], ["a", "b"] * 1000).model_.distributions[0]
    counters = [NumberShiftCounter.from_part(gaussian), NumberShiftCounter.from_part(gaussian)]
    for counter, values in zip(counters, (same, shifted), strict=True):
        counter.add(NumberBlock(values))
    (unmoved,), (moved,) = (list(counter.shifts()) for counter in counters)
    assert unmoved.effect < 0.1
    assert moved.effect == pytest.approx(1.0, abs=0.1)


def test_of_many_flags_only_those_that_occur_are_tested(monkeypatch):
    rows = np.zeros((60, 6))
    rows[:, 0], rows[:30, 1] = 1, 1
    model = weigh.NaiveBayes(columns="flag").fit(rows, ["a", "b"] * 30)
    later = np.zeros((60, 6))
    later[:, 4] = 1
    every = weigh.unfamiliar(model, later).columns
    assert [column.column for column in every] == [f"x{j}" for j in range(6)]
    monkeypatch.setattr(distribution_shift, "MAX_TESTED_FLAGS", 5)
    occurring = weigh.unfamiliar(model, later).columns
    assert occurring == tuple(column for column in every if column.column in ("x0", "x1", "x4"))
