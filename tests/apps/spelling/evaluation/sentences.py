"""Made-up text in which the neighbours of weather, whether, than and then determine the word."""

from __future__ import annotations

import random

from weigh.apps.spelling.documents import Document

SETS = (("weather", "whether"), ("than", "then"))
SENTENCES = (
    "I did not know whether to laugh or to cry.",
    "She asked him whether the train had come.",
    "He wondered whether it was too late for supper.",
    "The weather was cold and the roads were wet.",
    "In fine weather they walked along the river.",
    "We spoke of the weather until tea was ready.",
    "His house was larger than mine.",
    "She was older than her brother by a year.",
    "There was more dust than paper on the desk.",
    "And then he went away without a word.",
    "First they ate, then they slept until noon.",
    "Just then the door was opened by a child.",
)
FILLERS = (
    "Nobody came that day.",
    "The old man read his book by the fire.",
    "A dog was barking far away.",
    "They never spoke of it again.",
)


def prose(seed: int, sentences: int = 200) -> str:
    """Random sentences, four to a paragraph."""
    rng = random.Random(seed)
    drawn = [rng.choice(SENTENCES if rng.random() < 0.5 else FILLERS) for _ in range(sentences)]
    return "\n\n".join(" ".join(drawn[at : at + 4]) for at in range(0, sentences, 4)) + "\n"


def books(*seeds: int, sentences: int = 200) -> list[Document]:
    """A document of random sentences for each seed."""
    return [Document(f"book{seed}.txt", iter([prose(seed, sentences).encode()])) for seed in seeds]
