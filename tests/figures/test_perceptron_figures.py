"""P1–P5 and P8 by the estimator: the five mails, XOR and its product, at least K of n."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import weigh

MAILS = {"familiarity": weigh.Category(levels=("high", "medium", "low"))}
FEATURES = ["CS373", "investment", "familiarity=high", "familiarity=medium", "familiarity=low"]


def fit(table: Any, keep: str = "last", columns: Any = None, **settings: Any) -> weigh.Perceptron:
    columns = MAILS if columns is None else columns
    return weigh.Perceptron(keep=keep, shuffle=False, columns=columns, **settings).fit(table, "spam")


def plane(learner: weigh.Perceptron) -> tuple[list[float], float]:
    return learner.coef_[0].tolist(), float(learner.intercept_[0])


def score(learner: weigh.Perceptron, mail: Any) -> float:
    return float(learner.decision_function(mail)[0])


@pytest.mark.parametrize(
    ("passes", "weights", "bias", "mistakes"),
    [(1, [0, 0, 0, -1, 0], -1, 3), (2, [-1, 1, 0, -2, 0], -2, 8)],
)
def test_p1_the_plane_after_each_pass_says_not_spam_of_the_new_mail(
    spam_table: Any, new_mail: Any, passes: int, weights: list[float], bias: float, mistakes: int
) -> None:
    found = fit(spam_table, max_iter=passes)
    assert plane(found) == (weights, bias)
    assert (found.mistakes_, found.n_iter_, found.converged_) == (mistakes, passes, False)
    assert found.predict(new_mail).tolist() == ["not-spam"]


def test_p1_it_converges_in_pass_4_after_9_mistakes_where_the_new_mail_is_a_tie(
    spam_table: Any, new_mail: Any
) -> None:
    found = fit(spam_table)
    assert plane(found) == ([-1, 2, 0, -2, 1], -1)
    assert (found.mistakes_, found.n_iter_, found.converged_) == (9, 4, True)
    assert score(found, new_mail) == 0
    assert found.predict(new_mail).tolist() == ["spam"]
    assert found.score(spam_table, "spam") == 1.0


@pytest.mark.parametrize("keep", ["last", "averaged", "voted", "lazy"])
@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), ("ham", "spam")])
def test_p1_label_names_do_not_change_the_model(
    spam_table: Any, new_mail: Any, keep: str, labels: Any
) -> None:
    expected = fit(spam_table, keep)
    renamed = spam_table | {"spam": [labels[label == "spam"] for label in spam_table["spam"]]}
    found = fit(renamed, keep)
    assert found.classes_.tolist() == list(labels)
    assert score(found, new_mail) == score(expected, new_mail)
    assert found.predict(spam_table).tolist() == [labels[x == "spam"] for x in expected.predict(spam_table)]


def test_p1_the_rate_scales_the_weights_without_moving_the_plane(spam_table: Any) -> None:
    found = fit(spam_table, rate=0.25)
    assert plane(found) == ([-0.25, 0.5, 0, -0.5, 0.25], -0.25)
    assert (found.mistakes_, found.n_iter_) == (9, 4)


def test_p2_categories_are_one_feature_per_level_and_two_values_are_one(spam_table: Any) -> None:
    assert fit(spam_table).model_.features == FEATURES
    unordered = fit(spam_table, columns={})
    assert unordered.model_.features == [*FEATURES[:3], "familiarity=low", "familiarity=medium"]
    assert plane(unordered) == ([-1, 2, 0, 1, -2], -1)


def test_p2_two_valued_columns_as_two_features_converge_in_pass_4_after_7_mistakes(
    spam_table: Any, new_mail: Any
) -> None:
    flags = {name: weigh.Category(levels=(0, 1)) for name in ("CS373", "investment")}
    found = fit(spam_table, columns=MAILS | flags)
    assert len(found.model_.features) == 7
    assert (found.mistakes_, found.n_iter_, found.converged_) == (7, 4, True)
    assert score(found, new_mail) == -1
    assert found.predict(new_mail).tolist() == ["not-spam"]


def test_p3_the_mean_over_all_ten_examples(spam_table: Any, new_mail: Any) -> None:
    found = fit(spam_table, "averaged", max_iter=2)
    assert plane(found) == ([-1 / 10, 7 / 10, -1 / 5, -9 / 10, 2 / 5], -7 / 10)
    assert score(found, new_mail) == pytest.approx(-3 / 10, abs=1e-15)


def test_p4_the_mean_over_the_eight_hypotheses_that_followed_an_error(spam_table: Any, new_mail: Any) -> None:
    found = fit(spam_table, "lazy", max_iter=2)
    assert plane(found) == ([-1 / 8, 7 / 8, -2 / 8, -8 / 8, 4 / 8], -6 / 8)
    assert score(found, new_mail) == -1 / 4


def test_p5_every_hypothesis_votes_as_often_as_it_lasted(spam_table: Any, new_mail: Any) -> None:
    found = fit(spam_table, "voted", max_iter=2)
    assert found.model_.record.lives.tolist() == [1, 1, 1, 2, 1, 1, 1, 1, 1]
    assert found.decision_function(spam_table).tolist() == [2, -2, 0, -2, 2]
    assert score(found, new_mail) == 0
    assert found.predict(new_mail).tolist() == ["spam"]


@pytest.mark.parametrize("keep", ["last", "averaged", "lazy"])
def test_p5_the_other_hypotheses_come_from_the_same_run(spam_table: Any, keep: str) -> None:
    voted = fit(spam_table, "voted", max_iter=2).model_
    alone = fit(spam_table, keep, max_iter=2).model_
    assert voted.keep(keep).coef.tolist() == alone.coef.tolist()
    assert voted.keep(keep).intercept == alone.intercept


def test_p7_the_certificate_of_the_run(spam_table: Any) -> None:
    certificate = fit(spam_table).certificate_
    assert certificate.radius == 3**0.5
    assert certificate.margin == pytest.approx(10**-0.5, rel=1e-15)
    assert certificate.augmented_margin == pytest.approx(11**-0.5, rel=1e-15)
    assert (certificate.radius / certificate.augmented_margin) ** 2 >= certificate.mistakes == 9
    assert str(certificate) == (
        "4 passes, converged: the last pass changed nothing\n"
        "\n"
        "  mistakes                       9\n"
        "  updates                        9\n"
        "  examples seen                 20\n"
        "  radius R                   1.732\n"
        "  margin of the last plane  0.3162\n"
        "  the same, bias included   0.3015"
    )


XOR = {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "odd": [False, True, True, False]}


@pytest.mark.parametrize("keep", ["last", "averaged", "voted", "lazy"])
def test_p8_xor_is_not_learned_in_a_thousand_passes(keep: str) -> None:
    found = weigh.Perceptron(keep=keep, max_iter=1000).fit(XOR, "odd")
    assert (found.n_iter_, found.converged_) == (1000, False)
    assert found.certificate_.margin is None
    assert found.score(XOR, "odd") < 1


@pytest.mark.parametrize("powers", [False, True])
def test_p8_with_the_product_xor_is_learned(powers: bool) -> None:
    columns = weigh.Products(2, powers=powers)
    found = weigh.Perceptron(keep="last", max_iter=100, columns=columns).fit(XOR, "odd")
    assert found.model_.features == (["x", "y", "x²", "x·y", "y²"] if powers else ["x", "y", "x·y"])
    assert found.converged_
    assert found.score(XOR, "odd") == 1


def test_p8_the_plane_of_xor_with_its_product_is_right_on_all_four_rows() -> None:
    x, y = np.array(XOR["x"]), np.array(XOR["y"])
    assert ((x + y - 2 * x * y - 0.5 >= 0) == XOR["odd"]).all()


def test_p8_with_the_square_a_number_can_be_between_two_others() -> None:
    table = {
        "x": [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0],
        "inner": [False, False, True, True, True, False, False],
    }
    assert not weigh.Perceptron(keep="last", max_iter=1000).fit(table, "inner").converged_
    found = weigh.Perceptron(keep="last", max_iter=1000, columns=weigh.Products(2)).fit(table, "inner")
    assert found.converged_
    assert found.model_.features == ["x", "x²"]
    assert found.score(table, "inner") == 1


def at_least(k: int, n: int) -> tuple[Any, Any]:
    """Return all rows of n flags, and whether at least k of them are set."""
    X = np.array(list(product([0, 1], repeat=n)), dtype=float)
    return X, X.sum(axis=1) >= k


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 4), (3, 7), (5, 7)])
def test_p8_the_perceptron_learns_at_least_k_of_n(k: int, n: int) -> None:
    X, y = at_least(k, n)
    assert ((X @ np.ones(n) + 0.5 - k >= 0) == y).all()
    found = weigh.Perceptron(keep="last", max_iter=1000).fit(X, y)
    assert found.converged_
    assert found.score(X, y) == 1


@pytest.mark.parametrize("columns", ["flag", "category"])
def test_p8_naive_bayes_errs_on_21_of_128_rows_of_3_of_7(columns: str) -> None:
    X, y = at_least(3, 7)
    naive = weigh.NaiveBayes(columns=columns, prior=None).fit(X, y)
    wrong = X[naive.predict(X) != y]
    assert len(X) == 128
    assert len(wrong) == 21
    assert set(wrong.sum(axis=1)) == {2.0}
