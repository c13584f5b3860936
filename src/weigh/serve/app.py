"""The service as an ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware

from weigh.serve.catalog import ModelCatalog
from weigh.serve.http.access import Access, CheckAccess
from weigh.serve.http.limits import LimitRequests, Limits
from weigh.serve.http.requests import RecordRequests
from weigh.serve.logs import NONE, ServerLog
from weigh.serve.metrics import Metrics
from weigh.serve.page import page_routes
from weigh.serve.routes import ApiRoute, answer_unknown_path
from weigh.serve.service import Service

SECONDS_BETWEEN_LOOKS = 1.0


def create_app(
    models: Any,
    feedback: str | os.PathLike[str] | None = None,
    *,
    limits: Limits | None = None,
    access: Access | None = None,
    rebase: bool = False,
    log: ServerLog | None = None,
    metrics_folder: str | None = None,
    handles_sighup: bool = False,
) -> Starlette:
    """Return the ASGI application that serves models, with a page.

    Parameters
    ----------
    models : a model, the path of a model file or of a folder of them, a list of these, or a mapping from
        names to models or paths
    feedback : folder in which what the models learn and forget is kept; None refuses both
    limits : see `Limits`
    access : who may use the service, see `Access`; by default everybody who reaches it under the name
        localhost or an IP address
    rebase : whether to carry feedback over from model files that have been replaced
    log : where requests, events and errors are logged; by default requests are not, and the others go to
        standard error
    metrics_folder : folder that the processes of a server share to sum their counts
    handles_sighup : whether to look for changed files on SIGHUP, besides looking every second
    """
    log = log or ServerLog(NONE)
    catalog = ModelCatalog(models, _feedback_opener(feedback, rebase), log.event)
    service = Service(catalog, limits or Limits(), access or Access(), Metrics(metrics_folder), log)
    app = Starlette(
        routes=[ApiRoute(service), *page_routes(service)],
        middleware=[
            Middleware(RecordRequests, service=service),
            Middleware(CheckAccess, access=service.access),
            Middleware(LimitRequests, limits=service.limits),
        ],
        lifespan=lambda _: _run(service, handles_sighup),
    )
    app.router.redirect_slashes = False
    app.router.default = answer_unknown_path
    app.state.service = service
    return app


@contextlib.asynccontextmanager
async def _run(service: Service, handles_sighup: bool) -> AsyncIterator[None]:
    """Watch the model files while the application runs, and finish the feedback at its end."""
    if handles_sighup and hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, service.refresh_soon)
    watch = asyncio.create_task(_watch_files(service))
    service.is_ready = True
    yield
    service.is_ready = False
    watch.cancel()
    await service.catalog.close()
    service.metrics.publish()


def _feedback_opener(feedback: str | os.PathLike[str] | None, rebase: bool) -> Any:
    if feedback is None:
        return None
    # Imported here because predictions need no journal.
    from weigh.serve.learning import feedback_opener

    return feedback_opener(feedback, rebase=rebase)


async def _watch_files(service: Service) -> None:
    """Load changed models, and share the counts, once a second."""
    work = service.catalog.prepare
    while True:
        try:
            await asyncio.to_thread(work)
            await asyncio.to_thread(service.metrics.publish)
        except Exception as error:
            service.log.failure("watching files", error)
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        work = service.catalog.refresh
