"""Files of linear regressions; truncated and tampered files are rejected."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.model import RegressionModel
from weigh.model.file import store

RNG = np.random.default_rng(0)
TABLE: dict[str, Any] = {
    "size": RNG.normal(size=20).tolist(),
    "colour": [["red", "blue", "green"][i % 3] for i in range(20)],
    "price": RNG.normal(size=20).tolist(),
}
Change = Callable[[dict[str, Any], dict[str, Any]], Any]


def fitted(**settings: Any) -> Any:
    return weigh.LinearRegression(**({"prior": 1.0} | settings)).fit(TABLE, "price").model_


def fill(name: str, value: float) -> Change:
    return lambda meta, arrays: arrays[name].__setitem__(slice(None), value)


def shorten(name: str) -> Change:
    return lambda meta, arrays: arrays.update({name: arrays[name][:-1]})


def remove(name: str) -> Change:
    return lambda meta, arrays: meta.pop(name) if name in meta else arrays.pop(name)


def update(part: str, **changes: Any) -> Change:
    return lambda meta, arrays: meta[part].update(changes)


def shrink_posterior(meta: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Remove the last weight from all arrays of the posterior."""
    arrays.update({f"posterior.{name}": arrays[f"posterior.{name}"][:-1] for name in ("mean", "mean_x")})
    arrays["posterior.covariance"] = arrays["posterior.covariance"][:-1, :-1].copy()


DAMAGES: dict[str, Change] = {
    "infinite weights": fill("part0.table", np.inf),
    "weights of minus infinity": fill("part0.table", -np.inf),
    "weights of NaN": fill("part0.table", np.nan),
    "a bias of NaN": fill("base", np.nan),
    "too many biases": lambda meta, arrays: arrays.update(base=np.zeros(2)),
    "no bias": remove("base"),
    "too few weights": shorten("part1.table"),
    "weights of single precision": lambda meta, arrays: arrays.update(
        {"part0.table": arrays["part0.table"].astype(np.float32)}
    ),
    "no weights": remove("part1.table"),
    "no levels": remove("part1.names"),
    "a duplicate level": lambda meta, arrays: meta.update({"part1.names": ["red", "red", "blue"]}),
    "no type": remove("part0.type"),
    "weights of another type of model": lambda meta, arrays: (
        meta.update({"part0.type": "FlagWeights"}),
        arrays.update({f"part0.{state}": arrays["part0.table"] for state in ("present", "absent")}),
    ),
    "no schema": remove("schema"),
    "no fit": remove("fit"),
    "an unknown field of the fit": update("fit", colour="red"),
    "a penalty that is text": update("fit", l2="much"),
    "rows that are text": update("fit", rows="many"),
    "noise that is text": update("fit", sigma="some"),
    "a loss that is a number": update("fit", loss=2),
    "a bias that is text": update("fit", bias="perhaps"),
    "a prior of None": update("fit", prior=None),
    "an R² that is text": update("fit", r2="most"),
    "a scale that is text": update("fit", scale="wide"),
    "units that are text": update("fit", units=["metre", "second"]),
    "units that are one number": update("fit", units=3),
    "no certificate": remove("certificate"),
    "a certificate without a gap": lambda meta, arrays: meta["certificate"].pop("gap"),
    "a gap that is text": update("certificate", gap="small"),
    "a negative gap": update("certificate", gap=-1.0),
    "a fractional number of iterations": update("certificate", iterations=0.5),
    "a method of None": update("certificate", method=None),
    "too small a posterior": shrink_posterior,
    "too short a mean": shorten("posterior.mean"),
    "a covariance that is not square": shorten("posterior.covariance"),
    "no covariance": remove("posterior.covariance"),
    "a covariance of NaN": fill("posterior.covariance", np.nan),
    "an infinite covariance": fill("posterior.covariance", -np.inf),
    "an infinite mean": fill("posterior.mean", -np.inf),
    "too few numbers": shorten("posterior.numbers"),
    "negative noise": fill("posterior.numbers", -1.0),
    "degrees of freedom that are text": update("posterior", dof="much"),
    "zero degrees of freedom": update("posterior", dof=0),
    "no degrees of freedom": lambda meta, arrays: meta["posterior"].pop("dof"),
}


