"""Feedback is durable and counts exactly once, for several stores of one folder and across compaction."""

from __future__ import annotations

import itertools
import os
import stat
import threading
from pathlib import Path

import pytest

import weigh
from tests.serve.feedback.samples import BASE, DIGEST, forget, learn, make_row, open_store, train
from weigh.errors import DataError, LabelError, MergeError, Unsupported
from weigh.serve.feedback import Change, FeedbackStore, Outcome
from weigh.serve.feedback import store as store_module

FIRST, SECOND, THIRD = make_row(1), make_row(2), make_row(3)
OTHER_CONTENT = (
    "The id 'a' was used before, for other rows or another operation. Nothing was changed. Use a new id for "
    "every change, and the same one only to repeat it."
)
NEVER_LEARNED = (
    "These rows were not all learned by this model: subtracting them makes some counts negative. The model "
    "is unchanged."
)


def test_a_new_store_has_the_base_model(tmp_path: Path) -> None:
    assert open_store(tmp_path).model().to_bytes() == BASE.to_bytes()


def test_a_model_with_feedback_has_the_bytes_of_one_trained_on_the_rows(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert learn(store, "a", FIRST, SECOND) == Outcome(2)
    assert learn(store, "b", THIRD) == Outcome(1)
    assert store.model().to_bytes() == train([FIRST, SECOND, THIRD]).to_bytes()
    assert store.model().to_bytes() != train([FIRST, SECOND]).to_bytes()


def test_feedback_is_replayed_when_a_store_is_opened_again(tmp_path: Path) -> None:
    learn(open_store(tmp_path), "a", FIRST)
    assert open_store(tmp_path).model().to_bytes() == train([FIRST]).to_bytes()


def test_another_store_of_the_folder_sees_feedback_at_once(tmp_path: Path) -> None:
    first, second = open_store(tmp_path), open_store(tmp_path)
    learn(first, "a", FIRST)
    learn(second, "b", SECOND)
    expected = train([FIRST, SECOND]).to_bytes()
    assert first.model().to_bytes() == second.model().to_bytes() == expected


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("reopened", [False, True])
def test_an_id_counts_once(tmp_path: Path, compacted: bool, reopened: bool) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST)
    if compacted:
        store.compact()
    if reopened:
        store = open_store(tmp_path)
    reordered = dict(reversed(FIRST.items()))
    assert learn(store, "a", reordered) == Outcome(0, repeated=True)
    refused = [learn(store, "a", SECOND), forget(store, "a", FIRST), learn(store, "a", FIRST, FIRST)]
    assert [(type(each.error), str(each.error)) for each in refused] == [(DataError, OTHER_CONTENT)] * 3
    assert store.model().to_bytes() == train([FIRST]).to_bytes()


