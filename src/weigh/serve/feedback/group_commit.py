"""Group commit: changes that arrive while others are written wait, and are then written together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from weigh import errors
from weigh.serve.feedback.change import Change, Outcome
from weigh.serve.feedback.store import FeedbackStore

MAX_GROUP = 256  # changes in one transaction


class TooManyChanges(errors.WeighError):
    """Too many changes wait to be written, or the server stops; the client may try again later."""


class GroupCommitter:
    """Applies the changes of concurrent requests to a store in groups, in a thread of its own.

    A client that goes away does not undo its change. At most `max_waiting` changes wait.
    """

    def __init__(self, store: FeedbackStore, *, max_waiting: int = 1024) -> None:
        self._store = store
        self._max_waiting = max_waiting
        self._waiting: deque[tuple[Change, asyncio.Future[Outcome]]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._executor = ThreadPoolExecutor(1, "feedback")
        self._is_closed = False

    async def submit(self, change: Change) -> Outcome:
        """Apply a change; it is on disk when this returns. Raises TooManyChanges if it cannot wait."""
        if self._is_closed:
            raise TooManyChanges("The server is stopping. Send the change again later, under the same id.")
        if len(self._waiting) >= self._max_waiting:
            raise TooManyChanges(
                f"{self._max_waiting:,} changes already wait to be written. Send the change again later, "
                "under the same id."
            )
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((change, future))
        if self._task is None:
            self._task = asyncio.create_task(self._commit_waiting())
        return await future

    async def close(self) -> None:
        """Refuse further changes, and wait until those that wait are on disk."""
        self._is_closed = True
        if self._task is not None:
            await self._task
        self._executor.shutdown()

    async def _commit_waiting(self) -> None:
        try:
            while self._waiting:
                n = min(len(self._waiting), MAX_GROUP)
                await self._commit([self._waiting.popleft() for _ in range(n)])
        finally:
            self._task = None

    async def _commit(self, group: Sequence[tuple[Change, asyncio.Future[Outcome]]]) -> None:
        loop = asyncio.get_running_loop()
        try:
            changes = [change for change, _ in group]
            outcomes = await loop.run_in_executor(self._executor, self._store.apply, changes)
        except Exception as error:  # whatever it is, those who wait must learn of it
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), outcome in zip(group, outcomes, strict=True):
            if not future.done():
                future.set_result(outcome)
