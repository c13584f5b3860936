"""Threads that change and read one estimator: nothing is lost, and readers see whole models."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import weigh
from tests.stress.attack import Attack
from tests.stress.files import check_probabilities

N_THREADS = 8
KINDS = {"colour": "category", "size": "number", "body": "text"}
Table = dict[str, list[Any]]


class ThreadAttack(Attack):
    """Eight threads learn, merge, forget and predict at once; the result equals one thread's."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._number = 0

    def run_case(self, rng: random.Random) -> str:
        """Run the same changes in threads and in order, and compare the models byte for byte."""
        seed_rows = random_table(rng, 50)
        batches = [random_table(rng, rng.randrange(1, 200)) for _ in range(rng.choice((16, 40)))]
        changes: list[Callable[[Any], Any]] = []
        for batch in batches:
            changes.append(rng.choice((_learn, _learn, _merge, _learn_and_forget))(batch))
        concurrent = weigh.NaiveBayes(KINDS).fit(seed_rows, "y")
        serial = weigh.NaiveBayes(KINDS).fit(seed_rows, "y")
        run_in_threads(concurrent, changes, seed_rows)
        for change in changes:
            change(serial)
        paths = [self.folder / "concurrent.weigh", self.folder / "serial.weigh"]
        for learner, path in zip((concurrent, serial), paths, strict=True):
            learner.model_.save(path)
        assert paths[0].read_bytes() == paths[1].read_bytes(), "the threads lost or repeated rows"
        return "agreed"


def random_table(rng: random.Random, n_rows: int) -> Table:
    """Return rows of a category, a number and a text, with a label."""
    return {
        "colour": rng.choices(["red", "blue", "green", None], k=n_rows),
        "size": [rng.choice((rng.gauss(0, 1), rng.gauss(1e6, 1e-3))) for _ in range(n_rows)],
        "body": [" ".join(rng.choices("abcdefgh", k=4)) * 2 for _ in range(n_rows)],
        "y": rng.choices(["ham", "spam", "new"], k=n_rows),
    }


def run_in_threads(learner: Any, changes: list[Callable[[Any], Any]], rows: Table) -> None:
    """Apply the changes in several threads while another thread predicts; raise what any of them raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(N_THREADS + 1)
    is_done = threading.Event()

    def apply(part: list[Callable[[Any], Any]]) -> None:
        try:
            start.wait()
            for change in part:
                change(learner)
        except BaseException as error:
            failures.append(error)

    def read() -> None:
        try:
            start.wait()
            while not is_done.is_set():
                check_probabilities(np.asarray(learner.predict_proba(rows)), len(rows["y"]))
                learner.explain({name: values[:1] for name, values in rows.items()})
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=apply, args=(changes[i::N_THREADS],)) for i in range(N_THREADS)]
    reader = threading.Thread(target=read)
    for thread in (*writers, reader):
        thread.start()
    for thread in writers:
        thread.join()
    is_done.set()
    reader.join()
    if failures:  # an error of ours is no refusal here: each change is valid
        raise AssertionError(repr(failures[0])) from failures[0]


def _learn(batch: Table) -> Callable[[Any], Any]:
    return lambda learner: learner.partial_fit(batch, "y")


def _merge(batch: Table) -> Callable[[Any], Any]:
    other = weigh.NaiveBayes(KINDS).fit(batch, "y")
    return lambda learner: learner.merge(other)


def _learn_and_forget(batch: Table) -> Callable[[Any], Any]:
    def change(learner: Any) -> None:
        learner.partial_fit(batch, "y")
        learner.forget(batch, "y")

    return change
