"""Sentences about redundant features, and the options that leave them out."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

import weigh
from tests.judge.test_redundancy_check import table, texts
from weigh.judge.redundancy_check import RedundancyCheck, RedundantFeature
from weigh.judge.redundancy_format import describe_feature
from weigh.report.redundancy_advice import redundancy_advice

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")


def make(**changes: Any) -> RedundantFeature:
    values: dict[str, Any] = {
        "column": "c1",
        "kind": "count",
        "features": ("c1",),
        "repeats": "c0",
        "share": 1.0,
        "occur_together": True,
        "remedy": "skip",
        "confidence_change": 0.1,
        "log_loss_without": 0.4,
        "accuracy_without": 0.8,
        "low": -0.2,
        "high": -0.1,
        "accuracy_low": 0.0,
        "accuracy_high": 0.1,
    }
    return RedundantFeature(**{**values, **changes})


def test_one_feature_occurs_and_several_occur() -> None:
    assert describe_feature(make()) == "'c1' always occurs with 'c0'"
    assert describe_feature(make(share=0.8)) == "'c1' mostly occurs with 'c0'"
    assert describe_feature(make(features=("c1", "c2"))) == "'c1' and 'c2' always occur with 'c0'"
    assert describe_feature(make(occur_together=False, share=0.829)) == "82 % of 'c1' repeats 'c0'"
    several = make(occur_together=False, features=("c1", "c2"))
    assert describe_feature(several) == "'c1' and 'c2' repeat 'c0'"


def advise(feature: RedundantFeature) -> str:
    (advice,) = redundancy_advice(RedundancyCheck(100, False, 1, 0.5, 0.8, (feature,)))
    return advice


def test_the_advice_is_a_command_that_works() -> None:
    assert advise(make()) == (
        "The same evidence is counted twice, because 'c1' always occurs with 'c0'. Leaving out 'c1': log "
        "loss 0.40 instead of 0.50 (helps): train with --kind c1=skip."
    )
    long = "my " + 40 * "long " + "column"
    option = shlex.split(advise(make(column=long, features=(long,))).partition("train with ")[2][:-1])
    assert option == ["--kind", f"{long}=skip"]
    parts = "again: weekday", "again: days since 1970"
    date = make(column="again", kind="date", features=parts, occur_together=False)
    assert advise(date).endswith(
        "Leaving out 'again': log loss 0.40 instead of 0.50 (helps): train with --kind again=skip."
    )
    words = make(column="text", kind="text", features=("my", "phone"), remedy=None)
    assert advise(words).endswith("(helps): leave 'my' and 'phone' out of 'text'.")
    part = make(column="at: hour", kind="category", features=("at: hour",), remedy=None)
    assert advise(part).endswith("(helps): leave 'at: hour' out.")


def test_the_report_recommends_what_helps() -> None:
    data = table(repeats=2)
    facts = weigh.report_on(weigh.NaiveBayes().fit(data, "y"), table(800, repeats=2, seed=1)).facts
    (advice,) = (step for step in facts.summary.next if "counted twice" in step)
    assert "Leaving out 'copy0': log loss" in advice
    assert advice.endswith("(helps): train with --kind copy0=skip --kind copy1=skip.")


def test_the_report_recommends_stop_words_that_help() -> None:
    signature = " ".join(f"line{k}" for k in range(8))
    train, new = (
        data | {"text": [text.replace("sent from my phone", signature) for text in data["text"]]}
        for data in (texts(), texts(800, seed=1))
    )
    facts = weigh.report_on(weigh.NaiveBayes({"text": "text"}).fit(train, "y"), new).facts
    (advice,) = (step for step in facts.summary.next if "counted twice" in step)
    words = "|".join(f"line{k}" for k in range(1, 8))
    assert advice.endswith(f"(helps): train with --kind 'text=text:stop_words={words}'.")
