"""`verify` recomputes a model from its rows by separate code, and `diff` says what retraining changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh

SOURCES = Path(weigh.__file__).parent / "judge" / "verification"
LEARNERS = {
    "naive Bayes": weigh.NaiveBayes(),
    "joint Bayes": weigh.JointBayes(),
    "logistic": weigh.LogisticRegression(),
    "perceptron": weigh.Perceptron(keep="last", shuffle=False),
}


@pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable")
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_a_model_agrees_with_its_rows(learner: Any, mails: Any, tmp_path: Path) -> None:
    learner.fit(mails, "spam").save(tmp_path / "m.weigh")
    assert weigh.verify(str(tmp_path / "m.weigh"), mails).ok


@pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable")
@pytest.mark.parametrize("name", ["naive Bayes", "joint Bayes", "logistic"])
def test_one_altered_label_or_cell_is_found(name: str, mails: Any) -> None:
    model = LEARNERS[name].fit(mails, "spam").model_
    for column in mails:
        for row in range(5):
            altered = [*mails[column]]
            # Another value that occurs in the column.
            altered[row] = next(value for value in mails[column] if value != altered[row])
            assert not weigh.verify(model, mails | {column: altered}).ok


def test_the_verifier_is_separate_from_the_trainer() -> None:
    imports = [
        line
        for path in SOURCES.glob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if line.startswith(("from weigh.", "import weigh."))
    ]
    assert imports
    # Rows are encoded by the same code; what counts, solves and merges is not used.
    trainers = ("weigh.engines", "weigh.learn.linear", "weigh.learn.perceptron", "weigh.learn.naive_bayes")
    trained = {line for line in imports if any(name in line for name in trainers)}
    # Only passes that are too many for plain code are made again by the perceptron itself, which a note says.
    assert trained == {
        "from weigh.learn.perceptron import PerceptronTask",
        "from weigh.learn.perceptron_state import PerceptronSettings",
    }
    counting = (SOURCES / "recount.py").read_text("utf-8")
    assert "count_rows" not in counting
    assert "CountTable" not in counting


def test_diff_says_what_the_sixth_mail_changed(mails: Any, new_mail: Any) -> None:
    old = weigh.NaiveBayes().fit(mails, "spam")
    more = {name: [*values, {**new_mail, "spam": "spam"}[name]] for name, values in mails.items()}
    new = weigh.NaiveBayes().fit(more, "spam")
    found = weigh.diff(old, new)
    assert [(each.label, each.old, each.new) for each in found.classes if each.old != each.new] == [
        ("spam", 2.0, 3.0)
    ]
    moved = {(change.name, change.label): (change.old, change.new) for change in found.moved}
    assert moved["familiarity = high", "spam"] == pytest.approx((2 / 5, 3 / 6))
    assert moved["CS373 = 1", "spam"] == pytest.approx((1 / 4, 2 / 5))
    assert weigh.diff(old, old).same
    assert not weigh.diff(old, old).moved


def test_equal_models_have_equal_bytes_and_altered_files_are_refused(mails: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.weigh"
    weigh.NaiveBayes().fit(mails, "spam").save(path)
    content = bytearray(path.read_bytes())
    assert weigh.load(path).to_bytes() == bytes(content)
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(weigh.errors.ModelFileError):
        weigh.verify(str(path), mails)


def test_coefficients_of_regressions_are_certified(mails: Any) -> None:
    model = weigh.LogisticRegression().fit(mails, "spam").model_
    assert model.certificate.gap <= 1e-6
    assert np.isfinite(model.coef).all()
