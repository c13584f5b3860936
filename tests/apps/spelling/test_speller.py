"""The speller as users meet it: learned from files, printed, and lazy."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import weigh
from tests.apps.spelling.corpus import SETS, speller, text
from weigh import errors
from weigh.apps.spelling.facts import Facts, LeftOut


def test_a_speller_is_learned_from_files(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text(text())
    learned = weigh.Speller.learn(tmp_path, SETS, alarms=20)
    assert replace(learned, facts=speller().facts).to_bytes() == speller().to_bytes()
    assert learned.facts.list_name == "given"


def test_a_speller_tells_what_it_promises_and_how_well_it_knows_each_set() -> None:
    assert str(speller()) == (
        "Speller for 2 sets of 5 words that are mixed up\n"
        "  learned by logistic from 9,015 words in 1 document\n"
        "  at most 20 false alarms per 10,000 words: suggests above P = 0.5000 (0 alarms\n"
        "  in 1,015 held-out words)\n"
        "  mean accuracy on held-out text: 100.00 %\n"
        "  set                    examples  accuracy  majority  features\n"
        "  weather, whether            564  100.00 %   44.07 %       173\n"
        "  their, there, they're       549  100.00 %   30.43 %       213"
    )
    assert "<caption" in speller()._repr_html_()
    json.dumps(speller().to_dict(), allow_nan=False)


def test_what_was_left_out_and_what_cannot_be_promised_is_told_in_80_columns() -> None:
    left_out = tuple(LeftOut(f"word{number}", ("<b>", "c"), number) for number in range(40))
    odd = replace(
        speller(),
        facts=replace(speller().facts, left_out=left_out),
        promise=replace(speller().promise, rate=0.5),
    )
    told = str(odd)
    assert "left out, too rare: word0 (0), word1 (1)" in told
    assert "too little text to promise 0.5 false alarms" in told
    assert max(map(len, told.splitlines())) <= 80
    assert odd.left_out == left_out


def test_a_long_list_of_words_left_out_is_told_in_short() -> None:
    left_out = tuple(LeftOut(f"word{number}", ("a", "b"), 0) for number in range(250_000))
    made = replace(speller(), facts=replace(speller().facts, left_out=left_out))
    assert "word99 (0) and 249,900 more" in " ".join(str(made).split())
    assert len(str(made)) < 3_000
    assert len(made._repr_html_()) < 10_000
    assert len(made.to_dict()["facts"]["left_out"]) == 250_000


def test_the_facts_come_back_from_plain_values() -> None:
    left_out = (LeftOut("wether", ("weather", "wether"), 3),)
    unjudged = replace(speller().facts.sets[0], judged=0, accuracy=None, majority=None)
    facts = replace(speller().facts, left_out=left_out, sets=(unjudged,))
    assert Facts.of(json.loads(json.dumps(facts.to_dict()))) == facts
    assert facts.accuracy is None
    assert speller().facts.accuracy == 1.0


def test_the_pictures_have_a_dot_for_each_number_and_a_bar_for_each_reason() -> None:
    dots = max(speller().plot().to_dict()["datasets"].values(), key=len)
    assert [(row["name"], row["series"], row["value"]) for row in dots] == [
        (" ".join(words), series, value)
        for words, facts in zip(SETS, speller().facts.sets, strict=True)
        for series, value in (("speller", 1.0), ("commoner word", facts.majority))
    ]
    (found,) = speller().check("I didn't know weather to laugh.")
    bars = max(found.plot().to_dict()["datasets"].values(), key=len)
    assert [row["name"] for row in bars] == [str(reason) for reason in found.reasons]
    assert repr(speller()) == "Speller for 2 sets of 5 words that are mixed up"


def test_a_suggestion_prints_its_name_safely() -> None:
    (found,) = speller().check("I didn't know weather to laugh.", name="a\x1b[31m\n<i>.txt")
    assert str(found).startswith("a�[31m <i>.txt:1:15: ")
    assert "<i>" not in found._repr_html_()


@pytest.mark.parametrize(
    ("probability", "told"),
    [(0.5, "=0.50"), (0.994, "=0.99"), (0.997, "=0.997"), (0.99999, ">0.9999"), (1.0, ">0.9999")],
)
def test_a_probability_is_never_told_as_one(probability: float, told: str) -> None:
    (found,) = speller().check("I didn't know weather to laugh.")
    assert f"(p{told}; because: " in str(replace(found, probability=probability))
    assert str(replace(found, probability=0.9, reasons=())).endswith("(p=0.90)")


@pytest.mark.parametrize("odd", [None, 3, ["a text"], Path("letter.txt")])
def test_what_is_no_text_is_refused(odd: object) -> None:
    with pytest.raises(errors.DataError, match=r"check takes a text \(str, or bytes of UTF-8\), got "):
        speller().check(odd)  # type: ignore[arg-type]


def test_checking_imports_no_learner(tmp_path: Path) -> None:
    speller().save(tmp_path / "en.weigh")
    program = (
        "import sys, weigh; speller = weigh.Speller.load(sys.argv[1]); "
        "print(*speller.check('I didn\\'t know weather to laugh.')); "
        "print([name for name in sys.modules if name.startswith(('weigh.learn', 'weigh.engines', 'sklearn', "
        "'scipy', 'pandas', 'pyarrow', 'altair'))])"
    )
    run = [sys.executable, "-c", program, str(tmp_path / "en.weigh")]
    out = subprocess.run(run, capture_output=True, text=True, check=True).stdout.splitlines()
    assert "weather → whether" in out[0]
    assert out[1] == "[]"


@pytest.mark.parametrize("encoding", ["klingon", "rot13"])
def test_checking_and_fixing_refuse_encodings_that_do_not_exist(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("So it is.")
    for work in (speller().check_file, speller().fix_file):
        with pytest.raises(errors.SourceError, match=f"'{encoding}' is not an encoding Python knows"):
            work(path, encoding=encoding)


def test_checking_and_fixing_refuse_bytes_whose_order_is_not_told(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes("So it is.".encode("utf-16-le"))
    for work in (speller().check_file, speller().fix_file):
        with pytest.raises(errors.SourceError, match="is not utf-16 text"):
            work(path, encoding="utf-16")
    path.write_bytes(b"")
    assert speller().check_file(path, encoding="utf-16") == speller().fix_file(path, encoding="utf-16") == []
