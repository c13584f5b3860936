from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.quality import additive
from benchmarks.quality.additive import describe_signal, note_failure, read_contenders
from benchmarks.quality.additive_cases import Case, Selection, draw_few_rows
from benchmarks.quality.additive_contenders import PEERS, find_contender, list_keys, make_spline
from benchmarks.quality.additive_summary import format_additive_report, format_paired, gather_records
from benchmarks.quality.additive_worker import (
    GAUSSIAN_LOG_LOSS,
    RELATIVE_ERRORS,
    measure_case,
    predict,
    result_path,
)
from benchmarks.quality.default_settings import Contender
from benchmarks.quality.default_summary import LOG_LOSS
from benchmarks.quality.public_tables import Table, Task


class Mean:
    """Predict the mean of the training labels, with a standard deviation."""

    def fit(self, X: Any, y: Any) -> Mean:
        self.mean, self.deviation = y.mean(), y.std()
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        numbers = np.full(len(X), self.mean)
        return (numbers, np.full(len(X), self.deviation)) if return_std else numbers


class Fair:
    def fit(self, X: Any, y: Any) -> Fair:
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), 0.5)


def make_case(task: Task, name: str = "t") -> Case:
    rng = np.random.default_rng(0)
    colours = pd.Series(rng.choice(["red", "blue"], 60), dtype=object)
    X = pd.DataFrame({"x": rng.normal(size=60), "colour": colours})
    y = rng.exponential(size=60) ** 3 if task == "regression" else np.array(["no", "yes"] * 30, dtype=object)
    rows = np.arange(60)
    splits = [(rows[rows % 5 != fold], rows[rows % 5 == fold]) for fold in range(2)]
    return Case(Table(name, task, X, y), splits)


def make_contender(make: Any) -> Contender:
    return Contender("c", "LinearRegression", "peer", lambda X: make())


def test_the_mean_has_squared_error_one_on_any_of_the_folds() -> None:
    result = measure_case(make_contender(Mean), make_case("regression"))
    # By the variance of all rows it has not: the label is skewed and only two of five folds are measured.
    assert np.mean(result["losses"][RELATIVE_ERRORS]) == pytest.approx(1.0)
    assert len(result["losses"][GAUSSIAN_LOG_LOSS]) == 2
    assert result["memory"] >= 0


def test_the_gaussian_log_loss_does_not_depend_on_the_unit_of_the_label() -> None:
    case = make_case("regression")
    table = Table("t", "regression", case.table.X, 1000.0 * case.table.y)
    results = [measure_case(make_contender(Mean), each) for each in (case, Case(table, case.splits))]
    first, second = (result["losses"][GAUSSIAN_LOG_LOSS] for result in results)
    assert first == pytest.approx(second)


def test_fair_probabilities_have_the_log_loss_of_a_coin() -> None:
    result = measure_case(make_contender(Fair), make_case("classification"))
    assert result["losses"][LOG_LOSS] == pytest.approx([np.log(2)] * 2)
    assert "row losses" not in result


def test_a_contender_that_raises_has_failed_on_that_case_only() -> None:
    class Broken(Mean):
        def fit(self, X: Any, y: Any) -> Mean:
            raise ValueError("no such table")

    assert (
        measure_case(make_contender(Broken), make_case("regression"))["failure"]
        == "ValueError: no such table"
    )


def test_the_file_of_a_case_changes_with_rows_and_splits() -> None:
    case = make_case("regression")
    fewer = Case(case.table, case.splits[:1])
    other = Case(Table("t", "regression", case.table.X.assign(x=0.0), case.table.y), case.splits)
    assert len({case.name, fewer.name, other.name}) == 3
    assert case.name == make_case("regression").name
    assert make_case("classification").name != case.name


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_few_rows_to_train_on_have_every_class_and_the_others_are_tested(task: Task) -> None:
    table = make_case(task).table
    splits = draw_few_rows(table, Selection(task, splits=4, train_rows=30))
    assert len(splits) == 4
    for train, test in splits:
        assert len(train) == 30
        assert sorted([*train, *test]) == list(range(60))
        assert task == "regression" or len(set(table.y[train])) == 2
    assert draw_few_rows(table, Selection(task, train_rows=31)) == []


