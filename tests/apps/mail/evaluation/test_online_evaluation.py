"""A whole trial: its tables, curves, mistakes and pictures."""

from __future__ import annotations

import json
import math

import pytest

from tests.apps.mail.evaluation.scripted_filter import Scripted, course, scored
from weigh import errors
from weigh.apps.mail.evaluation.filter_result import RocPoint, filter_learning_curve, roc_points
from weigh.apps.mail.evaluation.filters import HashedMails, LearnerUnderTest
from weigh.apps.mail.evaluation.mail_stream import Feedback, Judgement, Mail
from weigh.apps.mail.evaluation.online_evaluation import MailEvaluation, _format_difference, evaluate_filters

PAIRS = [("spam", 2.0), ("ham", -2.0), ("spam", -0.5), ("ham", 1.0), ("ham", -1.0)] * 20


class Contrary(Scripted):
    """A filter that says the contrary, with a probability."""

    def judge(self, mail: Mail) -> Judgement:
        said = super().judge(mail)
        return Judgement(
            -said.score, "ham" if said.verdict == "spam" else "spam", 1 / (1 + math.exp(said.score))
        )


@pytest.fixture(scope="module")
def trial() -> MailEvaluation:
    return evaluate_filters(
        [Contrary("contrary"), Scripted()], scored(*PAIRS), warm=20, feedback=Feedback(delay=3)
    )


def test_the_counts_are_those_of_the_mails_judged(trial: MailEvaluation) -> None:
    assert (trial.hams, trial.spams, trial.warm) == (48, 32, 20)
    right, contrary = trial.result("scripted"), trial.result("contrary")
    assert (right.ham_errors, right.spam_errors, right.learned) == (16, 16, 20 + 80 - 4)
    assert (contrary.ham_errors, contrary.spam_errors) == (32, 16)


def test_the_best_filter_ranks_best(trial: MailEvaluation) -> None:
    assert trial.best.name == "scripted"
    assert trial.best.measure("1-roca").value == pytest.approx(100 / 6)
    assert trial.result("contrary").measure("1-roca").value == pytest.approx(100 * 5 / 6)


def test_the_text_fits_into_80_columns_and_tells_all_filters(trial: MailEvaluation) -> None:
    lines = str(trial).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "2 filters on 80 mails (48 ham, 32 spam) after 20 mails learned unjudged, in the"
    assert lines[1] == "order of time, labels after 3 further mails"
    assert lines[3].split("  ")[1:2] == ["filter"]
    assert sum(line.strip().startswith("contrary") for line in lines) == 2
    assert "The worst mistakes of scripted:" in lines
    assert "best: the filter with the smallest 1−ROCA." in str(trial)


def test_long_names_fit_too() -> None:
    mails = [
        Mail(mail.content, "/home/somebody/Maildir/.Archive.2026/" * 3 + mail.place, mail.label, mail.at)
        for mail in scored(*PAIRS)
    ]
    found = evaluate_filters(
        [Contrary("a filter of a long name, one"), Scripted("a filter of a long name, two")], mails
    )
    assert max(map(len, str(found).splitlines())) <= 80
    assert "…" in str(found)


def test_the_trial_is_plain_json(trial: MailEvaluation) -> None:
    told = json.loads(json.dumps(trial.to_dict(), allow_nan=False))
    assert told["best"] == "scripted"
    assert [each["filter"] for each in told["filters"]] == ["contrary", "scripted"]
    assert told["filters"][1]["measures"][3]["name"] == "1-roca"
    assert told["feedback"]["delay"] == 3
    assert told["pairs"][0]["first_alone"] == 48


def test_html_is_escaped() -> None:
    found = evaluate_filters([Scripted("<script>")], scored(*PAIRS))
    assert "<script>" not in found._repr_html_()
    assert "&lt;script&gt;" in found._repr_html_()


def test_no_word_of_a_mail_is_told() -> None:
    mails = [Mail(b"1.0 confidential", "m0", "ham", 0.0), Mail(b"-1.0 confidential", "m1", "spam", 1.0)]
    found = evaluate_filters([Scripted()], mails)
    assert "confidential" not in str(found) + repr(found) + found._repr_html_() + json.dumps(found.to_dict())


def test_mistakes_are_those_of_which_the_filter_was_surest() -> None:
    mails = scored(("ham", 1.0), ("ham", 5.0), ("spam", -1.0), ("spam", -7.0), ("ham", 3.0), ("spam", 1.0))
    found = evaluate_filters([Scripted()], mails, most=2).best.mistakes
    assert [(each.place, each.label, each.verdict, each.turn) for each in found] == [
        ("m1", "ham", "spam", 2),
        ("m4", "ham", "spam", 5),
        ("m3", "spam", "ham", 4),
        ("m2", "spam", "ham", 3),
    ]


def test_the_curve_ends_with_the_figures_of_the_whole(trial: MailEvaluation) -> None:
    for each in trial.results:
        last = each.curve[-1]
        assert last.seen == 100
        assert last.hm == pytest.approx(each.measure("hm").value)
        assert last.sm == pytest.approx(each.measure("sm").value)
        assert last.roca == pytest.approx(each.measure("1-roca").value)


