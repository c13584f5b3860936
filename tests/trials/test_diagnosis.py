"""What holds a learner back is told by stated rules, and not told where chance may speak."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import weigh
from weigh.trials.diagnosis import Diagnosis, FinalLosses, diagnose
from weigh.trials.power_law import PowerLaw, fit_power_law
from weigh.trials.resampled_t_test import FoldCorrection

CORRECTED = FoldCorrection(10, 0.25, 0.95)


def around(mean: float, spread: float = 0.001) -> np.ndarray:
    return mean + spread * np.array([-1.0, 1.0] * 5)


def verdict(train: float, validation: float, spread: float = 0.001, rival: float | None = None) -> str:
    rivals = {} if rival is None else {"other": around(rival)}
    # The gap and its parts differ by alternating signs, so none of them is exact.
    losses = FinalLosses(around(train, spread), around(validation, -spread), around(0.5), rivals)
    return diagnose(losses, "no law", 100, CORRECTED).verdict


@pytest.mark.parametrize(
    ("train", "validation", "expected"),
    [
        (0.0, 0.04, "fine"),
        (0.2, 0.24, "fine"),
        (0.0, 0.06, "overfitting"),
        (0.2, 0.4, "overfitting"),
        (0.26, 0.28, "underfitting"),
        (0.3, 0.4, "both"),
        (0.2, 0.25, "undecided"),
        (0.25, 0.26, "undecided"),
    ],
)
def test_a_tenth_and_a_half_of_guessing_are_the_bounds(
    train: float, validation: float, expected: str
) -> None:
    assert verdict(train, validation) == expected


def test_chance_leaves_it_undecided() -> None:
    assert verdict(0.1, 0.3) == "overfitting"
    assert verdict(0.1, 0.3, spread=0.2) == "undecided"


def test_a_better_rival_shows_underfitting() -> None:
    assert verdict(0.2, 0.21) == "fine"
    assert verdict(0.2, 0.21, rival=0.1) == "underfitting"
    assert verdict(0.2, 0.21, rival=0.2) == "fine"


def told(train: float, validation: float, **rivals: float) -> Diagnosis:
    losses = FinalLosses(
        around(train),
        around(validation, -0.001),
        around(0.5),
        {name: around(loss) for name, loss in rivals.items()},
    )
    return diagnose(losses, "no law", 100, CORRECTED)


def test_alone_the_sentence_itself_says_that_the_columns_may_tell_no_more() -> None:
    alone = told(0.4, 0.41)
    assert (alone.verdict, alone.unbeaten) == ("underfitting", False)
    assert alone.says == "it does badly even on the rows it learned from, unless the columns tell no more"
    assert told(0.3, 0.4).says == (
        "it does badly on the rows it learned from, unless the columns tell no more, and worse on others"
    )


def test_an_unbeaten_learner_is_told_first_that_the_columns_may_tell_no_more() -> None:
    best = told(0.4, 0.41, other=0.41, worse=0.45)
    assert (best.verdict, best.unbeaten) == ("undecided", True)
    assert best.says == "no learner tried does surely better, so perhaps the columns tell no more"
    assert best.advice[:2] == (
        "Perhaps these columns tell no more of the label: no learner tried does surely better.",
        "Else a richer learner than those, or richer features: products, words, more columns.",
    )
    assert best.to_dict()["unbeaten"] is True
    wide = told(0.3, 0.4, other=0.4)
    assert (wide.verdict, wide.unbeaten) == ("overfitting", True)
    assert wide.advice[0].startswith("Perhaps these columns tell no more")


def test_a_beaten_learner_underfits() -> None:
    beaten = told(0.4, 0.44, other=0.42)
    assert (beaten.verdict, beaten.unbeaten, beaten.rival) == ("underfitting", False, None)
    assert told(0.4, 0.41, other=0.1).rival == "other"


def test_a_low_training_loss_is_fine_beaten_or_not() -> None:
    assert (told(0.1, 0.12, other=0.2).verdict, told(0.1, 0.12, other=0.2).unbeaten) == ("fine", False)


def test_the_loss_of_guessing_has_no_interval() -> None:
    # Folds that all have the classes in the same shares would make it seem certain.
    found = told(0.4, 0.41)
    assert found.baseline.value == pytest.approx(0.5)
    assert np.isnan([found.baseline.low, found.baseline.high]).all()
    assert "\n  loss of guessing          0.5\n" in str(found)


def test_noise_is_not_called_underfitting_where_no_learner_does_better() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0) ^ (rng.random(400) < 0.3)
    found = weigh.learning_curve(["naive-bayes", "logistic"], X, y)
    assert [each.diagnosis.unbeaten for each in found] == [True, True]
    assert not {each.diagnosis.verdict for each in found} & {"underfitting", "both"}


def test_a_tree_on_noise_overfits() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    found = weigh.learning_curve(DecisionTreeClassifier(random_state=0), X, y).diagnosis
    assert found.verdict == "overfitting"
    assert found.train.value == 0.0
    assert (
        found.advice[0] == "Take a simpler learner, fewer features or a stronger prior, or label more rows."
    )
    assert found.advice[-1].startswith("What more rows would bring cannot be told: the loss does not fall")


def test_a_perceptron_on_xor_underfits() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    curve = weigh.learning_curve({"plane": "perceptron", "tree": "tree"}, X, y)
    assert curve["plane"].diagnosis.verdict == "underfitting"
    assert curve["tree"].diagnosis.verdict == "fine"
    alone = weigh.learning_curve("perceptron", X, y).diagnosis
    assert (alone.verdict, alone.rival) == ("underfitting", None)
    assert "richer features" in alone.advice[0]


def flags(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Flags of which one in five says a little about the label, and the others nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    tell = np.where(np.arange(columns) < columns // 5, 0.1, 0.0)
    return rng.random((rows, columns)) < 0.5 + tell * (2 * y[:, None] - 1), y


def test_naive_bayes_with_many_columns_and_few_rows_overfits() -> None:
    found = weigh.learning_curve(
        weigh.NaiveBayes(), *flags(150, 80), sizes=[60, 120], loss="squared"
    ).diagnosis
    assert found.verdict == "overfitting"


@pytest.mark.parametrize(
    ("b", "c", "noise", "expected", "words"),
    [
        (2.0, 0.5, 0.002, "yes", "More rows help: "),
        (2.0, 1.9, 0.0002, "no", "More rows hardly help: "),
        (1.0, 0.5, 0.1, None, "More rows may help or not: "),
    ],
)
def test_the_law_says_whether_more_rows_help(
    b: float, c: float, noise: float, expected: str | None, words: str
) -> None:
    sizes = [10, 20, 40, 80, 160, 320]
    folds = noise * np.random.default_rng(0).standard_normal((10, 6))
    law = fit_power_law(sizes, 0.1 + b * np.array(sizes, float) ** -c + folds, CORRECTED)
    assert isinstance(law, PowerLaw)
    found = diagnose(FinalLosses(around(0.1), around(0.2), around(0.5), {}), law, 320, CORRECTED)
    assert found.rows_help == expected
    assert found.tenfold == law.at(3200)
    assert found.asymptote == law.a
    assert found.advice[-1].startswith(f"{words}3,200 would have a loss of ")


def test_a_loss_below_what_the_law_expects_leaves_open_what_more_rows_bring() -> None:
    sizes = [10, 20, 40, 80, 160, 320]
    folds = 0.002 * np.random.default_rng(0).standard_normal((10, 6))
    law = fit_power_law(sizes, 0.1 + 2.0 * np.array(sizes, float) ** -0.5 + folds, CORRECTED)
    assert isinstance(law, PowerLaw)
    found = diagnose(FinalLosses(around(0.1), around(0.12), around(0.5), {}), law, 320, CORRECTED)
    assert found.rows_help is None
    assert found.advice[-1].startswith(
        "What more rows would bring cannot be told: by the law 3,200 have a loss"
    )
    assert found.advice[-1].endswith(", and 320 had 0.12 already.")
