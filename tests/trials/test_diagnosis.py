"""The diagnosis follows its documented rules and stays undecided if differences are not significant."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import weigh
from weigh.judge.metrics.learning_curve_laws import PowerLaw, fit_power_law
from weigh.judge.metrics.paired_tests import FoldCorrection
from weigh.trials.diagnosis import Diagnosis, FinalLosses, diagnose

CORRECTION = FoldCorrection(10, 0.25, 0.95)


def around(mean: float, spread: float = 0.001) -> np.ndarray:
    return mean + spread * np.array([-1.0, 1.0] * 5)


def verdict(train: float, validation: float, spread: float = 0.001, rival: float | None = None) -> str:
    rivals = {} if rival is None else {"other": around(rival)}
    # The gap and its parts differ by alternating signs, so none of them is exact.
    losses = FinalLosses(around(train, spread), around(validation, -spread), around(0.5), rivals)
    return diagnose(losses, "no law", 100, CORRECTION).verdict


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
def test_the_bounds_are_a_tenth_and_a_half_of_the_baseline_loss(
    train: float, validation: float, expected: str
) -> None:
    assert verdict(train, validation) == expected


def test_differences_that_are_not_significant_leave_it_undecided() -> None:
    assert verdict(0.1, 0.3) == "overfitting"
    assert verdict(0.1, 0.3, spread=0.2) == "undecided"


def test_a_better_rival_shows_underfitting() -> None:
    assert verdict(0.2, 0.21) == "fine"
    assert verdict(0.2, 0.21, rival=0.1) == "underfitting"
    assert verdict(0.2, 0.21, rival=0.2) == "fine"


def diagnose_means(train: float, validation: float, **rivals: float) -> Diagnosis:
    losses = FinalLosses(
        around(train),
        around(validation, -0.001),
        around(0.5),
        {name: around(loss) for name, loss in rivals.items()},
    )
    return diagnose(losses, "no law", 100, CORRECTION)


def test_without_rivals_the_sentence_says_that_the_columns_may_allow_no_better() -> None:
    alone = diagnose_means(0.4, 0.41)
    assert (alone.verdict, alone.unbeaten) == ("underfitting", False)
    assert alone.says == "the loss is high even on the training rows, unless the columns allow no better"
    assert diagnose_means(0.3, 0.4).says == (
        "the loss is high on the training rows, unless the columns allow no better, and higher elsewhere"
    )


def test_an_unbeaten_learner_is_not_called_underfitting() -> None:
    best = diagnose_means(0.4, 0.41, other=0.41, worse=0.45)
    assert (best.verdict, best.unbeaten) == ("undecided", True)
    assert best.says == "no other learner is 5 % better, so the columns may allow no lower loss"
    assert best.advice[:2] == (
        "No other learner is 5 % better: these columns may allow no lower loss.",
        "Otherwise try a more flexible learner, or more features: products, words, columns.",
    )
    assert best.to_dict()["unbeaten"] is True
    wide = diagnose_means(0.3, 0.4, other=0.4)
    assert (wide.verdict, wide.unbeaten) == ("overfitting", True)
    assert wide.advice[0].startswith("No other learner is 5 % better")


def diagnose_losses(**losses: object) -> Diagnosis:
    return diagnose(FinalLosses(baseline=around(0.5), **losses), "no law", 100, CORRECTION)  # type: ignore[arg-type]


def test_a_comparison_that_is_too_variable_claims_nothing() -> None:
    # The rival may be 10 % better or worse: nothing is significant, and nothing is shown to be equal.
    unclear = diagnose_losses(train=around(0.4), validation=around(0.41), rivals={"tree": around(0.41, 0.08)})
    assert (unclear.verdict, unclear.unbeaten, unclear.rival) == ("undecided", False, None)
    assert unclear.says == "the loss is high, and other learners may or may not be better"
    assert unclear.advice[0] == "Use more rows or repeats to decide whether another learner is better."


def test_a_learner_is_not_called_unbeaten_if_another_was_not_evaluated() -> None:
    losses = {"train": around(0.4), "validation": around(0.41), "rivals": {"logistic": around(0.42)}}
    assert diagnose_losses(**losses).unbeaten
    result = diagnose_losses(**losses, left_out={"tree": "a text has too many words"})
    assert (result.verdict, result.unbeaten) == ("underfitting", False)
    assert result.says == "the loss is high even on the training rows, unless the columns allow no better"
    assert result.to_dict()["left_out"] == {"tree": "a text has too many words"}


def test_a_learner_without_errors_is_unbeaten() -> None:
    zero = np.zeros(10)
    assert diagnose_losses(train=zero, validation=zero, rivals={"tree": zero}).unbeaten


def test_the_best_of_many_rivals_must_be_better_by_more_than_chance() -> None:
    # On five folds p = 0.03: significant for one rival, not for the best of four.
    lucky = around(0.30, 0.022)[:5]
    losses = {"train": around(0.3), "validation": around(0.36, 0.0)}
    assert diagnose_losses(**losses, rivals={"tree": lucky}).rival == "tree"
    others = {name: around(0.36, 0.05)[:5] for name in ("logistic", "perceptron", "naive-bayes")}
    assert diagnose_losses(**losses, rivals={"tree": lucky, **others}).rival is None


def test_a_beaten_learner_underfits() -> None:
    beaten = diagnose_means(0.4, 0.44, other=0.42)
    assert (beaten.verdict, beaten.unbeaten, beaten.rival) == ("underfitting", False, None)
    assert diagnose_means(0.4, 0.41, other=0.1).rival == "other"


def test_a_low_training_loss_is_fine_with_worse_rivals() -> None:
    result = diagnose_means(0.1, 0.12, other=0.2)
    assert (result.verdict, result.unbeaten, result.rival) == ("fine", True, None)
    assert result.says == "the loss is low on all rows, and no other learner is 5 % better"
    assert len(result.advice) == 1


def test_a_much_better_rival_is_named_with_both_losses() -> None:
    result = diagnose_means(0.22, 0.24, other=0.03)
    assert (result.verdict, result.rival) == ("underfitting", "other")
    assert result.rival_loss is not None
    assert result.rival_loss.value == pytest.approx(0.03)
    assert result.says == (
        "the loss is too high even on the training rows; other does better: it errs on 3 % where this "
        "errs on 24 %"
    )
    assert result.advice[0] == "Try other, or add features: products, words, columns."
    assert result.to_dict()["rival_loss"]["value"] == pytest.approx(0.03)


def test_a_rival_that_is_better_on_held_out_rows_only_makes_it_improvable() -> None:
    result = diagnose_means(0.1, 0.13, other=0.11)
    assert (result.verdict, result.rival) == ("improvable", "other")
    assert result.says == "other does better: it errs on 11 % where this errs on 13 %"
    assert result.advice[0] == "Try other."
    wide = diagnose_means(0.0, 0.3, other=0.11)
    assert wide.verdict == "overfitting"
    assert wide.says == (
        "the loss is much lower on the training rows than on held-out rows; other does better: it errs on "
        "11 % where this errs on 30 %"
    )


def test_an_unbeaten_learner_with_a_low_loss_that_varies_is_not_blamed_on_the_columns() -> None:
    losses = FinalLosses(around(0.2), around(0.25, 0.2), around(0.5), {"tree": around(0.3, 0.2)})
    result = diagnose(losses, "no law", 100, CORRECTION)
    assert (result.verdict, result.unbeaten) == ("undecided", True)
    assert result.says == "too variable to decide; no other learner is 5 % better"
    assert len(result.advice) == 1


def test_a_rival_that_is_hardly_better_is_not_named() -> None:
    assert diagnose_means(0.1, 0.12, other=0.117).rival is None
    assert diagnose_means(0.1, 0.12, other=0.11).rival == "other"


def test_rivals_with_fewer_rows_prove_nothing_by_doing_worse() -> None:
    losses = FinalLosses(around(0.4), around(0.41), around(0.5), {"tree": around(0.45)[:5]}, rival_rows=50)
    result = diagnose(losses, "no law", 100, CORRECTION)
    assert (result.verdict, result.unbeaten) == ("underfitting", False)
    losses = FinalLosses(around(0.2), around(0.21), around(0.5), {"tree": around(0.1)[:5]}, rival_rows=50)
    assert diagnose(losses, "no law", 100, CORRECTION).advice[0] == (
        "Try tree, which does better with only 50 training rows, or add features: products, words, columns."
    )


def test_other_losses_are_named() -> None:
    losses = FinalLosses(around(0.4), around(0.41), around(0.7), {"tree": around(0.3)}, loss="log_loss")
    assert diagnose(losses, "no law", 100, CORRECTION).says == (
        "the loss is too high even on the training rows; tree does better: it has a log loss of 0.3 "
        "where this has 0.41"
    )


def test_the_baseline_loss_has_no_interval() -> None:
    # It hardly varies between stratified folds, so an interval would be far too narrow.
    result = diagnose_means(0.4, 0.41)
    assert result.baseline.value == pytest.approx(0.5)
    assert np.isnan([result.baseline.low, result.baseline.high]).all()
    assert "\n  baseline loss             0.5\n" in str(result)


def test_noise_is_not_called_underfitting_if_no_learner_is_better() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0) ^ (rng.random(400) < 0.3)
    result = weigh.learning_curve(["naive-bayes", "logistic"], X, y)
    assert [each.diagnosis.rival for each in result] == [None, None]
    assert not {each.diagnosis.verdict for each in result} & {"underfitting", "both"}


def test_a_tree_on_noise_overfits() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    result = weigh.learning_curve(DecisionTreeClassifier(random_state=0), X, y).diagnosis
    assert result.verdict == "overfitting"
    assert result.train.value == 0.0
    assert (
        result.advice[0] == "Use a simpler learner, fewer features or a stronger prior, or label more rows."
    )
    assert result.advice[-1].startswith("The effect of more rows is unknown: the loss does not fall")


def test_a_perceptron_on_xor_underfits() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    curve = weigh.learning_curve({"plane": "perceptron", "tree": "tree"}, X, y)
    assert curve["plane"].diagnosis.verdict == "underfitting"
    assert curve["tree"].diagnosis.verdict == "fine"
    alone = weigh.learning_curve("perceptron", X, y).diagnosis
    assert (alone.verdict, alone.rival) == ("underfitting", "tree")
    assert alone.advice[0] == (
        "Try scikit-learn's DecisionTreeClassifier, or add features: products, words, columns."
    )


def test_naive_bayes_with_correlated_columns_is_told_of_logistic_regression() -> None:
    # Nine copies of one column outvote the other, which decides together with it.
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 600))
    X = np.column_stack([*(a + 0.01 * rng.normal(size=600) for _ in range(9)), b])
    result = weigh.learning_curve(weigh.NaiveBayes(), X, a + b > 0).diagnosis
    assert (result.verdict, result.rival) == ("underfitting", "logistic")
    assert result.says.startswith(
        "the loss is too high even on the training rows; logistic does better: it errs on "
    )
    assert result.advice[0] == (
        "Try `--learner logistic` (weigh.LogisticRegression), or add features: products, words, columns."
    )
    best = weigh.learning_curve(weigh.LogisticRegression(), X, a + b > 0).diagnosis
    assert (best.verdict, best.rival) == ("fine", None)


def test_regressions_and_learners_of_other_libraries_are_not_compared() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    for learner, y in (("linear", X[:, 0]), (DecisionTreeClassifier(random_state=0), X[:, 0] > 0)):
        assert not weigh.learning_curve(learner, X, y, sizes=[30]).diagnosis.unbeaten


def flags(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Flags, one in five of which is weakly correlated with the label."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    effect = np.where(np.arange(columns) < columns // 5, 0.1, 0.0)
    return rng.random((rows, columns)) < 0.5 + effect * (2 * y[:, None] - 1), y


def test_naive_bayes_with_many_columns_and_few_rows_overfits() -> None:
    result = weigh.learning_curve(
        weigh.NaiveBayes(), *flags(150, 80), sizes=[60, 120], loss="squared"
    ).diagnosis
    assert result.verdict == "overfitting"


@pytest.mark.parametrize(
    ("b", "c", "noise", "expected", "sentence"),
    [
        (2.0, 0.5, 0.002, "yes", "More rows help: "),
        (2.0, 1.9, 0.0002, "no", "More rows hardly help: "),
        (1.0, 0.5, 0.1, None, "More rows may or may not help: "),
    ],
)
def test_the_law_says_whether_more_rows_help(
    b: float, c: float, noise: float, expected: str | None, sentence: str
) -> None:
    sizes = [10, 20, 40, 80, 160, 320]
    folds = noise * np.random.default_rng(0).standard_normal((10, 6))
    law = fit_power_law(sizes, 0.1 + b * np.array(sizes, float) ** -c + folds, CORRECTION)
    assert isinstance(law, PowerLaw)
    result = diagnose(FinalLosses(around(0.1), around(0.2), around(0.5), {}), law, 320, CORRECTION)
    assert result.rows_help == expected
    assert result.tenfold == law.at(3200)
    assert result.asymptote == law.a
    assert result.advice[-1].startswith(f"{sentence}the predicted loss for 3,200 rows is ")


def test_the_effect_of_more_rows_is_unknown_if_the_loss_is_below_the_prediction() -> None:
    sizes = [10, 20, 40, 80, 160, 320]
    folds = 0.002 * np.random.default_rng(0).standard_normal((10, 6))
    law = fit_power_law(sizes, 0.1 + 2.0 * np.array(sizes, float) ** -0.5 + folds, CORRECTION)
    assert isinstance(law, PowerLaw)
    result = diagnose(FinalLosses(around(0.1), around(0.12), around(0.5), {}), law, 320, CORRECTION)
    assert result.rows_help is None
    assert result.advice[-1].startswith("The effect of more rows is unknown: the power law predicts ")
    assert result.advice[-1].endswith(", but 320 rows already have 0.12.")


def test_html_has_the_number_of_rows_and_a_list_of_advice() -> None:
    html = diagnose_means(0.1, 0.3)._repr_html_()
    assert ">with 100 rows</th>" in html
    assert ">training loss</td>" in html
    assert "<ul><li>Use a simpler learner" in html
