"""B13: models built from given parameters reproduce the figures without data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.model import BayesModel

F = Fraction
SPAM: dict[str, Any] = {
    "class_prior": {"not-spam": F(3, 5), "spam": F(2, 5)},
    "columns": {
        "CS373": {"spam": F(1, 4), "not-spam": F(2, 5)},
        "investment": {"spam": F(3, 4), "not-spam": F(2, 5)},
        "familiarity": {
            "spam": {"high": 0.4, "medium": 0.2, "low": 0.4},
            "not-spam": dict.fromkeys(["high", "medium", "low"], F(1, 3)),
        },
    },
}


def test_the_spam_mail_from_its_probabilities_alone(new_mail: Any, worked: Any) -> None:
    model = BayesModel.from_parameters(**SPAM)
    found = worked(model, new_mail)
    assert found["product"] == {"not-spam": F(24, 750), "spam": F(12, 400)}
    assert found["posterior"] == {"not-spam": F(16, 31), "spam": F(15, 31)}


def test_the_spam_mail_from_its_counts_alone(spam_table: Any, new_mail: Any, worked: Any) -> None:
    model = BayesModel.from_counts(
        columns={
            "CS373": {"spam": (0, 2), "not-spam": (1, 3)},
            "investment": {"spam": (2, 2), "not-spam": (1, 3)},
            "familiarity": {"spam": {"low": 1, "high": 1}, "not-spam": {"low": 1, "medium": 1, "high": 1}},
        },
        label="spam",
    )
    kinds = {"CS373": "flag", "investment": "flag"}
    fitted = weigh.NaiveBayes(columns=kinds).fit(spam_table, "spam").model_
    assert model.to_bytes() == fitted.to_bytes()
    assert worked(model, new_mail)["posterior"]["spam"] == F(15, 31)


def test_the_coin_as_a_stated_flag(worked: Any) -> None:
    model = BayesModel.from_parameters(class_prior={"coin": 1}, columns={"heads": {"coin": F(5, 16)}})
    assert worked(model, {"heads": 1})["P(heads=1 | class)"] == {"coin": F(5, 16)}
    assert worked(model, {"heads": 0})["P(heads=0 | class)"] == {"coin": F(11, 16)}


def test_the_storm_from_stated_probabilities(worked: Any) -> None:
    model = BayesModel.from_parameters(
        class_prior={"storm": 0.1, "calm": 0.9},
        columns={"lightning": {"storm": 0.8, "calm": 0.05}, "wind": {"storm": 0.9, "calm": 0.2}},
    )
    found = worked(model, {"lightning": 1, "wind": 1})["posterior"]
    assert found["storm"] == F(72, 72 + 9)
    assert model.n_parameters == 5


def test_the_jungle_from_word_probabilities(worked: Any) -> None:
    words = {
        "jungle": {"lion": F(17, 50), "others": F(33, 50)},
        "street": {"lion": F(1, 45), "others": F(44, 45)},
    }
    for kind, row in (("count", {"lion": 2, "others": 1}), ("text", {"words": "lion lion others"})):
        model = BayesModel.from_parameters(
            class_prior="uniform", columns={"words": words}, kinds={"words": kind}
        )
        odds = F(17 * 17 * 33, 50**3) / F(44, 45**3)
        assert worked(model, row)["posterior"]["jungle"] == odds / (1 + odds)


def test_a_model_from_parameters_survives_saving_and_loading(tmp_path: Any, new_mail: Any) -> None:
    model = BayesModel.from_parameters(**SPAM)
    model.save(tmp_path / "spam.weigh")
    loaded = weigh.load(tmp_path / "spam.weigh")
    assert loaded.to_bytes() == model.to_bytes()
    assert loaded.stated
    assert np.array_equal(loaded.scores(new_mail), model.scores(new_mail))
    assert loaded.explain(new_mail)[0].worked() == model.explain(new_mail)[0].worked()


@pytest.mark.parametrize("order", [("spam", "not-spam"), ("not-spam", "spam")])
def test_the_order_of_the_parameters_does_not_matter(order: tuple[str, str]) -> None:
    turned = {name: {label: given[label] for label in order} for name, given in SPAM["columns"].items()}
    prior = {label: SPAM["class_prior"][label] for label in order}
    model = BayesModel.from_parameters(class_prior=prior, columns=turned)
    assert model.to_bytes() == BayesModel.from_parameters(**SPAM).to_bytes()
