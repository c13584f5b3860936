"""The service as an ASGI application."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware

from weigh.serve.catalog import ModelCatalog
from weigh.serve.endpoints import ApiRoute
from weigh.serve.limits import LimitRequests, Limits
from weigh.serve.service import Service


def create_app(models: Any, *, limits: Limits | None = None) -> Starlette:
    """Return the ASGI application that serves models.

    Parameters
    ----------
    models : a model, the path of a model file or of a folder of them, a list of these, or a mapping from names
        to models or paths
    limits : see `Limits`
    """
    service = Service(ModelCatalog(models), limits or Limits())
    app = Starlette(
        routes=[ApiRoute(service)], middleware=[Middleware(LimitRequests, limits=service.limits)]
    )
    app.state.service = service
    return app
