"""How well spellers choose and what they find, by the commands that people use."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import markdown
from benchmarks.spelling_corpus import Novels

SPELL = [sys.executable, "-m", "weigh.cli.main", "spell"]
LISTS = {
    "golding-schabes": "The eighteen sets of Golding & Schabes",
    "banko-brill": "The ten sets of Banko & Brill",
}
# Precision and recall as LanguageTool's list of English pairs has them, of its 3-gram rule.
LANGUAGETOOL = {
    ("weather", "whether"): (0.999, 0.759),
    ("whether", "weather"): (1.000, 0.629),
    ("then", "than"): (1.000, 0.928),
    ("than", "then"): (0.998, 0.674),
    ("their", "there"): (0.999, 0.913),
    ("there", "their"): (0.996, 0.945),
    ("affect", "effect"): (0.994, 0.470),
    ("effect", "affect"): (1.000, 0.605),
}
BOTH_WAYS = {
    ("accept", "except"): (0.997, 0.792),
    ("principal", "principle"): (0.992, 0.360),
    ("peace", "piece"): (0.998, 0.634),
}


def compare_job(novels: Novels) -> str:
    """Every learner and the majority, set by set."""
    return "\n\n".join(f"{title}: % right\n\n{_compared(novels, name)}" for name, title in LISTS.items())


def _compared(novels: Novels, sets: str) -> str:
    found = _asked("compare", *_given(novels), "--sets", sets)
    names = [each["name"] for each in found["learners"]]
    rows = [
        ["/".join(each["words"]), f"{each['learned']:,}", f"{each['judged']:,}"]
        + [_percent(one["value"]) for one in each["learners"]]
        + [f"{size:,}" for size in _sizes(each)]
        for each in found["sets"]
    ]
    for title, key in (("mean of the sets", "mean"), ("by occurrence", "by_occurrence")):
        rows.append([title, "", "", *(_percent(one[key]) for one in found["learners"]), "", "", ""])
    head = ["", "learned", "judged", *names, "features", "of perceptrons", "of memory"]
    gains = ", ".join(
        f"{one['name']} {100 * one['gain']:+.1f} ± {100 * one['gain_error']:.1f}"
        for one in found["learners"][1:]
    )
    told = (
        f"{found['learned_words']:,} words learned from, {found['judged_words']:,} judged. Points above the "
        f"majority ± standard error over the sets: {gains}."
    )
    return f"{markdown(head, rows)}\n\n{told}"


def _sizes(found: dict[str, Any]) -> list[int]:
    """Return the features of a set: of all learners alike, but of perceptrons and of memory."""
    sizes = {one["name"]: one["features"] for one in found["learners"]}
    return [sizes[name] for name in ("logistic", "perceptron", "memory")]


def curve_job(novels: Novels) -> str:
    """Accuracy over the size of the text, and its log-linear law."""
    found = _asked("curve", *_given(novels))
    curves = found["learners"]
    rows = [
        [f"{words:,}", *(_percent(each["means"][at]) for each in curves)]
        for at, words in enumerate(found["words"])
    ]
    rows.append(["± at last", *(_percent(each["errors"][-1]) for each in curves)])
    for title, which in (("all sizes", "law"), ("last tenfold", "late")):
        laws = [each[which] for each in curves]
        told = [f"{100 * law['b']:+.1f} ± {100 * law['error']:.1f}" for law in laws]
        rows.append([f"points for ten times the text, {title}", *told])
        rows.append(["R² of this law", *("-" if law["r2"] is None else f"{law['r2']:.3f}" for law in laws)])
    title = f"Mean of the {len(found['sets'])} sets of Banko & Brill, % right, over the words learned from"
    return f"{title}\n\n{markdown(['words', *(each['name'] for each in curves)], rows)}"


def swaps_job(novels: Novels, seeds: Sequence[int]) -> str:
    """One word in 200 of novels held out swapped, and checked by the default speller."""
    head = ["seed", "swapped", "precision", "recall", "alarms per 10,000 clean words"]
    parts = ["One word in 200 swapped inside its set; 95 % intervals"]
    for some in (novels, novels.earlier()):
        learn(some)
        table = markdown(head, [_swapped(some, seed) for seed in seeds])
        parts.append(
            f"Learned from the first {len(some.learned)} novels, tried on the next {len(some.held)}:"
        )
        parts.append(table)
    return "\n\n".join(parts)


def _swapped(novels: Novels, seed: int) -> list[str]:
    held = [str(path) for path in novels.held]
    found = _asked("evaluate", *held, "-m", str(novels.speller), "--seed", str(seed))
    shares = [_spanned(found[name], 3) for name in ("precision", "recall")]
    alarms = _spanned(found["alarms_per_10000_words"], 2)
    return [str(seed), f"{found['swapped']:,}", *shares, f"{alarms}, promised {found['promised']:.2f}"]


def directions_job(novels: Novels) -> str:
    """Our precision and recall by pair, beside those that LanguageTool publishes."""
    from weigh.apps.spelling.documents import documents
    from weigh.apps.spelling.speller import Speller
    from weigh.apps.spelling.trial.directions import directions

    learn(novels)
    found = directions(Speller.load(novels.speller), documents(novels.held))
    known = {(each.written, each.meant) for each in found.pairs}
    rows = []
    for (written, meant), theirs in LANGUAGETOOL.items():
        if (written, meant) not in known:
            continue
        ours = found[written, meant]
        rows.append(_beside(f"{written} → {meant}", ours.wrong, (ours.precision, ours.recall), theirs))
    for (one, other), theirs in BOTH_WAYS.items():
        if (one, other) not in known:
            continue
        pairs = [found[one, other], found[other, one]]
        wrong, hits, alarms = (sum(getattr(p, name) for p in pairs) for name in ("wrong", "found", "alarms"))
        precision = hits / (hits + alarms) if hits + alarms else math.nan
        rows.append(_beside(f"{one} ↔ {other}", wrong, (precision, hits / wrong), theirs))
    head = ["", "contexts", "precision", "recall", "LanguageTool's precision", "LanguageTool's recall"]
    return f"Each word once written rightly and once wrongly\n\n{markdown(head, rows)}"


def _beside(name: str, n: int, ours: Sequence[float], theirs: Sequence[float]) -> list[str]:
    return [name, f"{n:,}", *("-" if math.isnan(value) else f"{value:.3f}" for value in (*ours, *theirs))]


def learn(novels: Novels) -> None:
    """Learn the novels that are not held out, unless that was done."""
    if not novels.speller.exists():
        command = [*SPELL, "learn", *(str(path) for path in novels.learned), "-o", str(novels.speller)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _given(novels: Novels) -> list[str]:
    held = [word for path in novels.held for word in ("--on", str(path))]
    return [*(str(path) for path in novels.learned), *held]


def _asked(*command: str | Path) -> dict[str, Any]:
    said = subprocess.run([*SPELL, *map(str, command), "--json"], check=True, stdout=subprocess.PIPE).stdout
    found: dict[str, Any] = json.loads(said)
    return found


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _spanned(measure: dict[str, Any], digits: int) -> str:
    value, low, high = (f"{measure[name]:.{digits}f}" for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})"
