"""Files of logistic regressions: what is cut or tampered with is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from tests.model.test_regression import Change, filled, shortened, smaller_posterior, told, without
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


def learned(table: Any = TABLE, **given: Any) -> Any:
    return weigh.LogisticRegression(**given).fit(table, "late").model_


HOSTILE: dict[str, Change] = {
    "endless weights": filled("part0.table", np.inf),
    "weights that are no numbers": filled("part1.table", np.nan),
    "weights endlessly below zero": filled("part1.table", -np.inf),
    "a bias too few": shortened("base"),
    "a bias that is no number": filled("base", np.nan),
    "a class twice": lambda meta, arrays: meta.update(classes=["no", "no"]),
    "a class too many": lambda meta, arrays: meta.update(classes=["no", "yes", "perhaps"]),
    "no classes": without("classes"),
    "no shares": without("shares"),
    "shares too few": shortened("shares"),
    "shares of zero": filled("shares", 0.0),
    "shares above one": filled("shares", 1.5),
    "shares that are no numbers": filled("shares", np.nan),
    "no facts": without("fit"),
    "facts of something else": told("fit", colour="red"),
    "a number of classes that is a word": told("fit", classes="two"),
    "a method that is a number": told("fit", method=1),
    "a gap below zero": told("certificate", gap=-1.0),
    "a proof that is a word": lambda meta, arrays: meta.update(certificate="optimal"),
    "a posterior too small": smaller_posterior,
    "a covariance that is no number": filled("posterior.covariance", np.nan),
    "no mean": without("posterior.mean"),
    "freedom of a word": told("posterior", dof="much"),
    "weights that no logistic regression learns": lambda meta, arrays: (
        meta.update({"part0.type": "FlagWeights"}),
        arrays.update({f"part0.{state}": arrays["part0.table"] for state in ("present", "absent")}),
    ),
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


@pytest.mark.parametrize("table", [TABLE, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize("given", [{}, {"method": "online"}, {"prior": weigh.Laplace(1)}, {"bias": False}])
def test_what_is_stored_comes_back(table: Any, given: dict[str, Any], tmp_path: Path) -> None:
    path, model = tmp_path / "m.weigh", learned(table, **given)
    path.write_bytes(store.to_bytes(*stored(model)))
    again = weigh.load(path)
    assert isinstance(again, LogisticModel)
    assert again.to_bytes() == model.to_bytes()
    assert (again.certificate is None) == (given.get("method") == "online")


def test_a_file_cut_or_changed_anywhere_is_refused(tmp_path: Path) -> None:
    content, path = learned().to_bytes(), tmp_path / "m.weigh"
    for at in [*range(0, len(content), 101), len(content) - 1]:
        for wrong in (content[:at], content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]):
            path.write_bytes(wrong)
            with pytest.raises(errors.ModelFileError):
                weigh.load(path)


def test_the_names_of_kinds_of_models_stay(tmp_path: Path) -> None:
    assert learned().type_name == "logistic"
    meta, arrays = stored(learned())
    path = tmp_path / "m.weigh"
    for other in ("regression", "perceptron", "logit"):
        path.write_bytes(store.to_bytes(meta | {"model": other}, arrays))
        with pytest.raises(errors.ModelFileError, match="is damaged: "):
            weigh.load(path)


def test_the_first_of_two_classes_has_the_score_zero() -> None:
    model = learned()
    scores = model.scores(TABLE)
    np.testing.assert_array_equal(scores[:, 0], 0.0)
    odds = np.log(model.predict_proba(TABLE)[:, 1] / model.predict_proba(TABLE)[:, 0])
    np.testing.assert_allclose(scores[:, 1], odds, rtol=1e-9)
    assert model.linear() is model
    assert repr(model) == "<LogisticModel: 2 columns, classes of 'late' 'no', 'yes'>"
