"""Tests of feedback: which labels are given, and when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.mail.evaluation.scripted_filter import Scripted, scored_mails
from weigh import errors
from weigh.apps.mail.evaluation.mail_stream import Feedback, Mail
from weigh.apps.mail.evaluation.online_evaluation import evaluate_filters

MAILS = scored_mails(("spam", 1.0), ("ham", -1.0), ("spam", -1.0), ("ham", 1.0), ("ham", -0.5))


def calls(feedback: Feedback, warm: float = 0) -> list[str]:
    scripted = Scripted(unsure_above=-0.75)
    evaluate_filters([scripted], MAILS, feedback=feedback, warm=warm)
    return [f"{action[0]}{place[1:]}" for action, place in scripted.calls]


def test_a_mail_is_judged_before_it_is_learned() -> None:
    assert calls(Feedback()) == ["j0", "l0", "j1", "l1", "j2", "l2", "j3", "l3", "j4"]


def test_a_delayed_label_is_given_after_that_many_further_mails() -> None:
    assert calls(Feedback(delay=2)) == ["j0", "j1", "j2", "l0", "j3", "l1", "j4"]


def test_a_delay_beyond_the_end_gives_no_label() -> None:
    assert calls(Feedback(delay=5)) == ["j0", "j1", "j2", "j3", "j4"]


def test_errors_only_gives_labels_of_mistakes_and_unsure_mails() -> None:
    # m2 is spam called ham, m3 ham called spam; m4 is unsure but the last, so it is not learned.
    assert calls(Feedback(errors_only=True)) == ["j0", "j1", "j2", "l2", "j3", "l3", "j4"]
    assert Feedback(errors_only=True).gives_label(MAILS[4], "unsure")


def test_warmup_mails_are_learned_but_not_judged() -> None:
    assert calls(Feedback(delay=9), warm=3) == ["l0", "l1", "l2", "j3", "j4"]
    assert calls(Feedback(delay=9), warm=0.6) == ["l0", "l1", "l2", "j3", "j4"]


def test_a_share_of_zero_gives_no_label_and_a_share_of_one_gives_all() -> None:
    assert calls(Feedback(share=0.0)) == ["j0", "j1", "j2", "j3", "j4"]
    assert calls(Feedback(share=1.0)) == calls(Feedback())


def test_the_given_share_of_mails_gets_a_label() -> None:
    mails = [Mail(f"{i}".encode(), "", "ham") for i in range(4000)]
    chosen = [Feedback(share=0.3, seed=7).gives_label(mail, "ham") for mail in mails]
    assert abs(sum(chosen) / 4000 - 0.3) < 0.03


@given(st.binary(), st.integers(0, 2**40), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_includes_the_labels_of_a_smaller_one(
    content: bytes, seed: int, one: float, other: float
) -> None:
    mail = Mail(content, "", "spam")
    small, large = (Feedback(share=share, seed=seed) for share in sorted((one, other)))
    assert large.gives_label(mail, "ham") or not small.gives_label(mail, "ham")


def test_feedback_prints_as_a_description() -> None:
    assert str(Feedback()) == "immediate feedback"
    assert str(Feedback(delay=1)) == "feedback after 1 further mail"
    assert str(Feedback(share=0.25)) == "immediate feedback on 25 % of the mails"
    assert (
        str(Feedback(errors_only=True, delay=20))
        == "feedback on mistakes and unsure mails after 20 further mails"
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"delay": -1}, "Feedback: delay must be a whole number of at least 0, got -1."),
        ({"delay": 1.5}, "Feedback: delay must be a whole number of at least 0, got 1.5."),
        ({"share": 1.5}, "Feedback: share must be a number from 0 to 1, got 1.5."),
        ({"share": float("nan")}, "Feedback: share must be a number from 0 to 1, got nan."),
    ],
)
def test_invalid_feedback_is_rejected(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        Feedback(**parameters)  # type: ignore[arg-type]
    assert str(caught.value) == message
