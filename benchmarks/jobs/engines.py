"""The same fit on Dask, on Spark and on threads, beside Spark MLlib's pipelines and dask-ml, from Parquet.

Sessions are warm: they start before the runs, and every contender makes a run that is not counted. Each has
two workers. The memory that is shown is that of the process that asks, not of the workers. CPU seconds are
those of all processes of a contender that live to the end of the run, from `/proc`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.job import WORK, Check, Contender, Job, Row

N_FILES = 8
N_LEVELS = 50
N_CLASSES = 5
N_WORDS = 30
BUCKETS = 2**18
SPARK_OPTIONS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.memory": "2g",
}


def write_parquet(make: Callable[[np.random.Generator, int], Any], name: str, rows: int) -> Path:
    """Return a folder of Parquet files, written on first use."""
    import pyarrow.parquet as pq

    folder = WORK / "engines" / f"{name}-{rows}"
    if not folder.exists():
        unfinished = folder.with_suffix(f".{os.getpid()}")
        unfinished.mkdir(parents=True)
        for part in range(N_FILES):
            table = make(np.random.default_rng(part), rows // N_FILES)
            pq.write_table(table, unfinished / f"{part}.parquet")
        unfinished.rename(folder)
    return folder


def make_table(rng: np.random.Generator, n: int) -> Any:
    """Return a label, four categories and six numbers that depend on it."""
    import pyarrow as pa

    y = rng.integers(0, N_CLASSES, n)
    columns: dict[str, Any] = {"label": np.array([f"class {k}" for k in range(N_CLASSES)])[y]}
    levels = np.array([f"level {k}" for k in range(N_LEVELS)])
    for j in range(4):
        columns[f"category {j}"] = levels[(rng.geometric(0.1, n) + 3 * y) % N_LEVELS]
    for j in range(6):
        columns[f"number {j}"] = rng.normal(0.2 * y, 1.0 + 0.1 * j)
    return pa.table(columns)


def make_numbers(rng: np.random.Generator, n: int) -> Any:
    """Return twenty numbers and a label 0 or 1 of a logistic model."""
    import pyarrow as pa

    X = rng.normal(size=(n, 20))
    weights = np.random.default_rng(99).normal(0, 0.4, 20)
    label = (rng.random(n) < 1 / (1 + np.exp(-X @ weights))).astype(np.int64)
    return pa.table({"label": label, **{f"number {j}": X[:, j] for j in range(20)}})


def make_texts(rng: np.random.Generator, n: int) -> Any:
    """Return texts of 30 words, whose frequencies fall as 1/rank, and a label 0 or 1."""
    import pyarrow as pa

    words = np.array([f"word{k}" for k in range(30_000)])
    label = rng.integers(0, 2, n)
    ranks = (30_000 ** rng.random((n, N_WORDS))).astype(np.int64)
    shifted = (ranks * (1 + (label[:, None] & (rng.random((n, N_WORDS)) < 0.2)))) % 30_000
    return pa.table({"label": label, "body": [" ".join(row) for row in words[shifted]]})


def spark_frame(folder: Path) -> Any:
    """Return the rows in a Spark session with two workers."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[2,4]").config(map=SPARK_OPTIONS).getOrCreate()
    return session.read.parquet(str(folder))


def dask_frame(folder: Path) -> Any:
    """Return the rows in a Dask cluster of two worker processes, which ends with this process."""
    import dask.dataframe as dd
    from distributed import Client

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    _clients.append(Client(**options))
    return dd.read_parquet(folder)


_clients: list[Any] = []


def open_files(folder: Path) -> Any:
    import weigh

    return weigh.open(sorted(map(str, folder.glob("*.parquet"))), label="label")


@dataclass(frozen=True)
class Timed:
    """What a fit returned, and the CPU seconds of all its processes."""

    answer: Any
    cpu: float


def measuring_cpu(run: Callable[[Any], Any]) -> Callable[[Any], Timed]:
    def timed_run(prepared: Any) -> Timed:
        before = read_cpu_seconds()
        answer = run(prepared)
        after = read_cpu_seconds()
        return Timed(answer, sum(after[process] - before.get(process, 0.0) for process in after))

    return timed_run


def read_cpu_seconds() -> dict[int, float]:
    """Return the CPU seconds of this process and of those that it started, directly or not."""
    found: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        ticks = int(fields[11]) + int(fields[12])
        found[int(path.parent.name)] = int(fields[1]), ticks / os.sysconf("SC_CLK_TCK")
    members = {os.getpid()}
    while children := {process for process, (parent, _) in found.items() if parent in members} - members:
        members |= children
    return {process: found[process][1] for process in members}


def count_cpu(folder: Path, timed: Timed) -> Mapping[str, float]:
    del folder
    return {"CPU seconds": timed.cpu}


def naive_bayes(rows: Any, **parameters: Any) -> Any:
    import weigh

    return weigh.NaiveBayes(**parameters).fit(rows, "label")


def hashed_naive_bayes(rows: Any) -> Any:
    import weigh

    return naive_bayes(rows, columns={"body": weigh.Text(buckets=BUCKETS)})


def logistic(rows: Any) -> Any:
    import weigh

    learner = weigh.LogisticRegression(columns="number", prior=weigh.Normal(1.0)).fit(rows, "label")
    return np.ravel(learner.coef_), float(np.ravel(learner.intercept_)[0])


