"""Parts of a text grow by whole blocks, each size containing the smaller ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.spelling.trial.sentences import SETS, books
from weigh.apps.spelling.corpus import Corpus
from weigh.apps.spelling.trial.blocks import BLOCK, Blocks, usual_sizes

LENGTHS = st.lists(st.integers(0, 5 * BLOCK), min_size=1, max_size=6).filter(any)


@given(LENGTHS, st.integers(0, 99), st.integers(1, 20 * BLOCK))
def test_a_size_takes_the_fewest_blocks_that_have_so_many_words(
    words: list[int], seed: int, size: int
) -> None:
    blocks = Blocks.of(np.array(words), seed)
    assert blocks.words(sum(words)) == sum(words)
    told = blocks.words(min(size, sum(words)))
    assert min(size, sum(words)) <= told < size + BLOCK


def test_sizes_are_nested_and_the_last_has_everything() -> None:
    corpus = Corpus.read(books(1, 2, 3, sentences=900), SETS, 6)
    rows, blocks = corpus.sets[0], Blocks.of(np.array(corpus.words), 1)
    taken = [
        set(np.flatnonzero(blocks.holds(rows, size))) for size in (2_000, 5_000, 10_000, sum(corpus.words))
    ]
    assert taken[0] < taken[1] < taken[2] < taken[3] == set(range(len(rows)))


def test_an_occurrence_comes_with_its_block() -> None:
    corpus = Corpus.read(books(1, 2, 3, sentences=900), SETS, 6)
    rows, blocks = corpus.sets[0], Blocks.of(np.array(corpus.words), 1)
    taken = blocks.holds(rows, 5_000)
    places = list(zip(rows.documents.tolist(), (rows.at // BLOCK).tolist(), strict=True))
    inside = {place for place, is_taken in zip(places, taken.tolist(), strict=True) if is_taken}
    outside = {place for place, is_taken in zip(places, taken.tolist(), strict=True) if not is_taken}
    assert inside
    assert outside
    assert not inside & outside
    ends = {(at, words // BLOCK): words % BLOCK for at, words in enumerate(corpus.words)}
    assert sum(ends.get(place, BLOCK) for place in inside) == blocks.words(5_000)


def test_another_seed_takes_other_blocks() -> None:
    words = np.array([50 * BLOCK])
    assert (Blocks.of(words, 1).before != Blocks.of(words, 2).before).any()
    assert (Blocks.of(words, 1).before == Blocks.of(words, 1).before).all()


def test_the_usual_sizes_are_one_two_and_five_times_powers_of_ten() -> None:
    assert usual_sizes(120_000) == (10_000, 20_000, 50_000, 100_000, 120_000)
    assert usual_sizes(100_000) == (10_000, 20_000, 50_000, 100_000)
    assert usual_sizes(700) == (700,)
