"""Model files with correct digests and contradictory contents are refused, or give models that work."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from tests.resealing import Arrays, Meta, mutate, reseal, small_models, take_apart, use_file
from weigh.errors import ModelFileError

MUTATIONS_PER_MODEL = 8


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    return small_models()


def test_a_file_that_is_taken_apart_and_resealed_is_unchanged(contents: dict[str, bytes]) -> None:
    for content in contents.values():
        assert reseal(*take_apart(content)) == content


def test_every_small_model_can_be_used(contents: dict[str, bytes], tmp_path: Path) -> None:
    for name, content in contents.items():
        path = tmp_path / f"{name}.weigh"
        path.write_bytes(content)
        assert use_file(path) != "refused", name


def test_changed_files_are_refused_or_give_models_that_work(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    outcomes = []
    for name, content in contents.items():
        for seed in range(MUTATIONS_PER_MODEL):
            meta, arrays = take_apart(content)
            mutate(meta, arrays, random.Random(f"{name} {seed}"))
            try:
                resealed = reseal(meta, arrays)
            except ModelFileError:
                continue  # even an attacker cannot write this description as JSON
            path = tmp_path / "changed.weigh"
            path.write_bytes(resealed)
            outcomes.append(use_file(path))
    assert outcomes.count("refused") > len(outcomes) / 2
    assert outcomes.count("used") + outcomes.count("used in part") > len(outcomes) / 20


def put(owner: Any, *keys_and_value: Any) -> None:
    """Set owner[key][key]… to a value."""
    *keys, last, value = keys_and_value
    for key in keys:
        owner = owner[key]
    owner[last] = value


def fill(arrays: Arrays, name: str, value: float) -> None:
    arrays[name] = np.full_like(arrays[name], value)


Change = Callable[[Meta, Arrays], Any]
CONTRADICTIONS: list[tuple[str, str, Change]] = [
    ("logistic", "has words that are not strings", lambda m, a: put(m, "part3.names", 0, 0.5)),
    ("logistic", "has no weights of a category", lambda m, a: put(m, "part0.type", "ScaledWeights")),
    ("logistic", "has no weights of a text", lambda m, a: put(m, "part3.type", "LevelWeights")),
    ("logistic", "has the wrong shape", lambda m, a: put(a, "part0.table", a["part0.table"][:-1])),
    ("logistic", "its weights are not all finite", lambda m, a: fill(a, "base", -np.inf)),
    ("logistic", "holds numbers that are not finite", lambda m, a: fill(a, "part0.table", np.nan)),
    ("logistic", "a column occurs twice", lambda m, a: put(m, "schema", "columns", 1, 0, "sky")),
    ("logistic", "the dialect is not a mapping", lambda m, a: put(m, "schema", "dialect", [])),
    ("logistic", "unknown setting 'run'", lambda m, a: put(m, "schema", "dialect", {"run": "rm"})),
    ("logistic", "delimiter is ';;'", lambda m, a: put(m, "schema", "dialect", {"delimiter": ";;"})),
    ("logistic", "delimiter is '7'", lambda m, a: put(m, "schema", "dialect", {"delimiter": 7})),
    *(
        ("logistic", "the dialect's", lambda m, a, dialect=dialect: put(m, "schema", "dialect", dialect))
        for dialect in [
            *({"delimiter": character} for character in ("1", "e", "\0", '"')),
            *({"encoding": name} for name in ("undefined", "idna", "utf-7", "UTF7", "unicode_escape", "hex")),
            *({"thousands": "x"}, {"thousands": "."}, {"decimal": ",", "thousands": ","}),
        ]
    ),
    *(
        (
            "logistic",
            "its record of the training rows",
            lambda m, a, key=key, n=n: put(m, "training_rows", key, n),
        )
        for key, n in [
            *(("n", value) for value in (True, -1, 1e3, None, 2**63, 10**30)),
            *(("sums", value) for value in (["0"], ["zz", "1"], [1, 2], "ab", ["-1", "1"], None)),
            *(("sums", [value, "0" * 16]) for value in ("+" + "0" * 15, "0" * 15, "0x" + "0" * 14, "F" * 16)),
        ]
    ),
    ("logistic", "its record of the training rows", lambda m, a: put(m, "training_rows", "x")),
    ("logistic", "its record of the training rows", lambda m, a: put(m, "training_rows", {})),
    (
        "logistic",
        "its record of the training rows",
        lambda m, a: put(a, "training_rows.sample", a["training_rows.sample"][::-1].copy()),
    ),
    ("logistic", "encoding is 'os/path'", lambda m, a: put(m, "schema", "dialect", {"encoding": "os/path"})),
    ("logistic", "encoding is 'hex'", lambda m, a: put(m, "schema", "dialect", {"encoding": "hex"})),
    ("logistic", "names is ", lambda m, a: put(m, "schema", "dialect", {"names": ["a", "a"]})),
    ("logistic", "names is '3'", lambda m, a: put(m, "schema", "dialect", {"names": 3})),
    ("logistic", "quotes is '1'", lambda m, a: put(m, "schema", "dialect", {"quotes": 1})),
    ("logistic", "has_header is 'no'", lambda m, a: put(m, "schema", "dialect", {"has_header": "no"})),
    ("logistic", "sheet is '-1'", lambda m, a: put(m, "schema", "dialect", {"sheet": -1})),
    ("logistic", "decimal is ';'", lambda m, a: put(m, "schema", "dialect", {"decimal": ";"})),
    ("logistic", "thousands is ", lambda m, a: put(m, "schema", "dialect", {"thousands": "long"})),
    ("logistic", "its posterior has no covariance", lambda m, a: fill(a, "posterior.covariance", -1.0)),
    ("linear", "its posterior has invalid numbers", lambda m, a: fill(a, "posterior.numbers", 1e308)),
    ("linear", "a field of the fit", lambda m, a: put(m, "fit", "units", [1.0, 2.0, 3.0])),
    ("linear", "a field of the fit", lambda m, a: put(m, "fit", "lost", "much")),
    ("words", "has an invalid reference level", lambda m, a: put(m, "part1.against", ["sun"])),
    ("words", "are not those of its column", lambda m, a: put(m, "part0.buckets", 64)),
    ("words", "its buckets 'part0' are invalid", lambda m, a: fill(a, "part0.used", 3)),
    ("naive_bayes", "present in more rows than known", lambda m, a: fill(a, "part3.present.table", 99)),
    ("naive_bayes", "is missing or of the wrong type", lambda m, a: a.pop("rows")),
    ("naive_bayes", "holds impossible counts", lambda m, a: fill(a, "rows", -1)),
    ("naive_bayes", "has duplicate or NaN entries", lambda m, a: put(m, "classes", ["no", "no"])),
    ("bins", "has levels of another kind", lambda m, a: put(m, "schema", "columns", 1, 1, "bins", [15.0])),
    ("bins", "a number of bins instead of", lambda m, a: put(m, "schema", "columns", 1, 1, "bins", 3)),
    ("joint", "has levels of another kind", lambda m, a: put(m, "part0.levels1", 1, "rain")),
    ("joint", "its cells name levels that do not", lambda m, a: fill(a, "part0.codes", 9)),
    ("stated", "is incomplete or contradictory", lambda m, a: put(m, "prior", 1)),
    ("threshold", "its cut lies outside its interval", lambda m, a: fill(a, "cut", 1.0)),
    ("platt", "its calibration is invalid", lambda m, a: put(m, "calibration", "slope", 0)),
    ("isotonic", "its calibration is invalid", lambda m, a: fill(a, "calibration.0", 0.5)),
    ("perceptron_voted", "its record has invalid lengths", lambda m, a: fill(a, "record.lives", -1)),
    ("perceptron_voted", "its record is inconsistent", lambda m, a: fill(a, "record.plus", 7)),
]


@pytest.mark.parametrize(("name", "message", "change"), CONTRADICTIONS)
def test_a_contradiction_is_refused_with_its_reason(
    contents: dict[str, bytes], tmp_path: Path, name: str, message: str, change: Change
) -> None:
    meta, arrays = take_apart(contents[name])
    change(meta, arrays)
    path = tmp_path / "changed.weigh"
    path.write_bytes(reseal(meta, arrays))
    with pytest.raises(ModelFileError, match=message) as caught:
        weigh.load(path)
    assert str(path) in str(caught.value)


def test_whole_numbers_of_a_calibration_become_floats(contents: dict[str, bytes], tmp_path: Path) -> None:
    meta, arrays = take_apart(contents["platt"])
    meta["calibration"]["shift"][0] = 2**70
    path = tmp_path / "changed.weigh"
    path.write_bytes(reseal(meta, arrays))
    assert use_file(path) != "refused"


def test_weights_whose_scores_overflow_give_an_error_instead_of_nan(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    meta, arrays = take_apart(contents["logistic_classes"])
    fill(arrays, "part0.table", 1e308)
    path = tmp_path / "changed.weigh"
    path.write_bytes(reseal(meta, arrays))
    with pytest.raises(weigh.errors.DataError, match="Row 0 has values so large that its score overflows"):
        weigh.load(path).predict_proba({"warm": 24.0, "damp": 70.0})