def mllib_naive_bayes(frame: Any) -> Any:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import StringIndexer, VectorAssembler

    categories = [name for name in frame.columns if name.startswith("category")]
    numbers = [name for name in frame.columns if name.startswith("number")]
    codes = [f"code {j}" for j in range(len(categories))]
    return Pipeline(
        stages=[
            StringIndexer(inputCols=["label", *categories], outputCols=["y", *codes]),
            VectorAssembler(inputCols=[*codes, *numbers], outputCol="X"),
            NaiveBayes(featuresCol="X", labelCol="y", modelType="gaussian"),
        ]
    ).fit(frame)


def mllib_text(frame: Any) -> Any:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import HashingTF, Tokenizer

    return Pipeline(
        stages=[
            Tokenizer(inputCol="body", outputCol="words"),
            HashingTF(inputCol="words", outputCol="X", numFeatures=BUCKETS),
            NaiveBayes(featuresCol="X", labelCol="label"),
        ]
    ).fit(frame)


def mllib_logistic(prepared: Any) -> Any:
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler

    frame, n = prepared
    numbers = [name for name in frame.columns if name.startswith("number")]
    rows = VectorAssembler(inputCols=numbers, outputCol="X").transform(frame)
    learner = LogisticRegression(featuresCol="X", labelCol="label", regParam=1 / n, standardization=False)
    model = learner.fit(rows)
    return model.coefficients.toArray(), float(model.intercept)


def dask_ml_naive_bayes(arrays: Any) -> Any:
    """Fit dask-ml's Gaussian naive Bayes; its parameters are lazy until they are computed."""
    import dask
    from dask_ml.naive_bayes import GaussianNB

    model = GaussianNB().fit(*arrays)
    return dask.compute(model.theta_, model.sigma_, model.class_prior_)


def to_arrays(folder: Path) -> Any:
    """Return lazy arrays of the numbers and the labels, with known numbers of rows."""
    frame = dask_frame(folder)
    parts = frame.drop(columns="label").optimize(), frame["label"].optimize()
    return tuple(part.to_dask_array(lengths=tuple(part.map_partitions(len).compute())) for part in parts)


def logistic_objective(folder: Path, timed: Timed) -> Mapping[str, float]:
    """Return the sum of the losses and half the squared weights."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder)
    y = table["label"].to_numpy() * 2.0 - 1.0
    X = np.column_stack([table[name].to_numpy() for name in table.column_names if name != "label"])
    weights, bias = timed.answer
    losses = np.logaddexp(0.0, -y * (X @ weights + bias))
    return {"objective": float(losses.sum() + weights @ weights / 2), "CPU seconds": timed.cpu}


def with_rows(folder: Path) -> Any:
    frame = spark_frame(folder)
    return frame, frame.count()


def contenders(run: Callable[[Any], Any], peer: Contender) -> tuple[Contender, ...]:
    """Return our fit on Spark, the peer, and our fit on Dask and on threads."""
    return (
        Contender(
            "weigh on Spark", run, role="ours", environment="spark", needs=("pyspark",), prepare=spark_frame
        ),
        peer,
        Contender("weigh on Dask", run, role="variant", needs=("dask",), prepare=dask_frame),
        Contender("weigh on threads", run, role="variant", prepare=open_files),
    )


def mllib(name: str, run: Callable[[Any], Any], prepare: Callable[[Path], Any] = spark_frame) -> Contender:
    return Contender(f"Spark MLlib, {name}", run, environment="spark", needs=("pyspark",), prepare=prepare)


def engines_job(name: str, title: str, make: Any, rows: int, timed: Any, **options: Any) -> Job:
    data = partial(write_parquet, make, name)
    timed = tuple(replace(each, run=measuring_cpu(each.run)) for each in timed)
    options = {"facts": count_cpu, **options}
    return Job(
        f"engines.{name}",
        title,
        data,
        {"rows": rows},
        {"rows": 40_000},
        timed,
        repeats=3,
        limit=600.0,
        **options,
    )


TABLE_PEER = mllib("StringIndexer + VectorAssembler + NaiveBayes", mllib_naive_bayes)
TEXT_PEER = mllib("Tokenizer + HashingTF + NaiveBayes", mllib_text)
LOGISTIC_PEER = mllib("VectorAssembler + LogisticRegression", mllib_logistic, with_rows)

JOBS: list[Row] = [
    engines_job("a", "Naive Bayes of a table on two workers", make_table, 1_000_000,
                contenders(naive_bayes, TABLE_PEER)),
    engines_job("b", "Naive Bayes of hashed text on two workers", make_texts, 200_000,
                contenders(hashed_naive_bayes, TEXT_PEER)),
    engines_job("c", "Logistic regression on two workers", make_numbers, 400_000,
                contenders(logistic, LOGISTIC_PEER), facts=logistic_objective,
                check=Check("objective", 1e-6, "lowest")),
    engines_job("d", "Naive Bayes of numbers on Dask with two workers", make_numbers, 400_000, (
        Contender("weigh on Dask", naive_bayes, role="ours", needs=("dask",), prepare=dask_frame),
        Contender("dask-ml GaussianNB", dask_ml_naive_bayes, environment="peers", needs=("dask-ml",),
                  prepare=to_arrays),
        Contender("weigh on threads", naive_bayes, role="variant", prepare=open_files),
    )),
]  # fmt: skip