def test_an_id_counts_once_within_a_group(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    change = Change("a", "learn", [FIRST])
    outcomes = store.apply([change, change, change._replace(rows=[SECOND])])
    assert outcomes[:2] == [Outcome(1), Outcome(0, repeated=True)]
    assert str(outcomes[2].error) == OTHER_CONTENT
    assert store.model().to_bytes() == train([FIRST]).to_bytes()


def test_the_same_rows_under_another_id_count_again(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert (learn(store, "a", FIRST), learn(store, "b", FIRST)) == (Outcome(1), Outcome(1))
    assert store.model().to_bytes() == train([FIRST, FIRST]).to_bytes()


def test_forgetting_leaves_no_trace_in_the_model(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    new_class = {**SECOND, "label": "eggs", "colour": "green"}
    learn(store, "a", FIRST, new_class)
    assert forget(store, "b", new_class) == Outcome(1)
    assert store.model().to_bytes() == train([FIRST]).to_bytes()
    store.compact()
    assert forget(store, "c", FIRST) == Outcome(1)
    assert open_store(tmp_path).model().to_bytes() == BASE.to_bytes()


def test_rows_that_were_never_learned_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST)
    size = os.path.getsize(tmp_path / "journal")
    outcome = forget(store, "b", FIRST, SECOND)
    assert (outcome.rows, type(outcome.error), str(outcome.error)) == (0, MergeError, NEVER_LEARNED)
    assert os.path.getsize(tmp_path / "journal") == size
    assert not [entry for entry in store.history() if entry["id"] == "b"]
    assert forget(store, "b", FIRST) == Outcome(1)  # a refused id may be used again


def test_changes_of_a_group_apply_in_order(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    changes = [
        Change("early", "forget", [FIRST]),
        Change("a", "learn", [FIRST]),
        Change("late", "forget", [FIRST]),
        Change("again", "forget", [FIRST]),
        Change("b", "learn", [SECOND]),
    ]
    outcomes = store.apply(changes)
    assert [outcome.rows for outcome in outcomes] == [0, 1, 1, 0, 1]
    assert [str(outcomes[i].error) for i in (0, 3)] == [NEVER_LEARNED] * 2
    assert store.model().to_bytes() == train([SECOND]).to_bytes()


def test_a_refused_change_does_not_refuse_the_others_of_its_group(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    outcomes = store.apply(
        [
            Change("a", "learn", [FIRST, {**SECOND, "label": None}]),
            Change("b", "learn", [SECOND]),
            Change("c", "learn", [{"text": "x", "label": "ham"}]),
            Change("d", "learn", []),
            Change("", "learn", [FIRST]),
            Change("e", "learn", [{**FIRST, "text": {1}}]),
            Change("f", "unlearn", [FIRST]),  # type: ignore[arg-type]
        ]
    )
    assert outcomes[1] == Outcome(1)
    assert [str(each.error) for each in outcomes if each.error] == [
        "The label is missing in 1 of the first 2 rows (first: row 1). Leave such rows out; of a file, "
        "weigh.open(..., drop_missing_labels=True) does that.",
        "The rows lack the column 'colour', 'size' that the model was trained on; they have 'text'. Use None "
        "for missing values.",
        "Feedback must be a list of at least one row, each a mapping of columns to values.",
        "The id of a change must be a text of at least one character.",
        "The rows cannot be kept as JSON: Object of type set is not JSON serializable. Give texts, numbers, "
        "true, false, null, and lists of these; dates as text.",
        "A change must be 'learn' or 'forget', got 'unlearn'.",
    ]
    assert store.model().to_bytes() == train([SECOND]).to_bytes()


def test_a_long_journal_is_compacted_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MAX_JOURNAL_TAIL", 2000)
    store = open_store(tmp_path)
    sizes = []
    for number in range(60):
        learn(store, f"{number}", make_row(number))
        sizes.append(os.path.getsize(tmp_path / "journal"))
    # Each change leaves 34 bytes, the keys and marks of its id and its content.
    assert max(sizes) < 2500 + 60 * 34
    assert sum(after < before for before, after in itertools.pairwise(sizes)) >= 3
    assert b"row1 " not in (tmp_path / "journal").read_bytes()
    assert open_store(tmp_path).model().to_bytes() == train([make_row(n) for n in range(60)]).to_bytes()


def test_the_state_file_is_the_model(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST)
    store.compact()
    assert weigh.load(tmp_path / "model.weigh").to_bytes() == train([FIRST]).to_bytes()


def test_an_unchanged_model_costs_one_stat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST)
    model = store.model()
    calls: list[object] = []
    real_stat = os.stat
    monkeypatch.setattr(
        os, "stat", lambda path, **options: (calls.append(path), real_stat(path, **options))[1]
    )
    monkeypatch.setattr(os, "open", lambda *arguments: pytest.fail("a file was opened"))
    assert store.model() is model
    assert calls == [os.fspath(tmp_path / "journal")]


def test_threads_share_a_store(tmp_path: Path) -> None:
    store = open_store(tmp_path)

    def work(first: int) -> None:
        for number in range(first, first + 10):
            learn(store, f"{number}", make_row(number))
            store.model()

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = [make_row(first + i) for first in (0, 100, 200) for i in range(10)]
    assert store.model().to_bytes() == train(rows).to_bytes()


def test_files_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "feedback" / "mails"
    old_mask = os.umask(0)
    try:
        store = open_store(folder)
        learn(store, "a", FIRST, who="anna")
        store.compact()
        store.erase("nobody")
        learn(store, "b", SECOND, who="anna")
    finally:
        os.umask(old_mask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert {name.split("-")[0] for name in modes} == {
        *("base", "history.jsonl", "journal", "journal.lock", "journal.queue", "model.weigh")
    }
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


ROWS = [{"a": 1.0, "b": 2.0, "y": "p"}, {"a": 2.0, "b": 1.0, "y": "q"}, {"a": 2.5, "b": 0.0, "y": "p"}] * 20


@pytest.mark.parametrize(
    ("learner", "sentence"),
    [
        (
            weigh.LogisticRegression(),
            "mails is a logistic model, which cannot learn more rows: its weights depend on all rows "
            "together. ",
        ),
        (
            weigh.Perceptron(),
            "mails is a perceptron model, which cannot learn more rows: its file has the weights and not the "
            "state of their training. ",
        ),
        (
            weigh.Threshold(),
            "mails is a threshold model, which cannot learn more rows: its cut depends on all rows "
            "together. ",
        ),
    ],
)
def test_models_that_cannot_learn_are_refused(tmp_path: Path, learner: object, sentence: str) -> None:
    model = learner.fit(ROWS, "y").model_  # type: ignore[attr-defined]
    with pytest.raises(Unsupported) as caught:
        FeedbackStore.open(tmp_path / "mails", model, DIGEST)
    assert str(caught.value) == sentence + (
        "Train one that can, on the rows that it should know: weigh fit DATA... --learner naive-bayes (or "
        "joint)."
    )
    assert not (tmp_path / "mails").exists()


@pytest.mark.filterwarnings("ignore::weigh.errors.UselessScores")
def test_calibrated_models_are_refused(tmp_path: Path) -> None:
    model = weigh.calibrate(BASE, [make_row(n) for n in range(1000, 1040)], "label")
    with pytest.raises(Unsupported) as caught:
        FeedbackStore.open(tmp_path, model, DIGEST)
    assert str(caught.value).startswith(
        f"{tmp_path.name} is a calibrated model, which cannot learn more rows: its calibration is valid only "
        "for the rows it was fitted to."
    )


def test_models_without_rows_or_label_are_refused(tmp_path: Path) -> None:
    stated = weigh.BayesModel.from_parameters(
        class_prior={"a": 0.5, "b": 0.5}, columns={"x": {"a": (0, 1), "b": (1, 1)}}
    )
    unlabelled = weigh.NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).model_
    for model, sentence in [
        (stated, "x is a model from stated numbers. It has no rows; fit one from rows instead."),
        (
            unlabelled,
            "x does not name its label column, so rows of feedback cannot say their label. Train it on a "
            "table with a label column.",
        ),
    ]:
        with pytest.raises(Unsupported) as caught:
            FeedbackStore.open(tmp_path / "x", model, DIGEST)
        assert str(caught.value) == sentence


def test_a_joint_model_learns_and_forgets(tmp_path: Path) -> None:
    rows = [{"a": "x", "b": "u", "y": True}, {"a": "y", "b": "v", "y": False}] * 5
    more = [{"a": "x", "b": "w", "y": False}, {"a": "z", "b": "u", "y": True}]
    learner = weigh.JointBayes(columns="category")
    store = FeedbackStore.open(tmp_path, learner.fit(rows, "y").model_, DIGEST)
    assert learn(store, "a", *more) == Outcome(2)
    assert forget(store, "b", more[1]) == Outcome(1)
    expected = learner.fit([*rows, more[0]], "y").model_.to_bytes()
    assert store.model().to_bytes() == open_again(tmp_path, learner.fit(rows, "y").model_) == expected
    wrong = learn(store, "c", {**more[0], "y": 1})
    assert isinstance(wrong.error, LabelError)
    assert str(wrong.error) == "The label 1 is a number, but the classes are False, True. Give true or false."


def open_again(folder: Path, base: object) -> bytes:
    return FeedbackStore.open(folder, base, DIGEST).model().to_bytes()  # type: ignore[arg-type]
