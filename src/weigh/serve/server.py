"""Run the service: its socket, its processes, its signals, and the lines that it prints when it starts."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.supervisors.multiprocess import Multiprocess

from weigh import errors
from weigh.result import Facts
from weigh.serve.app import SECONDS_BETWEEN_LOOKS, create_app
from weigh.serve.http.access import Access, TokenFile, is_loopback
from weigh.serve.http.limits import Limits
from weigh.serve.http.protocol import BoundedConfig, BoundedProtocol
from weigh.serve.logs import ServerLog

BACKLOG = 2048
KEEP_ALIVE_SECONDS = 15
DRAIN_SECONDS = 30
HEALTH_SECONDS = 10
MAX_LISTED_CLASSES = 4


@dataclass(frozen=True)
class ServerSettings:
    """What a server process needs to know; see `create_app` for the first fields."""

    models: Sequence[tuple[str, str]]  # names, empty for that of the file, and paths
    feedback: str | None = None
    rebase: bool = False
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    token_file: str | None = None
    allowed_hosts: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    log_format: str = "text"
    metrics_folder: str | None = None
    parent: int | None = None  # the process that started this one, and without which it stops

    def create_app(self) -> Starlette:
        """Return the application of one process."""
        # Clients get the notes that concern them in their answers.
        warnings.filterwarnings("ignore", category=errors.WeighWarning)
        if self.parent is not None:
            threading.Thread(target=_stop_after, args=(self.parent,), daemon=True).start()
        log = ServerLog(self.log_format)
        tokens = None if self.token_file is None else TokenFile(self.token_file, log.event)
        hosts = [*self.allowed_hosts, self.host]
        return create_app(
            self.models,
            self.feedback,
            limits=self.limits,
            access=Access(tokens, hosts),
            rebase=self.rebase,
            log=log,
            metrics_folder=self.metrics_folder,
            handles_sighup=True,
        )


@dataclass(frozen=True)
class StartFacts(Facts):
    """What a server says when it starts."""

    address: str
    models: tuple[dict[str, Any], ...]
    tokens: str
    feedback: str | None
    workers: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"Serving at {self.address} with {self.workers} process{'es' * (self.workers > 1)}"]
        lines += [f"  {_format_model(model)}" for model in self.models]
        lines.append(f"Page: {self.address}/")
        lines.append(f"Tokens: {self.tokens}")
        lines.append(f"Feedback: {self.feedback or 'none, so the models do not learn (--feedback DIR)'}")
        lines += [f"Note: {note}" for note in self.notes]
        lines.append("Ctrl-C stops the server; SIGHUP loads changed models now.")
        return "\n".join(lines)


def _format_model(model: dict[str, Any]) -> str:
    classes = model.get("classes")
    if classes is None:
        return f"{model['name']}: {model['type']}, predicts numbers"
    listed = ", ".join(map(str, classes[:MAX_LISTED_CLASSES]))
    more = f" and {len(classes) - MAX_LISTED_CLASSES:,} more" if len(classes) > MAX_LISTED_CLASSES else ""
    stale = "; feedback is of an earlier file (--rebase)" if model["feedback"] == "stale" else ""
    return f"{model['name']}: {model['type']}, classes {listed}{more}{stale}"


def serve(settings: ServerSettings, show: Callable[[StartFacts], None]) -> None:
    """Serve models until SIGTERM or SIGINT; `show` gets what the server says when it listens."""
    if settings.token_file is None and not is_loopback(settings.host):
        raise errors.ParameterError(
            f"{settings.host} can be reached from other machines, and without tokens everybody there could "
            "use the models. Give a file of tokens (--token-file), or listen on 127.0.0.1."
        )
    with _metrics_folder() as folder, contextlib.closing(_listen(settings)) as listener:
        settings = replace(settings, metrics_folder=folder, port=listener.getsockname()[1])
        app = settings.create_app()
        if hasattr(signal, "SIGHUP"):
            # Until the application handles it, there is nothing to look for.
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        show(_start_facts(settings, app))
        # Feedback has been carried over; the other processes find it done.
        settings = replace(settings, rebase=False)
        if settings.workers == 1:
            _OneProcess(_server_config(settings, app)).run(sockets=[listener])
        else:
            del app
            settings = replace(settings, parent=os.getpid())
            _WorkerProcesses(_server_config(settings, settings.create_app), sockets=[listener]).run()


def _server_config(settings: ServerSettings, app: Any) -> uvicorn.Config:
    return BoundedConfig(
        settings.limits,
        app,
        factory=settings.workers > 1,
        workers=settings.workers,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_worker_healthcheck=HEALTH_SECONDS,
    )


class _OneProcess(uvicorn.Server):  # type: ignore[misc]
    """A process that returns when it has stopped, and is not ended by the signal that stopped it."""

    should_exit: bool

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, and on a second Ctrl-C at once."""
        del frame
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


class _WorkerProcesses(Multiprocess):  # type: ignore[misc]
    """Processes that share a socket; SIGHUP makes each look for changed models instead of restarting it."""

    def handle_hup(self) -> None:
        """Pass SIGHUP on."""
        for process in self.processes:
            if process.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGHUP)


def _stop_after(parent: int) -> None:
    """Stop this process when its parent was killed, which would have stopped it otherwise."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def _metrics_folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="weigh-serve-", ignore_cleanup_errors=True) as folder:
        yield folder


def _listen(settings: ServerSettings) -> socket.socket:
    """Return the listening socket, or raise an error that says why there is none."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number and number > 0 else errors.first_line(error)
        raise errors.ParameterError(
            f"The server cannot listen on {settings.host}, port {settings.port}: {reason}. Choose another "
            "address or port, or stop the program that uses it."
        ) from error
    listener.set_inheritable(True)
    return listener


def _start_facts(settings: ServerSettings, app: Starlette) -> StartFacts:
    service = app.state.service
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    tokens, notes = service.access.tokens, []
    if tokens is None:
        needed = "none needed, because only programs on this machine reach the server"
    else:
        needed = f"needed, from {settings.token_file} (Authorization: Bearer TOKEN)"
        if tokens.is_public:
            notes.append(f"other users may read {settings.token_file}; chmod 600 it.")
    if not is_loopback(settings.host):
        notes.append("tokens and texts travel in the clear; put a proxy with TLS in front.")
    return StartFacts(
        f"http://{host}:{settings.port}",
        tuple(served.describe() for served in service.catalog),
        needed,
        settings.feedback,
        settings.workers,
        tuple(notes),
    )
