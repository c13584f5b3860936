"""Files of logistic regressions; truncated and tampered files are rejected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from tests.model.test_regression import Change, fill, remove, shorten, shrink_posterior, update
from weigh import errors
from weigh.model import LogisticModel
from weigh.model.file import store

RNG = np.random.default_rng(0)
TABLE: dict[str, Any] = {
    "size": RNG.normal(size=30).tolist(),
    "colour": [["red", "blue", "green"][i % 3] for i in range(30)],
    "late": [["yes", "no", "no", "yes"][i % 4] for i in range(30)],
}
THREE = TABLE | {"late": [["no", "yes", "perhaps"][i // 2 % 3] for i in range(30)]}


def fitted(table: Any = TABLE, **settings: Any) -> Any:
    return weigh.LogisticRegression(**settings).fit(table, "late").model_


DAMAGES: dict[str, Change] = {
    "infinite weights": fill("part0.table", np.inf),
    "weights of NaN": fill("part1.table", np.nan),
    "weights of minus infinity": fill("part1.table", -np.inf),
    "too few biases": shorten("base"),
    "a bias of NaN": fill("base", np.nan),
    "a duplicate class": lambda meta, arrays: meta.update(classes=["no", "no"]),
    "too many classes": lambda meta, arrays: meta.update(classes=["no", "yes", "perhaps"]),
    "no classes": remove("classes"),
    "no shares": remove("shares"),
    "too few shares": shorten("shares"),
    "shares of zero": fill("shares", 0.0),
    "shares above one": fill("shares", 1.5),
    "shares of NaN": fill("shares", np.nan),
    "no fit": remove("fit"),
    "an unknown field of the fit": update("fit", colour="red"),
    "a number of classes that is text": update("fit", classes="two"),
    "a method that is a number": update("fit", method=1),
    "a negative gap": update("certificate", gap=-1.0),
    "a certificate that is text": lambda meta, arrays: meta.update(certificate="optimal"),
    "too small a posterior": shrink_posterior,
    "a covariance of NaN": fill("posterior.covariance", np.nan),
    "no mean": remove("posterior.mean"),
    "degrees of freedom that are text": update("posterior", dof="much"),
    "weights of another type of model": lambda meta, arrays: (
        meta.update({"part0.type": "FlagWeights"}),
        arrays.update({f"part0.{state}": arrays["part0.table"] for state in ("present", "absent")}),
    ),
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


@pytest.mark.parametrize("table", [TABLE, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize("settings", [{}, {"method": "online"}, {"prior": weigh.Laplace(1)}, {"bias": False}])
def test_a_model_is_saved_and_loaded(table: Any, settings: dict[str, Any], tmp_path: Path) -> None:
    path, model = tmp_path / "m.weigh", fitted(table, **settings)
    path.write_bytes(store.to_bytes(*file_content(model)))
    loaded = weigh.load(path)
    assert isinstance(loaded, LogisticModel)
    assert loaded.to_bytes() == model.to_bytes()
    assert (loaded.certificate is None) == (settings.get("method") == "online")


def test_a_truncated_or_changed_file_is_rejected(tmp_path: Path) -> None:
    content, path = fitted().to_bytes(), tmp_path / "m.weigh"
    for i in [*range(0, len(content), 101), len(content) - 1]:
        for damaged in (content[:i], content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :]):
            path.write_bytes(damaged)
            with pytest.raises(errors.ModelFileError):
                weigh.load(path)


def test_the_type_name_is_stable_and_checked(tmp_path: Path) -> None:
    assert fitted().type_name == "logistic"
    meta, arrays = file_content(fitted())
    path = tmp_path / "m.weigh"
    for other in ("regression", "perceptron", "logit"):
        path.write_bytes(store.to_bytes(meta | {"model": other}, arrays))
        with pytest.raises(errors.ModelFileError, match="is damaged: "):
            weigh.load(path)


def test_the_first_of_two_classes_has_the_score_zero() -> None:
    model = fitted()
    scores = model.scores(TABLE)
    np.testing.assert_array_equal(scores[:, 0], 0.0)
    log_odds = np.log(model.predict_proba(TABLE)[:, 1] / model.predict_proba(TABLE)[:, 0])
    np.testing.assert_allclose(scores[:, 1], log_odds, rtol=1e-9)
    assert model.linear() is model
    assert repr(model) == "<LogisticModel: 2 columns, classes of 'late' 'no', 'yes'>"
