"""B8: joint (non-naive) Bayes and its number of parameters."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import weigh
from weigh.errors import ImpossibleEvidence, UnfilledTable

unfilled = pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable")
PERSON = {"age": "<=30", "income": "medium", "student": "yes", "credit_rating": "fair"}


@pytest.fixture
def storm_table() -> dict[str, list[bool]]:
    """Ten evenings: lightning, wind, and whether there was a storm."""
    rows = ["yyy", "yyy", "yny", "nyy", "yyn", "nnn", "nnn", "nyn", "ynn", "nnn"]
    return {name: [row[at] == "y" for row in rows] for at, name in enumerate(["lightning", "wind", "storm"])}


def test_a_storm_takes_7_parameters_jointly_and_5_naively(storm_table: Any) -> None:
    joint = weigh.JointBayes().fit(storm_table, "storm")
    assert (joint.n_parameters_, joint.n_parameters_naive_) == (7, 5)
    assert weigh.NaiveBayes().fit(storm_table, "storm").n_parameters_ == 5


@unfilled
def test_the_spam_table_takes_23_parameters_jointly_and_9_naively(spam_table: Any) -> None:
    joint = weigh.JointBayes().fit(spam_table, "spam")
    assert (joint.n_parameters_, joint.n_parameters_naive_) == (23, 9)
    assert weigh.NaiveBayes().fit(spam_table, "spam").n_parameters_ == 9


@unfilled
def test_buys_computer_takes_71_parameters_jointly_and_13_naively(computer_table: Any) -> None:
    joint = weigh.JointBayes().fit(computer_table, "buys_computer")
    assert (joint.n_parameters_, joint.n_parameters_naive_) == (71, 13)
    assert weigh.NaiveBayes().fit(computer_table, "buys_computer").n_parameters_ == 13


@pytest.mark.parametrize(
    ("kind", "per_class", "shared"),
    [
        (weigh.Number(shape="normal"), 2, 0),
        (weigh.Number(shape="normal", spread="shared"), 1, 1),
        (weigh.Number(shape="normal", spread=2.0), 1, 0),
        (weigh.Number(bins=[2, 4]), 2, 0),
        ("category", 5, 0),
        ("flag", 1, 0),
        ("skip", 0, 0),
    ],
)
def test_every_kind_has_its_number_of_parameters(kind: Any, per_class: int, shared: int) -> None:
    x = [0, 1, 0, 1, 1, 0] if kind == "flag" else [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    table = {"x": x, "flag": [0, 1, 1, 0, 1, 0], "y": ["a", "b", "c"] * 2}
    nb = weigh.NaiveBayes({"x": kind, "flag": "flag"}).fit(table, "y")
    assert nb.n_parameters_ == 3 * (per_class + 1) + shared + 2


def test_counted_words_have_one_parameter_less_than_words() -> None:
    table = {"text": ["lion wolf", "wolf fund", "fund fund"], "y": ["a", "b", "b"]}
    assert weigh.NaiveBayes("text").fit(table, "y").n_parameters_ == 2 * (3 - 1) + 1
    assert weigh.NaiveBayes(weigh.Text(counts=False)).fit(table, "y").n_parameters_ == 2 * 3 + 1


def test_a_table_with_more_cells_than_rows_causes_a_warning(computer_table: Any) -> None:
    with pytest.warns(UnfilledTable) as caught:
        weigh.JointBayes().fit(computer_table, "buys_computer")
    assert str(caught[0].message) == (
        "The table has 36 cells per class but there are 14 rows, so most cells are empty. Use fewer columns "
        "or bins, or NaiveBayes, which has 13 parameters here, not 71."
    )


def test_lightning_and_wind_are_counted_together(storm_table: Any, worked: Any) -> None:
    model = weigh.JointBayes(prior=None).fit(storm_table, "storm").model_
    found = worked(model, {"lightning": True, "wind": True})
    assert found["P(class)"] == {"False": Fraction(6, 10), "True": Fraction(4, 10)}
    assert found["P(lightning=1, wind=1 | class)"] == {"False": Fraction(1, 6), "True": Fraction(2, 4)}
    assert found["posterior"] == {"False": Fraction(1, 3), "True": Fraction(2, 3)}


@unfilled
def test_the_new_mail_under_laplace(spam_table: Any, new_mail: Any, worked: Any) -> None:
    found = worked(weigh.JointBayes().fit(spam_table, "spam").model_, new_mail)
    title = "P(CS373=1, investment=1, familiarity=high | class)"
    assert found[title] == {"not-spam": Fraction(1, 15), "spam": Fraction(1, 14)}
    assert found["posterior"] == {"not-spam": Fraction(7, 12), "spam": Fraction(5, 12)}


@unfilled
def test_plus_one_is_map_under_dirichlet_2(spam_table: Any, new_mail: Any) -> None:
    laplace = weigh.JointBayes(prior=1).fit(spam_table, "spam")
    dirichlet = weigh.JointBayes(prior=weigh.Dirichlet(2)).fit(spam_table, "spam")
    uniform = weigh.JointBayes(prior=weigh.Dirichlet(1)).fit(spam_table, "spam")
    assert dirichlet.predict_proba(new_mail).tolist() == laplace.predict_proba(new_mail).tolist()
    assert uniform.model_.predictive_proba(new_mail).tolist() == laplace.predict_proba(new_mail).tolist()


@unfilled
def test_a_missing_familiarity_is_marginalised(spam_table: Any, new_mail: Any, worked: Any) -> None:
    model = weigh.JointBayes().fit(spam_table, "spam").model_
    found = worked(model, {"CS373": 0, "investment": 1, "familiarity": None})
    assert found["P(CS373=0, investment=1 | class)"] == {
        "not-spam": Fraction(1 + 3, 15),
        "spam": Fraction(2 + 3, 14),
    }


@unfilled
def test_an_unseen_familiarity_is_one_more_level(spam_table: Any, worked: Any) -> None:
    model = weigh.JointBayes().fit(spam_table, "spam").model_
    found = worked(model, {"CS373": 0, "investment": 1, "familiarity": "none"})
    shares = next(cells for title, cells in found.items() if "never seen" in title)
    assert shares == {"not-spam": Fraction(1, 3 + 16), "spam": Fraction(1, 2 + 16)}


@unfilled
def test_without_a_prior_an_unseen_combination_is_impossible(computer_table: Any) -> None:
    model = weigh.JointBayes(prior=None).fit(computer_table, "buys_computer").model_
    with pytest.raises(
        ImpossibleEvidence, match="age=<=30, income=medium, student=yes, credit_rating=fair never"
    ):
        model.predict(PERSON)
    assert model.predict(PERSON | {"credit_rating": "excellent"}).tolist() == ["yes"]


@unfilled
def test_the_joint_table_answers_any_conditional_query(computer_table: Any) -> None:
    table = weigh.JointBayes(prior=None).fit(computer_table, "buys_computer").model_.to_table()
    assert table.probability(buys_computer="yes") == Fraction(9, 14)
    assert table.probability(student="yes", given={"buys_computer": "yes"}) == Fraction(6, 9)
    assert table.probability(buys_computer="yes", given={"age": "<=30", "student": "yes"}) == 1


@pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")
def test_the_joint_model_learns_what_naive_bayes_cannot() -> None:
    table = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "xor": [0, 1, 1, 0] * 5}
    assert weigh.JointBayes().fit(table, "xor").score(table, "xor") == 1
    assert weigh.NaiveBayes().fit(table, "xor").score(table, "xor") == 0.5
