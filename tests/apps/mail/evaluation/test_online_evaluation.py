"""Tests of a whole evaluation: tables, curves, mistakes and plots."""

from __future__ import annotations

import json
import math

import pytest

from tests.apps.mail.evaluation.scripted_filter import Scripted, filter_run, scored_mails
from weigh import errors
from weigh.apps.mail.evaluation.filter_result import RocPoint, filter_learning_curve, roc_points
from weigh.apps.mail.evaluation.filters import HashedMails, LearnerUnderTest
from weigh.apps.mail.evaluation.mail_stream import Feedback, Judgement, Mail
from weigh.apps.mail.evaluation.online_evaluation import MailEvaluation, _format_difference, evaluate_filters

PAIRS = [("spam", 2.0), ("ham", -2.0), ("spam", -0.5), ("ham", 1.0), ("ham", -1.0)] * 20


class Opposite(Scripted):
    """A filter with the opposite scores and verdicts, and with probabilities."""

    def judge(self, mail: Mail) -> Judgement:
        original = super().judge(mail)
        verdict = "ham" if original.verdict == "spam" else "spam"
        return Judgement(-original.score, verdict, 1 / (1 + math.exp(original.score)))


@pytest.fixture(scope="module")
def evaluation() -> MailEvaluation:
    return evaluate_filters(
        [Opposite("opposite"), Scripted()], scored_mails(*PAIRS), warm=20, feedback=Feedback(delay=3)
    )


def test_counts_cover_the_judged_mails(evaluation: MailEvaluation) -> None:
    assert (evaluation.hams, evaluation.spams, evaluation.warm) == (48, 32, 20)
    scripted, opposite = evaluation.result("scripted"), evaluation.result("opposite")
    assert (scripted.ham_errors, scripted.spam_errors, scripted.learned) == (16, 16, 20 + 80 - 4)
    assert (opposite.ham_errors, opposite.spam_errors) == (32, 16)


def test_the_best_filter_has_the_best_ranking(evaluation: MailEvaluation) -> None:
    assert evaluation.best.name == "scripted"
    assert evaluation.best.measure("1-roca").value == pytest.approx(100 / 6)
    assert evaluation.result("opposite").measure("1-roca").value == pytest.approx(100 * 5 / 6)


def test_the_text_fits_into_80_columns_and_names_all_filters(evaluation: MailEvaluation) -> None:
    lines = str(evaluation).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "2 filters on 80 mails (48 ham, 32 spam) after 20 mails learned unjudged, in"
    assert lines[1] == "order of time, feedback after 3 further mails"
    assert lines[3].split("  ")[1:2] == ["filter"]
    assert sum(line.strip().startswith("opposite") for line in lines) == 2
    assert "The worst mistakes of scripted:" in lines
    assert "best: the filter with the smallest 1−ROCA." in str(evaluation)


def test_long_names_fit_too() -> None:
    mails = [
        Mail(mail.content, "/home/somebody/Maildir/.Archive.2026/" * 3 + mail.place, mail.label, mail.at)
        for mail in scored_mails(*PAIRS)
    ]
    evaluation = evaluate_filters(
        [Opposite("a filter with a long name, one"), Scripted("a filter with a long name, two")], mails
    )
    assert max(map(len, str(evaluation).splitlines())) <= 80
    assert "…" in str(evaluation)
    assert ">" + "/home/somebody/Maildir/.Archive.2026/" * 3 + "m" in evaluation._repr_html_()


def test_the_evaluation_can_be_written_as_json(evaluation: MailEvaluation) -> None:
    document = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert document["best"] == "scripted"
    assert [each["filter"] for each in document["filters"]] == ["opposite", "scripted"]
    assert document["filters"][1]["measures"][3]["name"] == "1-roca"
    assert document["feedback"]["delay"] == 3
    assert document["pairs"][0]["first_alone"] == 48


