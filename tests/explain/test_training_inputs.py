"""Unfamiliar rows are found by the models of every learner, from the summary of their training inputs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import weigh
from tests.resealing import reseal, take_apart
from weigh import _core, errors
from weigh.model.counts.value_grid import cell_bounds
from weigh.model.input_summary import MAX_CELLS, InputSummary, NumberCells

N = 400
RNG = np.random.default_rng(0)
WORDS = ["spam", "egg", "ham", "cat", "dog"]
TABLE: dict[str, Any] = {
    "size": RNG.normal(size=N),
    "colour": RNG.choice(["x", "y", "z"], N),
    "tame": RNG.random(N) < 0.3,
    "text": [" ".join(RNG.choice(WORDS, 6)) for _ in range(N)],
    "kind": RNG.choice(["p", "q"], N),
}
TABLE["price"] = 2 * TABLE["size"] + RNG.normal(size=N)
NEW = {
    "size": [0.0, 9.0, 0.0, 0.0],
    "colour": ["x", "x", "w", "y"],
    "tame": [True, False, False, True],
    "text": ["spam egg cat", "dog ham", "ham", "completely other words here"],
}
CURVED = ["size", "colour", "tame"]
LEARNERS = {
    "perceptron": (weigh.Perceptron(), "kind", list(NEW)),
    "voted": (weigh.Perceptron(keep="voted"), "kind", list(NEW)),
    "logistic": (weigh.LogisticRegression(), "kind", list(NEW)),
    "online": (weigh.LogisticRegression(method="online"), "kind", list(NEW)),
    "curves": (weigh.LogisticRegression(curves="auto"), "kind", CURVED),
    "linear": (weigh.LinearRegression(prior=1.0), "price", list(NEW)),
    "curved regression": (weigh.LinearRegression(curves="auto"), "price", CURVED),
    "hashed": (
        weigh.LogisticRegression(columns={"text": weigh.Text(buckets=1024)}),
        "kind",
        list(NEW),
    ),
}


@pytest.fixture(params=LEARNERS)
def model(request: pytest.FixtureRequest) -> Any:
    learner, label, columns = LEARNERS[request.param]
    return learner.fit({name: TABLE[name] for name in [*columns, label]}, label).model_


def _select(table: dict[str, Any], model: Any) -> dict[str, Any]:
    """Return the columns that a model reads."""
    return {name: column for name, column in table.items() if name in model.schema.feature_columns}


def test_every_learner_flags_values_unlike_those_of_training(model: Any) -> None:
    found = weigh.unfamiliar(model, _select(NEW, model))
    reasons = {row.row: [(each.column, each.what) for each in row.reasons] for row in found.rows}
    expected = {
        1: [("size", "a number outside the training range")],
        2: [("colour", "a value never seen")],
        3: [("text", "unusual words")],
    }
    columns = model.schema.feature_columns
    assert reasons == {row: why for row, why in expected.items() if why[0][0] in columns}
    assert found.false_alarm_rate == pytest.approx(0.01, abs=1e-4)


def test_training_rows_are_flagged_at_most_at_the_stated_rate_and_no_column_has_shifted(model: Any) -> None:
    table = _select(TABLE, model)
    found = weigh.unfamiliar(model, table)
    assert len(found.rows) <= 0.01 * N
    assert not found.shifted
    moved = weigh.unfamiliar(model, table | {"size": TABLE["size"] + 1, "colour": ["z"] * N})
    assert {shift.column for shift in moved.shifted} == {"size", "colour"}


def test_a_saved_model_flags_the_same_rows(model: Any, tmp_path: Any) -> None:
    model.save(tmp_path / "m.weigh")
    loaded = weigh.load(tmp_path / "m.weigh")
    assert loaded.to_bytes() == model.to_bytes()
    new = _select(NEW, model)
    assert weigh.unfamiliar(loaded, new).to_dict() == weigh.unfamiliar(model, new).to_dict()


def test_a_threshold_on_heights_warns_of_ants_and_of_grown_giraffes() -> None:
    heights = {"height": [1.5, 2.2, 1.8, 1.2, 0.9], "giraffe": [True] * 3 + [False] * 2}
    cut = weigh.Threshold().fit(heights, "giraffe")
    assert [row.row for row in weigh.unfamiliar(cut, {"height": [0.003, 1.6, 5.5]}).rows] == [0, 2]


def test_joint_bayes_flags_levels_never_seen() -> None:
    joint = weigh.JointBayes().fit({name: TABLE[name] for name in ("colour", "tame", "kind")}, "kind")
    found = weigh.unfamiliar(joint, _select(NEW, joint.model_))
    assert [(row.row, row.reasons[0].what) for row in found.rows] == [(2, "a value never seen")]
    assert not weigh.unfamiliar(joint, _select(TABLE, joint.model_)).shifted


@pytest.mark.parametrize(
    "learner", [weigh.Perceptron(scale=None), weigh.LogisticRegression(method="online", scale=None)]
)
def test_batches_have_the_summary_of_the_whole(learner: Any) -> None:
    table = {name: TABLE[name] for name in ("size", "colour", "tame", "text", "kind")}
    whole = learner.fit(table, "kind").model_.training_rows.inputs
    for start in (0, 100):
        batch = {name: column[start : start + 100 + 2 * start] for name, column in table.items()}
        # The kinds are those of the first batch, in which words are counted.
        learner = (
            learner.partial_fit(batch, "kind", classes=["p", "q"])
            if start
            else type(learner)(**learner.get_params()).partial_fit(batch, "kind", classes=["p", "q"])
        )
    parts = learner.model_.training_rows.inputs
    assert parts.n == whole.n == N
    assert [_plain(part) for part in parts.parts] == [_plain(part) for part in whole.parts]


def _plain(part: Any) -> Any:
    if isinstance(part, tuple):
        return [(each.cells.tolist(), each.counts.tolist(), each.coarseness) for each in part]
    if hasattr(part, "present"):
        return part.present.table.tolist(), part.known.tolist()
    return part.counts.tolist() if hasattr(part, "counts") else (list(part.names), part.table.tolist())


@pytest.mark.parametrize("sparse", [False, True])
def test_dense_and_sparse_arrays_have_one_summary(sparse: bool) -> None:
    from scipy.sparse import csr_matrix

    X = np.where(RNG.random((60, 3)) < 0.5, 0.0, RNG.normal(size=(60, 3)))
    y = [0, 1] * 30
    model = weigh.Perceptron().fit(csr_matrix(X) if sparse else X, y).model_
    assert model.to_bytes() == weigh.Perceptron().fit(X, y).model_.to_bytes()
    new = np.array([[0, 0, 0], [0, 50.0, 0]])
    assert [row.row for row in weigh.unfamiliar(model, csr_matrix(new) if sparse else new).rows] == [1]


def test_cells_of_parts_add_up_to_those_of_the_whole_in_any_order() -> None:
    x = np.concatenate([RNG.normal(size=3000), RNG.standard_cauchy(3000), np.zeros(10), [np.nan]])
    parts = [NumberCells.from_values(part) for part in np.split(x, [7, 1500, 4000])]
    whole, total = NumberCells.from_values(x), parts[3]
    for part in parts[:3]:
        total = total.plus(part)
    assert _plain((total,)) == _plain((whole,))
    assert len(whole.cells) <= MAX_CELLS
    assert whole.counts.sum() == 6010


def test_every_number_lies_in_its_cell_as_a_count_in_plain_python_says() -> None:
    x = RNG.normal(size=2000) * 10.0 ** RNG.integers(-4, 4, 2000)
    summary = NumberCells.from_values(x)
    low, high = summary.bounds
    assert summary.coarseness > 0
    assert (low[1:] > high[:-1]).all()
    counts = [sum(a <= value <= b for value in x.tolist()) for a, b in zip(low, high, strict=True)]
    assert counts == summary.counts.tolist()
    fine = NumberCells.from_values(x[:50])
    assert all(map(np.array_equal, fine.bounds, cell_bounds(fine.cells)))


def _count_plainly(values: Any) -> tuple[int, dict[int, int]]:
    """Return the coarseness and the counts of the cells, by widening them until there are few enough."""
    magnitudes = [(np.abs(x).view(np.int64) >> 42) + 1 if x else 0 for x in values if np.isfinite(x)]
    signs = [int(np.sign(x)) for x in values if np.isfinite(x)]
    for coarseness in range(22):
        pairs = zip(signs, magnitudes, strict=True)
        counts = Counter(int(sign * (((m - 1) >> coarseness) + 1)) for sign, m in pairs)
        if len(counts) <= MAX_CELLS:
            break
    return coarseness, dict(sorted(counts.items()))


@pytest.mark.parametrize("n", [1, 3, 700, 3000])
def test_cells_of_a_matrix_are_those_of_a_plain_count_in_any_layout(n: int) -> None:
    sizes = 10.0 ** RNG.integers(-200, 200, (n, 4))
    matrix = np.column_stack(
        [
            RNG.normal(size=(n, 5)) + 3,
            RNG.normal(size=(n, 4)) * sizes,
            RNG.integers(-30, 30, (n, 2)),
            np.full((n, 1), -7e100),
            np.where(RNG.random((n, 1)) < 0.5, np.nan, np.inf),
            np.where(RNG.random((n, 1)) < 0.5, 1e-300, 1e300),
        ]
    )
    expected = [_count_plainly(column) for column in matrix.T]
    for same in (
        matrix,
        np.asfortranarray(matrix),
        np.repeat(matrix, 2, axis=0)[::2],
        matrix[:, ::-1][:, ::-1],
    ):
        found = NumberCells.from_matrix(same)
        counts = [dict(zip(each.cells.tolist(), each.counts.tolist(), strict=True)) for each in found]
        assert [(each.coarseness, c) for each, c in zip(found, counts, strict=True)] == expected


def test_rows_of_weight_zero_are_not_summarised() -> None:
    table = {"a": [1.0, 2.0, 3.0, 900.0], "c": ["u", "v", "u", "w"], "y": [0, 1, 0, 1]}
    X = {name: table[name] for name in "ac"}
    weighted = weigh.Perceptron().fit(X, table["y"], sample_weight=[1, 1, 1, 0]).model_
    inputs: InputSummary = weighted.training_rows.inputs
    assert inputs.n == 3
    assert {row.row for row in weigh.unfamiliar(weighted, X).rows} == {3}


def test_columns_that_are_not_examined_are_named() -> None:
    texts = {"t": ["a b", "b c", "c d", "d a"] * 10, "n": list(range(40)), "y": [0, 1] * 20}
    model = weigh.LogisticRegression(columns={"t": weigh.Text(min_count=2)}).fit(texts, "y")
    found = weigh.unfamiliar(model, {"t": ["e"], "n": [900]})
    assert found.not_examined == ("t",)
    assert [reason.column for row in found.rows for reason in row.reasons] == ["n"]


def test_a_damaged_summary_is_refused(tmp_path: Any) -> None:
    model = weigh.Threshold().fit({"a": [1.0, 2.0, 3.0, 4.0], "y": [0, 0, 1, 1]}, "y").model_
    meta, arrays = take_apart(model.to_bytes())
    arrays["inputs0.counts"][:] = 0
    (tmp_path / "m.weigh").write_bytes(reseal(meta, arrays))
    with pytest.raises(errors.ModelFileError, match="summary 'inputs0' has invalid cells"):
        weigh.load(tmp_path / "m.weigh")


@pytest.mark.parametrize("scale", [1.0, 1e-320, 1e300])
def test_numbers_are_counted_in_the_cells_of_the_fixed_grid(scale: float) -> None:
    values = np.append(np.random.default_rng(0).normal(size=100) * scale, [0.0, -0.0, np.nan, np.inf, 5e-324])
    counted = NumberCells.from_values(values)
    cells, table = _core.count_cells(np.zeros(len(values), np.int32), 1, values, None)
    assert (counted.cells.tolist(), counted.counts.tolist()) == (cells.tolist(), table[0].tolist())
