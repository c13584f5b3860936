"""Learners side by side: shares counted again by hand, means, printing, and what is refused."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, sem

from tests.apps.spelling.evaluation.sentences import SETS, books, prose
from weigh import errors
from weigh.apps.spelling.documents import Document, read_documents
from weigh.apps.spelling.evaluation.compare import LearnerComparison, SetComparison, compare_learners
from weigh.apps.spelling.evaluation.held_out import SetScore
from weigh.apps.spelling.learners import LEARNERS


@pytest.fixture(scope="module")
def found() -> LearnerComparison:
    return compare_learners(books(1, 2, 3), books(4, sentences=120), SETS)


def in_order(text: str, words: tuple[str, ...]) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word in words]


def test_the_majority_is_counted_as_by_hand(found: LearnerComparison) -> None:
    for words, each in zip(SETS, found.sets, strict=True):
        learned = Counter(word for seed in (1, 2, 3) for word in in_order(prose(seed), words))
        judged = Counter(in_order(prose(4, 120), words))
        assert each.learned == learned.total()
        assert each.judged == judged.total()
        assert each.scores["majority"] == SetScore(judged[max(words, key=learned.__getitem__)], 0)


def test_words_that_their_neighbours_tell_are_learned_by_all(found: LearnerComparison) -> None:
    for name in LEARNERS:
        assert found.mean(name) > 0.98 > 0.7 > found.mean("majority")


def test_means_are_over_sets_and_over_occurrences(found: LearnerComparison) -> None:
    first, second = found.sets
    shares = [first.accuracy("majority"), second.accuracy("majority")]
    assert found.mean("majority") == pytest.approx(np.mean(shares))
    right = first.scores["majority"].right + second.scores["majority"].right
    assert found.by_occurrence("majority") == right / (first.judged + second.judged)
    more = found.accuracies("memory") - np.array(shares)
    assert found.gain("memory") == pytest.approx((more.mean(), sem(more)))


def test_intervals_are_exact() -> None:
    each = SetComparison(("a", "b"), 9, 20, {"memory": SetScore(17, 3)})
    exact = binomtest(17, 20).proportion_ci(0.95, "exact")
    measure = each.measure("memory")
    assert (measure.value, measure.low, measure.high) == pytest.approx((0.85, exact.low, exact.high))


def test_a_set_that_is_not_judged_is_in_no_mean() -> None:
    found = compare_learners(books(1, 2), books(3), [*SETS, ("peace", "piece")], ["memory"])
    assert math.isnan(found.sets[2].accuracy("memory"))
    assert not math.isnan(found.mean("memory"))
    assert "Not in the text held out, and in no mean: peace/piece." in str(found)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["sets"][2]["judged"] == 0


def test_without_a_word_the_last_sixth_is_held_out() -> None:
    found = compare_learners(books(*range(13)), None, SETS, ["memory"])
    assert (found.learned_documents, found.judged_documents) == (11, 2)
    two = compare_learners(books(1, 2), None, SETS, ["memory"])
    assert (two.learned_documents, two.judged_documents) == (1, 1)


def test_held_out_text_is_not_learned() -> None:
    told = [Document("a.txt", iter([b"the weather was fine. than it was then. "] * 3))]
    asked = [Document("b.txt", iter([b"he knew whether it was so. "]))]
    found = compare_learners(told, asked, SETS, ["memory"])
    assert [each.learned for each in found.sets] == [3, 6]
    assert found.sets[0].scores["memory"].right == 0


@pytest.mark.parametrize("is_named", [True, False])
def test_a_file_that_is_learned_is_not_judged(tmp_path: Path, is_named: bool) -> None:
    for seed in (1, 2):
        (tmp_path / f"{seed}.txt").write_text(prose(seed))
    twice = tmp_path / ".." / tmp_path.name / "1.txt"
    given = read_documents([tmp_path] if is_named else [tmp_path, twice])
    with pytest.raises(errors.DataError, match=r"1\.txt is among the texts to learn from and among those"):
        compare_learners(given, read_documents(twice) if is_named else None, SETS, ["memory"])


def test_it_prints_within_80_columns(found: LearnerComparison) -> None:
    assert str(found).startswith("2 sets learned from ")
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(found) in found._repr_html_()


def test_learners_with_the_same_features_share_a_column(found: LearnerComparison) -> None:
    head = next(line for line in str(found).splitlines() if line.startswith("features "))
    shared = [
        {each.scores[name].features for name in names}
        for names in (("logistic", "naive-bayes", "bernoulli"), ("perceptron", "voted"))
        for each in found.sets
    ]
    assert [len(sizes) for sizes in shared] == [1, 1, 1, 1]
    assert head.endswith("logistic, bayes, bern.  perc., voted  memory")


def test_names_are_whole_where_there_is_room(found: LearnerComparison) -> None:
    long = replace(found, sets=(replace(found.sets[0], words=("stationary", "stationery")),))
    few = str(replace(long, learners=("majority", "naive-bayes", "bernoulli")))
    assert re.search(r"^% right +judged  majority  naive-bayes  bernoulli$", few, re.MULTILINE)
    assert "\nstationary/stationery " in few
    assert "Names in short" not in few
    whole = str(long)
    head = r"^% right +judged  major  logistic  bayes  bern\.  perc\.  voted  memory$"
    assert re.search(head, whole, re.MULTILINE)
    assert "\nNames in short: major: majority, bayes: naive-bayes, bern.: bernoulli, perc.:" in whole
    assert "\nstationary/station… " in whole


def test_markup_is_escaped() -> None:
    odd = SetComparison(("<b>", "&"), 1, 1, {"majority": SetScore(1, 0), "memory": SetScore(1, 2)})
    markup = LearnerComparison((odd,), ("majority", "memory"), 1, 1, 1, 1)._repr_html_()
    assert "&lt;b&gt;/&amp;" in markup
    assert "<b>" not in markup


def test_the_picture_has_two_dots_for_each_set(found: LearnerComparison) -> None:
    assert json.dumps(found.plot().to_dict()).count('"name": "weather/whether"') >= 2


def test_every_learner_and_set_is_a_step() -> None:
    steps: list[tuple[int, int]] = []
    compare_learners(books(1, 2), None, SETS, ["memory"], progress=lambda *step: steps.append(step))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_an_unknown_learner_is_refused() -> None:
    with pytest.raises(
        errors.ParameterError, match=r"compared: learners must be some of 'logistic'.*'winnow'"
    ):
        compare_learners(books(1, 2), None, SETS, ["winnow"])


@pytest.mark.parametrize("seeds", [(), (1,)])
def test_nothing_to_hold_out_is_refused(seeds: tuple[int, ...]) -> None:
    with pytest.raises(errors.DataError, match=r"to learn from and .* to judge by are not enough\. Give two"):
        compare_learners(books(*seeds), None, SETS)


def test_text_without_the_words_is_refused() -> None:
    with pytest.raises(errors.DataError, match=r"no word of any set is in the 1,?\d* words held out"):
        compare_learners(books(1, 2), None, [("peace", "piece")])
