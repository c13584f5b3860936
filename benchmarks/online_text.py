"""Perceptrons on texts: from a list of str, and from a CSV file through the command line.

Everyone goes through the texts equally often; the peers' losses are those of a perceptron and of a
support vector machine, with averaged weights and the settings that suit each best (`text_peers`).
Vowpal Wabbit reads ready-made words and goes through them once.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks import text
from benchmarks.processes import Turns
from benchmarks.text_bench import Bench
from benchmarks.text_contenders import SKLEARN, VW25, Contender, ours, script
from benchmarks.text_memory import FITTERS
from benchmarks.text_peers import BUCKETS, LOSSES, PASSES

MEGABYTES = {"full": 300, "small": 3}
WANTED = 8.0


def perceptron(passes: int) -> Contender:
    """Return our command line for so many passes."""
    key = f"weigh-perceptron-{passes}"
    options = ["--learner", "perceptron", "--set", f"max_iter={passes}"]
    return ours(FITTERS[key][0], key, f"text:buckets={BUCKETS}", *options)


def descents(passes: int) -> list[Contender]:
    """Return the peers' scripts for so many passes."""
    return [script(FITTERS[f"{loss}-{passes}"][0], f"{loss}-{passes}", *SKLEARN) for loss in LOSSES]


def bench_of(work: Path, size: str, repeats: int, contenders: Sequence[Contender]) -> Bench:
    """Return the files and models of a corpus with these contenders."""
    given = argparse.Namespace(work=work, size=MEGABYTES[size], repeats=repeats, peers=False)
    bench = Bench(given)
    bench.contenders = [contender for contender in contenders if not contender.lacks]
    return bench


def lead(turns: Turns) -> str:
    """Say how much faster the first contender was than the fastest other."""
    best = {name: min(run.seconds for run in runs) for name, runs in turns.runs.items()}
    mine, *theirs = best.values()
    if not theirs:
        return ""
    ratio = min(theirs) / mine
    return f"weigh is {ratio:.1f} times as fast as the fastest peer (wanted: at least {WANTED:g})."


def job(work: Path, size: str, repeats: int) -> str:
    """Return the tables from lists, from files, and of accuracy."""
    parts = []
    for passes in PASSES:
        bench = bench_of(work, size, repeats, [perceptron(passes), *descents(passes)])
        turns, table = text.list_turns(bench, judged=True)
        parts += [table, lead(turns)]
    everyone = [*map(perceptron, PASSES), *descents(1), VW25]
    bench = bench_of(work, size, repeats, everyone)
    parts += [text.file_turns(bench)[1], text.accuracy_job(bench)]
    return "\n\n".join(part for part in parts if part)
