"""A replaced base model: the feedback is stale until it is carried over exactly."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import pytest

import weigh
from tests.journal.crashing_writer import CALLS, Countdown
from tests.serve.feedback.samples import BASE, BASE_ROWS, COLUMNS, forget, learn, make_row, open_store, train
from weigh.errors import MergeError, Unsupported
from weigh.model.count_model import CountModel
from weigh.serve.feedback import FeedbackStore, Outcome

NEW_DIGEST = "77c0"
FIRST, SECOND, THIRD = make_row(1), make_row(2), make_row(3)
NEW_ROWS = [make_row(number) for number in range(500, 520)]

STALE = (
    "The feedback was given to another file of the model, so nothing is learned or forgotten. To carry it "
    "over to the new file, start the server with --rebase."
)


def train_new(*rows: dict[str, object]) -> CountModel:
    """Train a model with other rows, other priors and a declared class."""
    prior = {"ham": 0.5, "spam": 0.3, "other": 0.2}
    learner = weigh.NaiveBayes(columns=COLUMNS, prior=2.0, class_prior=prior)
    model: CountModel = learner.fit([*BASE_ROWS[:10], *NEW_ROWS, *rows], "label").model_
    return model


def open_new(folder: Path, *, rebase: bool = False) -> FeedbackStore:
    return FeedbackStore.open(folder, train_new(), NEW_DIGEST, rebase=rebase)


def test_stale_feedback_changes_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST)
    new = open_new(tmp_path)
    assert (store.is_stale, new.is_stale) == (False, True)
    assert new.model().to_bytes() == train_new().to_bytes()
    for outcome in (learn(new, "b", SECOND), forget(new, "c", FIRST)):
        assert (outcome.rows, type(outcome.error)) == (0, Unsupported)
        assert str(outcome.error) == STALE
    with pytest.raises(Unsupported) as caught:
        new.compact()
    assert str(caught.value) == STALE
    assert store.model().to_bytes() == train([FIRST]).to_bytes()


@pytest.mark.parametrize("compacted", [False, True])
def test_feedback_is_carried_over_exactly(tmp_path: Path, compacted: bool) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST, SECOND)
    if compacted:
        store.compact()
    forget(store, "b", SECOND, BASE_ROWS[3])
    learn(store, "c", THIRD)
    new = open_new(tmp_path, rebase=True)
    expected = train_new(FIRST, THIRD).forget([BASE_ROWS[3]])
    assert not new.is_stale
    assert new.model().to_bytes() == open_new(tmp_path).model().to_bytes() == expected.to_bytes()
    assert learn(new, "a", FIRST, SECOND) == Outcome(0, repeated=True)
    assert forget(new, "d", FIRST, THIRD) == Outcome(2)
    assert new.model().to_bytes() == train_new().forget([BASE_ROWS[3]]).to_bytes()


def test_servers_of_the_old_file_are_stale_after_a_rebase(tmp_path: Path) -> None:
    old = open_store(tmp_path)
    learn(old, "a", FIRST)
    open_new(tmp_path, rebase=True)
    assert str(learn(old, "b", SECOND).error) == STALE
    assert old.is_stale
    assert old.model().to_bytes() == BASE.to_bytes()


def test_rebasing_there_and_back_restores_the_model(tmp_path: Path) -> None:
    learn(open_store(tmp_path), "a", FIRST)
    open_new(tmp_path, rebase=True)
    open_new(tmp_path, rebase=True)  # as every worker of a server does
    assert open_store(tmp_path, rebase=True).model().to_bytes() == train([FIRST]).to_bytes()
    assert len(list(tmp_path.glob("base-*.weigh"))) == 1


def test_forgotten_rows_that_the_new_base_never_had_are_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    forget(store, "a", BASE_ROWS[20])
    with pytest.raises(MergeError) as caught:
        open_new(tmp_path, rebase=True)
    assert str(caught.value) == (
        f"{tmp_path}: the feedback cannot be carried over to the new file of the model. It forgets rows that "
        "the old file had learned and the new one has not. Nothing was changed. Serve the old file again, or "
        "move the folder away to begin without its feedback."
    )
    assert open_new(tmp_path).is_stale
    assert store.model().to_bytes() == BASE.forget([BASE_ROWS[20]]).to_bytes()


def test_a_base_with_other_columns_is_refused(tmp_path: Path) -> None:
    learn(open_store(tmp_path), "a", FIRST)
    other = weigh.NaiveBayes(columns={**COLUMNS, "size": "category"}).fit(BASE_ROWS, "label").model_
    with pytest.raises(MergeError) as caught:
        FeedbackStore.open(tmp_path, other, NEW_DIGEST, rebase=True)
    assert str(caught.value) == (
        f"{tmp_path}: the feedback cannot be carried over to the new file of the model. The models cannot "
        "merge: column 'size' is Category() in the first and Number(shape='auto') in the second. Nothing was "
        "changed. Serve the old file again, or move the folder away to begin without its feedback."
    )
    assert open_store(tmp_path).model().to_bytes() == train([FIRST]).to_bytes()


def rebase_and_die(folder: Path, step: int) -> bool:
    """Carry the feedback over in another process, which dies at a system call; returns whether it lived."""
    child = os.fork()
    if not child:
        countdown = Countdown(step, lambda: os._exit(9))
        for name in CALLS:
            setattr(os, name, countdown.wrap(name))
        open_new(folder, rebase=True)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::weigh.errors.CutJournal")
def test_a_process_that_dies_while_rebasing_loses_and_repeats_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path / "begun")
    learn(store, "a", FIRST)
    store.compact()
    learn(store, "b", SECOND)
    old, rebased = train([FIRST, SECOND]).to_bytes(), train_new(FIRST, SECOND).to_bytes()
    found = []
    for step in itertools.count(1):
        folder = tmp_path / f"{step}"
        shutil.copytree(tmp_path / "begun", folder)
        lived = rebase_and_die(folder, step)
        is_old = open_new(folder).is_stale
        found.append(is_old)
        assert (open_store(folder) if is_old else open_new(folder)).model().to_bytes() == (
            old if is_old else rebased
        )
        assert open_new(folder, rebase=True).model().to_bytes() == rebased
        if lived:
            break
    assert sorted(found, reverse=True) == found
    assert found.count(True) > 10
    assert found.count(False) > 10
