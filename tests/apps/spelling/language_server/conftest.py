"""A speller small enough to be trained in every test run."""

from __future__ import annotations

import itertools

import pytest

from weigh.apps.spelling.speller import Speller

WEATHER = ("The weather is fine today.", "What weather we had.", "In such weather nobody goes out.")
WHETHER = ("I know whether to laugh.", "She asked whether he came.", "They wonder whether to stay.")
TIMES = 300


def train_example(folder, *sentences):
    """Train a speller for weather and whether on these sentences."""
    folder.mkdir()
    for number, start in enumerate(range(6)):
        several = itertools.islice(itertools.cycle(sentences), start, start + TIMES)
        (folder / f"{number}.txt").write_text("\n\n".join(several))
    return Speller.learn([str(folder)], [("weather", "whether")], alarms=40)


@pytest.fixture(scope="session")
def speller(tmp_path_factory):
    """A speller for weather and whether."""
    return train_example(tmp_path_factory.mktemp("corpus") / "texts", *WEATHER, *WHETHER)


@pytest.fixture
def model(speller, tmp_path):
    """The file of the speller."""
    path = tmp_path / "en.weigh"
    speller.save(path)
    return path
