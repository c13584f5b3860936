"""Concurrent requests are written in groups; too many are refused, and a shutdown waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.serve.feedback.samples import make_row, open_store, train
from weigh.errors import JournalError
from weigh.serve.feedback import Change, FeedbackStore, GroupCommitter, Outcome, TooManyChanges


class SlowStore(FeedbackStore):
    """A store that waits before it applies a group, and remembers the sizes of the groups."""

    def __init__(self, store: FeedbackStore) -> None:
        self._store = store
        self.sizes: list[int] = []
        self.may_apply = threading.Event()
        self.failure: Exception | None = None

    def apply(self, changes: Sequence[Change]) -> list[Outcome]:
        """Apply changes when the test allows it."""
        self.may_apply.wait()
        self.sizes.append(len(changes))
        if self.failure is not None:
            raise self.failure
        return self._store.apply(changes)


def change(number: int) -> Change:
    return Change(f"{number}", "learn", [make_row(number)])


async def submit_all(committer: GroupCommitter, n: int) -> list[asyncio.Task[Outcome]]:
    """Submit changes, and let each begin to wait."""
    tasks = [asyncio.create_task(committer.submit(change(number))) for number in range(n)]
    await asyncio.sleep(0.05)
    return tasks


def test_changes_that_arrive_meanwhile_are_written_together(tmp_path: Path) -> None:
    store = SlowStore(open_store(tmp_path))

    async def work() -> list[Outcome]:
        committer = GroupCommitter(store)
        first = asyncio.create_task(committer.submit(change(100)))
        await asyncio.sleep(0.05)
        tasks = await submit_all(committer, 40)
        store.may_apply.set()
        outcomes = await asyncio.gather(first, *tasks)
        await committer.close()
        return outcomes

    assert asyncio.run(work()) == [Outcome(1)] * 41
    assert store.sizes == [1, 40]
    expected = train([make_row(number) for number in (*range(40), 100)])
    assert open_store(tmp_path).model().to_bytes() == expected.to_bytes()


def test_too_many_waiting_changes_are_refused(tmp_path: Path) -> None:
    store = SlowStore(open_store(tmp_path))

    async def work() -> str:
        committer = GroupCommitter(store, max_waiting=2)
        tasks = await submit_all(committer, 1)
        tasks += await submit_all(committer, 2)
        with pytest.raises(TooManyChanges) as caught:
            await committer.submit(change(9))
        store.may_apply.set()
        await asyncio.gather(*tasks)
        await committer.close()
        return str(caught.value)

    assert asyncio.run(work()) == (
        "2 changes already wait to be written. Send the change again later, under the same id."
    )


def test_a_shutdown_waits_for_accepted_changes_and_refuses_others(tmp_path: Path) -> None:
    store = SlowStore(open_store(tmp_path))

    async def work() -> list[Outcome]:
        committer = GroupCommitter(store)
        tasks = await submit_all(committer, 3)
        closing = asyncio.create_task(committer.close())
        await asyncio.sleep(0.05)
        with pytest.raises(TooManyChanges, match=r"^The server is stopping\. Send the change again later"):
            await committer.submit(change(9))
        assert not closing.done()
        store.may_apply.set()
        await closing
        return [task.result() for task in tasks]

    assert asyncio.run(work()) == [Outcome(1)] * 3


def test_a_client_that_goes_away_does_not_undo_its_change(tmp_path: Path) -> None:
    store = SlowStore(open_store(tmp_path))

    async def work() -> None:
        committer = GroupCommitter(store)
        tasks = await submit_all(committer, 2)
        tasks[0].cancel()
        await asyncio.sleep(0)
        store.may_apply.set()
        assert await tasks[1] == Outcome(1)
        await committer.close()

    asyncio.run(work())
    assert open_store(tmp_path).model().to_bytes() == train([make_row(0), make_row(1)]).to_bytes()


def test_all_clients_of_a_group_that_cannot_be_written_learn_of_it(tmp_path: Path) -> None:
    store = SlowStore(open_store(tmp_path))

    async def work() -> list[Outcome | BaseException]:
        committer = GroupCommitter(store)
        store.failure = JournalError("No space left.")
        store.may_apply.set()
        failed = await asyncio.gather(*await submit_all(committer, 2), return_exceptions=True)
        store.failure = None
        outcomes = await asyncio.gather(*await submit_all(committer, 2))
        await committer.close()
        return [*failed, *outcomes]

    failed, again, *outcomes = asyncio.run(work())
    assert str(failed) == str(again) == "No space left."
    assert outcomes == [Outcome(1)] * 2
