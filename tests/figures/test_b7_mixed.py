"""B7: categories, flags, numbers and text in one model; its score is the sum of the contributions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import weigh

TABLE: dict[str, list[Any]] = {
    "body": [
        "cheap pills now", "lunch at noon", "cheap loans now now", "notes of the lecture",
        "win a prize now", "see the notes", "pills and loans", "are you at lunch",
    ],
    "sender": ["stranger", "friend", "stranger", "teacher", "stranger", "teacher", "friend", "friend"],
    "attachment": [True, False, False, True, True, False, False, False],
    "length": [120.0, 30.5, 200.25, 80.0, 150.0, 60.0, 110.0, 25.0],
    "verdict": ["spam", "ham", "spam", "ham", "spam", "ham", "spam", "ham"],
}  # fmt: skip
ROW = {"body": "cheap lunch now", "sender": "friend", "attachment": True, "length": 90.0}
KINDS = {"body": "text", "sender": "category", "attachment": "flag", "length": "number"}


def test_every_column_gets_its_own_distribution() -> None:
    model = weigh.NaiveBayes().fit(TABLE, "verdict").model_
    kinds = dict(zip(model.schema.names, (kind.name for kind in model.schema.kinds), strict=True))
    assert kinds == KINDS


def test_the_score_is_the_prior_plus_the_sum_of_the_parts() -> None:
    whole = weigh.NaiveBayes(columns=KINDS).fit(TABLE, "verdict").model_
    total = whole.log_prior.copy()
    for name in KINDS:
        part = {name: TABLE[name], "verdict": TABLE["verdict"]}
        one = weigh.NaiveBayes(columns={name: KINDS[name]}).fit(part, "verdict").model_
        total += one.scores({name: ROW[name]})[0] - one.log_prior
    assert whole.scores(ROW)[0] == pytest.approx(total, abs=1e-12)


def test_the_evidence_names_values_of_all_kinds() -> None:
    evidence = weigh.NaiveBayes().fit(TABLE, "verdict").explain(ROW)[0]
    named = {row.feature for row in evidence.table}
    assert {"class prior", "body: cheap", "sender", "attachment", "length"} <= named


@pytest.mark.parametrize(
    "storage",
    [pd.DataFrame, pl.DataFrame, pa.table, lambda t: pd.DataFrame(t).convert_dtypes(), "csv"],
    ids=["pandas", "polars", "arrow", "pandas nullable", "csv"],
)
def test_every_storage_gives_the_same_model(storage: Any, tmp_path: Path) -> None:
    expected = weigh.NaiveBayes().fit(TABLE, "verdict").model_
    if storage == "csv":
        pd.DataFrame(TABLE).to_csv(tmp_path / "mails.csv", index=False)
        model = weigh.NaiveBayes().fit(weigh.open(tmp_path / "mails.csv", label="verdict")).model_
    else:
        model = weigh.NaiveBayes().fit(storage(TABLE), "verdict").model_
    assert model.to_bytes() == expected.to_bytes()
    assert np.array_equal(model.scores(ROW), expected.scores(ROW))
