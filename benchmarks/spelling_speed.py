"""How long spellers take to learn and to check, as whole processes, and how large their files are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import megabytes
from benchmarks.processes import Run, Turns, measured
from benchmarks.spelling_corpus import Novels
from benchmarks.spelling_quality import SPELL, learn

LEARNERS = ("logistic", "naive-bayes", "bernoulli", "perceptron")
FINE = (0, 3)  # with and without suggestions
SENTENCE = "I didn't know weather to laugh or cry.\n"


def job(novels: Novels, repeats: int) -> str:
    """Learn from all novels, check all novels, and check one sentence."""
    learn(novels)
    paths = [str(path) for path in (*novels.learned, *novels.held)]
    letter = novels.scratch / "letter.txt"
    letter.write_text(SENTENCE)
    learning = {f"weigh spell learn --learner {name}": _learning(novels, paths, name) for name in LEARNERS}
    check = [*SPELL, "check", "-m", str(novels.speller)]
    checking = {"weigh spell check": _run([*check, *paths], novels.scratch / "checked")}
    one = {"weigh spell check, one sentence": _run([*check, str(letter)], novels.scratch / "one")}
    parts = []
    for calls, size in ((learning, novels.bytes()), (checking, novels.bytes()), (one, len(SENTENCE))):
        turns = _taken(calls, repeats)
        files = {
            name: megabytes(_file(novels, name).stat().st_size) for name in turns.runs if calls is learning
        }
        rates = {name: _rate(size, runs) for name, runs in turns.runs.items() if calls is not one}
        extra = {head: each for head, each in (("text per second", rates), ("file", files)) if each}
        parts.append(turns.table(extra))
    title = (
        f"{len(paths)} novels, {megabytes(novels.bytes())}, whole processes; one round before is not counted"
    )
    return "\n\n".join([title, *parts])


def _taken(calls: dict[str, Callable[[], Run]], repeats: int) -> Turns:
    for call in calls.values():
        call()
    return Turns.taken(calls, repeats)


def _file(novels: Novels, name: str) -> Path:
    return novels.scratch / f"{name.split()[-1]}.weigh"


def _learning(novels: Novels, paths: list[str], learner: str) -> Callable[[], Run]:
    command = [*SPELL, "learn", *paths, "--learner", learner, "-o", str(_file(novels, learner))]
    return _run(command, novels.scratch / f"{learner}.said")


def _run(command: list[str], output: Path) -> Callable[[], Run]:
    return lambda: measured(command, output, FINE)


def _rate(size: int, runs: list[Run]) -> str:
    return megabytes(size / min(run.seconds for run in runs))
