"""The speller as users meet it: learned from files, printed, and lazy."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import weigh
from tests.apps.spelling.example_speller import SETS, speller, text
from weigh import errors
from weigh.apps.spelling.speller_data import RareWord, TrainingStatistics


def test_a_speller_is_learned_from_files(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text(text())
    learned = weigh.Speller.learn(tmp_path, SETS, alarms=40)
    assert replace(learned, facts=speller().facts).to_bytes() == speller().to_bytes()
    assert learned.facts.list_name == "given"


def test_a_speller_tells_what_it_promises_and_how_well_it_knows_each_set() -> None:
    assert str(speller()) == (
        "Speller for 2 sets of 5 words that are mixed up\n"
        "  learned by logistic from 9,015 words in 1 document\n"
        "  at most 40 false alarms per 10,000 words (95 % sure): suggests above\n"
        "  P = 0.5000 (0 alarms in 1,015 held-out words)\n"
        "  mean accuracy on held-out text: 100.00 %\n"
        "  would find 100.00 % of such errors in the held-out text\n"
        "  set                    examples  accuracy  majority     found  features\n"
        "  weather, whether            564  100.00 %   44.07 %  100.00 %       173\n"
        "  their, there, they're       549  100.00 %   30.43 %  100.00 %       213"
    )
    assert "<caption" in speller()._repr_html_()
    json.dumps(speller().to_dict(), allow_nan=False)


def test_what_was_left_out_and_what_cannot_be_promised_is_told_in_80_columns() -> None:
    left_out = (
        *(RareWord(f"word{number}", (f"word{number}", "<b>"), number) for number in range(40)),
        RareWord("cite", ("cite", "sight", "site"), 3),
        RareWord("brake", ("brake", "break", "broke"), 1),
        RareWord("broke", ("brake", "break", "broke"), 2),
    )
    odd = replace(
        speller(),
        facts=replace(speller().facts, left_out=left_out),
        promise=replace(speller().promise, rate=0.5),
    )
    told = str(odd)
    lines = " ".join(told.split())
    assert "left out: 41 sets, as a word of each is too rare: word0 (0)/<b>, word1 (1)/<b>, " in lines
    assert "word29 (29)/<b> and 11 more" in lines
    assert "left out of their sets, too rare: cite (3) set" in lines
    assert "too little text to promise 0.5 false alarms" in told
    assert max(map(len, told.splitlines())) <= 80
    assert odd.left_out == left_out


def test_a_long_list_of_words_left_out_is_told_in_short() -> None:
    left_out = tuple(RareWord(f"word{number}", (f"word{number}", "b"), 0) for number in range(250_000))
    made = replace(speller(), facts=replace(speller().facts, left_out=left_out))
    assert "word29 (0)/b and 249,970 more" in " ".join(str(made).split())
    assert len(str(made)) < 3_000
    assert len(made._repr_html_()) < 10_000
    assert len(made.to_dict()["facts"]["left_out"]) == 250_000


def test_the_facts_come_back_from_plain_values() -> None:
    left_out = (RareWord("wether", ("weather", "wether"), 3),)
    unjudged = replace(speller().facts.sets[0], judged=0, accuracy=None, majority=None, found=None)
    facts = replace(speller().facts, left_out=left_out, sets=(unjudged,))
    assert TrainingStatistics.from_dict(json.loads(json.dumps(facts.to_dict()))) == facts
    assert facts.accuracy is facts.found is None
    assert unjudged.is_better
    assert speller().facts.accuracy == speller().facts.found == 1.0


def test_sets_that_are_lost_are_told_from_those_that_go_on() -> None:
    rare = (
        RareWord("brake", ("brake", "break"), 1),
        RareWord("cite", ("cite", "sight", "site"), 3),
        RareWord("bare", ("bare", "bear", "beer"), 0),
        RareWord("beer", ("bare", "bear", "beer"), 7),
    )
    facts = replace(speller().facts, left_out=rare)
    assert facts.dropped_sets == (rare[:1], rare[2:])
    assert facts.dropped_words == rare[1:2]
    told = " ".join(str(replace(speller(), facts=facts)).split())
    assert "left out: 2 sets, as a word of each is too rare: brake (1)/break, bare (0)/bear/beer (7) " in told


def test_what_is_found_of_all_counts_sets_by_their_words() -> None:
    first, second = speller().facts.sets
    facts = replace(
        speller().facts, sets=(replace(first, judged=30, found=0.5), replace(second, judged=10, found=0.1))
    )
    assert facts.found == pytest.approx(0.4)
    assert "would find 40.00 % of such errors in the held-out text\n" in str(replace(speller(), facts=facts))
    assert replace(speller(), facts=facts).to_dict()["found"] == facts.found


def test_who_finds_little_is_told_what_to_do() -> None:
    few = tuple(replace(one, found=0.02) for one in speller().facts.sets)
    made = replace(speller(), facts=replace(speller().facts, sets=few))
    told = " ".join(str(made).split())
    advice = "such errors in the held-out text: learn from more text, or allow more alarms"
    assert f"would find 2.00 % of {advice} set" in told


def test_a_set_that_contexts_do_not_tell_is_marked() -> None:
    first, second = speller().facts.sets
    poor = replace(second, accuracy=0.75, majority=0.75)
    made = replace(speller(), facts=replace(speller().facts, sets=(first, poor)))
    assert "\n  their, there, they're *  " in str(made)
    assert str(made).endswith("\n  * held-out text shows no gain over the commoner word alone")
    assert "no gain over the commoner word" in made._repr_html_()
    assert "*" not in str(speller())


def test_the_widest_row_has_80_columns() -> None:
    long = replace(speller().sets[0], words=("conscientiousness", "consciousness"))
    wide = replace(
        speller().facts.sets[0], examples=(10**7, 1), accuracy=0.999999, majority=0.9999999, found=0.999999
    )
    facts = replace(speller().facts, sets=(wide,))
    lines = str(replace(speller(), sets=(long,), facts=facts)).splitlines()
    assert "  conscientiousness, c… *" in lines[-2]
    assert max(map(len, lines)) <= 80


def test_files_that_are_left_out_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text(text())
    for name in ("a.py", "b.csv", "c.js"):
        (tmp_path / name).write_text("x = 1\n")
    with pytest.warns(errors.SkippedFiles) as told:
        weigh.Speller.learn(tmp_path, SETS, alarms=40)
    (warning,) = told
    assert str(warning.message) == (
        f"3 files left out: {tmp_path}/a.py: source code, not prose; {tmp_path}/b.csv: data, not prose; "
        "and 1 more."
    )
    assert warning.filename == __file__


def test_where_the_list_of_sets_lies_is_not_kept(tmp_path: Path) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "letters.txt").write_text(text())
        (tmp_path / folder / "sets.txt").write_text("\n".join(map(" ".join, SETS)))
    one, other = (
        weigh.Speller.learn(tmp_path / folder / "letters.txt", tmp_path / folder / "sets.txt", alarms=40)
        for folder in ("here", "there")
    )
    assert one.facts.list_name == "sets.txt"
    assert one.to_bytes() == other.to_bytes()


def test_the_pictures_have_a_dot_for_each_number_and_a_bar_for_each_reason() -> None:
    dots = max(speller().plot().to_dict()["datasets"].values(), key=len)
    assert [(row["name"], row["series"], row["value"]) for row in dots] == [
        (" ".join(words), series, value)
        for words, facts in zip(SETS, speller().facts.sets, strict=True)
        for series, value in (
            ("right: speller", 1.0),
            ("right: commoner word", facts.majority),
            ("errors found", 1.0),
        )
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
