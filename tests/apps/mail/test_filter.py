"""The filter: judging, learning and saying why, from raw messages."""

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
    % (at, at)
    for at in range(20)
]
HAMS = [
    b"From: ann@work.example\nSubject: Minutes %d\n\nDear all, minutes of Monday's meeting are attached %d."
    % (at, at)
    for at in range(20)
]
MIXED = (
    b"From: ann@work.example\nSubject: free lunch\n\nDear all, the prize is lunch: http://lottery.example/1"
)


def taught(learner: str = "naive-bayes", salt: int = 0) -> Filter:
    mail = Filter(FeatureExtractor(salt=salt), new_ledger(learner))
    for spam, ham in zip(SPAMS, HAMS, strict=True):
        mail.learn([spam, ham], ["spam", "ham"])
    return mail


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_tells_spam_from_ham(learner):
    mail = taught(learner)
    spam, ham = mail.judge([SPAMS[3], HAMS[3]])
    assert ham.label == "ham"
    assert spam.probability > 0.8 > 0.2 > ham.probability


@pytest.mark.parametrize("learner", LEARNERS)
def test_reasons_and_biases_add_up_to_the_verdict(learner):
    mail = taught(learner)
    found = mail.explain(MIXED)
    total = sum(reason.contribution for reason in found.reasons) + sum(found.biases.values())
    assert total == pytest.approx(found.verdict.score, abs=1e-9)
    assert found.verdict.score == pytest.approx(mail.judge([MIXED])[0].score, abs=1e-9)
    assert found.view_total("headers") + found.view_total("body") == pytest.approx(total, abs=1e-9)
    assert len(found.reasons) < found.features == len(mail.features.named_features(MIXED))


def test_reasons_are_named_and_placed():
    reasons = {(reason.view, reason.name): reason.contribution for reason in taught().explain(MIXED).reasons}
    assert reasons["headers", "from:ann@work.example"] < 0 < reasons["headers", "subject:free"]
    assert reasons["body", "dear all"] < 0 < reasons["body", "url:lottery.example"]


def test_the_strongest_come_first():
    found = taught("logistic").explain(MIXED)
    sizes = [abs(reason.contribution) for reason in found.reasons]
    assert sizes == sorted(sizes, reverse=True)
    assert found.strongest(3) == found.reasons[:3]
    assert found.strongest(0) == found.strongest(-1) == ()
    assert Filter().explain(MIXED).strongest(5) == ()


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_salt_changes_keys_and_nothing_else(learner):
    plain, salted = taught(learner), taught(learner, salt=12345)
    for message in (MIXED, SPAMS[0], HAMS[0]):
        assert salted.judge([message])[0].score == pytest.approx(plain.judge([message])[0].score, abs=1e-5)
    assert plain.features.hashed_features([MIXED]) != salted.features.hashed_features([MIXED])


def test_unlearning_is_never_having_learned():
    mail, other = taught(), taught()
    mail.learn([MIXED, SPAMS[0]], "ham")
    mail.unlearn([SPAMS[0], MIXED], ["ham", "ham"])
    assert mail.ledger.image(b"") == other.ledger.image(b"")
    with pytest.raises(errors.DataError, match="never learned under its label"):
        mail.unlearn([SPAMS[0]], "ham")
    with pytest.raises(errors.Unsupported, match="logistic learns messages in their order"):
        taught("logistic").unlearn([SPAMS[0]], "spam")


def test_labels_are_ham_or_spam():
    mail = taught()
    before = mail.ledger.image(b"")
    with pytest.raises(errors.LabelError, match="'ham' or 'spam', got 'junk'"):
        mail.learn([MIXED, MIXED], ["ham", "junk"])
    with pytest.raises(errors.LabelError, match="2 messages, and labels for 1"):
        mail.learn([MIXED, MIXED], ["ham"])
    assert mail.ledger.image(b"") == before
    with pytest.raises(errors.ParameterError, match="Did you mean 'logistic'"):
        new_ledger("logistics")


def test_costs_decide_the_verdict():
    mail = taught("logistic")
    (bold,) = mail.judge([SPAMS[3]])
    mail.costs = Costs(ham_lost=1e9, spam_let=1, unsure=0.5)
    assert bold.label == "spam"
    assert mail.judge([SPAMS[3]])[0].label == "unsure"


