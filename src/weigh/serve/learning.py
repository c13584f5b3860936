"""Feedback on the served models: their stores, and why some models have none."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from weigh import errors
from weigh.model.base import BaseModel
from weigh.model.count_model import CountModel
from weigh.serve.feedback.change import Change, Outcome
from weigh.serve.feedback.group_commit import GroupCommitter, TooManyChanges
from weigh.serve.feedback.store import FeedbackStore
from weigh.serve.http.limits import RETRY_AFTER
from weigh.serve.http.problems import Problem


class ModelFeedback:
    """The feedback on one model; concurrent changes are written together."""

    def __init__(self, store: FeedbackStore) -> None:
        self._store = store
        self._committer = GroupCommitter(store)

    @property
    def is_stale(self) -> bool:
        """Whether the feedback began from another model file than the one that is served."""
        return self._store.is_stale

    def model(self) -> CountModel:
        """Return the model with everything acknowledged; the served file alone if the feedback is stale."""
        return self._store.model()

    async def submit(self, change: Change) -> Outcome:
        """Apply a change; it is on disk when this returns."""
        try:
            return await self._committer.submit(change)
        except TooManyChanges as error:
            raise Problem(503, str(error), [RETRY_AFTER]) from None

    async def close(self) -> None:
        """Write the changes that wait, and take no more."""
        await self._committer.close()


class CannotLearn:
    """Stands for the feedback on a model that cannot learn; `error` says why."""

    is_stale = False

    def __init__(self, model: BaseModel, error: errors.Unsupported) -> None:
        self._model, self.error = model, error

    def model(self) -> BaseModel:
        """Return the served model."""
        return self._model

    async def submit(self, change: Change) -> Outcome:
        """Refuse a change."""
        del change
        raise self.error

    async def close(self) -> None:
        """Do nothing."""


def feedback_opener(
    folder: str | os.PathLike[str], *, rebase: bool
) -> Callable[[str, BaseModel, str], ModelFeedback | CannotLearn]:
    """Return the function that opens the feedback on a model in a folder of its name.

    With `rebase`, feedback that began from another file is carried over when a model is opened first.
    """
    opened: set[str] = set()

    def open_feedback(name: str, model: Any, digest: str) -> ModelFeedback | CannotLearn:
        is_first = name not in opened
        opened.add(name)
        try:
            path = os.path.join(folder, name)
            return ModelFeedback(FeedbackStore.open(path, model, digest, rebase=rebase and is_first))
        except errors.Unsupported as error:
            return CannotLearn(model, error)

    return open_feedback
