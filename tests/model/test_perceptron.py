"""Files of all four kinds of perceptrons; truncated and tampered files are rejected."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.model.file import store

TABLE = {
    "size": [1.5, 2.0, None, 4.0, 5.0, 6.5, -1.0, 0.25],
    "colour": ["red", "blue", "red", None, "blue", "green", "green", "red"],
    "known": [0, 1, 0, 1, 1, 0, None, 1],
    "body": ["free money", "noon lunch", "free lunch", "", None, "money money now", "see you", "free"],
    "class": ["spam", "ham", "spam", "spam", "ham", "late", "ham", "late"],
}
KINDS = {"size": "number", "colour": "category", "known": "flag", "body": "text"}
NEW_ROWS = {name: [*values, *values[:2]] for name, values in TABLE.items() if name != "class"} | {
    "colour": ["red", "blue", None, "never", "green", "red", "blue", "green", "red", "never"]
}
HYPOTHESES = ("last", "averaged", "lazy", "voted")
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "recorded": {"record": True},
    "units": {"scale": "unit"},
    "hashed": {"columns": KINDS | {"body": weigh.Text(buckets=8)}},
    "presence": {"columns": KINDS | {"body": weigh.Text(counts=False), "size": weigh.Number(bins=2)}},
    "separate": {"multiclass": "one-vs-rest", "bias": False, "rate": 0.1},
}


def fitted(keep: str = "averaged", **settings: Any) -> Any:
    return weigh.Perceptron(keep, **({"columns": KINDS, "max_iter": 3} | settings)).fit(TABLE, "class").model_


@pytest.mark.parametrize("keep", HYPOTHESES)
@pytest.mark.parametrize("case", SETTINGS)
def test_a_model_is_saved_and_loaded(keep: str, case: str, tmp_path: Path) -> None:
    model = fitted(keep, **SETTINGS[case])
    model.save(tmp_path / "m.weigh")
    loaded = weigh.load(tmp_path / "m.weigh")
    assert type(loaded) is type(model)
    assert loaded.to_bytes() == model.to_bytes()
    assert loaded.certificate == model.certificate
    assert loaded.features == model.features
    np.testing.assert_array_equal(loaded.scores(NEW_ROWS), model.scores(NEW_ROWS))
    assert [str(e) for e in loaded.explain(NEW_ROWS)] == [str(e) for e in model.explain(NEW_ROWS)]
    if model.record is not None:
        for other in HYPOTHESES:
            assert loaded.keep(other).to_bytes() == model.keep(other).to_bytes()


def test_other_hypotheses_need_a_record() -> None:
    with pytest.raises(errors.Unsupported) as error:
        fitted("lazy").keep("voted")
    assert str(error.value) == (
        "Only the lazy hypothesis of the run was kept. Train with record=True to keep all of them."
    )
    with pytest.raises(errors.ParameterError):
        fitted("voted").keep("best")
    model = fitted("lazy")
    assert model.keep("lazy") is model


@pytest.mark.parametrize("keep", ["averaged", "voted"])
def test_a_truncated_file_is_rejected(keep: str, tmp_path: Path) -> None:
    content, path = fitted(keep).to_bytes(), tmp_path / "m.weigh"
    for size in [*range(64), *range(64, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.raises(errors.ModelFileError):
            weigh.load(path)


def test_a_file_with_a_changed_byte_is_rejected(tmp_path: Path) -> None:
    content, path = fitted("voted").to_bytes(), tmp_path / "m.weigh"
    for i in range(0, len(content), 41):
        path.write_bytes(content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :])
        with pytest.raises(errors.ModelFileError):
            weigh.load(path)


Change = Callable[[dict[str, Any], dict[str, Any]], Any]


def fill(name: str, value: float) -> Change:
    return lambda meta, arrays: arrays[name].__setitem__(slice(None), value)


def shorten(name: str) -> Change:
    return lambda meta, arrays: arrays.update({name: arrays[name][:-1]})


def update(**changes: Any) -> Change:
    return lambda meta, arrays: meta.update(changes)


ONLINE: dict[str, Any] = {
    "passes": 2,
    "is_limited": True,
    "seed": 0,
    "class_weight": None,
    "ignored_classes": [],
}
CERTIFICATE = {"mistakes": 1, "updates": 1, "examples": 1, "passes": 1, "converged": False, "radius": 1.0}
DAMAGES: dict[str, Change] = {
    "a column beyond the classes": fill("record.plus", 5),
    "half an update": fill("record.plus", -1),
    "a feature beyond the width": fill("record.indices", 99),
    "a negative feature": fill("record.indices", -1),
    "a negative survival count": fill("record.lives", -1),
    "an infinite amount": fill("record.amounts", np.inf),
    "an amount of NaN": fill("record.amounts", np.nan),
    "an infinite value": fill("record.values", np.inf),
    "a value of NaN": fill("record.values", np.nan),
    "a decreasing indptr": lambda meta, arrays: arrays["record.indptr"].__setitem__(1, 10**9),
    "too few survival counts": shorten("record.lives"),
    "too few values": shorten("record.values"),
    "too few columns": shorten("record.minus"),
    "an array of another dtype": lambda meta, arrays: arrays.update(
        {"record.plus": arrays["record.plus"].astype(np.int64)}
    ),
    "an unknown hypothesis": update(kept="best"),
    "another hypothesis": update(kept="last"),
    "no record": lambda meta, arrays: meta.pop("record"),
    "a record of another width": update(record=[99, 3, True, False]),
    "an incomplete record": update(record=[1]),
    "a divisor of zero": update(divisor=0.0),
    "a divisor that is text": update(divisor="ten"),
    "no certificate": lambda meta, arrays: meta.pop("certificate"),
    "a certificate with text": update(certificate=CERTIFICATE | {"mistakes": "many"}),
    "a certificate without a radius": update(certificate=CERTIFICATE | {"radius": None}),
    "a certificate with an unknown field": update(certificate=CERTIFICATE | {"colour": "red"}),
    "training with passes that are text": update(online=ONLINE | {"passes": "four"}),
    "training with a negative margin": update(online=ONLINE | {"margin": -1.0}),
    "training with an unknown weighting": update(online=ONLINE | {"class_weight": "heavy"}),
    "training with a class weight too few": update(online=ONLINE | {"class_weight": [1.0]}),
    "training with an unknown field": update(online=ONLINE | {"colour": "red"}),
    "weights of another type of model": lambda meta, arrays: (
        meta.update({"part2.type": "FlagWeights"}),
        arrays.update({f"part2.{state}": arrays["part2.table"] for state in ("present", "absent")}),
    ),
    "infinite weights": fill("base", np.inf),
    "weights of minus infinity": fill("base", -np.inf),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_tampered_file_is_rejected(case: str, tmp_path: Path) -> None:
    model, path = fitted("voted"), tmp_path / "m.weigh"
    meta, arrays = model.to_store()
    meta = json.loads(json.dumps({"model": model.type_name, **meta}))
    arrays = {name: np.array(array) for name, array in arrays.items()}
    path.write_bytes(store.to_bytes(meta, arrays))
    assert weigh.load(path).to_bytes() == model.to_bytes()
    DAMAGES[case](meta, arrays)
    path.write_bytes(store.to_bytes(meta, arrays))
    with pytest.raises(errors.ModelFileError, match="is damaged: "):
        weigh.load(path)


def test_a_single_hypothesis_is_not_loaded_as_voted(tmp_path: Path) -> None:
    model, path = fitted("averaged", record=True), tmp_path / "m.weigh"
    meta, arrays = model.to_store()
    path.write_bytes(store.to_bytes({"model": model.type_name, **meta, "kept": "voted"}, arrays))
    with pytest.raises(errors.ModelFileError) as error:
        weigh.load(path)
    assert str(error.value) == (
        f"{path} is damaged: its hypothesis 'voted' does not match its model type. Copy it again from its "
        f"origin, or save the model again."
    )
