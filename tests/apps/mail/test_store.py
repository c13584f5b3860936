"""Tests of the store: every message counts once, under its last label, for all readers."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.apps.mail.sample_mails import counts, expected_image, files, ham, image, spam
from weigh.apps.mail import store as module
from weigh.apps.mail.results import LearnResult, UnlearnResult
from weigh.apps.mail.store import MailStore
from weigh.errors import LabelError, ModelFileError, ParameterError

LEARNERS = ("naive-bayes", "logistic", "perceptron")
HAMS = [ham(number) for number in range(9)]
SPAMS = [spam(number) for number in range(9)]


@pytest.fixture(params=LEARNERS)
def store(request: Any, tmp_path: Path) -> MailStore:
    return MailStore.open(tmp_path / "store", create=True, learner=request.param)


def test_learning_counts_new_messages_once(store: MailStore) -> None:
    assert store.learn([*HAMS, HAMS[0]], "ham") == LearnResult(new=9, known=1)
    assert store.learn(SPAMS, "spam") == LearnResult(new=9)
    assert store.learn(SPAMS, "spam") == LearnResult(known=9)
    assert counts(store) == (9, 9)
    assert image(store) == expected_image(store, [*((m, "ham") for m in HAMS), *((m, "spam") for m in SPAMS)])


def test_a_message_from_a_mailbox_is_recognised(store: MailStore) -> None:
    store.learn(HAMS, "ham")
    from_mailbox = [b"From x\r\nStatus: RO\r\n" + m.replace(b"\n", b"\r\n") + b"\r\n" for m in HAMS]
    assert store.learn(from_mailbox, "ham") == LearnResult(known=9)
    assert store.unlearn(from_mailbox) == UnlearnResult(ham=9)


def test_the_cached_state_follows_the_writes_of_other_stores(store: MailStore) -> None:
    other = MailStore.open(store.folder)
    history: list[tuple[bytes, str]] = []
    image(store)
    for number, writer in enumerate([store, store, other, store, other, other, store]):
        for content, label in ((ham(number), "ham"), (spam(number), "spam")):
            assert writer.learn([content, content], label) == LearnResult(1, 0, 1)
            history.append((content, label))
        if number % 2:
            assert image(store) == expected_image(store, history)
    assert image(store) == image(other) == expected_image(store, history)


def test_a_message_learned_under_the_other_label_moves(store: MailStore) -> None:
    store.learn(HAMS, "ham")
    store.learn(SPAMS, "spam")
    assert store.learn([SPAMS[2], ham(99), HAMS[1]], "ham") == LearnResult(new=1, moved=1, known=1)
    order = [*((m, "ham") for m in HAMS), *((m, "spam") for m in SPAMS if m != SPAMS[2])]
    assert image(store) == expected_image(store, [*order, (SPAMS[2], "ham"), (ham(99), "ham")])
    assert counts(store) == (11, 8)


def test_unlearning_equals_learning_only_the_other_messages(store: MailStore) -> None:
    store.learn(HAMS, "ham")
    store.learn(SPAMS, "spam")
    assert store.unlearn([HAMS[0], SPAMS[3], ham(50), HAMS[0]]) == UnlearnResult(ham=1, spam=1, unknown=2)
    remaining = [*((m, "ham") for m in HAMS[1:]), *((m, "spam") for m in SPAMS if m != SPAMS[3])]
    assert image(store) == expected_image(store, remaining)
    assert image(MailStore.open(store.folder)) == image(store)


def test_unlearning_all_messages_leaves_an_empty_ledger(store: MailStore) -> None:
    empty = image(store)
    store.learn(HAMS, "ham")
    store.fold()
    store.learn(SPAMS, "spam")
    assert image(store) != empty
    store.unlearn([*SPAMS, *HAMS])
    assert image(store) == empty
    store.fold()
    assert image(MailStore.open(store.folder)) == empty
    assert store.learn(HAMS, "ham") == LearnResult(new=9)


def test_other_processes_see_what_was_learned(store: MailStore) -> None:
    reader, writer = MailStore.open(store.folder), MailStore.open(store.folder)
    for number in range(12):
        writer.learn([ham(number)], "ham")
        writer.learn([spam(number)], "spam")
        if number % 3 == 2:
            writer.fold()
        if number % 4 == 3:
            writer.unlearn([ham(number - 1)])
        assert image(reader) == image(writer) == image(MailStore.open(store.folder))


def test_verdicts_follow_what_was_learned(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "store", create=True)
    assert [each.label for each in store.judge([HAMS[0], SPAMS[0], b""])] == ["unsure"] * 3
    assert "no mail yet" in store.status().hint
    store.learn(HAMS, "ham")
    assert "no spam yet" in store.status().hint
    store.learn(SPAMS, "spam")
    assert store.status().hint == ""
    assert [each.label for each in store.judge(iter([ham(70), spam(70)]))] == ["ham", "spam"]
    store.learn(SPAMS, "ham")
    store.learn(HAMS, "spam")
    assert [each.label for each in store.judge([ham(70), spam(70)])] == ["spam", "ham"]


def test_an_explanation_has_feature_names(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "store", create=True)
    store.learn(HAMS, "ham")
    store.learn(SPAMS, "spam")
    assert "pills" in str(store.explain(spam(70)).to_dict())


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_first_judgement_of_a_process_equals_later_ones(tmp_path: Path, learner: str) -> None:
    store = MailStore.open(tmp_path / "store", create=True, learner=learner)
    store.learn([*HAMS, *SPAMS[:3]], "ham")
    store.learn(SPAMS[3:], "spam")
    store.fold()
    store.learn([ham(number) for number in range(20, 40)], "ham")
    store.learn(SPAMS, "spam")
    store.unlearn(HAMS[:5])
    messages = [ham(70), spam(71), HAMS[2], b"", b"Subject: cheap lunch\n\npills at noon"]
    verdicts = store.judge(messages)
    assert len({verdict.score for verdict in verdicts}) == len(messages)
    for message, verdict in zip(messages, verdicts, strict=True):
        assert MailStore.open(store.folder).judge([message]) == [verdict]
        first = MailStore.open(store.folder)
        assert first.explain(message) == first.explain(message) == store.explain(message)


def test_many_messages_are_learned_in_batches_and_folded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_BATCH_MESSAGES", 10)
    monkeypatch.setattr(module, "_MAX_JOURNAL_TAIL", 8_000)
    monkeypatch.setattr(module, "_MAX_BULK_JOURNAL_TAIL", 20_000)
    store, progress = MailStore.open(tmp_path / "store", create=True), list[int]()
    store.learn([spam(0)], "spam")
    assert "ledger" not in files(store)
    store.learn((ham(number) for number in range(95)), "ham", progress=progress.append)
    assert progress == [*range(10, 91, 10), 95]
    assert "ledger" in files(store)
    assert 0 <= store.status().unfolded < 8_000
    assert counts(store) == counts(MailStore.open(store.folder)) == (95, 1)
    assert store.unlearn(ham(number) for number in range(95)) == UnlearnResult(ham=95)
    assert counts(store) == (0, 1)


def test_threads_can_share_a_store(store: MailStore) -> None:
    def work(first: int) -> None:
        for number in range(first, first + 10):
            store.learn([ham(number), ham(500)], "ham")
            store.judge([spam(1)])

    threads = [threading.Thread(target=work, args=(100 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts(store) == counts(MailStore.open(store.folder)) == (41, 0)


actions = st.lists(
    st.tuples(st.sampled_from(["ham", "spam", "unlearn", "fold"]), st.lists(st.integers(0, 5), max_size=4)),
    max_size=8,
)


@pytest.mark.parametrize("learner", LEARNERS)
@given(actions)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_history_equals_learning_the_remaining_messages(
    tmp_path_factory: pytest.TempPathFactory, learner: str, history: list[tuple[str, list[int]]]
) -> None:
    folder = tmp_path_factory.mktemp("stores") / "store"
    stores = [MailStore.open(folder, create=True, learner=learner) for _ in range(2)]
    labels: dict[bytes, str] = {}
    for turn, (action, numbers) in enumerate(history):
        store, contents = stores[turn % 2], [ham(number) for number in numbers]
        if action == "fold":
            store.fold()
        elif action == "unlearn":
            store.unlearn(contents)
            labels = {content: label for content, label in labels.items() if content not in contents}
        else:
            store.learn(contents, action)
            for content in contents:
                if labels.get(content) != action:
                    labels.pop(content, None)
                    labels[content] = action
        assert image(stores[0]) == expected_image(store, labels.items())
    assert image(stores[1]) == image(MailStore.open(folder)) == image(stores[0])


def test_invalid_labels_and_messages_are_rejected_without_quoting_them(store: MailStore) -> None:
    with pytest.raises(LabelError, match="learned as 'ham' or 'spam', got 'Spam'"):
        store.learn(HAMS, "Spam")
    for wrong in (["secret"], b"secret", [HAMS[0], "secret"]):
        with pytest.raises(ParameterError, match="contents must be raw messages") as caught:
            store.learn(wrong, "spam")  # type: ignore[arg-type]
        assert "secret" not in str(caught.value)
    assert counts(store) == (0, 0)


def test_a_message_with_changed_features_cannot_be_unlearned(tmp_path: Path) -> None:
    store = MailStore.open(tmp_path / "store", create=True)
    store.learn(HAMS, "ham")
    before = image(store)
    other = MailStore(store.folder, store.settings)
    object.__setattr__(other.settings, "features", replace(store.settings.features, pairs="sparse"))
    for change in (lambda: other.unlearn(HAMS[:2]), lambda: other.learn(HAMS[:2], "spam")):
        with pytest.raises(ModelFileError, match="different features than when they were learned"):
            change()
    assert image(MailStore.open(store.folder)) == before
