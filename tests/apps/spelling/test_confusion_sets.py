"""Confusion sets: the lists of the package, files, and what users give."""

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
def test_a_published_list_has_as_many_sets_as_its_paper(name: str, sets: int) -> None:
    assert len(ConfusionSets.by_name(name)) == sets


@pytest.mark.parametrize("name", ConfusionSets.list_names())
def test_a_list_of_the_package_says_where_it_is_from(name: str) -> None:
    assert ConfusionSets.by_name(name).name == name
    import weigh.apps.spelling.confusion_sets as home

    text = (Path(home.__file__).parent / "lists" / f"{name}.txt").read_text("utf-8")
    head = "".join(itertools.takewhile(lambda line: line.startswith("#"), text.splitlines()))
    assert re.search(r"(ACL|HLT) (1996|2001)", head)


def test_the_names_are_those_of_the_files() -> None:
    import weigh.apps.spelling.confusion_sets as home

    assert {file.stem for file in (Path(home.__file__).parent / "lists").iterdir()} == set(
        ConfusionSets.list_names()
    )


def test_english_has_all_sets_of_golding_and_schabes() -> None:
    english = ConfusionSets.by_name("english")
    assert set(ConfusionSets.by_name("golding-schabes")) <= set(english)
    # Those of Banko and Brill are the same but for one, which has a third word here.
    other = set(ConfusionSets.by_name("banko-brill")) - set(english)
    assert other == {("their", "there")}


def test_a_file_has_a_set_a_line_in_any_hand(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("\ufeff# mine\n\n Their, there , they’re # three\r\nnaïve/naïf\nSeite\tseit\n", "utf-8")
    assert ConfusionSets.read(file).sets == (
        ("Their", "there", "they're"),
        ("naïve", "naïf"),
        ("Seite", "seit"),
    )
    assert ConfusionSets.read(file).name == str(file)


def test_whatever_a_user_gives_is_understood(tmp_path: Path) -> None:
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


def test_a_folder_named_like_a_list_does_not_hide_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "english").mkdir()
    monkeypatch.chdir(tmp_path)
    assert ConfusionSets.parse("english").name == "english"


def test_sets_keep_the_capitals_of_their_list_which_do_not_tell_words_apart() -> None:
    assert ConfusionSets.parse(["man Mann", "seit/Seite"]).sets == (("man", "Mann"), ("seit", "Seite"))
    for same in (["Mann mann"], ["man Mann", "Seite MANN"]):
        with pytest.raises(ParameterError, match=r"is in it twice|is in another set already"):
            ConfusionSets.parse(same)


@pytest.mark.parametrize("line", ["would of, would have", "would of/would have", "its it's, it has"])
def test_a_phrase_is_seen_to_be_one(line: str) -> None:
    with pytest.raises(ParameterError, match=r"is not one word.* phrases cannot be told apart"):
        ConfusionSets.parse([line])


@pytest.mark.parametrize("word", ["कि", "e\u0331"])
def test_letters_with_marks_of_their_own_are_said_not_to_be_read(word: str) -> None:
    with pytest.raises(ParameterError, match=r"is not one word.*combining marks.*not read yet"):
        ConfusionSets.parse([[word, "a"]])
    assert ConfusionSets.parse([["e\u0301", "a"]]).sets == (("é", "a"),)


@given(st.lists(st.lists(st.text("abÄ’'-_ 1", max_size=4), max_size=4), max_size=4))
def test_sets_are_refused_in_words_or_hold_what_they_promise(sets: list[list[str]]) -> None:
    try:
        found = ConfusionSets.parse(sets)
    except ParameterError:
        return
    words = [word for each in found for word in each]
    assert len(words) == len(set(map(str.lower, words)))
    assert all(2 <= len(each) <= 8 for each in found)
    assert all("’" not in word and " " not in word for word in words)
    assert ConfusionSets(found.sets, found.name) == found


@pytest.mark.parametrize("what", [5, None, [5], [None, ["a", "b"]]])
def test_what_is_no_list_is_refused(what: object) -> None:
    with pytest.raises(
        ParameterError, match="must be the name of a list, the path of one, or sequences of words"
    ):
        ConfusionSets.parse(what)


@pytest.mark.parametrize("word", ["well-known", "_x", "a b", "12", "x" * 41, "'tis", "e\u0301!", ""])
def test_what_a_reader_takes_for_no_word_is_refused(word: str) -> None:
    with pytest.raises(ParameterError, match="is not one word"):
        ConfusionSets((("a", word),))


def test_a_folder_and_a_corpus_are_no_lists(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a folder, not a file"):
        ConfusionSets.read(tmp_path)
    novel = tmp_path / "novel.txt"
    novel.write_bytes(b"a b\n" * (1 << 21))
    with pytest.raises(SourceError, match=r"longer than 4,194,304 bytes: it is no list"):
        ConfusionSets.read(novel)


def test_sets_print_and_are_plain_data() -> None:
    sets = ConfusionSets.parse([["weather", "whether"], ["its", "it's"]])
    assert str(sets) == "2 confusion sets (given)\n  weather whether\n  its it's"
    assert sets.to_dict() == {"name": "given", "sets": [["weather", "whether"], ["its", "it's"]]}
    assert "it&#x27;s" in sets._repr_html_()
    assert max(map(len, str(ConfusionSets.by_name("english")).splitlines())) <= 80


def test_reading_a_list_needs_no_learner() -> None:
    code = (
        "import sys; from weigh.apps.spelling.confusion_sets import ConfusionSets; ConfusionSets.named('english');"
        "print([name for name in ('scipy', 'sklearn', 'pyarrow', 'altair') if name in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_ends_with_any_line_end(tmp_path, end):
    path = tmp_path / "sets.txt"
    path.write_bytes(end.join(["weather whether", "", "their there"]).encode())
    assert ConfusionSets.read(path).sets == (("weather", "whether"), ("their", "there"))
