"""Dask: two worker processes give the same bytes as this one, even when a worker is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pytest
from distributed import Client, LocalCluster

import weigh
from tests.engines.frames import mixed_table
from weigh import errors
from weigh.source.partitioned import dask as engine

pytestmark = [
    pytest.mark.filterwarnings("ignore::weigh.errors.MissingNumbers"),
    pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable"),
    pytest.mark.filterwarnings("ignore::weigh.errors.NotOptimal"),
    # Of distributed, when a worker is killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TABLE = mixed_table()
CLASSES = TABLE.drop(columns="target")
NUMBERS = TABLE.drop(columns="label")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1") as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_naive_bayes_has_the_same_bytes(client: Client):
    local = weigh.NaiveBayes().fit(CLASSES, "label").model_
    for n in (1, 9):
        model = weigh.NaiveBayes().fit(dd.from_pandas(CLASSES, npartitions=n), "label").model_
        assert model.to_bytes() == local.to_bytes()


def test_joint_bayes_has_the_same_bytes(client: Client):
    table = CLASSES.drop(columns=["body", "price"])
    local = weigh.JointBayes().fit(table, "label").model_
    model = weigh.JointBayes().fit(dd.from_pandas(table, npartitions=5), "label").model_
    assert model.to_bytes() == local.to_bytes()


def test_without_a_cluster_threads_count():
    model = weigh.NaiveBayes().fit(dd.from_pandas(CLASSES, npartitions=4), "label").model_
    assert model.to_bytes() == weigh.NaiveBayes().fit(CLASSES, "label").model_.to_bytes()


def test_partitions_of_files_are_read_by_the_workers(client: Client, tmp_path: Path):
    for i in range(3):
        CLASSES[1000 * i : 1000 * (i + 1)].to_parquet(tmp_path / f"{i}.parquet")
    frame = dd.read_parquet(tmp_path)
    local = weigh.NaiveBayes().fit(CLASSES, "label").model_
    assert weigh.NaiveBayes().fit(frame, "label").model_.to_bytes() == local.to_bytes()


def test_row_groups_are_read_by_the_workers(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "PARTITION_BYTES", 60_000)
    files = [str(tmp_path / f"{i}.parquet") for i in range(2)]
    for i, file in enumerate(files):
        CLASSES[1500 * i : 1500 * (i + 1)].to_parquet(file, row_group_size=400)
    frame = engine.DaskParquet(dd.read_parquet(files), files)
    assert 2 < len(frame._partitions()[0]) < 8
    local = weigh.NaiveBayes().fit(CLASSES, "label").model_
    assert weigh.NaiveBayes().fit(frame, "label").model_.to_bytes() == local.to_bytes()


def test_linear_regression_has_the_same_weights(client: Client):
    columns = {"city": weigh.Category(against="Bonn"), "code": "skip", "body": "skip", "when": "skip"}
    local = weigh.LinearRegression(columns=columns).fit(NUMBERS, "target")
    folded = weigh.LinearRegression(columns=columns).fit(dd.from_pandas(NUMBERS, npartitions=5), "target")
    assert np.allclose(folded.coef_, local.coef_, rtol=0, atol=1e-9)


def test_errors_of_workers_name_the_partition(client: Client):
    table = CLASSES.copy()
    table.loc[2_999, "label"] = None
    with pytest.raises(errors.LabelError, match=r"^Partition 3 of the Dask DataFrame \(the first is 0\): "):
        weigh.NaiveBayes().fit(dd.from_pandas(table, npartitions=4), "label")


def slow_rows(part: Any, started: str, seconds: float) -> Any:
    """Note the process that reads a partition, and take a while."""
    Path(started, f"{os.getpid()}-{len(os.listdir(started))}").touch()
    time.sleep(seconds)
    return part


@pytest.mark.parametrize("moment", [1, 4, 8], ids=["first task", "middle", "last task"])
def test_a_killed_worker_changes_nothing(client: Client, tmp_path: Path, moment: int):
    local = weigh.NaiveBayes().fit(CLASSES, "label")
    parts = dd.from_pandas(CLASSES, npartitions=8)
    slow = parts.map_partitions(slow_rows, str(tmp_path), 0.2, meta=parts._meta)
    killed: list[int] = []

    def kill() -> None:
        while len(os.listdir(tmp_path)) < moment + 1:  # one partition is read for the first rows
            time.sleep(0.01)
        newest = max(os.listdir(tmp_path), key=lambda name: int(name.split("-")[1]))
        killed.append(int(newest.split("-")[0]))
        os.kill(killed[0], signal.SIGKILL)

    learner = weigh.NaiveBayes(columns=local.schema_)
    thread = threading.Thread(target=kill)
    thread.start()
    model = learner.fit(slow, "label").model_
    thread.join()
    assert killed
    assert model.to_bytes() == local.model_.to_bytes()
    client.wait_for_workers(2)


def test_an_interrupt_frees_the_cluster(client: Client, tmp_path: Path):
    parts = dd.from_pandas(CLASSES, npartitions=20)
    slow = parts.map_partitions(slow_rows, str(tmp_path), 2.0, meta=parts._meta)
    schema = weigh.NaiveBayes().fit(CLASSES, "label").schema_

    def interrupt() -> None:
        while len(os.listdir(tmp_path)) < 3:  # one partition is read for the first rows
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        weigh.NaiveBayes(columns=schema).fit(slow, "label")
    thread.join()
    n_read = len(os.listdir(tmp_path))
    for _ in range(300):
        if not any(client.processing().values()):
            break
        time.sleep(0.1)
    assert not any(client.processing().values())
    assert n_read < 15


def test_predictions_are_lazy_and_belong_to_their_rows(client: Client):
    learner = weigh.NaiveBayes().fit(CLASSES, "label")
    table = CLASSES.sample(frac=1, random_state=0)
    lazy = learner.predict(dd.from_pandas(table, npartitions=4, sort=False), reasons=1)
    assert isinstance(lazy, dd.DataFrame)
    assert list(lazy.columns) == ["prediction", "P(no)", "P(yes)", "reason 1"]
    result = lazy.compute()
    assert result.index.equals(table.index)
    assert result["prediction"].tolist() == learner.predict(table).tolist()


def test_logistic_regression_has_the_same_optimum(client: Client):
    parameters = {"columns": {"city": weigh.Category(against="Bonn"), "when": "skip"}, "tol": 1e-11}
    parameters["prior"] = weigh.Normal(1.0)
    local = weigh.LogisticRegression(**parameters).fit(CLASSES, "label")
    folded = weigh.LogisticRegression(**parameters).fit(dd.from_pandas(CLASSES, npartitions=5), "label")
    assert np.allclose(folded.coef_, local.coef_, rtol=0, atol=1e-8 * np.abs(local.coef_).max())
    assert folded.certificate_.converged
