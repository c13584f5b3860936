"""A language server from its start to its end: on standard input and output, or for whoever connects."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from weigh.apps.spelling.language_server.settings import ServerSettings
from weigh.atomic_files import error_reason
from weigh.errors import FileError, Unsupported

if TYPE_CHECKING:
    from weigh.apps.spelling.language_server.server import SpellServer

Address = tuple[str, int]
ServerFactory = Callable[[], "SpellServer"]


def serve(
    model: str | None, tcp: Address | None = None, ready: Callable[[str, int], None] | None = None
) -> None:
    """Answer an editor until it says good-bye or hangs up.

    `model` is a speller's file, used unless the editor's settings name another. With `tcp` any number of
    editors may connect to this host and port; `ready` is then told where the server listens, and only a
    signal ends it.
    """
    # An editor's relative paths lie in the folder that it has open, the command's in the current one.
    maker = make_server_factory(ServerSettings(None if model is None else os.path.abspath(model)))
    # Whatever they log may have the text of a document in it.
    for name in ("pygls", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    if tcp is not None:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve_tcp(maker, tcp, ready or (lambda host, port: None)))
        return
    # A thread waits for standard input and could not be told to stop; there is nothing to be put in order.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The conversation ends by closing its output, and nothing else may be written into it.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, contextlib.redirect_stdout(sys.stderr):
        maker().start_io(sys.stdin.buffer, out)


def make_server_factory(wishes: ServerSettings) -> ServerFactory:
    """What makes a server for each editor."""
    try:
        from weigh.apps.spelling.language_server.server import SpellServer
    except ModuleNotFoundError as missing:
        raise Unsupported(
            f"Serving editors needs {missing.name}, which is not installed. "
            "In the folder of weigh: pip install '.[spell]'."
        ) from missing
    return lambda: SpellServer(wishes)


async def _serve_tcp(maker: ServerFactory, tcp: Address, ready: Callable[[str, int], None]) -> None:
    async with listen(maker, tcp) as place:
        ready(*place)
        await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def listen(maker: ServerFactory, tcp: Address) -> AsyncIterator[Address]:
    """Answer whoever connects as long as the block lasts; port 0 is any that is free."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _serve_connection(maker(), reader, writer)

    host, port = tcp
    try:
        listener = await asyncio.start_server(connected, host, port)
    except OSError as error:
        raise FileError(f"{host}:{port}: the server cannot listen there: {error_reason(error)}.") from error
    try:
        yield listener.sockets[0].getsockname()[:2]
    finally:
        # Not waited for: from Python 3.12 on that would last until the last editor hangs up.
        listener.close()


async def _serve_connection(
    server: SpellServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer one editor; its good-bye ends the conversation and not the server."""
    from pygls.io_ import run_async

    server.protocol.set_writer(writer)
    try:
        await run_async(threading.Event(), reader, server.protocol, error_handler=server.report_server_error)
    except (SystemExit, ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        server.shutdown()
        writer.close()
