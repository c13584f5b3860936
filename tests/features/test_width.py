"""Sparse data with millions of columns: models that fit, and refusals before anything is allocated."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import weigh
from weigh import errors
from weigh.features import width
from weigh.source.memory.matrices import MAX_COLUMNS, SparseMatrixSource

N_ROWS, WIDE = 24, 2_000_000
MEMORY_LIMIT = 4_000_000 * 1024  # as ulimit -v 4000000


def wide_rows(n_columns: int, n_rows: int = N_ROWS) -> Any:
    """Return rows of three values: the first column and the last ones tell the classes apart."""
    columns = [[i % 2, 2 + i % 3, n_columns - 1 - i % 2] for i in range(n_rows)]
    shape = n_rows, n_columns
    return sp.csr_matrix((np.ones(3 * n_rows), (np.repeat(np.arange(n_rows), 3), np.ravel(columns))), shape)


Y = np.arange(N_ROWS) % 2
TOO_WIDE = (
    "The rows have 72 values in 2,000,000 columns, and a model of that many columns needs at least 11.2 GiB "
    "of memory. "
)
KIND_ADVICE = (
    "Use columns='count' (how often words occur) or 'flag' (whether they occur), or hash the columns into "
    "fewer."
)
SEPARATE: dict[str, tuple[Callable[[], Any], str]] = {
    "numbers": (lambda: weigh.NaiveBayes(columns="number"), KIND_ADVICE),
    "numbers in bins": (lambda: weigh.NaiveBayes(columns=weigh.Number(bins=4)), KIND_ADVICE),
    "numbers of one spread": (lambda: weigh.NaiveBayes(columns=weigh.Number(spread="shared")), KIND_ADVICE),
    "categories": (lambda: weigh.NaiveBayes(columns="category"), KIND_ADVICE),
    "categories of a perceptron": (lambda: weigh.Perceptron(columns="category"), KIND_ADVICE),
    "standardised numbers": (
        lambda: weigh.Perceptron(scale="unit"),
        "Leave out scale='unit', or hash the columns into fewer.",
    ),
    "a joint table": (lambda: weigh.JointBayes(columns="flag"), "Use fewer columns, or NaiveBayes."),
    "a threshold": (lambda: weigh.Threshold(), "Use fewer columns, or NaiveBayes."),
}


@pytest.mark.parametrize("name", SEPARATE)
def test_columns_with_their_own_statistics_are_refused_with_their_number(name: str) -> None:
    make, advice = SEPARATE[name]
    with pytest.raises(errors.DataError) as caught:
        make().fit(wide_rows(WIDE), Y)
    assert str(caught.value) == TOO_WIDE + advice


LEARNERS: dict[str, Callable[[], Any]] = {
    "counts": lambda: weigh.NaiveBayes(columns="count"),
    "flags": lambda: weigh.NaiveBayes(columns="flag"),
    "averaged": lambda: weigh.Perceptron(),
    "last": lambda: weigh.Perceptron(keep="last"),
    "voted": lambda: weigh.Perceptron(keep="voted"),
    "lazy": lambda: weigh.Perceptron(keep="lazy"),
    "exact": lambda: weigh.LogisticRegression(),
    "exact, lasso": lambda: weigh.LogisticRegression(prior=weigh.Laplace(1.0)),
    "online": lambda: weigh.LogisticRegression(method="online"),
    "least squares": lambda: weigh.LinearRegression(),
    "least absolute deviations": lambda: weigh.LinearRegression(noise="laplace"),
    "ridge, cross-validated": lambda: weigh.LinearRegression(prior=weigh.Normal("cv")),
    "lasso, cross-validated": lambda: weigh.LinearRegression(prior=weigh.Laplace("cv")),
    "elastic net": lambda: weigh.LinearRegression(prior=weigh.Penalty(l1=0.1, l2=0.1)),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.coo_matrix], ids=["csr", "coo"])
def test_the_largest_index_is_refused_by_every_learner(name: str, make: Any) -> None:
    with pytest.raises(errors.DataError) as caught:
        LEARNERS[name]().fit(make(wide_rows(MAX_COLUMNS)), Y)
    assert str(caught.value) == (
        "The rows have 72 values in 2,147,483,647 columns, and a model of that many columns needs at least "
        "16.0 GiB of memory. Number the columns that occur from 0 on, or hash them into fewer."
    )


def test_the_advice_for_a_matrix_without_a_kind_leaves_out_kinds_that_would_be_refused() -> None:
    with pytest.raises(errors.DataError) as caught:
        weigh.NaiveBayes().fit(wide_rows(WIDE), Y)
    assert str(caught.value) == (
        "A sparse matrix of 2,000,000 columns needs a stated kind. Use columns='count' (how often words "
        "occur) or 'flag' (whether they occur)."
    )
    with pytest.raises(errors.DataError, match="in 2,147,483,647 columns"):
        weigh.NaiveBayes().fit(wide_rows(MAX_COLUMNS), Y)


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
@pytest.mark.parametrize("name", LEARNERS)
def test_two_million_columns_give_the_predictions_of_the_columns_that_occur(name: str) -> None:
    narrow, wide = wide_rows(10), wide_rows(WIDE)
    few, many = (LEARNERS[name]().fit(rows, Y) for rows in (narrow, wide))
    # Smoothing and the probability of absence depend on the number of columns; weights do not.
    if isinstance(many, weigh.LinearRegression | weigh.LogisticRegression):
        np.testing.assert_allclose(many.predict(wide), few.predict(narrow), atol=2e-3)
    np.testing.assert_array_equal(np.rint(many.predict(wide)), Y)
    assert many.explain(wide[:1])[0].total is not None
    assert "2,000,000 columns" in repr(many.model_)
    assert many.n_features_in_ == WIDE


def test_two_million_columns_are_verified_evaluated_and_stored(tmp_path: Path) -> None:
    rows = wide_rows(WIDE)
    for learner in (weigh.NaiveBayes(columns="count"), weigh.NaiveBayes(columns="flag"), weigh.Perceptron()):
        model = learner.fit(rows, Y).model_
        assert weigh.verify(model, rows, Y).ok
        assert "Evaluation on 24 rows" in str(weigh.evaluate(model, rows, Y))
        model.save(tmp_path / "m.weigh")
        np.testing.assert_array_equal(weigh.load(tmp_path / "m.weigh").predict(rows), Y)


def test_the_absent_flags_of_a_wide_row_are_one_contribution() -> None:
    model = weigh.NaiveBayes(columns="flag").fit(wide_rows(WIDE), Y).model_
    features = [line.feature for line in model.explain(wide_rows(WIDE)[:1])[0].table]
    assert features == ["class prior", "x0", "x2", "x1999999", "1,999,997 others"]


def test_a_trace_of_many_columns_is_refused() -> None:
    with pytest.raises(errors.DataError) as caught:
        weigh.trace(weigh.Perceptron(), wide_rows(WIDE), Y)
    assert str(caught.value) == TOO_WIDE + "Trace fewer columns."


def test_wide_sparse_rows_become_dense_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = wide_rows(50)
    expected = weigh.NaiveBayes(columns="number").fit(rows, Y).model_.to_bytes()
    monkeypatch.setattr("weigh.features.schema.MAX_DENSE_CELLS", 250)
    learner = weigh.NaiveBayes(columns="number")
    schema = learner.fit(rows, Y).model_.schema
    assert {chunk.n_rows for chunk in schema.chunks(SparseMatrixSource(rows))} == {5, 4}
    assert schema.first_rows(SparseMatrixSource(rows)).n_rows == 5
    assert learner.model_.to_bytes() == expected


def test_a_large_data_set_may_have_separate_statistics_of_many_columns() -> None:
    n_columns = width.MAX_SMALL_MODEL_BYTES // width.SEPARATE_COLUMN_BYTES + 1
    with pytest.raises(errors.DataError):
        width.check_separate_columns(1000, n_columns, "")
    width.check_separate_columns(1_000_000, n_columns, "")
    width.check_separate_columns(None, n_columns, "")


def test_real_widths_are_allowed_for_counts_and_weights_whatever_the_number_of_rows() -> None:
    for n_columns in (47_236, 1_355_191, 3_231_961, 29_890_095):  # rcv1, news20.binary, url, kdd2010
        width.check_shared_columns(SparseMatrixSource(wide_rows(n_columns)))


def test_columns_times_classes_beyond_the_memory_of_the_process_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(width, "memory_limit", lambda: float(1 << 30))
    width.check_table_memory(1 << 20, 32)
    labels = np.arange(N_ROWS)
    for learner in (
        weigh.NaiveBayes(columns="count"),
        weigh.Perceptron(),
        weigh.LogisticRegression(),
        weigh.LogisticRegression(method="online"),
    ):
        with pytest.raises(errors.DataError) as caught:
            learner.fit(wide_rows(WIDE), labels)
        assert str(caught.value) == (
            "A model of 2,000,000 columns or words and 24 classes needs about 1.4 GiB of memory, but this "
            "process may use 1.0 GiB. Hash the columns into fewer, or train with fewer classes."
        )


def test_the_memory_limit_is_that_of_the_process() -> None:
    script = "from weigh.features.width import memory_limit; print(memory_limit())"
    limited = subprocess.run(
        [sys.executable, "-c", script],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(limited.stdout) == MEMORY_LIMIT
    assert width.memory_limit() > 0


def run_limited(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line within 4 GB of address space."""
    return subprocess.run(
        [sys.executable, "-m", "weigh.cli.main", *arguments],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT)),
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )


