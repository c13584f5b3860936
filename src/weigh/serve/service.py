"""What all handlers of requests share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from weigh.serve.catalog import ModelCatalog
from weigh.serve.http.access import Access
from weigh.serve.http.limits import Limits
from weigh.serve.logs import ServerLog
from weigh.serve.metrics import Metrics


@dataclass(eq=False)
class Service:
    """The parts of a running service; `is_ready` is False before it starts and while it drains."""

    catalog: ModelCatalog
    limits: Limits = field(default_factory=Limits)
    access: Access = field(default_factory=Access)
    metrics: Metrics = field(default_factory=Metrics)
    log: ServerLog = field(default_factory=ServerLog)
    is_ready: bool = True
    _refresh: asyncio.Task[None] | None = None

    def refresh_soon(self) -> None:
        """Look for changed model files now, also for those that could not be loaded."""
        self._refresh = asyncio.create_task(asyncio.to_thread(self.catalog.refresh, retry=True))