def told(line: str) -> float:
    return float(re.split(r"\s{2,}", line)[-1].replace("−", "-"))


def printed(found: Explanation) -> list[str]:
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 80
    return lines


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("message", [MIXED, SPAMS[2], SPAMS[2] + HAMS[5], b""])
def test_the_printed_numbers_add_up_on_paper(learner, message):
    lines = printed(taught(learner).explain(message))
    at = {line.split("  ")[0]: place for place, line in enumerate(lines)}
    spam, ham, total = (told(lines[at[name]]) for name in ("all for spam", "all for ham", "log-odds of spam"))
    for side, whole, end in (("for spam", spam, at.get("for ham")), ("for ham", ham, None)):
        if side in at:
            rows = lines[at[side] + 1 : end if end else at["all for spam"]]
            assert sum(map(told, rows)) == pytest.approx(whole, abs=1e-9)
    biases = told(lines[at["biases"]]) if "biases" in at else 0.0
    assert spam + ham + biases == pytest.approx(total, abs=1e-9)
    assert told(lines[-1]) + told(lines[-2]) == pytest.approx(total, abs=1e-9)
    assert total == pytest.approx(taught(learner).judge([message])[0].score, abs=0.011)


def test_an_explanation_prints_as_expected():
    reasons = [FeatureContribution(f"word{at}", "body", 0.1004) for at in range(12)]
    reasons += [
        FeatureContribution("subject:lunch", "headers", -2.5),
        FeatureContribution("has:to", "headers", 0.0),
    ]
    found = Explanation(
        verdict=Costs().verdict(12 * 0.1004 - 2.5 + 0.02),
        costs=Costs(),
        learner="logistic",
        hams=1_200,
        spams=1,
        features=20,
        reasons=tuple(reasons),
        biases={"headers": 0.03, "body": -0.01},
    )
    assert str(found).splitlines() == [
        "ham, probability of spam 21.84 % (unsure from 50.00 %, spam from 99.90 %)",
        "logistic, 1,200 hams and 1 spam learned; 14 of 20 features known",
        "",
        "                        where    log-odds",
        "for spam",
        *(f"  word{at}                 body       +0.100" for at in range(10)),
        "  and 2 more                       +0.205",
        "for ham",
        "  subject:lunch         headers    −2.500",
        "all for spam                       +1.205",
        "all for ham                        −2.500",
        "biases                             +0.020",
        "log-odds of spam                   −1.275",
        "  of these the headers             −2.470",
        "  of these the body                +1.195",
    ]


def test_names_cannot_break_out_of_the_page_or_the_line():
    wild = "a\x1b[31m\n<script>" + "x" * 200
    found = Filter().explain(b"")
    found = Explanation(
        **{
            **vars(found),
            "reasons": (FeatureContribution(wild, "body", 2.0), FeatureContribution(wild, "body", -1.0)),
        }
    )
    assert all("\x1b" not in line and "<script>" in line for line in printed(found) if "xxx" in line)
    assert "<script>" not in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["reasons"][0]["name"] == wild


def test_an_explanation_is_plain_for_json():
    found = taught("logistic").explain(MIXED)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["label"] == found.verdict.label
    assert plain["cutoffs"] == {"unsure": 0.5, "spam": 0.999}
    total = sum(each["contribution"] for each in plain["reasons"]) + sum(plain["biases"].values())
    assert total == pytest.approx(plain["score"], abs=1e-9)
    assert sum(plain["views"].values()) == pytest.approx(plain["score"], abs=1e-9)


@pytest.mark.parametrize("message", [MIXED, b""])
def test_an_explanation_is_drawn(message, tmp_path):
    image(taught("logistic").explain(message).plot(5), tmp_path / "a.svg")
    image(Filter().explain(message).plot(), tmp_path / "b.svg")
    assert (tmp_path / "a.svg").stat().st_size > 1_000


def test_a_filter_judges_without_numpy():
    code = (
        "import sys; from weigh.apps.mail.filter import Filter; mail = Filter();"
        "mail.learn([b'a', b'b'], ['ham', 'spam']); mail.judge([b'c']); str(mail.explain(b'a'));"
        "print([name for name in ('numpy', 'scipy', 'pyarrow', 'email', 'altair') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


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
