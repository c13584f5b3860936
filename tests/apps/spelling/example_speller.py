"""A made-up corpus of short sentences, and the speller trained on it."""

from __future__ import annotations

import random
from functools import cache

from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.speller_data import SpellerSettings
from weigh.apps.spelling.training import train_speller

SETS = (("weather", "whether"), ("their", "there", "they're"))
WHO = ("I", "we", "you", "they", "nobody", "she", "he", "the children")
DO = ("laugh", "cry", "go", "stay", "sing", "wait", "sleep", "answer")
THINGS = ("house", "garden", "dog", "boat", "letters", "mother", "books", "horses")
SENTENCES = (
    "{who} didn't know whether to {do} or {other}.",
    "{who} asked whether the {thing} would {do}.",
    "{who} did not know whether it was so.",
    "The weather was fine, and {who} went to {do}.",
    "In bad weather {who} would not {do} with the {thing}.",
    "We had good weather near the {thing}.",
    "{who} saw their {thing} and had to {do}.",
    "The neighbours sold their {thing} to {who}.",
    "There was a {thing} behind the {thing}.",
    "{who} went there to {do} and to {other}.",
    "They say that they're going to {do}.",
    "I think they're not ready to {do} or to {other}.",
)


@cache
def text(words: int = 9_000, seed: int = 1) -> str:
    """Return at least so many words, in paragraphs of a few sentences."""
    draw = random.Random(seed)
    paragraphs: list[str] = []
    done = 0
    while done < words:
        lines = [_sentence(draw) for _ in range(draw.randint(1, 5))]
        paragraphs.append(" ".join(lines))
        done += len(paragraphs[-1].split())
    return "\n\n".join(paragraphs)


def _sentence(draw: random.Random) -> str:
    do, other = draw.sample(DO, 2)
    said = draw.choice(SENTENCES).format(who=draw.choice(WHO), do=do, other=other, thing=draw.choice(THINGS))
    return said[0].upper() + said[1:]


@cache
def speller(learner: str = "logistic") -> Speller:
    """Return the speller trained on the text, with a rate of alarms that so little text can show."""
    document = Document("letters.txt", iter([text().encode()]))
    return train_speller(
        [document], ConfusionSets(SETS, "small"), SpellerSettings(learner=learner, alarms=40)
    )