def test_windows_see_only_the_latest_mails() -> None:
    # The first half is misjudged, the second is not.
    is_spam = [True, False] * 50
    scores = [-1.0 if kind else 1.0 for kind in is_spam[:50]] + [
        1.0 if kind else -1.0 for kind in is_spam[50:]
    ]
    points = filter_learning_curve(course(is_spam, scores))
    assert [point.seen for point in points[:3]] == [3, 5, 8]
    last = points[-1]
    assert (last.window, last.window_hm, last.window_sm, last.window_roca) == (10, 0.0, 0.0, 0.0)
    assert (last.hm, last.sm, last.roca) == (50.0, 50.0, 50.0)
    later = next(point for point in points if point.seen == 58)
    assert (later.window_hm, later.window_sm) == (20.0, 20.0)
    middle = next(point for point in points if point.seen == 50)
    assert (middle.window_hm, middle.window_sm, middle.window_roca) == (100.0, 100.0, 100.0)


def test_the_roc_curve_has_the_least_spam_for_every_loss_of_ham() -> None:
    found = roc_points(course([False, True, False, True, True], [3.0, 2.0, 2.0, 4.0, 1.0]))
    third = 100 / 3
    assert found == (
        RocPoint(0.0, pytest.approx(2 * third)),
        RocPoint(50.0, pytest.approx(2 * third)),
        RocPoint(100.0, 0.0),
    )


@pytest.mark.parametrize("what", ["learning", "ham", "spam", "roc", "figures"])
def test_pictures_name_the_filters(trial: MailEvaluation, what: str) -> None:
    told = json.dumps(trial.plot(what).to_dict())
    assert "scripted" in told
    assert "contrary" in told


def test_an_unknown_picture_is_refused(trial: MailEvaluation) -> None:
    with pytest.raises(
        errors.ParameterError, match="plot: what must be one of 'learning', 'ham', 'spam', 'roc', 'figures'"
    ):
        trial.plot("cake")


def test_one_kind_of_mail_prints_and_has_no_curve_of_areas() -> None:
    found = evaluate_filters([Scripted("a"), Scripted("b")], scored(*[("ham", -1.0)] * 5))
    assert max(map(len, str(found).splitlines())) <= 80
    json.dumps(found.to_dict(), allow_nan=False)
    with pytest.raises(errors.Unsupported, match="Try the filter on ham and on spam"):
        found.plot("learning")
    assert found.plot("ham") is not None


def test_progress_counts_every_mail_of_every_filter() -> None:
    steps: list[tuple[int, int]] = []
    evaluate_filters(
        [Scripted("a"), Scripted("b")],
        scored(*PAIRS[:4]),
        warm=1,
        progress=lambda done, of: steps.append((done, of)),
    )
    assert steps == [(done, 8) for done in range(1, 9)]


def test_an_unknown_filter_is_refused(trial: MailEvaluation) -> None:
    with pytest.raises(errors.Unsupported, match="No filter 'x' was tried; there are 'contrary', 'scripted'"):
        trial.result("x")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"warm": 4}, "warm must be a share below 1, or a whole number below that of the mails, 4, got 4."),
        ({"warm": -1}, "got -1."),
        ({"warm": 1.5}, "got 1.5."),
        ({"level": 1.0}, "level must be a number between 0 and 1, got 1.0."),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, float], said: str) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        evaluate_filters([Scripted()], scored(*PAIRS[:4]), **settings)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_filters_without_names_of_their_own_are_refused() -> None:
    for given in ([], [Scripted(), Scripted()]):
        with pytest.raises(errors.ParameterError, match="one filter or more, of different names"):
            evaluate_filters(given, scored(*PAIRS))


def test_mails_that_cannot_be_tried_are_refused() -> None:
    with pytest.raises(errors.DataError, match="There are no mails"):
        evaluate_filters([Scripted()], [])
    with pytest.raises(errors.LabelError, match="m0 has the label 'junk'; a mail is one of 'ham', 'spam'"):
        evaluate_filters([Scripted()], scored(("junk", 1.0)))


def test_words_that_are_no_verdict_are_refused() -> None:
    with pytest.raises(errors.DataError, match="scripted said 'ham' with score nan of m0"):
        evaluate_filters([Scripted()], scored(("ham", math.nan)))


def test_mails_without_a_time_are_counted_in_the_text() -> None:
    mails = [*scored(("ham", -1.0), ("spam", 1.0)), Mail(b"-2.0", "m2", "ham"), Mail(b"2.0", "m3", "spam")]
    found = evaluate_filters([Scripted()], mails)
    assert found.undated == found.to_dict()["undated"] == 2
    assert "2 mails did not say when they came, and had a turn right after" in str(found)
    assert "did not say" not in str(evaluate_filters([Scripted()], mails[:2]))
    assert "did not say" not in str(evaluate_filters([Scripted()], mails, order="given"))
    assert "1 mail did not say when it came" in str(evaluate_filters([Scripted()], mails[:3]))


def test_no_difference_has_no_sign_and_no_unknown_ends() -> None:
    trial = evaluate_filters([Scripted("one"), Scripted("two")], scored(("ham", -1.0), ("spam", 1.0)))
    assert "−0.000" not in str(trial)
    assert "0.000 (unknown)" in str(trial)
    assert [_format_difference(number) for number in (-4e-4, -0.0, 4e-4, -6e-4, -12.34)] == [
        "0.000",
        "0.000",
        "0.000",
        "−0.001",
        "−12.3",
    ]


def test_the_time_of_reading_is_part_of_judging_and_learning() -> None:
    class Reading(Scripted):
        reading_seconds = 5.0

    (found,) = evaluate_filters([Reading()], scored(("ham", -1.0), ("spam", 1.0))).results
    assert 5.0 < found.judge_seconds < 6.0
    assert 5.0 < found.learn_seconds < 6.0
    mails = [Mail(b"Subject: lunch", "m0", "ham", 1.0)]
    prints = HashedMails(mails)
    assert LearnerUnderTest("naive-bayes", prints).reading_seconds == prints.seconds > 0