def file_content(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    meta, arrays = model.to_store()
    meta = json.loads(json.dumps({"model": model.type_name, **meta}))
    return meta, {name: np.array(array) for name, array in arrays.items()}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_tampered_file_is_rejected(case: str, tmp_path: Path) -> None:
    path = tmp_path / "m.weigh"
    meta, arrays = file_content(fitted())
    DAMAGES[case](meta, arrays)
    path.write_bytes(store.to_bytes(meta, arrays))
    with pytest.raises(errors.ModelFileError, match="is damaged: "):
        weigh.load(path)


@pytest.mark.parametrize(
    "settings", [{}, {"prior": None}, {"noise": "laplace"}, {"offset": "size"}, {"scale": "unit"}]
)
def test_a_model_is_saved_and_loaded(settings: dict[str, Any], tmp_path: Path) -> None:
    path, model = tmp_path / "m.weigh", fitted(**settings)
    path.write_bytes(store.to_bytes(*file_content(model)))
    loaded = weigh.load(path)
    assert isinstance(loaded, RegressionModel)
    assert loaded.to_bytes() == model.to_bytes()


def test_a_truncated_file_is_rejected(tmp_path: Path) -> None:
    content, path = fitted().to_bytes(), tmp_path / "m.weigh"
    for size in [*range(64), *range(64, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.raises(errors.ModelFileError):
            weigh.load(path)


def test_a_file_with_a_changed_byte_is_rejected(tmp_path: Path) -> None:
    content, path = fitted().to_bytes(), tmp_path / "m.weigh"
    for i in range(0, len(content), 41):
        path.write_bytes(content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :])
        with pytest.raises(errors.ModelFileError):
            weigh.load(path)


def test_the_type_name_is_stable_and_checked(tmp_path: Path) -> None:
    assert fitted().type_name == "regression"
    meta, arrays = file_content(fitted())
    path = tmp_path / "m.weigh"
    for other in ("logistic", "perceptron", "linear regression"):
        path.write_bytes(store.to_bytes(meta | {"model": other}, arrays))
        with pytest.raises(errors.ModelFileError, match="is damaged: "):
            weigh.load(path)


def test_a_posterior_of_many_weights_is_not_saved(tmp_path: Path) -> None:
    X = RNG.normal(size=(30, 1001))
    model = weigh.LinearRegression(1.0, weigh.Normal(1)).fit(X, X[:, 0]).model_
    model.save(tmp_path / "m.weigh")
    assert model.posterior.mean.shape == (1001,)
    loaded = weigh.load(tmp_path / "m.weigh")
    with pytest.raises(errors.Unsupported, match=r"saved for up to 1,000"):
        loaded.posterior  # noqa: B018
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_model_that_fits_all_rows_exactly_is_summarised_and_saved_without_a_posterior(
    tmp_path: Path,
) -> None:
    X = RNG.normal(size=(10, 40))
    model = weigh.LinearRegression(weigh.Penalty(l2=1e-9)).fit(X, X[:, 0]).model_
    with pytest.raises(errors.DataError) as error:
        model.posterior  # noqa: B018
    assert str(error.value) == (
        "The weights fit all 10 rows, so the residuals tell nothing of the noise: state it, as in "
        "noise=Normal(1.0), or give more rows."
    )
    assert all(line.error is None for line in model.summary().lines)
    model.save(tmp_path / "m.weigh")
    loaded = weigh.load(tmp_path / "m.weigh")
    assert loaded.posterior_source is None
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_repr_and_features() -> None:
    assert repr(fitted()) == "<RegressionModel of 'price': 2 columns, 4 weights>"
    assert fitted().linear().features == ["size", "colour=blue", "colour=green", "colour=red"]


def test_an_overflowing_prediction_is_an_error() -> None:
    model = weigh.LinearRegression().fit([[1.0], [2.0], [3.0]], [1e80, 2e80, 4e80]).model_
    with pytest.raises(errors.DataError):
        model.predict([[1.0], [1e99], [1e300]])
