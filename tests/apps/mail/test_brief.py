"""A brief says what an explanation says first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.apps.mail.filter import Filter, new_ledger

WORDS = ("tea", "prize", "money", "five", "won", "lunch", "чай")
MESSAGES = st.lists(st.sampled_from(WORDS), max_size=8).map(
    lambda words: f"Subject: {' '.join(words[:2])}\n\n{' '.join(words)}".encode()
)


@pytest.mark.parametrize("learner", ["naive-bayes", "logistic", "perceptron"])
@given(
    learned=st.lists(st.tuples(MESSAGES, st.sampled_from(("ham", "spam"))), max_size=6),
    content=MESSAGES,
    most=st.integers(0, 12),
)
def test_a_brief_is_the_beginning_of_the_explanation(learner, learned, content, most):
    mail = Filter(ledger=new_ledger(learner))
    mail.learn([message for message, _ in learned], [label for _, label in learned])
    whole = mail.explain(content)
    assert mail.brief(content, most) == (whole.verdict, whole.strongest(most))
