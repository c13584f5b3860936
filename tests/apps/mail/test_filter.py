"""Tests of the filter: judging, learning, unlearning and explaining raw messages."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh import errors
from weigh.apps.mail.features import FeatureExtractor
from weigh.apps.mail.filter import Filter, new_ledger
from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.verdict import Costs, Explanation, FeatureContribution
from weigh.pictures import image

SPAMS = [
    b"From: win@lottery.example\nSubject: free money %d\n\nClaim your <b>prize</b> at http://lottery.example/%d"
    % (i, i)
    for i in range(20)
]
HAMS = [
    b"From: ann@work.example\nSubject: Minutes %d\n\nDear all, minutes of Monday's meeting are attached %d."
    % (i, i)
    for i in range(20)
]
MIXED = (
    b"From: ann@work.example\nSubject: free lunch\n\nDear all, the prize is lunch: http://lottery.example/1"
)


def trained_filter(learner: str = "naive-bayes", salt: int = 0) -> Filter:
    mail = Filter(FeatureExtractor(salt=salt), new_ledger(learner))
    for spam, ham in zip(SPAMS, HAMS, strict=True):
        mail.learn([spam, ham], ["spam", "ham"])
    return mail


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_separates_spam_from_ham(learner):
    mail = trained_filter(learner)
    spam, ham = mail.judge([SPAMS[3], HAMS[3]])
    assert ham.label == "ham"
    assert spam.probability > 0.8 > 0.2 > ham.probability


@pytest.mark.parametrize("learner", LEARNERS)
def test_reasons_and_biases_sum_to_the_score(learner):
    mail = trained_filter(learner)
    explanation = mail.explain(MIXED)
    total = sum(reason.contribution for reason in explanation.reasons) + sum(explanation.biases.values())
    assert total == pytest.approx(explanation.verdict.score, abs=1e-9)
    assert explanation.verdict.score == pytest.approx(mail.judge([MIXED])[0].score, abs=1e-9)
    assert explanation.view_total("headers") + explanation.view_total("body") == pytest.approx(
        total, abs=1e-9
    )
    assert len(explanation.reasons) < explanation.features == len(mail.features.named_features(MIXED))


def test_reasons_have_names_and_views():
    reasons = {
        (reason.view, reason.name): reason.contribution for reason in trained_filter().explain(MIXED).reasons
    }
    assert reasons["headers", "from:ann@work.example"] < 0 < reasons["headers", "subject:free"]
    assert reasons["body", "dear all"] < 0 < reasons["body", "url:lottery.example"]


def test_the_strongest_reasons_come_first():
    explanation = trained_filter("logistic").explain(MIXED)
    sizes = [abs(reason.contribution) for reason in explanation.reasons]
    assert sizes == sorted(sizes, reverse=True)
    assert explanation.strongest(3) == explanation.reasons[:3]
    assert explanation.strongest(0) == explanation.strongest(-1) == ()
    assert Filter().explain(MIXED).strongest(5) == ()


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_salt_changes_keys_but_not_scores(learner):
    plain, salted = trained_filter(learner), trained_filter(learner, salt=12345)
    for message in (MIXED, SPAMS[0], HAMS[0]):
        assert salted.judge([message])[0].score == pytest.approx(plain.judge([message])[0].score, abs=1e-5)
    assert plain.features.hashed_features([MIXED]) != salted.features.hashed_features([MIXED])


def test_unlearning_equals_never_having_learned():
    mail, expected = trained_filter(), trained_filter()
    mail.learn([MIXED, SPAMS[0]], "ham")
    mail.unlearn([SPAMS[0], MIXED], ["ham", "ham"])
    assert mail.ledger.image(b"") == expected.ledger.image(b"")
    with pytest.raises(errors.DataError, match="was not learned under the given label"):
        mail.unlearn([SPAMS[0]], "ham")
    with pytest.raises(errors.Unsupported, match="logistic depends on the order of messages"):
        trained_filter("logistic").unlearn([SPAMS[0]], "spam")


def test_invalid_labels_are_rejected():
    mail = trained_filter()
    before = mail.ledger.image(b"")
    with pytest.raises(errors.LabelError, match="'ham' or 'spam', got 'junk'"):
        mail.learn([MIXED, MIXED], ["ham", "junk"])
    with pytest.raises(errors.LabelError, match="There are 2 messages but 1 label"):
        mail.learn([MIXED, MIXED], ["ham"])
    assert mail.ledger.image(b"") == before
    with pytest.raises(errors.ParameterError, match="Did you mean 'logistic'"):
        new_ledger("logistics")


def test_costs_decide_the_verdict():
    mail = trained_filter("logistic")
    (verdict,) = mail.judge([SPAMS[3]])
    mail.costs = Costs(ham_lost=1e9, spam_let=1, unsure=0.5)
    assert verdict.label == "spam"
    assert mail.judge([SPAMS[3]])[0].label == "unsure"


def printed_number(line: str) -> float:
    return float(re.split(r"\s{2,}", line)[-1].replace("−", "-"))


def printed_lines(explanation: Explanation) -> list[str]:
    lines = str(explanation).splitlines()
    assert max(map(len, lines)) <= 80
    return lines


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("message", [MIXED, SPAMS[2], SPAMS[2] + HAMS[5], b""])
def test_the_printed_numbers_sum_exactly(learner, message):
    lines = printed_lines(trained_filter(learner).explain(message))
    index = {line.split("  ")[0]: i for i, line in enumerate(lines)}
    spam, ham, total = (
        printed_number(lines[index[name]]) for name in ("total for spam", "total for ham", "log-odds of spam")
    )
    for title, subtotal, end in (("for spam", spam, index.get("for ham")), ("for ham", ham, None)):
        if title in index:
            rows = lines[index[title] + 1 : end if end else index["total for spam"]]
            assert sum(map(printed_number, rows)) == pytest.approx(subtotal, abs=1e-9)
    biases = printed_number(lines[index["biases"]]) if "biases" in index else 0.0
    assert spam + ham + biases == pytest.approx(total, abs=1e-9)
    assert printed_number(lines[-1]) + printed_number(lines[-2]) == pytest.approx(total, abs=1e-9)
    assert total == pytest.approx(trained_filter(learner).judge([message])[0].score, abs=0.011)


def test_an_explanation_prints_as_expected():
    reasons = [FeatureContribution(f"word{i}", "body", 0.1004) for i in range(12)]
    reasons += [
        FeatureContribution("subject:lunch", "headers", -2.5),
        FeatureContribution("has:to", "headers", 0.0),
    ]
    explanation = Explanation(
        verdict=Costs().verdict(12 * 0.1004 - 2.5 + 0.02),
        costs=Costs(),
        learner="logistic",
        hams=1_200,
        spams=1,
        features=20,
        reasons=tuple(reasons),
        biases={"headers": 0.03, "body": -0.01},
    )
    assert str(explanation).splitlines() == [
        "ham, probability of spam 21.84 % (unsure from 50.00 %, spam from 99.90 %)",
        "logistic, 1,200 hams and 1 spam learned; 14 of 20 features known",
        "",
        "                    where    log-odds",
        "for spam",
        *(f"  word{i}             body       +0.100" for i in range(10)),
        "  and 2 more                   +0.205",
        "for ham",
        "  subject:lunch     headers    −2.500",
        "total for spam                 +1.205",
        "total for ham                  −2.500",
        "biases                         +0.020",
        "log-odds of spam               −1.275",
        "  from the headers             −2.470",
        "  from the body                +1.195",
    ]


def test_names_are_escaped_in_html_and_text():
    name = "a\x1b[31m\n<script>" + "x" * 200
    explanation = Filter().explain(b"")
    explanation = Explanation(
        **{
            **vars(explanation),
            "reasons": (FeatureContribution(name, "body", 2.0), FeatureContribution(name, "body", -1.0)),
        }
    )
    assert all(
        "\x1b" not in line and "<script>" in line for line in printed_lines(explanation) if "xxx" in line
    )
    assert "<script>" not in explanation._repr_html_()
    assert json.loads(json.dumps(explanation.to_dict()))["reasons"][0]["name"] == name


def test_an_explanation_can_be_written_as_json():
    explanation = trained_filter("logistic").explain(MIXED)
    document = json.loads(json.dumps(explanation.to_dict()))
    assert document["label"] == explanation.verdict.label
    assert document["cutoffs"] == {"unsure": 0.5, "spam": 0.999}
    total = sum(each["contribution"] for each in document["reasons"]) + sum(document["biases"].values())
    assert total == pytest.approx(document["score"], abs=1e-9)
    assert sum(document["views"].values()) == pytest.approx(document["score"], abs=1e-9)


@pytest.mark.parametrize("message", [MIXED, b""])
def test_an_explanation_can_be_plotted(message, tmp_path):
    image(trained_filter("logistic").explain(message).plot(5), tmp_path / "a.svg")
    image(Filter().explain(message).plot(), tmp_path / "b.svg")
    assert (tmp_path / "a.svg").stat().st_size > 1_000


def test_a_filter_judges_without_numpy():
    code = (
        "import sys; from weigh.apps.mail.filter import Filter; mail = Filter();"
        "mail.learn([b'a', b'b'], ['ham', 'spam']); mail.judge([b'c']); str(mail.explain(b'a'));"
        "print([name for name in ('numpy', 'scipy', 'pyarrow', 'email', 'altair') if name in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "[]\n"


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
def test_brief_returns_the_beginning_of_the_explanation(learner, learned, content, most):
    mail = Filter(ledger=new_ledger(learner))
    mail.learn([message for message, _ in learned], [label for _, label in learned])
    explanation = mail.explain(content)
    assert mail.brief(content, most) == (explanation.verdict, explanation.strongest(most))
