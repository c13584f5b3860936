"""Spellers in files: round trips, and damaged files."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from tests.apps.spelling.example_speller import SETS, speller
from weigh import errors
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.speller_data import NameArray, SpellerParts, to_file_content
from weigh.model.file import store

WRONG = "I didn't know weather to laugh or cry."
Meta = dict[str, Any]
Arrays = dict[str, np.ndarray[Any, Any]]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "en.weigh"
    speller().save(path)
    return path


def small_speller() -> Speller:
    """A speller with few features, so that every byte of its file can be tested."""
    return replace(speller(), sets=tuple(one.select_strongest(2) for one in speller().sets))


@pytest.mark.parametrize("learner", ["logistic", "naive-bayes", "bernoulli", "perceptron"])
def test_speller_round_trips_through_a_file(tmp_path: Path, learner: str) -> None:
    made = speller(learner)
    made.save(tmp_path / "en.weigh")
    loaded = weigh.Speller.load(tmp_path / "en.weigh")
    assert loaded.to_bytes() == made.to_bytes() == (tmp_path / "en.weigh").read_bytes()
    assert (loaded.promise, loaded.settings, loaded.facts) == (made.promise, made.settings, made.facts)
    assert [one.words for one in loaded.sets] == [*SETS]
    assert loaded.check(WRONG) == made.check(WRONG)
    assert str(loaded) == str(made)


def test_equal_spellers_have_equal_bytes() -> None:
    speller.cache_clear()
    before = speller().to_bytes()
    speller.cache_clear()
    assert speller().to_bytes() == before
    assert speller("naive-bayes").to_bytes() != before


def test_name_longer_than_255_bytes_round_trips(tmp_path: Path) -> None:
    first = speller().sets[0]
    names = NameArray.from_strings(["around:" + "ü" * 200 + " _ x", "before:y"])
    long = replace(first, names=names, weights=first.weights[:2])
    made = replace(speller(), sets=(long, *speller().sets[1:]))
    made.save(tmp_path / "en.weigh")
    assert Speller.load(tmp_path / "en.weigh").sets[0].names == names


def test_set_without_features_round_trips(tmp_path: Path) -> None:
    classifier = speller().sets[0].constant(SETS[0], 1)
    made = replace(speller(), sets=(classifier, speller().sets[1]))
    made.save(tmp_path / "en.weigh")
    loaded = Speller.load(tmp_path / "en.weigh")
    assert loaded.sets[0].intercept.tolist() == [-np.inf, 0.0]
    assert [one.suggested for one in loaded.check("Fine weather.")] == ["whether"]


def test_every_flipped_byte_raises(tmp_path: Path) -> None:
    path = tmp_path / "en.weigh"
    whole = small_speller().to_bytes()
    assert len(whole) < 3_500
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << (at % 8)
        path.write_bytes(damaged)
        with pytest.raises(errors.ModelFileError):
            Speller.load(path)


def test_truncated_file_raises(tmp_path: Path) -> None:
    path = tmp_path / "en.weigh"
    whole = small_speller().to_bytes()
    for size in [0, 1, 7, 8, *random.Random(1).sample(range(9, len(whole)), 100), len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(errors.ModelFileError):
            Speller.load(path)


def _without(name: str) -> Callable[[Meta, Arrays], None]:
    return lambda meta, arrays: (meta if name in meta else arrays).pop(name)


def _put(name: str, value: Any) -> Callable[[Meta, Arrays], None]:
    return lambda meta, arrays: arrays.update({name: value(arrays[name])})


def _set(*keys: Any, to: Any) -> Callable[[Meta, Arrays], None]:
    def change(meta: Meta, arrays: Arrays) -> None:
        place: Any = meta
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to

    return change


TAMPERED = {
    **{
        f"no {name}": _without(name)
        for name in ("sets", "promise", "settings", "facts", "base", "weights", "names.text", "names.lengths")
    },
    "weights that are no numbers": _put("weights", lambda w: np.full_like(w, np.nan)),
    "a base that is no number": _put("base", lambda b: np.full_like(b, np.nan)),
    "a base beyond all numbers": _put("base", lambda b: np.full_like(b, np.inf)),
    "a base too large to be subtracted": _put("base", lambda b: np.resize([1e308, -1e308], b.shape)),
    "no word that may be chosen": _put("base", lambda b: np.full_like(b, -np.inf)),
    "weights of another type": _put("weights", lambda w: w.astype(np.float64)),
    "too few weights": _put("weights", lambda w: w[:-1]),
    "weights in two dimensions": _put("weights", lambda w: w[None]),
    "too few lengths": _put("names.lengths", lambda n: n[:-1]),
    "lengths below zero": _put("names.lengths", lambda n: n.astype(np.int8)),
    "lengths beyond all numbers": _put("names.lengths", lambda n: np.full(len(n), 2**64 - 1, np.uint64)),
    "names in disorder": _put("names.text", lambda t: t[::-1].copy()),
    "names that are no text": _put("names.text", lambda t: np.full_like(t, 0xFF)),
    "a set of one word": _set("sets", 0, "words", to=["weather"]),
    "a word in two sets": _set("sets", 0, "words", to=["weather", "their"]),
    "sets that are none": _set("sets", to=3),
    "no set at all": _set("sets", to=[]),
    "features below zero": _set("sets", 0, "features", to=-1),
    "features beyond all numbers": _set("sets", 0, "features", to=10**30),
    "a threshold above one": _set("promise", "threshold", to=1.5),
    "a promise of no alarm": _set("promise", "rate", to=0),
    "a promise of alarms without end": _set("promise", "rate", to="inf"),
    "alarms without end that are promised": _set("promise", "promised", to="inf"),
    "a promise that is none": _set("promise", to=[]),
    "settings that do not exist": _set("settings", "colour", to="red"),
    "a learner that does not exist": _set("settings", "learner", to="oracle"),
    "facts that are none": _set("facts", "sets", to=[1]),
    "an accuracy that is no number": _set("facts", "sets", 0, "accuracy", to="nan"),
    "a share found that is no number": _set("facts", "sets", 0, "found", to="nan"),
    "more judged than can be counted": _set("facts", "sets", 0, "judged", to=10**400),
    "a temperature without end": _set("facts", "sets", 0, "temperature", to="inf"),
    "facts of fewer sets": _set("facts", "sets", to=[]),
    "facts of fewer words": _set("facts", "sets", 0, "examples", to=[3]),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_inconsistent_file_raises(tmp_path: Path, what: str) -> None:
    meta, arrays = to_file_content(SpellerParts(*_parts(small_speller())))
    meta = json.loads(json.dumps(meta))
    TAMPERED[what](meta, arrays)
    store.write(tmp_path / "en.weigh", meta, arrays)
    with pytest.raises(errors.ModelFileError, match="is damaged"):
        Speller.load(tmp_path / "en.weigh")


def _parts(made: Speller) -> tuple[Any, ...]:
    return made.sets, made.promise, made.settings, made.facts


@pytest.mark.parametrize(("key", "value"), [("contexts", 1), ("contexts", 3), ("unicode", "99.0.0")])
def test_speller_with_other_context_features_raises(tmp_path: Path, key: str, value: object) -> None:
    meta, arrays = to_file_content(SpellerParts(*_parts(small_speller())))
    store.write(tmp_path / "en.weigh", meta | {key: value}, arrays)
    with pytest.raises(errors.ModelFileError, match="Learn the speller again"):
        Speller.load(tmp_path / "en.weigh")


def test_failed_save_keeps_the_old_file(saved: Path) -> None:
    before = saved.read_bytes()
    invalid = replace(speller(), promise=replace(speller().promise, rate=float("nan")))
    with pytest.raises(errors.ModelFileError):
        invalid.save(saved)
    assert saved.read_bytes() == before
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]