def test_a_wide_libsvm_file_of_numbers_is_refused_by_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "h.svm").write_text("1 1:1 2000000:1\n-1 2:1\n")
    refused = run_limited("fit", "h.svm", "--kind", "number", cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stderr == (
        "weigh: The rows have 3 values in 2,000,000 columns, and a model of that many columns needs at least "
        "11.2 GiB of memory. Use --kind count (how often words occur) or 'flag' (whether they occur), or "
        "hash the columns into fewer.\n"
    )
    assert not (tmp_path / "h.weigh").exists()


def test_a_wide_libsvm_file_of_counts_is_learned_by_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "h.svm").write_text("1 1:1 2000000:1\n-1 2:1\n")
    fitted = run_limited("fit", "h.svm", "--kind", "count", cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    assert "\n… and 1,999,976 more\n" in fitted.stdout
    predicted = run_limited("predict", "h.weigh", "h.svm", cwd=tmp_path)
    assert [line.split(",")[0] for line in predicted.stdout.splitlines()] == ["prediction", "1", "-1"]


def test_rows_times_classes_beyond_the_memory_of_the_process_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(width, "memory_limit", lambda: float(1 << 20))
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(300, 2)), np.arange(300) % 150
    with pytest.raises(errors.DataError) as caught:
        weigh.LogisticRegression().fit(X, labels)
    assert str(caught.value) == (
        "An exact fit of 300 rows and 150 classes needs at least 0.0 GiB of memory for its scores, but this "
        "process may use 0.0 GiB. Use method='online', which scores a row at a time, or fewer classes "
        "or rows."
    )
    assert weigh.LogisticRegression(method="online", max_iter=1).fit(X, labels).model_.fit.rows == 300
