from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import weigh
from tests.source.conftest import ErrorReader, read
from weigh import errors
from weigh.source import open
from weigh.source.chunk import ListColumn

pytestmark = pytest.mark.usefixtures("working_folder")


def rows(text: str, **options: Any) -> list[dict[str, Any]]:
    Path("a.vw").write_text(text)
    return read(open("a.vw", **options))


def test_namespaces_are_columns_of_tokens() -> None:
    Path("a.vw").write_text("1 | a b |n c\n-1 |n d |m e\n")
    source = open("a.vw")
    assert dict(source.kinds) == {"features": "tokens", "n": "tokens", "m": "tokens"}
    assert source.names == ("features", "n", "m")
    assert read(source) == [
        {"features": ["a", "b"], "n": ["c"], "m": [], "label": 1, "weight": 1.0, "row": 0},
        {"features": [], "n": ["d"], "m": ["e"], "label": -1, "weight": 1.0, "row": 1},
    ]


def test_values_are_stored_only_if_one_differs_from_1() -> None:
    Path("a.vw").write_text("1 |a x:1 y:1.0 |b z:2 w\n")
    columns = open("a.vw").prefix().columns
    plain, valued = columns["a"], columns["b"]
    assert isinstance(plain, ListColumn)
    assert isinstance(valued, ListColumn)
    assert plain.values is None
    assert valued.values is not None
    assert valued.values.tolist() == [2.0, 1.0]


def test_a_scale_multiplies_the_values_of_its_namespace() -> None:
    assert rows("1 |a:0.5 x y:4 |b z:3\n")[0] == {
        "a": {"x": 0.5, "y": 2.0},
        "b": {"z": 3.0},
        "label": 1,
        "weight": 1.0,
        "row": 0,
    }


def test_a_namespace_may_occur_twice_in_a_line() -> None:
    result = rows("1 |a x |b y |a z:2\n1 |a w:1|b v:1\n")
    assert [row["a"] for row in result] == [{"x": 1.0, "z": 2.0}, {"w": 1.0}]
    assert [row["b"] for row in result] == [["y"], ["v"]]


@pytest.mark.parametrize(
    ("head", "label", "weight"),
    [
        ("1 ", 1, 1.0),
        ("-1 ", -1, 1.0),
        ("+1 ", 1, 1.0),
        ("2.0 ", 2, 1.0),
        ("0.25 ", 0.25, 1.0),
        ("1e2 ", 100, 1.0),
        ("", None, 1.0),
        (" ", None, 1.0),
        ("1 0.5 ", 1, 0.5),
        ("1 'tag ", 1, 1.0),
        ("1 'tag", 1, 1.0),
        ("1 2 'tag ", 1, 2.0),
        ("1 2 tag", 1, 2.0),
        ("1 2 17", 1, 2.0),
        ("1 17", 1, 1.0),
        ("'tag ", None, 1.0),
        ("tag", None, 1.0),
    ],
)
def test_labels_importances_and_tags_are_distinguished(head: str, label: object, weight: float) -> None:
    result = rows(f"{head}|a x\n1 3 |a y\n")
    assert [(row["label"], row["weight"]) for row in result] == [(label, weight), (1, 3.0)]
    assert type(result[0]["label"]) is type(label)


def test_rows_equal_those_of_a_plain_loop() -> None:
    random = Random(2)
    lines, expected = [], []
    for row in range(500):
        label, weight = random.choice([1, -1, 7]), random.choice([1.0, 2.5])
        spaces: dict[str, dict[str, float]] = {"a": {}, "b": {}}
        line = f"{label} {weight}" if weight != 1 or random.random() < 0.5 else str(label)
        for name in random.sample("ab", random.randint(1, 2)):
            line += f" |{name}"
            for _ in range(random.randint(0, 5)):
                word, value = f"w{random.randint(0, 9)}", random.choice([1.0, 0.5, -3.0, 1e-7])
                line += random.choice([" ", "\t", "  "]) + (word if value == 1 else f"{word}:{value}")
                spaces[name][word] = spaces[name].get(word, 0.0) + value
        lines.append(line)
        expected.append({**spaces, "label": label, "weight": weight, "row": row})
    lines[0] += " |a |b"
    result = rows("\n".join(lines), block=300)
    for row_ in result:
        for name in "ab":
            if isinstance(row_[name], list):
                counted: dict[str, float] = {}
                for word in row_[name]:
                    counted[word] = counted.get(word, 0.0) + 1
                row_[name] = counted
    assert result == expected


