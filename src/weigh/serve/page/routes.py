"""The addresses of the page: its shell and files, pasted mails, CSV files, and the report beside a model."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial, wraps

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from weigh import errors
from weigh.serve.http.limits import read_body
from weigh.serve.http.problems import Problem, to_problem, unknown_path
from weigh.serve.page.assets import shell, static_files
from weigh.serve.page.batch import BatchAnswer
from weigh.serve.page.mail import decode_mail
from weigh.serve.service import Service

Handler = Callable[[Request], Awaitable[Response]]


def page_routes(service: Service) -> list[Route]:
    """Return the routes of the page; those below /page need the scope read, the others no token."""
    return [
        Route("/", partial(_show_page, 0), name="home"),
        Route("/models/{name}", partial(_show_page, 1), name="model"),
        Route("/static/{name}", _answer_problems(_send_file), name="static"),
        Route("/page/mail", _answer_problems(partial(_decode_mail, service)), methods=["POST"]),
        Route("/page/batch/{name}", _answer_problems(partial(_predict_file, service)), methods=["POST"]),
    ]


async def _show_page(depth: int, request: Request) -> Response:
    return shell(depth).respond(request)


async def _send_file(request: Request) -> Response:
    asset = static_files().get(request.path_params["name"])
    if asset is None:
        raise unknown_path()
    return asset.respond(request)


async def _decode_mail(service: Service, request: Request) -> Response:
    body = await read_body(request.scope, request.receive, service.limits)
    # ASCII JSON, because a mail may hold lone surrogates.
    content = json.dumps(await run_in_threadpool(decode_mail, body))
    return Response(content, media_type="application/json")


async def _predict_file(service: Service, request: Request) -> Response:
    served = service.catalog.get(request.path_params["name"])
    body = await read_body(request.scope, request.receive, service.limits)
    answer = await run_in_threadpool(BatchAnswer, served.predictor.model, body, service.limits)
    headers = {"X-Rows": str(answer.n_rows), "Content-Disposition": "attachment"}
    return StreamingResponse(answer.parts(), media_type="text/csv; charset=utf-8", headers=headers)


def _answer_problems(handler: Handler) -> Handler:
    """Answer problems and errors of the library as the API does."""

    @wraps(handler)
    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except Problem as problem:
            reply = problem.to_reply()
        except errors.WeighError as error:
            reply = to_problem(error).to_reply()
        headers = {name.decode(): value.decode() for name, value in reply.headers}
        return Response(reply.body, reply.status, headers, reply.media_type)

    return answer
