"""What is done for every request: it is timed, counted and logged, and faults of the server are answered."""

from __future__ import annotations

import time
from typing import Any

from weigh.serve.http.limits import ClientDisconnected
from weigh.serve.http.problems import internal_error
from weigh.serve.http.reply import Message, Receive, Scope, Send
from weigh.serve.service import Service

OTHER = "page"  # the endpoint of requests that the API does not answer


class RecordRequests:
    """ASGI middleware that counts and logs requests, and answers 500 for errors that were not foreseen."""

    def __init__(self, app: Any, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            try:
                await send(message)
            except (OSError, RuntimeError) as error:
                # The transport of a client that was disconnected meanwhile.
                if "closed" in str(error):
                    raise ClientDisconnected from error
                raise

        try:
            await self._app(scope, receive, send_and_note)
        except ClientDisconnected:
            status = status or 499
        except Exception as error:
            self._service.log.failure(scope.get("weigh.endpoint", OTHER), error)
            if not status:
                await internal_error().to_reply().send(send_and_note)
        finally:
            self._record(scope, status, time.perf_counter() - start)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        endpoint, model = scope.get("weigh.endpoint", OTHER), scope.get("weigh.model", "")
        self._service.metrics.observe_request(endpoint, model, status, seconds)
        log = self._service.log.request
        if log is not None:
            client = scope.get("weigh.token", "")
            log(endpoint, model, status, scope.get("weigh.rows", 0), seconds, client)