def test_a_table_with_a_class_too_rare_for_the_training_rows_is_left_out() -> None:
    table = make_case("classification").table
    rare = Table("t", "classification", table.X, np.where(np.arange(60) == 0, "rare", table.y))
    assert draw_few_rows(rare, Selection("classification", train_rows=30)) == []


def test_a_process_that_was_ended_leaves_a_failure_and_the_next_case_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [make_case("regression", name) for name in ("slow", "fast")]
    runs: list[list[str]] = []

    def run(command: list[str], **_: Any) -> Any:
        runs.append(command[-1:] if len(runs) else command[-2:])
        if len(runs) == 2:
            path = result_path(tmp_path, cases[1], "ebm")
            path.write_text(json.dumps({"done": True}))
        return type("Done", (), {"returncode": -signal.SIGALRM if len(runs) == 1 else 0})

    monkeypatch.setattr(additive.subprocess, "run", run)
    monkeypatch.setattr(additive, "PYTHONS", {"peers": __file__})
    additive.measure_contender(tmp_path / "cases", cases, "ebm", tmp_path, limit=7)
    assert runs == [["0", "1"], ["1"]]
    failure = json.loads(result_path(tmp_path, cases[0], "ebm").read_text())["failure"]
    assert failure == "more than 7 s for all splits"
    assert describe_signal(signal.SIGKILL, 7) == "ended by SIGKILL"


def test_results_are_gathered_by_table_and_missing_ones_are_blank(tmp_path: Path) -> None:
    case = make_case("regression")
    result_path(tmp_path, case, "splines").write_text(
        json.dumps(measure_case(make_contender(Mean), case) | {"name": "splines"})
    )
    note_failure(case, "ebm", tmp_path, "more than 7 s for all splits")
    paths = [result_path(tmp_path, case, key) for key in ("splines", "ebm", "gam")]
    [record] = gather_records(paths)
    assert list(record["contenders"]) == ["splines"]
    assert record["failures"] == {"EBM, no pairs": "more than 7 s for all splits"}
    report = format_additive_report([record])
    assert "| t (60 × 2) | 0.0000 |" in report
    assert "Failed: t: EBM, no pairs: more than 7 s for all splits." in report


def test_the_interval_of_a_stated_split_is_that_of_paired_rows() -> None:
    assert format_paired([0.5, 0.5], [0.5, 0.5]) == "+0.0000 (+0.0000 to +0.0000)"
    # Mean 1, s = √2, √n = √2: 1 ± 1.96
    assert format_paired([0.0, 2.0], [0.0, 0.0]) == "+1.0000 (-0.9600 to +2.9600)"


def test_contenders_are_chosen_by_name_on_the_command_line() -> None:
    assert read_contenders("curves,ebm") == ["curves", "ebm"]
    assert read_contenders("peers") == list(PEERS)
    with pytest.raises(Exception, match="unknown contender 'tree'"):
        read_contenders("tree")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_names_of_contenders_are_distinct(task: Task) -> None:
    names = [find_contender(key, task).name for key in list_keys()]
    assert len(set(names)) == len(names)


def test_knots_are_quantiles_of_the_distinct_values() -> None:
    column = pd.Series([0.0] * 90 + [float(i) for i in range(1, 8)])
    assert make_spline(column).knots.ravel() == pytest.approx(np.arange(8.0))
    assert make_spline(pd.Series([0.0, 1.0, np.nan])) == "passthrough"


@pytest.mark.parametrize("key", ["boosting", "splines"])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.filterwarnings("ignore")
def test_peers_of_scikit_learn_predict_rows_with_unknown_levels(key: str, task: Task) -> None:
    case = make_case(task)
    table = case.table
    model = find_contender(key, task).make(table.X).fit(table.X, table.y)
    rows = table.X.iloc[:3].assign(colour=pd.Series(["green", "red", None], dtype=object))
    answer, deviations = predict(model, task, rows)
    assert np.isfinite(answer).all()
    assert deviations is None
