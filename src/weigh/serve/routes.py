"""The addresses of the API, found by looking up a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from starlette.routing import BaseRoute, Match

from weigh import errors
from weigh.serve import endpoints
from weigh.serve.endpoints import Call, Handler
from weigh.serve.http.problems import Problem, to_problem, unknown_path, wrong_method
from weigh.serve.http.reply import Receive, Scope, Send, route_path
from weigh.serve.service import Service

Methods: TypeAlias = Mapping[str, Handler]

PATHS: dict[str, Methods] = {
    "/v1/models": {"GET": endpoints.list_models},
    "/health/live": {"GET": endpoints.report_live},
    "/health/ready": {"GET": endpoints.report_ready},
    "/metrics": {"GET": endpoints.get_metrics},
    "/openapi.json": {"GET": endpoints.get_openapi},
}
MODEL_PREFIX = "/v1/models/"
MODEL_PATHS: dict[str, Methods] = {
    "": {"GET": endpoints.get_model},
    "report": {"GET": endpoints.get_report},
    "predict": {"POST": endpoints.predict},
    "explain": {"POST": endpoints.explain},
    "learn": {"POST": endpoints.learn},
    "forget": {"POST": endpoints.forget},
}


class ApiRoute(BaseRoute):
    """All addresses of the API as one route."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def matches(self, scope: Scope) -> tuple[Match, dict[str, Any]]:
        """Return whether an address belongs to the API."""
        path = route_path(scope)
        if scope["type"] != "http" or not (path in PATHS or path.startswith("/v1/")):
            return Match.NONE, {}
        return Match.FULL, {"weigh.path": path}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        try:
            methods, model = _find_methods(scope["weigh.path"])
            handler = methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
            if handler is None:
                raise wrong_method(methods)
            scope["weigh.endpoint"] = handler.__name__
            reply = await handler(Call(self._service, model, scope, receive))
        except Problem as problem:
            reply = problem.to_reply()
        except (errors.WeighError, errors.WeighWarning) as error:  # a warning, if filters make it an error
            reply = to_problem(error).to_reply()
            if reply.status >= 500:
                self._service.log.event(str(error))
        await reply.send(send)


async def answer_unknown_path(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer requests for addresses that neither the API nor the page has."""
    del receive
    if scope["type"] == "http":
        await unknown_path().to_reply().send(send)
    else:
        await send({"type": "websocket.close", "code": 1000})


def _find_methods(path: str) -> tuple[Methods, str]:
    """Return the handlers of an address by method, and the name of the model in it."""
    if not path.startswith(MODEL_PREFIX):
        name, methods = "", PATHS.get(path)
    else:
        name, slash, action = path.removeprefix(MODEL_PREFIX).partition("/")
        methods = MODEL_PATHS.get(action) if name and bool(action) == bool(slash) else None
    if methods is None:
        raise unknown_path()
    return methods, name
