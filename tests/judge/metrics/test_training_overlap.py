"""`evaluate` says whether a model was trained on the evaluated rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

import weigh
from weigh.errors import ModelFileError
from weigh.model.file import store
from weigh.model.training_rows import SAMPLE_SIZE, TrainingRows

N = 900
RANDOM = np.random.default_rng(0)
NOISE = RANDOM.normal(size=N)
FRAME = pd.DataFrame(
    {
        "x": RANDOM.normal(size=N),
        "town": RANDOM.choice(["Graz", "Linz", "Wien"], N),
        "count": RANDOM.integers(0, 1000, N),
    }
)
CLASSES = FRAME.assign(y=np.where(FRAME.x + NOISE > 0, "yes", "no"))
NUMBERS = FRAME.assign(y=2 * FRAME.x + NOISE)
TRAIN = slice(0, 600)
LEARNERS: dict[str, Any] = {
    "logistic": weigh.LogisticRegression(),
    "online": weigh.LogisticRegression(method="online"),
    "perceptron": weigh.Perceptron(scale="unit"),
    "voted": weigh.Perceptron(keep="voted", scale="unit"),
    "threshold": weigh.Threshold(),
    "linear": weigh.LinearRegression(),
    "absolute": weigh.LinearRegression(noise="laplace"),
}
COUNTING: dict[str, Any] = {
    "naive-bayes": weigh.NaiveBayes(),
    "joint": weigh.JointBayes(columns={"x": "skip", "count": "skip"}),
}


def table(name: str) -> pd.DataFrame:
    return NUMBERS if name in ("linear", "absolute") else CLASSES


def fit(name: str) -> Any:
    return clone({**LEARNERS, **COUNTING}[name]).fit(table(name).iloc[TRAIN], "y").model_


@pytest.mark.parametrize("name", [*LEARNERS, *COUNTING])
def test_training_rows_are_recognised_in_any_order_and_storage(name: str, tmp_path: Path) -> None:
    model, train = fit(name), table(name).iloc[TRAIN]
    model.save(tmp_path / "m.weigh")
    train.to_csv(tmp_path / "t.csv", index=False)
    tables = [
        train,
        train.sample(frac=1.0, random_state=1),
        train[["y", "count", "town", "x"]],
        pl.from_pandas(train),
        pa.Table.from_pandas(train, preserve_index=False),
        weigh.open(str(tmp_path / "t.csv"), "y"),
    ]
    for rows in tables:
        for each in (model, weigh.load(tmp_path / "m.weigh")):
            evaluation = weigh.evaluate(each, rows)
            assert (evaluation.is_training_data, evaluation.training_share) == (True, 1.0)


@pytest.mark.parametrize("name", [*LEARNERS, *COUNTING])
def test_other_rows_are_not_training_rows(name: str) -> None:
    model, rows = fit(name), table(name)
    assert weigh.evaluate(model, rows.iloc[600:]).is_training_data is False
    changed = rows.iloc[TRAIN].copy()
    changed.loc[3, "y"] = changed.loc[4, "y"] if name in ("linear", "absolute") else "no"
    changed.loc[5, "y"] = changed.loc[4, "y"] if name in ("linear", "absolute") else "yes"
    assert not changed.equals(rows.iloc[TRAIN])
    assert weigh.evaluate(model, changed).is_training_data is False


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - {"threshold"}))
def test_the_share_of_training_rows_is_estimated(name: str) -> None:
    model, rows = fit(name), table(name)
    evaluation = weigh.evaluate(model, rows)
    assert evaluation.is_training_data is False
    assert evaluation.training_share == pytest.approx(600 / 900, abs=0.06)
    assert weigh.evaluate(model, rows.iloc[600:]).training_share == 0.0
    few = weigh.evaluate(model, rows.iloc[:10])
    assert (few.is_training_data, few.training_share) == (False, None)


def test_rows_that_repeat_each_other_have_no_share() -> None:
    rows = CLASSES[["town", "y"]]
    model = weigh.LogisticRegression().fit(rows.iloc[TRAIN], "y")
    evaluation = weigh.evaluate(model, rows.iloc[600:], "y")
    assert (evaluation.is_training_data, evaluation.training_share) == (False, None)
    assert weigh.evaluate(model, rows.iloc[TRAIN], "y").is_training_data is True


def test_training_rows_among_rows_that_sometimes_repeat_each_other_are_recognised() -> None:
    rows = CLASSES[["town", "count", "y"]].assign(count=CLASSES["count"] // 4)
    train = rows.iloc[TRAIN]
    assert 0.1 < train.duplicated(keep=False).mean() < 0.5
    model = weigh.LogisticRegression().fit(train, "y")
    part = weigh.evaluate(model, train.iloc[:400], "y")
    assert (part.is_training_data, part.training_share) == (False, 1.0)
    assert weigh.evaluate(model, rows.iloc[600:], "y").training_share is None


@pytest.mark.parametrize("name", ["perceptron", "online"])
@pytest.mark.filterwarnings("ignore::weigh.errors.FrozenScales")
def test_rows_learned_in_batches_are_recognised_together(name: str) -> None:
    learner = clone(LEARNERS[name])
    train = CLASSES.iloc[TRAIN].sample(frac=1.0, random_state=2)
    for start in range(0, 600, 100):
        learner.partial_fit(train.iloc[start : start + 100], "y", classes=["no", "yes"])
        seen = weigh.evaluate(learner, train.iloc[: start + 100], "y")
        assert seen.is_training_data is True
    assert weigh.evaluate(learner, CLASSES.iloc[TRAIN], "y").is_training_data is True


def test_further_passes_over_the_same_rows_add_none() -> None:
    learner = weigh.Perceptron(scale="unit", warm_start=True).fit(CLASSES, "y").fit(CLASSES, "y")
    assert weigh.evaluate(learner, CLASSES, "y").is_training_data is True


def test_rows_without_weight_were_not_used() -> None:
    weights = np.ones(600)
    weights[:200] = 0.0
    model = weigh.LogisticRegression().fit(CLASSES.iloc[TRAIN], "y", sample_weight=weights)
    assert weigh.evaluate(model, CLASSES.iloc[200:600], "y").is_training_data is True
    assert weigh.evaluate(model, CLASSES.iloc[TRAIN], "y").training_share == pytest.approx(2 / 3, abs=0.08)


def test_a_calibrated_model_knows_the_rows_of_its_inner_model() -> None:
    model = weigh.calibrate(fit("perceptron"), CLASSES.iloc[600:])
    assert weigh.evaluate(model, CLASSES.iloc[TRAIN]).is_training_data is True
    assert weigh.evaluate(model, CLASSES.iloc[600:]).is_training_data is False


def test_models_without_a_record_cannot_tell() -> None:
    X, y = FRAME[["x", "count"]].to_numpy(), CLASSES.y.to_numpy()
    towns = CLASSES[["town", "y"]]
    for model in (weigh.NaiveBayes().fit(towns, "y").model_.linear(), GaussianNB().fit(X, y)):
        rows = (towns,) if hasattr(model, "schema") else (X, y)
        evaluation = weigh.evaluate(model, *rows)
        assert (evaluation.is_training_data, evaluation.training_share) == (None, None)


def test_the_figures_come_with_a_warning() -> None:
    warning = "The model was trained on these rows, so the figures are too good. Evaluate it on other rows."
    for name in ("logistic", "linear", "naive-bayes"):
        evaluation = weigh.evaluate(fit(name), table(name).iloc[TRAIN])
        assert warning in " ".join(str(evaluation).split())
        assert warning in " ".join(evaluation._repr_html_().split())
        assert evaluation.to_dict()["is_training_data"] is True
        assert evaluation.to_dict()["training_share"] == 1.0
        assert "too good" not in str(weigh.evaluate(fit(name), table(name).iloc[600:]))
    part = str(weigh.evaluate(fit("logistic"), CLASSES))
    assert "The model was trained on about 66% of these rows, so the figures are too good." in part


def test_records_add_in_any_order() -> None:
    hashes = RANDOM.integers(0, 2**63, 1000, dtype=np.uint64)
    whole = TrainingRows.from_hashes(hashes.copy())
    first, second = (TrainingRows.from_hashes(part.copy()) for part in (hashes[:300], hashes[300:]))
    for total in (first.plus(second), second.plus(first)):
        assert total.equals(whole)
        assert total.sample.tolist() == whole.sample.tolist()
    assert len(whole.sample) == SAMPLE_SIZE
    assert not whole.equals(first)


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    meta, arrays = fit("logistic").to_store()
    meta = {"model": "logistic", **meta}
    for record in ({"n": 3, "sums": ["0", "0"]}, {"n": 600, "sums": ["0", "-1"]}, {"n": 600, "sums": ["0"]}):
        store.write(tmp_path / "m.weigh", meta | {"training_rows": record}, arrays)
        with pytest.raises(ModelFileError, match="is damaged"):
            weigh.load(tmp_path / "m.weigh")
