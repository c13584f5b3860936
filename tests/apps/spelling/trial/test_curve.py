"""Accuracy over the size of the text: the last point is the comparison, the first one knows little."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import sem

from tests.apps.spelling.trial.sentences import SETS, books
from weigh import errors
from weigh.apps.spelling.contexts import Reader
from weigh.apps.spelling.trial.compare import compared
from weigh.apps.spelling.trial.curve import Curve, LearnerCurve, curve
from weigh.apps.spelling.trial.law import log_law

SIZES = (1_000, 2_000, 5_000)


@pytest.fixture(scope="module")
def found() -> Curve:
    return curve(books(1, 2, 3, sentences=400), books(4), SETS, sizes=SIZES)


def test_all_words_give_what_the_comparison_gives() -> None:
    drawn = curve(books(1, 2, 3), books(4), SETS)
    whole = compared(books(1, 2, 3), books(4), SETS)
    assert drawn.words == (whole.learned_words,)
    for each in drawn.learners:
        assert each.accuracies[0] == pytest.approx(whole.accuracies(each.name))
        assert each.law is None


def test_points_are_means_with_standard_errors_over_the_sets(found: Curve) -> None:
    each = found["memory"]
    assert each.accuracies.shape == (3, 2)
    assert each.means == pytest.approx(each.accuracies.mean(axis=1))
    assert each.errors == pytest.approx(sem(each.accuracies, axis=1))


def test_the_late_law_is_that_of_the_last_tenfold() -> None:
    words, accuracies = (99, 1000, 2000, 10_000), np.array([[0.5, 0.1], [0.6, 0.3], [0.6, 0.4], [0.9, 0.8]])
    each = LearnerCurve.of("memory", words, accuracies)
    assert each.late == log_law(words[1:], accuracies[1:])
    assert each.law == log_law(words, accuracies)
    assert each.late is not None
    assert each.late.gain == f"+{100 * each.late.b:.1f} ± {100 * each.late.error:.1f}"
    assert LearnerCurve.of("memory", words[:3], accuracies[:3]).late is None


def test_the_sizes_told_are_those_of_whole_blocks(found: Curve) -> None:
    assert all(size <= words < size + 1000 for size, words in zip(SIZES, found.words, strict=True))


def test_the_same_seed_gives_the_same_curve(found: Curve) -> None:
    again = curve(books(1, 2, 3, sentences=400), books(4), SETS, sizes=SIZES)
    assert again.to_dict() == found.to_dict()
    other = curve(books(1, 2, 3, sentences=400), books(4), SETS, ["memory"], sizes=SIZES, seed=2)
    assert other.seed == 2


def test_it_prints_within_80_columns_and_tells_the_laws(found: Curve) -> None:
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("· log10(words)") == 7
    assert text.count("\nlogistic ") == 1
    assert repr(found) in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["words"] == list(found.words)


def test_a_set_that_is_not_judged_is_left_out_and_told() -> None:
    found = curve(books(1, 2), None, [*SETS, ("peace", "piece")], ["memory"], sizes=[1000])
    assert found.sets == SETS
    assert "Not in the text held out, and left out: peace/piece." in str(found)


def test_the_picture_tells_all_learners_apart(found: Curve) -> None:
    shown = json.dumps(found.plot().to_dict())
    assert all(f'"series": "{each.name}"' in shown for each in found.learners)
    assert "thin dashed lines: the log-linear law of each learner" in shown
    brief = curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert "law" not in json.dumps(brief.plot().to_dict())


def test_learners_have_short_names_where_whole_ones_find_no_room(found: Curve) -> None:
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
    monkeypatch.setattr("weigh.apps.spelling.corpus.Reader", partial(Reader, most=64))
    thinned = curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert max(thinned.taken) < 1
    assert thinned.to_dict()["taken"] == list(thinned.taken)
    told = " ".join(str(thinned).split())
    assert f"than so many words would: weather/whether ({100 * thinned.taken[0]:.2f} % kept), " in told
    monkeypatch.undo()
    whole = curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert (whole.taken, "kept" in str(whole)) == ((1.0, 1.0), False)


def test_two_lines_have_bands() -> None:
    found = curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000])
    assert '"low"' in json.dumps(found.plot().to_dict())


def test_one_set_has_no_standard_error() -> None:
    found = curve(books(1, 2), None, SETS[:1], ["memory"], sizes=[500, 1000])
    assert np.isnan(found["memory"].errors).all()
    assert "±" not in str(found)
    assert found.to_dict()["learners"][0]["errors"] == [None, None]
    assert found.plot() is not None


def test_every_size_and_set_is_a_step() -> None:
    steps: list[tuple[int, int]] = []
    curve(books(1, 2), None, SETS, ["memory"], sizes=[500, 1000], progress=lambda *step: steps.append(step))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_more_words_than_there_are_cannot_be_asked_for() -> None:
    with pytest.raises(
        errors.ParameterError, match=r"curve: sizes must be numbers of words up to 1,\d+, all"
    ):
        curve(books(1, 2), None, SETS, sizes=[10**6])


def test_an_unknown_curve_is_told(found: Curve) -> None:
    with pytest.raises(errors.ParameterError, match=r"there is no curve of 'memry'.*Did you mean 'memory'"):
        found["memry"]
