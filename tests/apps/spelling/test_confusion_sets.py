"""Confusion sets: built-in lists, files and arguments."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.errors import ParameterError, SourceError

PUBLISHED = {"golding-schabes": 18, "banko-brill": 10}


@pytest.mark.parametrize(("name", "sets"), PUBLISHED.items())
def test_published_list_has_the_number_of_sets_of_its_paper(name: str, sets: int) -> None:
    assert len(ConfusionSets.by_name(name)) == sets


@pytest.mark.parametrize("name", ConfusionSets.list_names())
def test_built_in_list_cites_its_source(name: str) -> None:
    assert ConfusionSets.by_name(name).name == name
    import weigh.apps.spelling.confusion_sets as home

    text = (Path(home.__file__).parent / "lists" / f"{name}.txt").read_text("utf-8")
    head = "".join(itertools.takewhile(lambda line: line.startswith("#"), text.splitlines()))
    assert re.search(r"(ACL|HLT) (1996|2001)", head)


def test_list_names_equal_the_files() -> None:
    import weigh.apps.spelling.confusion_sets as home

    assert {file.stem for file in (Path(home.__file__).parent / "lists").iterdir()} == set(
        ConfusionSets.list_names()
    )


def test_english_has_all_sets_of_golding_and_schabes() -> None:
    english = ConfusionSets.by_name("english")
    assert set(ConfusionSets.by_name("golding-schabes")) <= set(english)
    # All but one of Banko and Brill, which has a third word in the English list.
    other = set(ConfusionSets.by_name("banko-brill")) - set(english)
    assert other == {("their", "there")}


def test_file_format_accepts_all_separators(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("\ufeff# mine\n\n Their, there , they’re # three\r\nnaïve/naïf\nSeite\tseit\n", "utf-8")
    assert ConfusionSets.read(file).sets == (
        ("Their", "there", "they're"),
        ("naïve", "naïf"),
        ("Seite", "seit"),
    )
    assert ConfusionSets.read(file).name == str(file)


def test_parse_accepts_paths_names_and_sequences(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("das dass\n")
    german = (("das", "dass"),)
    assert ConfusionSets.parse(str(file)).sets == german
    assert ConfusionSets.parse(file).sets == german
    assert ConfusionSets.parse([["das", "dass"]]).sets == german
    assert ConfusionSets.parse(["das/dass"]).sets == german
    assert ConfusionSets.parse("english") == ConfusionSets.by_name("english")
    ready = ConfusionSets.by_name("banko-brill")
    assert ConfusionSets.parse(ready) is ready


def test_built_in_list_takes_precedence_over_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "english").mkdir()
    monkeypatch.chdir(tmp_path)
    assert ConfusionSets.parse("english").name == "english"


def test_sets_keep_capitals_but_ignore_case_for_duplicates() -> None:
    assert ConfusionSets.parse(["man Mann", "seit/Seite"]).sets == (("man", "Mann"), ("seit", "Seite"))
    for same in (["Mann mann"], ["man Mann", "Seite MANN"]):
        with pytest.raises(ParameterError, match=r"occurs twice|is already in another set"):
            ConfusionSets.parse(same)


@pytest.mark.parametrize("line", ["would of, would have", "would of/would have", "its it's, it has"])
def test_phrases_raise(line: str) -> None:
    with pytest.raises(ParameterError, match=r"is not a single word.* Phrases are not supported"):
        ConfusionSets.parse([line])


@pytest.mark.parametrize("word", ["कि", "e\u0331"])
def test_combining_marks_raise(word: str) -> None:
    with pytest.raises(ParameterError, match=r"is not a single word.*combining marks are not supported"):
        ConfusionSets.parse([[word, "a"]])
    assert ConfusionSets.parse([["e\u0301", "a"]]).sets == (("é", "a"),)


@given(st.lists(st.lists(st.text("abÄ’'-_ 1", max_size=4), max_size=4), max_size=4))
def test_parsed_sets_satisfy_the_invariants(sets: list[list[str]]) -> None:
    try:
        found = ConfusionSets.parse(sets)
    except ParameterError:
        return
    words = [word for each in found for word in each]
    assert len(words) == len(set(map(str.lower, words)))
    assert all(2 <= len(each) <= 8 for each in found)
    assert all("’" not in word and " " not in word for word in words)
    assert ConfusionSets(found.sets, found.name) == found


@pytest.mark.parametrize("value", [5, None, [5], [None, ["a", "b"]]])
def test_parsing_other_types_raises(value: object) -> None:
    with pytest.raises(
        ParameterError, match="must be the name of a list, the path of one, or sequences of words"
    ):
        ConfusionSets.parse(value)


@pytest.mark.parametrize("word", ["well-known", "_x", "a b", "12", "x" * 41, "'tis", "e\u0301!", ""])
def test_invalid_words_raise(word: str) -> None:
    with pytest.raises(ParameterError, match="is not a single word"):
        ConfusionSets((("a", word),))


def test_folder_or_corpus_as_list_raises(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a folder, not a file"):
        ConfusionSets.read(tmp_path)
    novel = tmp_path / "novel.txt"
    novel.write_bytes(b"a b\n" * (1 << 21))
    with pytest.raises(SourceError, match=r"longer than 4,194,304 bytes, too long for a list"):
        ConfusionSets.read(novel)


def test_sets_print_and_are_plain_data() -> None:
    sets = ConfusionSets.parse([["weather", "whether"], ["its", "it's"]])
    assert str(sets) == "2 confusion sets (given)\n  weather whether\n  its it's"
    assert sets.to_dict() == {"name": "given", "sets": [["weather", "whether"], ["its", "it's"]]}
    assert "it&#x27;s" in sets._repr_html_()
    assert max(map(len, str(ConfusionSets.by_name("english")).splitlines())) <= 80


def test_reading_a_list_imports_no_heavy_library() -> None:
    code = (
        "import sys; from weigh.apps.spelling.confusion_sets import ConfusionSets; "
        "ConfusionSets.by_name('english');"
        "print([name for name in ('scipy', 'sklearn', 'pyarrow', 'altair') if name in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_all_line_ends_are_accepted(tmp_path, end):
    path = tmp_path / "sets.txt"
    path.write_bytes(end.join(["weather whether", "", "their there"]).encode())
    assert ConfusionSets.read(path).sets == (("weather", "whether"), ("their", "there"))
