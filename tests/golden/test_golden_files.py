"""Files written by earlier releases load, predict as before, and are saved in the newest format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import weigh
from tests.golden.write import (
    CHECKED,
    LETTERS,
    MAILS,
    answers,
    folded_digest,
    messy_answers,
    weighted_answers,
)
from weigh.apps.mail.store import MailStore
from weigh.errors import ModelFileError
from weigh.model.file import store

FOLDER = Path(__file__).parent / "0.1.0"
ANSWERS = json.loads((FOLDER / "answers.json").read_text())
MESSY_FOLDER = Path(__file__).parent / "format-2"
MESSY_ANSWERS = json.loads((MESSY_FOLDER / "answers.json").read_text())
WEIGHTED_FOLDER = Path(__file__).parent / "format-2-weighted"
WEIGHTED_ANSWERS = json.loads((WEIGHTED_FOLDER / "answers.json").read_text())


@pytest.fixture(params=sorted(ANSWERS["mail"]))
def store_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER / f"mail-{request.param}", tmp_path / request.param))


def test_every_model_file_has_recorded_answers() -> None:
    files = {path.stem for path in FOLDER.glob("*.weigh")} - {"speller"}
    assert files == set(ANSWERS["models"])


@pytest.mark.parametrize("name", sorted(ANSWERS["models"]))
def test_a_model_file_is_saved_in_the_newest_format_with_the_same_content(name: str, tmp_path: Path) -> None:
    old, again = FOLDER / f"{name}.weigh", tmp_path / "again.weigh"
    weigh.load(old).save(again)
    assert [_format_version(path) for path in (old, again)] == ["1", "2"]
    then, now = store.read(old), store.read(again)
    assert now.meta == then.meta
    assert {key: array.tobytes() for key, array in now.arrays.items()} == {
        key: array.tobytes() for key, array in then.arrays.items()
    }
    _assert_same(answers(weigh.load(again)), ANSWERS["models"][name])
    weigh.load(again).save(tmp_path / "third.weigh")
    assert (tmp_path / "third.weigh").read_bytes() == again.read_bytes()


@pytest.mark.parametrize("name", sorted(ANSWERS["models"]))
def test_a_model_answers_as_it_did(name: str) -> None:
    _assert_same(answers(weigh.load(FOLDER / f"{name}.weigh")), ANSWERS["models"][name])


@pytest.mark.parametrize("name", sorted(MESSY_ANSWERS))
def test_a_model_of_a_messy_table_answers_as_it_did_and_is_saved_byte_for_byte(
    name: str, tmp_path: Path
) -> None:
    path = MESSY_FOLDER / f"{name}.weigh"
    model = weigh.load(path)
    assert _format_version(path) == "2"
    assert set(model.schema.dialect) >= {"delimiter", "encoding"}
    assert set(model.schema.readings) == {"Preis", "Größe", "Kunde"}
    assert set(model.schema.dates) == {"Tag"}
    _assert_same(messy_answers(model), MESSY_ANSWERS[name])
    model.save(tmp_path / "again.weigh")
    assert (tmp_path / "again.weigh").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", sorted(WEIGHTED_ANSWERS))
def test_a_model_of_weighted_texts_answers_as_it_did_and_is_saved_byte_for_byte(
    name: str, tmp_path: Path
) -> None:
    path = WEIGHTED_FOLDER / f"{name}.weigh"
    model = weigh.load(path)
    _assert_same(weighted_answers(model), WEIGHTED_ANSWERS[name])
    model.save(tmp_path / "again.weigh")
    assert (tmp_path / "again.weigh").read_bytes() == path.read_bytes()


def test_a_mail_store_judges_as_it_did(store_folder: Path) -> None:
    verdicts = [verdict.to_dict() for verdict in MailStore.open(store_folder).judge(LETTERS)]
    _assert_same(verdicts, ANSWERS["mail"][store_folder.name])


def test_a_mail_store_folds_its_journal_into_the_recorded_bytes(store_folder: Path) -> None:
    # Recorded again when the format of the ledger changed to version 2, with a checksum for each block.
    assert folded_digest(store_folder) == ANSWERS["ledgers"][store_folder.name]


def test_a_mail_store_goes_on_learning_and_unlearning(store_folder: Path) -> None:
    store = MailStore.open(store_folder)
    store.unlearn(MAILS["ham"][:1])
    store.learn(MAILS["spam"][1:2], "spam")
    assert (store.status().hams, store.status().spams) == (11, 12)


def test_a_mail_store_is_upgraded_when_its_journal_is_folded(store_folder: Path) -> None:
    ledger, settings = store_folder / "ledger", store_folder / "settings.json"
    assert (ledger.read_bytes()[8], json.loads(settings.read_text())["format"]) == (1, 1)
    MailStore.open(store_folder).fold()
    assert (ledger.read_bytes()[8], json.loads(settings.read_text())["format"]) == (2, 2)
    verdicts = [verdict.to_dict() for verdict in MailStore.open(store_folder).judge(LETTERS)]
    _assert_same(verdicts, ANSWERS["mail"][store_folder.name])


def test_a_damaged_ledger_of_an_earlier_release_is_refused(store_folder: Path) -> None:
    ledger = store_folder / "ledger"
    content = bytearray(ledger.read_bytes())
    content[len(content) // 2] ^= 1
    ledger.write_bytes(content)
    with pytest.raises(
        ModelFileError, match=r"ledger cannot be used: its counts are damaged\. Restore the whole"
    ):
        MailStore.open(store_folder).judge(LETTERS)


def test_a_speller_is_saved_in_the_newest_format_and_suggests_as_it_did(tmp_path: Path) -> None:
    speller = weigh.Speller.load(FOLDER / "speller.weigh")
    speller.save(tmp_path / "again.weigh")
    assert _format_version(tmp_path / "again.weigh") == "2"
    again = weigh.Speller.load(tmp_path / "again.weigh")
    for each in (speller, again):
        suggestions = [suggestion.to_dict() for suggestion in each.check(CHECKED, threshold=0.5)]
        _assert_same(suggestions, ANSWERS["speller"])
    again.save(tmp_path / "third.weigh")
    assert (tmp_path / "third.weigh").read_bytes() == (tmp_path / "again.weigh").read_bytes()


def _assert_same(now: Any, then: Any) -> None:
    """Compare plain values; numbers may differ in their last digits between processors."""
    if isinstance(then, dict):
        assert set(now) == set(then)
        for name in then:
            _assert_same(now[name], then[name])
    elif isinstance(then, list):
        assert len(now) == len(then)
        for one, other in zip(now, then, strict=True):
            _assert_same(one, other)
    elif isinstance(then, float) or (isinstance(then, str) and then.startswith(("0x", "-0x"))):
        assert _number(now) == pytest.approx(_number(then), rel=1e-12, abs=1e-12)
    else:
        assert now == then


def _format_version(path: Path) -> str:
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    version: str = json.loads(content[8 : 8 + size])["__metadata__"]["version"]
    return version


def _number(value: float | str) -> float:
    return float.fromhex(value) if isinstance(value, str) else value
