"""A server from its start to its end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from weigh.apps.mail.serving.place import listening
from weigh.apps.mail.serving.server import SocketServer
from weigh.apps.mail.serving.service import Service
from weigh.errors import FileError, Unsupported
from weigh.replacing import reason

Address = tuple[str, int]
# More than processors, so that a message is judged while another is read from the disk or written to it.
THREADS = 4


@dataclass(frozen=True)
class Route:
    """Where mail is taken by SMTP, and where it goes."""

    taken: Address
    passed: Address


@dataclass(frozen=True)
class Places:
    """Where a server listens: its socket and, if it takes mail by SMTP, its address."""

    socket: str
    smtp: Address | None = None

    def to_dict(self) -> dict[str, str]:
        """The places for JSON."""
        smtp = {} if self.smtp is None else {"smtp": written(self.smtp)}
        return {"socket": self.socket, **smtp}

    def __str__(self) -> str:
        smtp = "" if self.smtp is None else f", and for SMTP at {written(self.smtp)}"
        return f"Listening at {self.socket}{smtp}."


def written(address: Address) -> str:
    """HOST:PORT."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def serve(service: Service, path: str, route: Route | None, ready: Callable[[Places], None]) -> None:
    """Answer until the process is told to stop by SIGTERM or SIGINT."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stopped.set)
    async with serving(service, path, route) as places:
        ready(places)
        await stopped.wait()


@contextlib.asynccontextmanager
async def serving(service: Service, path: str, route: Route | None = None) -> AsyncIterator[Places]:
    """A server that answers as long as the block lasts, and then finishes what it has begun."""
    with listening(path) as listener, ThreadPoolExecutor(THREADS, "weigh-mail") as pool:
        server = SocketServer(service, pool)
        await server.start(listener)
        try:
            async with _filtering(service, route) as smtp:
                yield Places(path, smtp)
        finally:
            await server.stop()


@contextlib.asynccontextmanager
async def _filtering(service: Service, route: Route | None) -> AsyncIterator[Address | None]:
    if route is None:
        yield None
        return
    try:
        from weigh.apps.mail.serving.smtp import SmtpServer
    except ModuleNotFoundError as missing:
        raise Unsupported(
            f"Filtering by SMTP needs {missing.name}, which is not installed. "
            "In the folder of weigh: pip install '.[mail]'."
        ) from missing
    server = SmtpServer(service, route.passed)
    try:
        try:
            taken = await server.start(route.taken)
        except OSError as error:
            raise FileError(
                f"{written(route.taken)}: the server cannot listen there: {reason(error)}."
            ) from error
        yield taken
    finally:
        await server.stop()
