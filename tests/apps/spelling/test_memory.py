"""The memory-based learner: Banko and Brill's four rules, one after the other."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.spelling.sayings import PAIR, THREE, read
from weigh.apps.spelling.learners import learned
from weigh.apps.spelling.memory import MemoryChooser

Triple = tuple[str, str, str]


def twin(words, taught, asked):
    """What the rules say: by both neighbours, else the one before, else the one after, else the commoner."""
    common = Counter(word for _, word, _ in taught)
    best = lambda counts: max(words, key=lambda word: (counts[word], common[word], -words.index(word)))  # noqa: E731
    answers = []
    for before, _, after in asked:
        looks = [
            Counter(w for b, w, a in taught if b == before and a == after),
            Counter(w for b, w, _ in taught if b == before),
            Counter(w for _, w, a in taught if a == after),
        ]
        answers.append(best(next((seen for seen in looks if seen), common)))
    return answers


def answers(words: tuple[str, ...], taught: list[Triple], asked: list[Triple]) -> list[str]:
    """What the learner answers."""
    chooser = MemoryChooser.of(rows_of(words, taught))
    best = chooser.chances(rows_of(words, asked)).argmax(axis=1)
    return [words[at] for at in best.tolist()]


def rows_of(words, triples):
    """Occurrences with these neighbours, each in a paragraph of its own."""
    return read(words, "\n\n".join(" ".join(triple) for triple in triples))


NEIGHBOURS = st.sampled_from(["know", "the", "see", "Old"])


def triples(words: tuple[str, ...]) -> st.SearchStrategy[list[Triple]]:
    return st.lists(st.tuples(NEIGHBOURS, st.sampled_from(words), NEIGHBOURS), min_size=1, max_size=20)


@given(taught=triples(PAIR), asked=triples(PAIR))
def test_two_words_are_told_apart_as_the_rules_say(taught, asked):
    assert answers(PAIR, taught, asked) == twin(PAIR, taught, asked)


@given(taught=triples(THREE), asked=triples(THREE))
def test_three_words_are_told_apart_as_the_rules_say(taught, asked):
    assert answers(THREE, taught, asked) == twin(THREE, taught, asked)


@pytest.mark.parametrize(
    ("taught", "asked", "answer"),
    [
        # Both neighbours count more than what either alone has seen far oftener.
        ("know whether to, know weather it, know weather it, so weather to", "know to", "whether"),
        # Without the pair the word before decides, whatever the one after says.
        ("know whether it, so weather to, oh weather to", "know to", "whether"),
        # Without the word before, the one after.
        ("see weather is, see weather is, know whether to", "ask to", "whether"),
        # Without any of them, the commoner word.
        ("see weather is, know whether to, know whether to", "ask him", "whether"),
        # A tie goes to the commoner word.
        ("know weather to, know whether to, so whether it", "know to", "whether"),
        ("know weather to, know whether to, so weather it", "know to", "weather"),
    ],
)
def test_the_four_rules_one_by_one(taught, asked, answer):
    before, after = asked.split()
    learned_from = [tuple(each.split()) for each in taught.split(", ")]
    assert answers(PAIR, learned_from, [(before, "weather", after)]) == [answer]


def test_chances_are_shares_with_one_look_more():
    taught = [("know", "whether", "to")] * 3 + [("the", "weather", "was")]
    chances = learned("memory", rows_of(PAIR, taught)).chances(rows_of(PAIR, [("know", "weather", "to")]))
    # Three of three, and the fourth look shared as the text shares them: 1/4 and 3/4.
    assert chances.tolist() == [[pytest.approx(0.25 / 4), pytest.approx(3.75 / 4)]]


def test_its_size_is_what_it_remembers():
    # Three words before, two after, three pairs.
    taught = [("know", "whether", "to"), ("see", "whether", "to"), ("the", "weather", "was")]
    assert learned("memory", rows_of(PAIR, taught)).size == 3 + 2 + 3
