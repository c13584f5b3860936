"""Files of perceptrons: all four kinds come back, and what is cut or tampered with is refused."""

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
NEW = {name: [*values, *values[:2]] for name, values in TABLE.items() if name != "class"} | {
    "colour": ["red", "blue", None, "never", "green", "red", "blue", "green", "red", "never"]
}
KEPT = ("last", "averaged", "lazy", "voted")
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "recorded": {"record": True},
    "units": {"scale": "unit"},
    "hashed": {"columns": KINDS | {"body": weigh.Text(buckets=8)}},
    "presence": {"columns": KINDS | {"body": weigh.Text(counts=False), "size": weigh.Number(bins=2)}},
    "separate": {"multiclass": "one-vs-rest", "bias": False, "rate": 0.1},
}


def learned(keep: str = "averaged", **settings: Any) -> Any:
    return weigh.Perceptron(keep, **({"columns": KINDS, "max_iter": 3} | settings)).fit(TABLE, "class").model_


@pytest.mark.parametrize("keep", KEPT)
@pytest.mark.parametrize("which", SETTINGS)
def test_a_model_comes_back_as_it_was(keep: str, which: str, tmp_path: Path) -> None:
    model = learned(keep, **SETTINGS[which])
    model.save(tmp_path / "m.weigh")
    again = weigh.load(tmp_path / "m.weigh")
    assert type(again) is type(model)
    assert again.to_bytes() == model.to_bytes()
    assert again.certificate == model.certificate
    assert again.features == model.features
    np.testing.assert_array_equal(again.scores(NEW), model.scores(NEW))
    assert [str(e) for e in again.explain(NEW)] == [str(e) for e in model.explain(NEW)]
    if model.record is not None:
        for other in KEPT:
            assert again.keep(other).to_bytes() == model.keep(other).to_bytes()


def test_what_was_not_recorded_cannot_be_kept() -> None:
    with pytest.raises(errors.Unsupported) as refused:
        learned("lazy").keep("voted")
    assert str(refused.value) == (
        "Only the lazy hypothesis of the run was kept. Train with record=True to have all of them."
    )
    with pytest.raises(errors.ParameterError):
        learned("voted").keep("best")
    model = learned("lazy")
    assert model.keep("lazy") is model


@pytest.mark.parametrize("keep", ["averaged", "voted"])
def test_a_file_cut_anywhere_is_refused(keep: str, tmp_path: Path) -> None:
    content, path = learned(keep).to_bytes(), tmp_path / "m.weigh"
    for size in [*range(64), *range(64, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.raises(errors.ModelFileError):
            weigh.load(path)


def test_a_file_with_a_changed_byte_is_refused(tmp_path: Path) -> None:
    content, path = learned("voted").to_bytes(), tmp_path / "m.weigh"
    for at in range(0, len(content), 41):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(errors.ModelFileError):
            weigh.load(path)


Change = Callable[[dict[str, Any], dict[str, Any]], Any]


def filled(name: str, value: float) -> Change:
    return lambda meta, arrays: arrays[name].__setitem__(slice(None), value)


def shortened(name: str) -> Change:
    return lambda meta, arrays: arrays.update({name: arrays[name][:-1]})


def described(**changes: Any) -> Change:
    return lambda meta, arrays: meta.update(changes)


FACTS = {"mistakes": 1, "updates": 1, "examples": 1, "passes": 1, "converged": False, "radius": 1.0}
HOSTILE: dict[str, Change] = {
    "a column beyond the classes": filled("record.plus", 5),
    "half an update": filled("record.plus", -1),
    "a feature beyond all": filled("record.indices", 99),
    "a negative feature": filled("record.indices", -1),
    "a negative life": filled("record.lives", -1),
    "an endless amount": filled("record.amounts", np.inf),
    "an amount that is no number": filled("record.amounts", np.nan),
    "an endless value": filled("record.values", np.inf),
    "a value that is no number": filled("record.values", np.nan),
    "rows that fall": lambda meta, arrays: arrays["record.indptr"].__setitem__(1, 10**9),
    "a life too few": shortened("record.lives"),
    "a value too few": shortened("record.values"),
    "a column too few": shortened("record.minus"),
    "numbers of another type": lambda meta, arrays: arrays.update(
        {"record.plus": arrays["record.plus"].astype(np.int64)}
    ),
    "no such hypothesis": described(kept="best"),
    "another hypothesis": described(kept="last"),
    "no record": lambda meta, arrays: meta.pop("record"),
    "a record of another width": described(record=[99, 3, True, False]),
    "a record of half a sentence": described(record=[1]),
    "a divisor of zero": described(divisor=0.0),
    "a divisor that is a word": described(divisor="ten"),
    "no certificate": lambda meta, arrays: meta.pop("certificate"),
    "a certificate of words": described(certificate=FACTS | {"mistakes": "many"}),
    "a certificate without radius": described(certificate=FACTS | {"radius": None}),
    "a certificate of other facts": described(certificate=FACTS | {"colour": "red"}),
    "weights that no perceptron learns": lambda meta, arrays: (
        meta.update({"part2.type": "FlagWeights"}),
        arrays.update({f"part2.{state}": arrays["part2.table"] for state in ("present", "absent")}),
    ),
    "endless weights": filled("base", np.inf),
    "weights endlessly below zero": filled("base", -np.inf),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_contradicts_itself_is_refused(case: str, tmp_path: Path) -> None:
    model, path = learned("voted"), tmp_path / "m.weigh"
    meta, arrays = model.to_store()
    meta = json.loads(json.dumps({"model": model.type_name, **meta}))
    arrays = {name: np.array(array) for name, array in arrays.items()}
    path.write_bytes(store.to_bytes(meta, arrays))
    assert weigh.load(path).to_bytes() == model.to_bytes()
    HOSTILE[case](meta, arrays)
    path.write_bytes(store.to_bytes(meta, arrays))
    with pytest.raises(errors.ModelFileError, match="is damaged: "):
        weigh.load(path)


def test_a_single_plane_is_not_taken_for_votes(tmp_path: Path) -> None:
    model, path = learned("averaged", record=True), tmp_path / "m.weigh"
    meta, arrays = model.to_store()
    path.write_bytes(store.to_bytes({"model": model.type_name, **meta, "kept": "voted"}, arrays))
    with pytest.raises(errors.ModelFileError) as refused:
        weigh.load(path)
    assert str(refused.value) == (
        f"{path} is damaged: its hypothesis is 'voted', which does not suit it. Copy it again from its "
        f"origin, or save the model again."
    )