def test_importances_are_equivalent_to_repeated_rows() -> None:
    Path("weighted.vw").write_text("1 3 | a b\n-1 | c\n")
    Path("repeated.vw").write_text("1 | a b\n1 | a b\n1 | a b\n-1 | c\n")
    weighted, repeated = (
        weigh.NaiveBayes().fit(open(f"{name}.vw")).model_ for name in ("weighted", "repeated")
    )
    assert weighted.to_bytes() == repeated.to_bytes()
    assert weighted.classes == [-1, 1]


def test_importances_of_a_later_block_count_too() -> None:
    Path("a.vw").write_text("1 | a b\n" * 20 + "-1 5 | c\n")
    model = weigh.NaiveBayes().fit(open("a.vw", block=40)).model_
    assert model.counts.rows.tolist() == [5, 20]


def test_files_with_different_namespaces_have_all_of_them() -> None:
    Path("a.vw").write_text("1 |a x\n")
    Path("b.vw").write_text("1 |b y\n")
    source = open(["a.vw", "b.vw"])
    assert source.names == ("a", "b")
    assert [(row["a"], row["b"]) for row in read(source)] == [(["x"], []), ([], ["y"])]


def test_a_file_gets_the_columns_of_a_model() -> None:
    Path("a.vw").write_text("1 |a x\n")
    source = open("a.vw")
    assert source.with_columns(["a", "b"]).names == ("a", "b")
    assert source.with_columns(["a"]) is source
    assert read(source.with_columns(["b"]))[0]["b"] == []


def test_a_later_namespace_is_reported_and_can_be_named(read_error: ErrorReader) -> None:
    text = "1 |a x\n" * 10_000 + "1 |a y |late z\n"
    message = (
        "a.vw, line 10,001, column 8: the namespace 'late' is not among those of the first rows, 'a'. Give "
        "names= all namespaces."
    )
    assert read_error("a.vw", text) == (message, 10_001)
    assert rows(text, names=["a", "late"])[-1]["late"] == ["z"]


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("1 a b", 1, "there is no '|' before the features."),
        ("spam |a x", 1, "the label 'spam' is not a number."),
        ("nan |a x", 1, "the label 'nan' is not a number."),
        ("1_0 |a x", 1, "the label '1_0' is not a number."),
        ("1:0.5 2:1 |a x", 1, "'1:0.5' is a multiline or cost-sensitive label; only plain numbers are read."),
        ("1:0.5 |a x", 1, "'1:0.5' is a multiline or cost-sensitive label; only plain numbers are read."),
        ("shared |a x", 1, "'shared' is a multiline or cost-sensitive label; only plain numbers are read."),
        ("1 2 0.5 |a x", 5, "only a label, an importance and a 'tag may stand before '|'."),
        ("1|a x", 1, "a number that touches '|' is a tag. Put a blank between label and '|'."),
        ("1 -2 |a x", 3, "the importance -2 must be 0, or from 1e-50 to 1e+50."),
        ("1 two |a x", 3, "'two' is not a number."),
        ("1 |a é:1 x:much", 12, "'much' is not a number."),
        ("1 |a x:", 8, "'' is not a number."),
        ("1 |a x:inf", 8, "'inf' is not a number."),
        ("1 |a x:1:2", 8, "'1:2' is not a number."),
        ("1 |a :2", 6, "a feature has no name before its ':'."),
        ("1 |a:x y", 6, "'x' is not a number."),
    ],
)
def test_unsupported_syntax_is_reported_with_line_and_column(
    line: str, column: int, message: str, read_error: ErrorReader
) -> None:
    assert read_error("a.vw", f"1 |a é\n\n{line}\n") == (f"a.vw, line 3, column {column}: {message}", 3)


def test_a_namespace_named_like_the_label_is_reported(read_error: ErrorReader) -> None:
    message = "a.vw has a namespace 'label', which is also the name of its labels. Give label= another name."
    assert read_error("a.vw", "1 |label x\n") == (message, None)
    assert open("a.vw", label="y").names == ("label",)


def test_a_negative_value_is_an_error_for_counts() -> None:
    Path("a.vw").write_text("1 |f a:-1.5 b\n-1 |f a b:2\n")
    with pytest.raises(errors.ColumnError, match="'f'"):
        weigh.NaiveBayes().fit(open("a.vw"))
