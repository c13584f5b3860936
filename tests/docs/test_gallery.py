"""The gallery shows exactly the pictures that its code writes, and they lie beside it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.gallery import HOME, run, shown

WORDS = "{http://www.w3.org/2000/svg}text"


@pytest.mark.slow
def test_the_page_shows_what_its_blocks_write(tmp_path: Path) -> None:
    assert run(tmp_path) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(shown())
    assert {name: told(tmp_path / name) for name in shown()} == {name: told(HOME / name) for name in shown()}


def told(path: Path) -> str | None:
    """What a screen reader says of a picture; ticks and fonts may differ from one renderer to the next."""
    return ElementTree.fromstring(path.read_text("utf-8")).get("aria-label")


def test_every_picture_is_shown_once_and_lies_beside_the_page() -> None:
    assert len(set(shown())) == len(shown())
    assert sorted(path.name for path in HOME.iterdir()) == sorted(shown())


@pytest.mark.parametrize("name", shown())
def test_a_picture_is_a_drawing_with_words(name: str) -> None:
    root = ElementTree.fromstring((HOME / name).read_text("utf-8"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("aria-label")
    assert not [each for each in root.iter() if each.tag.endswith("script")]
    assert [each for each in root.iter(WORDS) if each.text]
