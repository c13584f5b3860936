"""The handlers of the API, and the table that finds them by path and method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from starlette.routing import BaseRoute, Match

from weigh import errors
from weigh.serve.catalog import describe_model
from weigh.serve.limits import read_body
from weigh.serve.problems import Problem, to_problem, unknown_path, wrong_method
from weigh.serve.reply import Receive, Reply, Scope, Send
from weigh.serve.rows import Batch, parse_json_body
from weigh.serve.service import Service


class Call(NamedTuple):
    """A request to the API: the service, the model that its path names, and how its body is read."""

    service: Service
    model: str
    scope: Scope
    receive: Receive

    async def read_batch(self) -> Batch:
        """Return the rows and the options of the body."""
        served = self.service.catalog.get(self.model)
        body = await read_body(self.scope, self.receive, self.service.limits)
        return parse_json_body(body, served.model.schema, self.service.limits)


Handler: TypeAlias = Callable[[Call], Awaitable[Reply]]


async def list_models(call: Call) -> Reply:
    """Answer with the descriptions of all models."""
    return Reply.of_json({"models": [describe_model(served) for served in call.service.catalog]})


async def get_model(call: Call) -> Reply:
    """Answer with the description of a model."""
    return Reply.of_json(describe_model(call.service.catalog.get(call.model)))


async def predict(call: Call) -> Reply:
    """Answer with the predictions for rows."""
    batch = await call.read_batch()
    served = call.service.catalog.get(call.model)
    return Reply.of_json({"predictions": served.predictor.predict(batch.rows)})


async def explain(call: Call) -> Reply:
    """Answer with the evidence for rows."""
    batch = await call.read_batch()
    served = call.service.catalog.get(call.model)
    return Reply.of_json({"explanations": served.predictor.explain(batch.rows)})


async def report_health(call: Call) -> Reply:
    """Answer that the server is alive."""
    return Reply.of_json({"status": "ok"})


Methods: TypeAlias = Mapping[str, Handler]
PATHS: dict[str, Methods] = {
    "/v1/models": {"GET": list_models},
    "/health/live": {"GET": report_health},
    "/health/ready": {"GET": report_health},
}
MODEL_ACTIONS: dict[str, Methods] = {
    "": {"GET": get_model},
    "predict": {"POST": predict},
    "explain": {"POST": explain},
}
MODEL_PREFIX = "/v1/models/"


class ApiRoute(BaseRoute):
    """All addresses of the API in one route, found by looking up a table."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def matches(self, scope: Scope) -> tuple[Match, dict[str, Any]]:
        """Return whether an address belongs to the API."""
        path = scope["path"]
        is_own = scope["type"] == "http" and (path in PATHS or path.startswith("/v1/"))
        return (Match.FULL if is_own else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        try:
            methods, model = _find_methods(scope["path"])
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            if method not in methods:
                raise wrong_method(methods)
            reply = await methods[method](Call(self._service, model, scope, receive))
        except Problem as problem:
            reply = problem.to_reply()
        except errors.WeighError as error:
            reply = to_problem(error).to_reply()
        await reply.send(send)


def _find_methods(path: str) -> tuple[Methods, str]:
    """Return the handlers of an address by method, and the name of the model in it."""
    if path.startswith(MODEL_PREFIX):
        name, slash, action = path.removeprefix(MODEL_PREFIX).partition("/")
        methods = MODEL_ACTIONS.get(action) if name and bool(action) == bool(slash) else None
    else:
        name, methods = "", PATHS.get(path)
    if methods is None:
        raise unknown_path()
    return methods, name
