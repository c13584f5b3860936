from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file, load_svmlight_files

import weigh
from tests.source.conftest import ErrorReader, read
from weigh.errors import SourceError
from weigh.source import open
from weigh.source.chunk import to_pylist

pytestmark = pytest.mark.usefixtures("working_folder")


def random_file(name: str, seed: int, base: int, *, integer_labels: bool) -> str:
    random = Random(seed)
    lines = ["# a comment first"]
    for _ in range(random.randint(1, 80)):
        label = random.choice(["1", "-1", "+1", "3"] if integer_labels else ["0.5", "-1", "2e-3"])
        indices = sorted(random.sample(range(base, base + 40), random.randint(0, 12)))
        cells = [
            f"{i}:{random.choice(['1', '-2.5', '0', '1e-5', '+3', '.5', '12345678.875'])}" for i in indices
        ]
        comment = random.choice(["", " # 3:4 ", "#x"])
        lines += [random.choice(["", "  "]) + " ".join([label, *cells]) + comment + random.choice(["", "\r"])]
        lines += [""] * random.randint(0, 1)
    Path(name).write_bytes("\n".join(lines).encode())
    return name


@pytest.mark.parametrize("base", [0, 1, 2])
@pytest.mark.parametrize("integer_labels", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_rows_equal_those_of_scikit_learn(seed: int, base: int, integer_labels: bool) -> None:
    name = random_file("a.svm", seed, base, integer_labels=integer_labels)
    matrix, labels = load_svmlight_file(name)
    source = open(name, block=300)
    chunks = list(source.chunks(size=7))
    assert source.width == matrix.shape[1]
    assert np.array_equal(np.concatenate([chunk.sparse.to_dense() for chunk in chunks]), matrix.toarray())
    assert np.concatenate([chunk.sparse.values for chunk in chunks]).tolist() == matrix.data.tolist()
    result = np.concatenate([chunk.labels for chunk in chunks])
    assert np.array_equal(result, labels)
    assert result.dtype == (np.int64 if integer_labels else np.float64)


@pytest.mark.parametrize("bases", [(1, 1), (0, 1), (1, 0)])
def test_several_files_equal_those_of_scikit_learn(bases: tuple[int, int]) -> None:
    names = [random_file(f"{at}.svm", at, base, integer_labels=True) for at, base in enumerate(bases)]
    first, first_labels, second, second_labels = load_svmlight_files(names)
    source = open(names)
    assert source.width == first.shape[1]
    chunks = list(source.chunks())
    assert np.array_equal(
        np.concatenate([chunk.sparse.to_dense() for chunk in chunks]),
        np.concatenate([first.toarray(), second.toarray()]),
    )
    labels = np.concatenate([chunk.labels for chunk in chunks])
    assert np.array_equal(labels, np.concatenate([first_labels, second_labels]))


def test_columns_have_indices_instead_of_names() -> None:
    Path("a.svm").write_text("1 2:1\n")
    source = open("a.svm")
    assert (source.names, source.width, source.named, source.label) == ((), 2, False, "label")


def test_one_fraction_makes_all_labels_floats() -> None:
    Path("a.svm").write_text("1 1:1\n2 1:1\n0.5 1:1\n")
    labels = open("a.svm", block=8).prefix(1).labels
    assert isinstance(labels, np.ndarray)
    assert labels.dtype == np.float64


def test_a_model_of_the_file_equals_that_of_the_matrix() -> None:
    name = random_file("a.svm", 3, 1, integer_labels=True)
    Path(name).write_text(Path(name).read_text().replace("-2.5", "2.5"))
    matrix, labels = load_svmlight_file(name)
    from_file = weigh.NaiveBayes(columns="count").fit(open(name, block=500))
    from_matrix = weigh.NaiveBayes(columns="count").fit(matrix, labels.astype(int))
    assert from_file.model_.counts.rows.tolist() == from_matrix.model_.counts.rows.tolist()
    assert np.array_equal(from_file.predict_proba(matrix), from_matrix.predict_proba(matrix))
    assert np.array_equal(from_file.predict(open(name)), from_matrix.predict(matrix))


def test_a_file_gets_the_width_of_a_model() -> None:
    Path("a.svm").write_text("1 2:1\n")
    source = open("a.svm")
    wider = source.with_columns(["x1", "x2", "x3"])
    assert (wider.width, wider.start) == (3, 1)
    assert read(wider)[0]["wide"] == [0.0, 1.0, 0.0]
    assert source.with_columns(["x1"]).width == 2


def test_a_file_without_index_0_uses_the_index_base_of_the_model() -> None:
    Path("train.svm").write_text("1 0:1 1:1 5:1\n2 0:1 2:1 5:1\n")
    Path("test.svm").write_text("1 1:1 5:1\n2 2:1 5:1\n")
    nb = weigh.NaiveBayes(columns="count").fit(open("train.svm"))
    assert nb.predict(open("test.svm")).tolist() == [1, 2]
    integer_labels = weigh.NaiveBayes(columns="count").fit(open("test.svm"))
    assert integer_labels.model_.schema.names[0] == "x1"
    with pytest.raises(SourceError) as message:
        integer_labels.predict(open("train.svm"))
    assert str(message.value) == (
        "train.svm has an index 0, but the model's columns are counted from 1. Count them alike."
    )


def test_chunks_are_sliced_without_a_copy() -> None:
    Path("a.svm").write_text("1 1:1\n2 2:2 3:3\n3 1:4\n")
    chunk = open("a.svm").prefix().slice(1, 3)
    assert to_pylist(chunk.labels) == [2, 3]
    assert chunk.sparse.to_dense().tolist() == [[0.0, 2.0, 3.0], [4.0, 0.0, 0.0]]
    assert not chunk.sparse.values.flags.owndata


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("spam 1:1", "the label 'spam' is not a number. Write 0 where it is not known."),
        ("1:1 2:1", "the label '1:1' is not a number. Write 0 where it is not known."),
        ("nan 1:1", "the label 'nan' is not a number. Write 0 where it is not known."),
        ("1,2 1:1", "'1,2' is several labels; a classifier learns one. Write one label per line."),
        ("1 qid:3 1:1", "'qid:3' groups rows for ranking, which is not supported. Remove the qid: fields."),
        ("1 one", "'one' is not index:value with a whole number as index."),
        ("1 -1:1", "'-1:1' is not index:value with a whole number as index."),
        ("1 5:1 3:1", "'3:1' is out of order. Write the indices of a line in ascending order, each once."),
        ("1 3:1 3:2", "'3:2' is out of order. Write the indices of a line in ascending order, each once."),
        ("1 3:1 4:", "the value of '4:' is not a number."),
        ("1 3:1 4:0x1", "the value of '4:0x1' is not a number."),
        ("1 9:1 3:x", "'3:x' is out of order. Write the indices of a line in ascending order, each once."),
    ],
)
def test_syntax_errors_are_reported_with_their_line(line: str, message: str, read_error: ErrorReader) -> None:
    assert read_error("a.svm", f"1 9:1\n# note\n{line}\n") == (f"a.svm, line 3: {message}", 3)


def test_an_index_beyond_the_scanned_range_is_reported(read_error: ErrorReader) -> None:
    message = "a.svm, line 1: the index of '9:1' is beyond the 3 columns of the file."
    assert read_error("a.svm", "1 9:1 3:1\n") == (message, 1)


def test_an_index_beyond_32_bits_is_reported(read_error: ErrorReader) -> None:
    message = "a.svm has an index above 2,147,483,647, the maximum. Hash the columns into fewer."
    assert read_error("a.svm", "1 3000000000:1\n") == (message, None)


def test_another_label_is_reported() -> None:
    Path("a.svm").write_text("1 1:1\n")
    source = open("a.svm")
    assert source.with_label("label") is source
    with pytest.raises(weigh.errors.SourceError) as refused:
        source.with_label("y")
    assert str(refused.value) == (
        "a.svm has no column 'y': columns of this format have numbers, and its labels are called 'label'."
    )


def test_values_are_counted_over_all_files() -> None:
    Path("a.svm").write_text("1 1:1 7:2\n-1 2:1\n")
    Path("b.svm").write_text("1 3:1\n")
    assert open("a.svm").n_entries == 3
    assert open(["a.svm", "b.svm"]).n_entries == 4
