"""The comparison of learners: scores, means, printing and errors."""

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
def result() -> LearnerComparison:
    return compare_learners(books(1, 2, 3), books(4, sentences=120), SETS)


def set_words(text: str, words: tuple[str, ...]) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word in words]


def test_majority_baseline_equals_counts_by_hand(result: LearnerComparison) -> None:
    for words, each in zip(SETS, result.sets, strict=True):
        learned = Counter(word for seed in (1, 2, 3) for word in set_words(prose(seed), words))
        judged = Counter(set_words(prose(4, 120), words))
        assert each.learned == learned.total()
        assert each.judged == judged.total()
        assert each.scores["majority"] == SetScore(judged[max(words, key=learned.__getitem__)], 0)


def test_all_learners_learn_words_determined_by_their_neighbours(result: LearnerComparison) -> None:
    for name in LEARNERS:
        assert result.mean(name) > 0.98 > 0.7 > result.mean("majority")


def test_means_are_over_sets_and_over_occurrences(result: LearnerComparison) -> None:
    first, second = result.sets
    shares = [first.accuracy("majority"), second.accuracy("majority")]
    assert result.mean("majority") == pytest.approx(np.mean(shares))
    right = first.scores["majority"].right + second.scores["majority"].right
    assert result.by_occurrence("majority") == right / (first.judged + second.judged)
    gains = result.accuracies("memory") - np.array(shares)
    assert result.gain("memory") == pytest.approx((gains.mean(), sem(gains)))


def test_intervals_are_exact() -> None:
    each = SetComparison(("a", "b"), 9, 20, {"memory": SetScore(17, 3)})
    exact = binomtest(17, 20).proportion_ci(0.95, "exact")
    measure = each.measure("memory")
    assert (measure.value, measure.low, measure.high) == pytest.approx((0.85, exact.low, exact.high))


def test_sets_without_test_occurrences_are_excluded_from_means() -> None:
    result = compare_learners(books(1, 2), books(3), [*SETS, ("peace", "piece")], ["memory"])
    assert math.isnan(result.sets[2].accuracy("memory"))
    assert not math.isnan(result.mean("memory"))
    assert "Not in the held-out text, and in no mean: peace/piece." in str(result)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["sets"][2]["judged"] == 0


def test_last_sixth_is_held_out_by_default() -> None:
    result = compare_learners(books(*range(13)), None, SETS, ["memory"])
    assert (result.learned_documents, result.judged_documents) == (11, 2)
    two = compare_learners(books(1, 2), None, SETS, ["memory"])
    assert (two.learned_documents, two.judged_documents) == (1, 1)


def test_test_documents_are_not_used_for_training() -> None:
    training = [Document("a.txt", iter([b"the weather was fine. than it was then. "] * 3))]
    test = [Document("b.txt", iter([b"he knew whether it was so. "]))]
    result = compare_learners(training, test, SETS, ["memory"])
    assert [each.learned for each in result.sets] == [3, 6]
    assert result.sets[0].scores["memory"].right == 0


@pytest.mark.parametrize("is_named", [True, False])
def test_training_files_cannot_be_test_files(tmp_path: Path, is_named: bool) -> None:
    for seed in (1, 2):
        (tmp_path / f"{seed}.txt").write_text(prose(seed))
    twice = tmp_path / ".." / tmp_path.name / "1.txt"
    documents = read_documents([tmp_path] if is_named else [tmp_path, twice])
    with pytest.raises(errors.DataError, match=r"1\.txt is a training document and a test document"):
        compare_learners(documents, read_documents(twice) if is_named else None, SETS, ["memory"])


def test_result_prints_in_80_columns(result: LearnerComparison) -> None:
    assert str(result).startswith("2 sets learned from ")
    assert max(map(len, str(result).splitlines())) <= 80
    assert repr(result) in result._repr_html_()


def test_learners_with_the_same_features_share_a_column(result: LearnerComparison) -> None:
    head = next(line for line in str(result).splitlines() if line.startswith("features "))
    shared = [
        {each.scores[name].features for name in names}
        for names in (("logistic", "naive-bayes", "bernoulli"), ("perceptron", "voted"))
        for each in result.sets
    ]
    assert [len(sizes) for sizes in shared] == [1, 1, 1, 1]
    assert head.endswith("logistic, bayes, bern.  perc., voted  memory")


def test_learner_names_are_abbreviated_only_if_necessary(result: LearnerComparison) -> None:
    long = replace(result, sets=(replace(result.sets[0], words=("stationary", "stationery")),))
    few = str(replace(long, learners=("majority", "naive-bayes", "bernoulli")))
    assert re.search(r"^% right +judged  majority  naive-bayes  bernoulli$", few, re.MULTILINE)
    assert "\nstationary/stationery " in few
    assert "Abbreviations" not in few
    whole = str(long)
    head = r"^% right +judged  major  logistic  bayes  bern\.  perc\.  voted  memory$"
    assert re.search(head, whole, re.MULTILINE)
    assert "\nAbbreviations: major: majority, bayes: naive-bayes, bern.: bernoulli, perc.:" in whole
    assert "\nstationary/station… " in whole


def test_markup_is_escaped() -> None:
    unsafe = SetComparison(("<b>", "&"), 1, 1, {"majority": SetScore(1, 0), "memory": SetScore(1, 2)})
    markup = LearnerComparison((unsafe,), ("majority", "memory"), 1, 1, 1, 1)._repr_html_()
    assert "&lt;b&gt;/&amp;" in markup
    assert "<b>" not in markup


def test_plot_has_two_points_per_set(result: LearnerComparison) -> None:
    assert json.dumps(result.plot().to_dict()).count('"name": "weather/whether"') >= 2


def test_progress_is_reported_per_learner_and_set() -> None:
    steps: list[tuple[int, int]] = []
    compare_learners(books(1, 2), None, SETS, ["memory"], progress=lambda *step: steps.append(step))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_unknown_learner_raises() -> None:
    with pytest.raises(
        errors.ParameterError, match=r"compare_learners: learners must be some of 'logistic'.*'winnow'"
    ):
        compare_learners(books(1, 2), None, SETS, ["winnow"])


@pytest.mark.parametrize("seeds", [(), (1,)])
def test_too_few_documents_raise(seeds: tuple[int, ...]) -> None:
    with pytest.raises(errors.DataError, match=r"to learn from and .* to test on\. Give at least two"):
        compare_learners(books(*seeds), None, SETS)


def test_test_text_without_set_words_raises() -> None:
    with pytest.raises(errors.DataError, match=r"No word of any set occurs in the 1,?\d* words of the test"):
        compare_learners(books(1, 2), None, [("peace", "piece")])
