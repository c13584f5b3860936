"""The speller as users meet it: trained on files, printed, and imported lazily."""

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


def test_speller_learns_from_files(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text(text())
    learned = weigh.Speller.learn(tmp_path, SETS, alarms=40)
    assert replace(learned, facts=speller().facts).to_bytes() == speller().to_bytes()
    assert learned.facts.list_name == "given"


def test_speller_prints_its_bound_and_the_results_of_each_set() -> None:
    assert str(speller()) == (
        "Speller for 2 confusion sets (5 words)\n"
        "  trained on 9,015 words in 1 document (learner: logistic)\n"
        "  at most 40 false alarms per 10,000 words (95 % confidence): suggests above\n"
        "  P = 0.5000 (0 alarms in 1,015 held-out words)\n"
        "  mean accuracy on held-out text: 100.00 %\n"
        "  recall on held-out text: 100.00 %\n"
        "  set                    examples  accuracy  majority    recall  features\n"
        "  weather, whether            564  100.00 %   44.07 %  100.00 %       173\n"
        "  their, there, they're       549  100.00 %   30.43 %  100.00 %       213"
    )
    assert "<caption" in speller()._repr_html_()
    json.dumps(speller().to_dict(), allow_nan=False)


def test_dropped_words_and_shortfall_print_in_80_columns() -> None:
    left_out = (
        *(RareWord(f"word{number}", (f"word{number}", "<b>"), number) for number in range(40)),
        RareWord("cite", ("cite", "sight", "site"), 3),
        RareWord("brake", ("brake", "break", "broke"), 1),
        RareWord("broke", ("brake", "break", "broke"), 2),
    )
    changed = replace(
        speller(),
        facts=replace(speller().facts, left_out=left_out),
        promise=replace(speller().promise, rate=0.5),
    )
    output = str(changed)
    lines = " ".join(output.split())
    assert "41 sets left out because of rare words: word0 (0)/<b>, word1 (1)/<b>, " in lines
    assert "word29 (29)/<b> and 11 more" in lines
    assert "rare words left out of their sets: cite (3) set" in lines
    assert "too little text to promise 0.5 false alarms" in output
    assert max(map(len, output.splitlines())) <= 80
    assert changed.left_out == left_out


def test_long_list_of_dropped_words_is_truncated() -> None:
    left_out = tuple(RareWord(f"word{number}", (f"word{number}", "b"), 0) for number in range(250_000))
    changed = replace(speller(), facts=replace(speller().facts, left_out=left_out))
    assert "word29 (0)/b and 249,970 more" in " ".join(str(changed).split())
    assert len(str(changed)) < 3_000
    assert len(changed._repr_html_()) < 10_000
    assert len(changed.to_dict()["facts"]["left_out"]) == 250_000


def test_statistics_round_trip_through_plain_values() -> None:
    left_out = (RareWord("wether", ("weather", "wether"), 3),)
    unjudged = replace(speller().facts.sets[0], judged=0, accuracy=None, majority=None, found=None)
    facts = replace(speller().facts, left_out=left_out, sets=(unjudged,))
    assert TrainingStatistics.from_dict(json.loads(json.dumps(facts.to_dict()))) == facts
    assert facts.accuracy is facts.found is None
    assert unjudged.is_better
    assert speller().facts.accuracy == speller().facts.found == 1.0


def test_dropped_sets_are_distinguished_from_dropped_words() -> None:
    rare = (
        RareWord("brake", ("brake", "break"), 1),
        RareWord("cite", ("cite", "sight", "site"), 3),
        RareWord("bare", ("bare", "bear", "beer"), 0),
        RareWord("beer", ("bare", "bear", "beer"), 7),
    )
    facts = replace(speller().facts, left_out=rare)
    assert facts.dropped_sets == (rare[:1], rare[2:])
    assert facts.dropped_words == rare[1:2]
    output = " ".join(str(replace(speller(), facts=facts)).split())
    assert "2 sets left out because of rare words: brake (1)/break, bare (0)/bear/beer (7) " in output


def test_overall_recall_weights_sets_by_occurrences() -> None:
    first, second = speller().facts.sets
    facts = replace(
        speller().facts, sets=(replace(first, judged=30, found=0.5), replace(second, judged=10, found=0.1))
    )
    assert facts.found == pytest.approx(0.4)
    assert "recall on held-out text: 40.00 %\n" in str(replace(speller(), facts=facts))
    assert replace(speller(), facts=facts).to_dict()["found"] == facts.found


def test_low_recall_comes_with_advice() -> None:
    few = tuple(replace(one, found=0.02) for one in speller().facts.sets)
    changed = replace(speller(), facts=replace(speller().facts, sets=few))
    output = " ".join(str(changed).split())
    assert "recall on held-out text: 2.00 %; learn from more text, or allow more alarms set" in output


def test_sets_without_gain_over_the_majority_are_marked() -> None:
    first, second = speller().facts.sets
    poor = replace(second, accuracy=0.75, majority=0.75)
    changed = replace(speller(), facts=replace(speller().facts, sets=(first, poor)))
    assert "\n  their, there, they're *  " in str(changed)
    assert str(changed).endswith(
        "\n  * no better on held-out text than always choosing the more frequent word"
    )
    assert "choosing the more frequent word" in changed._repr_html_()
    assert "*" not in str(speller())


def test_widest_row_has_80_columns() -> None:
    long = replace(speller().sets[0], words=("conscientiousness", "consciousness"))
    wide = replace(
        speller().facts.sets[0], examples=(10**7, 1), accuracy=0.999999, majority=0.9999999, found=0.999999
    )
    facts = replace(speller().facts, sets=(wide,))
    lines = str(replace(speller(), sets=(long,), facts=facts)).splitlines()
    assert "  conscientiousness, c… *" in lines[-2]
    assert max(map(len, lines)) <= 80


def test_skipped_files_are_reported_in_one_warning(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text(text())
    for name in ("a.py", "b.csv", "c.js"):
        (tmp_path / name).write_text("x = 1\n")
    with pytest.warns(errors.SkippedFiles) as caught:
        weigh.Speller.learn(tmp_path, SETS, alarms=40)
    (warning,) = caught
    assert str(warning.message) == (
        f"3 files skipped: {tmp_path}/a.py: source code, not prose; {tmp_path}/b.csv: data, not prose; "
        "and 1 more."
    )
    assert warning.filename == __file__


def test_folder_of_the_list_is_not_stored(tmp_path: Path) -> None:
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


def test_plots_have_a_point_per_number_and_a_bar_per_reason() -> None:
    points = max(speller().plot().to_dict()["datasets"].values(), key=len)
    assert [(row["name"], row["series"], row["value"]) for row in points] == [
        (" ".join(words), series, value)
        for words, facts in zip(SETS, speller().facts.sets, strict=True)
        for series, value in (
            ("accuracy", 1.0),
            ("accuracy of the majority", facts.majority),
            ("recall", 1.0),
        )
    ]
    (found,) = speller().check("I didn't know weather to laugh.")
    bars = max(found.plot().to_dict()["datasets"].values(), key=len)
    assert [row["name"] for row in bars] == [str(reason) for reason in found.reasons]
    assert repr(speller()) == "Speller for 2 confusion sets (5 words)"


def test_suggestion_escapes_control_characters_in_names() -> None:
    (found,) = speller().check("I didn't know weather to laugh.", name="a\x1b[31m\n<i>.txt")
    assert str(found).startswith(r"a\x1b[31m\n<i>.txt:1:15: ")
    assert "<i>" not in found._repr_html_()


@pytest.mark.parametrize(
    ("probability", "formatted"),
    [(0.5, "=0.50"), (0.994, "=0.99"), (0.997, "=0.997"), (0.99999, ">0.9999"), (1.0, ">0.9999")],
)
def test_probability_is_never_printed_as_one(probability: float, formatted: str) -> None:
    (found,) = speller().check("I didn't know weather to laugh.")
    assert f"(p{formatted}; because: " in str(replace(found, probability=probability))
    assert str(replace(found, probability=0.9, reasons=())).endswith("(p=0.90)")


@pytest.mark.parametrize("value", [None, 3, ["a text"], Path("letter.txt")])
def test_checking_other_types_raises(value: object) -> None:
    with pytest.raises(errors.DataError, match=r"check takes a text \(str, or bytes in UTF-8\), got "):
        speller().check(value)  # type: ignore[arg-type]


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
def test_unknown_encoding_raises(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("So it is.")
    for method in (speller().check_file, speller().fix_file):
        with pytest.raises(errors.SourceError, match=f"'{encoding}' is not an encoding Python knows"):
            method(path, encoding=encoding)


def test_utf_16_without_byte_order_mark_raises(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes("So it is.".encode("utf-16-le"))
    for method in (speller().check_file, speller().fix_file):
        with pytest.raises(errors.SourceError, match="is not utf-16 text"):
            method(path, encoding="utf-16")
    path.write_bytes(b"")
    assert speller().check_file(path, encoding="utf-16") == speller().fix_file(path, encoding="utf-16") == []
