"""The first `weigh fit` on a messy table gives the right kinds, the right notes and a good model."""

from __future__ import annotations

from pathlib import Path

import pytest

import weigh
from tests.messy.run import EXPECTED, fit, kinds_and_accuracy, run
from tests.messy.tables import TABLES


@pytest.mark.parametrize("name", TABLES)
def test_the_first_fit_of_a_messy_table(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = TABLES[name]
    code, text = fit(table, name, tmp_path)
    assert text == (EXPECTED / f"{name}.txt").read_text()
    assert code == (1 if table.accuracy is None else 0)
    if table.accuracy is None:
        assert not list(tmp_path.glob("*.weigh"))
        return
    kinds, accuracy = kinds_and_accuracy(table, name, tmp_path)
    assert kinds == {"size": "number", "group": "category", **table.kinds}
    assert accuracy >= table.accuracy


@pytest.mark.parametrize(
    ("name", "model"),
    [("account", "naive-bayes"), ("outliers", "logistic"), ("numeric_target", "regression")],
)
def test_the_default_learner_of_a_messy_table(
    name: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = TABLES[name].save(tmp_path, name, 1, TABLES[name].n_rows)
    code, text = run("fit", path.name, "--label", "y")
    assert code == 0, text
    assert weigh.load(f"{name}.weigh").type_name == model
