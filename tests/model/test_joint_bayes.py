"""The joint model: files, samples, errors and all kinds of columns."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import weigh
from weigh import errors
from weigh.engines import run
from weigh.learn import JointTask
from weigh.model.counts.joint_counts import CellIndex

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable")

TABLE: dict[str, list[Any]] = {
    "colour": ["red", "blue", "red", "red", None, "blue", "red", "blue"],
    "flag": [True, False, True, False, True, None, True, False],
    "size": [0.5, 1.5, 2.5, 0.1, 9.0, 1.0, None, 2.0],
    "y": ["a", "b", "a", "b", "a", "b", "a", "b"],
}
KINDS = {"size": weigh.Number(bins=(1.0, 2.0))}
ROWS = {"colour": ["red", "green", None], "flag": [True, None, None], "size": [0.7, 1.7, None]}


def fitted(**settings: Any) -> Any:
    return weigh.JointBayes(columns=KINDS, **settings).fit(TABLE, "y").model_


@parametrize_with_checks([weigh.JointBayes(), weigh.JointBayes(prior=0.5, class_prior="uniform")])
def test_the_estimator_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_levels_are_observed_declared_or_bins() -> None:
    columns = KINDS | {"colour": weigh.Category(levels=("red", "blue", "grey"))}
    model = weigh.JointBayes(columns=columns).fit(TABLE, "y").model_
    assert model.table.levels == [["blue", "grey", "red"], [0, 1], ["x ≤ 1", "1 < x ≤ 2", "x > 2"]]
    assert model.n_cells == 18


def test_only_cells_that_occurred_are_stored() -> None:
    part = fitted().counts.parts[0]
    assert part.codes.shape == (7, 3)
    assert part.table.sum(axis=1).tolist() == [4, 4]


def test_training_rows_with_missing_values_count_for_queries_without_them() -> None:
    model = fitted(prior=None, class_prior="uniform")
    complete = {"colour": "red", "flag": True, "size": 0.7}
    assert np.exp(model.scores(complete)[0]) == pytest.approx([1 / 2 / 2, 0])
    # Three red rows of four in class a, one of them without a size; one of four in class b.
    assert np.exp(model.scores(complete | {"flag": None, "size": None})[0]) == pytest.approx(
        [3 / 3 / 2, 1 / 4 / 2]
    )
    assert np.exp(model.scores(complete | {"colour": None, "size": None})[0]) == pytest.approx([4 / 4 / 2, 0])


@pytest.mark.parametrize("prior", [1.0, None, 0.25, weigh.Dirichlet(3), weigh.Dirichlet(0.5)])
@pytest.mark.parametrize("class_prior", [None, "uniform", {"a": 0.9, "b": 0.1}, 2])
def test_a_model_is_saved_and_loaded(prior: Any, class_prior: Any, tmp_path: Any) -> None:
    model = fitted(prior=prior, class_prior=class_prior)
    model.save(tmp_path / "joint.weigh")
    loaded = weigh.load(tmp_path / "joint.weigh")
    assert isinstance(loaded, weigh.JointModel)
    assert loaded.to_bytes() == model.to_bytes()
    rows = {"colour": ["red"], "flag": [True], "size": [0.7]}
    assert loaded.predict_proba(rows).tolist() == model.predict_proba(rows).tolist()


def test_a_file_whose_cells_name_unknown_levels_is_rejected(tmp_path: Any) -> None:
    model = fitted()
    part = model.counts.parts[0]
    part.codes.setflags(write=True)
    part.codes[0, 0] = 7
    model.save(tmp_path / "bad.weigh")
    with pytest.raises(errors.ModelFileError, match="cells name levels that do not exist"):
        weigh.load(tmp_path / "bad.weigh")


def test_dirichlet_below_1_discounts_cells_but_never_below_0() -> None:
    model = fitted(prior=weigh.Dirichlet(0.5))
    table = model.to_table()
    unsmoothed = fitted(prior=None).to_table()
    assert {cell for cell, p in table._cells.items() if p} == {
        cell for cell, p in unsmoothed._cells.items() if p
    }
    assert table.probability(y="a", colour="red", flag=1, size="x > 2") == Fraction(1, 2) * Fraction(1, 2)
    row = {"colour": "blue", "flag": False, "size": 1.5}
    assert model.explain(row)[0].probabilities == {"a": 0.0, "b": 1.0}
    assert np.exp(model.scores(row)[0, 1]) == pytest.approx(0.5 * (2 - 0.5) / (3 - 2 * 0.5))
    assert "3/4" in model.explain(row)[0].worked()


def test_scores_agree_with_the_probability_table() -> None:
    complete = {name: [column[i] for i in (0, 1, 2, 3, 7)] for name, column in TABLE.items()}
    model = weigh.JointBayes(columns=KINDS, prior=0.5).fit(complete, "y").model_
    table = model.to_table()
    for colour, flag, size in itertools.product(["red", "blue", None], [0, 1, None], [0.5, 1.5, 9.0, None]):
        row = {"colour": colour, "flag": flag, "size": size}
        event = {name: value for name, value in row.items() if value is not None}
        if size is not None:
            event["size"] = {0.5: "x ≤ 1", 1.5: "1 < x ≤ 2", 9.0: "x > 2"}[size]
        expected = [float(table.probability(event, y=label)) for label in "ab"]
        assert np.exp(model.scores([row])[0]) == pytest.approx(expected, rel=1e-13)


def test_storage_does_not_matter() -> None:
    matrix = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 0]])
    y = ["a", "b", "a", "b", "b"]
    forms = [matrix, matrix.astype(float), matrix > 0, sparse.csr_matrix(matrix), sparse.coo_array(matrix)]
    models = [weigh.JointBayes(columns="flag").fit(form, y).model_ for form in forms]
    assert len({model.to_bytes() for model in models}) == 1
    assert len({model.scores(form).tobytes() for model, form in zip(models, forms, strict=True)}) == 1


def test_columns_stay_in_the_order_of_the_table() -> None:
    assert list(fitted().table.columns) == ["colour", "flag", "size"]


def test_inferred_numbers_are_cut_into_ten_bins_or_at_their_only_value() -> None:
    X = np.column_stack([np.arange(100.0), np.full(100, 3.0)])
    model = weigh.JointBayes().fit(X, np.arange(100) > 49).model_
    assert [len(levels) for levels in model.table.levels] == [10, 2]
    assert model.schema.kinds[1] == weigh.Number(bins=(3.0,))


def test_a_sample_recovers_the_table() -> None:
    model = weigh.JointBayes(prior=1).fit(TABLE, "y").model_.with_prior(2, "uniform")
    sample = model.sample(40_000, seed=3)
    estimate = weigh.JointBayes(prior=None, columns="category").fit(sample, "y").model_.to_table()
    for cell, p in model.to_table()._cells.items():
        assert float(estimate._cells.get(cell, 0)) == pytest.approx(float(p), abs=0.006)


def test_a_sample_without_a_prior_has_only_cells_that_occurred() -> None:
    sample = fitted(prior=None).sample(500)
    cells = set(zip(sample["colour"], sample["flag"], sample["size"], sample["y"], strict=True))
    assert cells == {
        ("red", 1, "x ≤ 1", "a"),
        ("red", 1, "x > 2", "a"),
        ("blue", 0, "1 < x ≤ 2", "b"),
        ("red", 0, "x ≤ 1", "b"),
    }


def test_a_declared_class_without_rows_has_the_probabilities_of_the_prior() -> None:
    learner = weigh.JointBayes(class_prior="uniform", columns=KINDS)
    learner.partial_fit(TABLE, "y", classes=["a", "b", "c"])
    assert learner.classes_.tolist() == ["a", "b", "c"]
    rows = {"colour": "red", "flag": True, "size": 0.7}
    assert np.exp(learner.model_.scores(rows)[0, 2]) == pytest.approx(1 / 3 / 12)
    assert learner.model_.with_prior(None, "uniform").scores(rows)[0, 2] == pytest.approx(np.log(1 / 3 / 5))


def test_undeclared_labels_are_rejected_without_a_model() -> None:
    learner = weigh.JointBayes(columns=KINDS)
    with pytest.raises(errors.LabelError, match="not among the classes 'a'"):
        learner.partial_fit(TABLE, "y", classes=["a"])
    assert not hasattr(learner, "model_")


def test_a_thousand_columns_neither_overflow_nor_underflow() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(200, 1000))
    y = rng.integers(0, 3, size=200)
    learner = weigh.JointBayes().fit(X, y)
    assert learner.score(X, y) == 1
    assert np.isfinite(learner.model_.scores(X)).all()
    assert learner.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(200))
    assert learner.n_parameters_ == 3 * (5**1000 - 1) + 2


def test_cells_of_many_chunks_are_grouped_while_merging() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(30_000, 5))
    y = rng.integers(0, 2, size=30_000)
    task = JointTask.for_source(weigh.rows(X, y))
    source = weigh.rows(X, y)
    counts = [task.count(chunk) for chunk in source.chunks(size=1000)]
    total = counts[0]
    for part in counts[1:]:
        total = task.merge(total, part)
    assert len(total.parts[0].codes) < 30_000
    assert task.finish(total).to_bytes() == run(task, source).to_bytes()


def test_the_cell_index_numbers_distinct_rows_in_order_and_finds_them() -> None:
    rng = np.random.default_rng(1)
    for sizes in ([3, 2], [1], [2**20, 2**20, 2**20, 2**20]):
        codes = np.array([rng.integers(-1, min(size, 4), 50) for size in sizes], dtype=np.int32).T
        index = CellIndex.from_codes(codes, sizes)
        distinct = sorted(set(map(tuple, codes.tolist())))
        assert [tuple(codes[i]) for i in index.row_positions()] == distinct
        assert index.ids.tolist() == [distinct.index(tuple(row)) for row in codes.tolist()]
        others = np.array([rng.integers(-1, min(size, 4), 50) for size in sizes], dtype=np.int32).T
        expected = [distinct.index(tuple(row)) if tuple(row) in distinct else -1 for row in others.tolist()]
        assert index.find(others).tolist() == expected


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"size": "number"},
            r"Column 'size' is of kind 'number'.*columns=\{'size': weigh.Number\(bins=10\)\}",
        ),
        ({"size": "count"}, r"Column 'size' is of kind 'count'.*columns=\{'size': 'skip'\}"),
        ({"colour": "text"}, r"Column 'colour' is of kind 'text'.*or use NaiveBayes"),
    ],
)
def test_columns_of_unsuitable_kinds_are_rejected_with_advice(columns: Any, message: str) -> None:
    with pytest.raises(errors.ColumnError, match=message):
        weigh.JointBayes(columns=columns).fit(TABLE, "y")


@pytest.mark.parametrize(
    "prior", [0, -1, "one", weigh.Beta(2, 2), weigh.Dirichlet([1, 2]), weigh.Dirichlet({"red": 2})]
)
def test_priors_that_are_not_one_number_per_cell_are_rejected(prior: Any) -> None:
    with pytest.raises(errors.ParameterError, match="JointBayes: prior must be a number above zero, None"):
        weigh.JointBayes(prior=prior).fit(TABLE, "y")


def test_class_prior_errors_name_the_learner() -> None:
    with pytest.raises(errors.ParameterError, match="JointBayes: class_prior must"):
        weigh.JointBayes(class_prior={"a": 1, "b": 2}).fit(TABLE, "y")


def test_a_class_named_by_the_class_prior_exists_without_rows() -> None:
    learner = weigh.JointBayes(columns=KINDS, class_prior={"a": 0.5, "b": 0.25, "c": 0.25})
    even = {name: column[::2] for name, column in TABLE.items()}
    odd = {name: column[1::2] for name, column in TABLE.items()}
    learner.partial_fit(even, "y").partial_fit(odd, "y")
    assert learner.classes_.tolist() == ["a", "b", "c"]
    batch = weigh.JointBayes(columns=KINDS, class_prior={"a": 0.5, "b": 0.25, "c": 0.25}).fit(TABLE, "y")
    assert learner.model_.to_bytes() == batch.model_.to_bytes()


def test_skipping_all_columns_is_rejected() -> None:
    with pytest.raises(errors.DataError, match="nothing to learn from"):
        weigh.JointBayes(columns="skip").fit(TABLE, "y")


def test_rows_never_learned_cannot_be_forgotten() -> None:
    learner = weigh.JointBayes(columns=KINDS).fit(TABLE, "y")
    before = learner.model_.to_bytes()
    for row in (
        {"colour": "red", "flag": False, "size": 9.0},
        {"colour": "pink", "flag": None, "size": None},
    ):
        with pytest.raises(errors.MergeError, match="not all learned"):
            learner.forget(row | {"y": "a"}, "y")
    assert learner.model_.to_bytes() == before


def test_other_models_and_other_columns_do_not_merge() -> None:
    model = fitted()
    with pytest.raises(errors.MergeError, match="only with another joint model, got BayesModel"):
        model.merge(weigh.NaiveBayes().fit(TABLE, "y").model_)
    with pytest.raises(errors.MergeError, match=r"columns=first\.schema"):
        model.merge(weigh.JointBayes(columns={"size": "skip"}).fit(TABLE, "y").model_)


def test_large_tables_and_linear_forms_are_rejected() -> None:
    wide = weigh.JointBayes().fit(np.arange(400.0).reshape(40, 10) % 37, np.arange(40) % 2).model_
    with pytest.raises(errors.Unsupported, match=r"about 10\^10 cells"):
        wide.to_table()
    with pytest.raises(errors.Unsupported, match="not a linear function"):
        wide.linear()


def test_evidence_of_a_row_without_values_is_the_prior_alone() -> None:
    evidence = fitted().explain({"colour": None, "flag": None, "size": None})[0]
    assert [row.feature for row in evidence.table] == ["class prior"]
    assert "P(class)" in evidence.worked()


def test_evidence_holds_only_its_own_row() -> None:
    for evidence in fitted().explain(ROWS):
        (columns,) = evidence._class_products.args
        assert [len(column.codes) for column in columns] == [1, 1, 1]