def test_html_is_escaped() -> None:
    evaluation = evaluate_filters([Scripted("<script>")], scored_mails(*PAIRS))
    assert "<script>" not in evaluation._repr_html_()
    assert "&lt;script&gt;" in evaluation._repr_html_()


def test_no_result_quotes_a_mail() -> None:
    mails = [Mail(b"1.0 confidential", "m0", "ham", 0.0), Mail(b"-1.0 confidential", "m1", "spam", 1.0)]
    evaluation = evaluate_filters([Scripted()], mails)
    assert "confidential" not in str(evaluation) + repr(evaluation) + evaluation._repr_html_() + json.dumps(
        evaluation.to_dict()
    )


def test_mistakes_are_the_most_confident_ones() -> None:
    mails = scored_mails(
        ("ham", 1.0), ("ham", 5.0), ("spam", -1.0), ("spam", -7.0), ("ham", 3.0), ("spam", 1.0)
    )
    mistakes = evaluate_filters([Scripted()], mails, most=2).best.mistakes
    assert [(each.place, each.label, each.verdict, each.turn) for each in mistakes] == [
        ("m1", "ham", "spam", 2),
        ("m4", "ham", "spam", 5),
        ("m3", "spam", "ham", 4),
        ("m2", "spam", "ham", 3),
    ]


def test_the_curve_ends_with_the_measures_of_the_whole_run(evaluation: MailEvaluation) -> None:
    for each in evaluation.results:
        last = each.curve[-1]
        assert last.seen == 100
        assert last.hm == pytest.approx(each.measure("hm").value)
        assert last.sm == pytest.approx(each.measure("sm").value)
        assert last.roca == pytest.approx(each.measure("1-roca").value)


def test_windows_contain_only_the_latest_mails() -> None:
    # The first half is misclassified, the second is not.
    is_spam = [True, False] * 50
    scores = [-1.0 if spam else 1.0 for spam in is_spam[:50]] + [
        1.0 if spam else -1.0 for spam in is_spam[50:]
    ]
    points = filter_learning_curve(filter_run(is_spam, scores))
    assert [point.seen for point in points[:3]] == [3, 5, 8]
    last = points[-1]
    assert (last.window, last.window_hm, last.window_sm, last.window_roca) == (10, 0.0, 0.0, 0.0)
    assert (last.hm, last.sm, last.roca) == (50.0, 50.0, 50.0)
    later = next(point for point in points if point.seen == 58)
    assert (later.window_hm, later.window_sm) == (20.0, 20.0)
    middle = next(point for point in points if point.seen == 50)
    assert (middle.window_hm, middle.window_sm, middle.window_roca) == (100.0, 100.0, 100.0)


def test_the_roc_curve_has_the_smallest_spam_error_for_every_loss_of_ham() -> None:
    points = roc_points(filter_run([False, True, False, True, True], [3.0, 2.0, 2.0, 4.0, 1.0]))
    third = 100 / 3
    assert points == (
        RocPoint(0.0, pytest.approx(2 * third)),
        RocPoint(50.0, pytest.approx(2 * third)),
        RocPoint(100.0, 0.0),
    )


@pytest.mark.parametrize("what", ["learning", "ham", "spam", "roc", "figures"])
def test_plots_name_the_filters(evaluation: MailEvaluation, what: str) -> None:
    chart = json.dumps(evaluation.plot(what).to_dict())
    assert "scripted" in chart
    assert "opposite" in chart


def test_an_unknown_plot_is_rejected(evaluation: MailEvaluation) -> None:
    with pytest.raises(
        errors.ParameterError, match="plot: what must be one of 'learning', 'ham', 'spam', 'roc', 'figures'"
    ):
        evaluation.plot("cake")


def test_mail_of_one_label_prints_but_has_no_ranking_curve() -> None:
    evaluation = evaluate_filters([Scripted("a"), Scripted("b")], scored_mails(*[("ham", -1.0)] * 5))
    assert max(map(len, str(evaluation).splitlines())) <= 80
    json.dumps(evaluation.to_dict(), allow_nan=False)
    with pytest.raises(errors.Unsupported, match="Evaluate the filter on ham and on spam"):
        evaluation.plot("learning")
    assert evaluation.plot("ham") is not None


