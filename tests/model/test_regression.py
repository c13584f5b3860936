"""Files of linear regressions: what is cut or tampered with is refused."""

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


def learned(**given: Any) -> Any:
    return weigh.LinearRegression(**({"prior": 1.0} | given)).fit(TABLE, "price").model_


def filled(name: str, value: float) -> Change:
    return lambda meta, arrays: arrays[name].__setitem__(slice(None), value)


def shortened(name: str) -> Change:
    return lambda meta, arrays: arrays.update({name: arrays[name][:-1]})


def without(name: str) -> Change:
    return lambda meta, arrays: meta.pop(name) if name in meta else arrays.pop(name)


def told(part: str, **changes: Any) -> Change:
    return lambda meta, arrays: meta[part].update(changes)


def smaller_posterior(meta: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Cut the posterior down by a weight, all of its tables alike."""
    arrays.update({f"posterior.{name}": arrays[f"posterior.{name}"][:-1] for name in ("mean", "mean_x")})
    arrays["posterior.covariance"] = arrays["posterior.covariance"][:-1, :-1].copy()


HOSTILE: dict[str, Change] = {
    "endless weights": filled("part0.table", np.inf),
    "weights endlessly below zero": filled("part0.table", -np.inf),
    "weights that are no numbers": filled("part0.table", np.nan),
    "a bias that is no number": filled("base", np.nan),
    "a bias too many": lambda meta, arrays: arrays.update(base=np.zeros(2)),
    "no bias": without("base"),
    "weights too few": shortened("part1.table"),
    "weights of single precision": lambda meta, arrays: arrays.update(
        {"part0.table": arrays["part0.table"].astype(np.float32)}
    ),
    "no weights": without("part1.table"),
    "no levels": without("part1.names"),
    "a level twice": lambda meta, arrays: meta.update({"part1.names": ["red", "red", "blue"]}),
    "no type": without("part0.type"),
    "weights that no regression learns": lambda meta, arrays: (
        meta.update({"part0.type": "FlagWeights"}),
        arrays.update({f"part0.{state}": arrays["part0.table"] for state in ("present", "absent")}),
    ),
    "no schema": without("schema"),
    "no facts": without("fit"),
    "facts of something else": told("fit", colour="red"),
    "a penalty that is a word": told("fit", l2="much"),
    "rows that are words": told("fit", rows="many"),
    "noise that is a word": told("fit", sigma="some"),
    "a loss that is a number": told("fit", loss=2),
    "a bias that is neither there nor not": told("fit", bias="perhaps"),
    "a prior that is none": told("fit", prior=None),
    "a share that is a word": told("fit", r2="most"),
    "a scale that is a word": told("fit", scale="wide"),
    "units of words": told("fit", units=["metre", "second"]),
    "units of a number": told("fit", units=3),
    "no proof": without("certificate"),
    "a proof without a gap": lambda meta, arrays: meta["certificate"].pop("gap"),
    "a gap that is a word": told("certificate", gap="small"),
    "a gap below zero": told("certificate", gap=-1.0),
    "half an iteration": told("certificate", iterations=0.5),
    "a method that is none": told("certificate", method=None),
    "a posterior too small": smaller_posterior,
    "a mean too short": shortened("posterior.mean"),
    "a covariance that is no square": shortened("posterior.covariance"),
    "no covariance": without("posterior.covariance"),
    "a covariance that is no number": filled("posterior.covariance", np.nan),
    "an endless covariance": filled("posterior.covariance", -np.inf),
    "an endless mean": filled("posterior.mean", -np.inf),
    "numbers too few": shortened("posterior.numbers"),
    "noise below zero": filled("posterior.numbers", -1.0),
    "freedom of a word": told("posterior", dof="much"),
    "freedom of none": told("posterior", dof=0),
    "no freedom": lambda meta, arrays: meta["posterior"].pop("dof"),
}


def stored(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    meta, arrays = model.to_store()
    meta = json.loads(json.dumps({"model": model.type_name, **meta}))
    return meta, {name: np.array(array) for name, array in arrays.items()}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_contradicts_itself_is_refused(case: str, tmp_path: Path) -> None:
    path = tmp_path / "m.weigh"
    meta, arrays = stored(learned())
    HOSTILE[case](meta, arrays)
    path.write_bytes(store.to_bytes(meta, arrays))
    with pytest.raises(errors.ModelFileError, match="is damaged: "):
        weigh.load(path)


@pytest.mark.parametrize(
    "given", [{}, {"prior": None}, {"noise": "laplace"}, {"offset": "size"}, {"scale": "unit"}]
)
def test_what_is_stored_comes_back(given: dict[str, Any], tmp_path: Path) -> None:
    path, model = tmp_path / "m.weigh", learned(**given)
    path.write_bytes(store.to_bytes(*stored(model)))
    again = weigh.load(path)
    assert isinstance(again, RegressionModel)
    assert again.to_bytes() == model.to_bytes()


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    content, path = learned().to_bytes(), tmp_path / "m.weigh"
    for size in [*range(64), *range(64, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.raises(errors.ModelFileError):
            weigh.load(path)


def test_a_file_with_a_changed_byte_is_refused(tmp_path: Path) -> None:
    content, path = learned().to_bytes(), tmp_path / "m.weigh"
    for at in range(0, len(content), 41):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(errors.ModelFileError):
            weigh.load(path)


def test_the_names_of_kinds_of_models_stay(tmp_path: Path) -> None:
    assert learned().type_name == "regression"
    meta, arrays = stored(learned())
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
    again = weigh.load(tmp_path / "m.weigh")
    with pytest.raises(errors.Unsupported, match=r"saved for up to 1,000"):
        again.posterior  # noqa: B018
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_model_that_fits_all_rows_is_told_and_saved_without_a_posterior(tmp_path: Path) -> None:
    X = RNG.normal(size=(10, 40))
    model = weigh.LinearRegression(weigh.Penalty(l2=1e-9)).fit(X, X[:, 0]).model_
    with pytest.raises(errors.DataError) as refused:
        model.posterior  # noqa: B018
    assert str(refused.value) == (
        "The weights fit all 10 rows, so the residuals tell nothing of the noise: state it, as in "
        "noise=Normal(1.0), or give more rows."
    )
    assert all(line.error is None for line in model.summary().lines)
    model.save(tmp_path / "m.weigh")
    again = weigh.load(tmp_path / "m.weigh")
    assert again.posterior_source is None
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_model_says_what_it_is() -> None:
    assert repr(learned()) == "<RegressionModel of 'price': 2 columns, 4 weights>"
    assert learned().linear().features == ["size", "colour=blue", "colour=green", "colour=red"]


def test_a_row_too_large_to_weigh_is_named() -> None:
    model = weigh.LinearRegression().fit([[1.0], [2.0], [3.0]], [1e80, 2e80, 4e80]).model_
    with pytest.raises(errors.DataError):
        model.predict([[1.0], [1e99], [1e300]])