def test_progress_counts_every_mail_of_every_filter() -> None:
    steps: list[tuple[int, int]] = []
    evaluate_filters(
        [Scripted("a"), Scripted("b")],
        scored_mails(*PAIRS[:4]),
        warm=1,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps == [(done, 8) for done in range(1, 9)]


def test_an_unknown_filter_is_rejected(evaluation: MailEvaluation) -> None:
    with pytest.raises(
        errors.Unsupported, match="No filter 'x' was evaluated; there are 'opposite', 'scripted'"
    ):
        evaluation.result("x")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"warm": 4}, "warm must be a share below 1, or a whole number below the number of mails, 4, got 4."),
        ({"warm": -1}, "got -1."),
        ({"warm": 1.5}, "got 1.5."),
        ({"level": 1.0}, "level must be a number between 0 and 1, got 1.0."),
    ],
)
def test_invalid_parameters_are_rejected(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        evaluate_filters([Scripted()], scored_mails(*PAIRS[:4]), **parameters)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_filters_without_distinct_names_are_rejected() -> None:
    for filters in ([], [Scripted(), Scripted()]):
        with pytest.raises(errors.ParameterError, match="one or more filters with distinct names"):
            evaluate_filters(filters, scored_mails(*PAIRS))


def test_missing_mails_and_unknown_labels_are_rejected() -> None:
    with pytest.raises(errors.DataError, match="There are no mails"):
        evaluate_filters([Scripted()], [])
    with pytest.raises(errors.LabelError, match="m0 has the label 'junk'; it must be one of 'ham', 'spam'"):
        evaluate_filters([Scripted()], scored_mails(("junk", 1.0)))


def test_invalid_judgements_are_rejected() -> None:
    with pytest.raises(errors.DataError, match="scripted returned verdict 'ham' and score nan for m0"):
        evaluate_filters([Scripted()], scored_mails(("ham", math.nan)))


def test_mails_without_a_date_are_counted_in_the_text() -> None:
    mails = [
        *scored_mails(("ham", -1.0), ("spam", 1.0)),
        Mail(b"-2.0", "m2", "ham"),
        Mail(b"2.0", "m3", "spam"),
    ]
    evaluation = evaluate_filters([Scripted()], mails)
    assert evaluation.undated == evaluation.to_dict()["undated"] == 2
    assert "2 mails have no date; each follows the preceding mail" in str(evaluation)
    assert "no date" not in str(evaluate_filters([Scripted()], mails[:2]))
    assert "no date" not in str(evaluate_filters([Scripted()], mails, order="given"))
    assert "1 mail has no date; it follows" in str(evaluate_filters([Scripted()], mails[:3]))


def test_a_zero_difference_has_no_sign_and_unknown_limits() -> None:
    evaluation = evaluate_filters(
        [Scripted("one"), Scripted("two")], scored_mails(("ham", -1.0), ("spam", 1.0))
    )
    assert "−0.000" not in str(evaluation)
    assert "0.000 (unknown)" in str(evaluation)
    assert [_format_difference(number) for number in (-4e-4, -0.0, 4e-4, -6e-4, -12.34)] == [
        "0.000",
        "0.000",
        "0.000",
        "−0.001",
        "−12.3",
    ]


def test_reading_time_is_included_in_judging_and_learning() -> None:
    class Reading(Scripted):
        reading_seconds = 5.0

    (result,) = evaluate_filters([Reading()], scored_mails(("ham", -1.0), ("spam", 1.0))).results
    assert 5.0 < result.judge_seconds < 6.0
    assert 5.0 < result.learn_seconds < 6.0
    mails = [Mail(b"Subject: lunch", "m0", "ham", 1.0)]
    hashed_mails = HashedMails(mails)
    assert LearnerUnderTest("naive-bayes", hashed_mails).reading_seconds == hashed_mails.seconds > 0
