"""Running the language server on standard input and output, or over TCP."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from weigh.apps.spelling.language_server.message_reader import MessageReader
from weigh.apps.spelling.language_server.settings import ServerSettings
from weigh.atomic_files import error_reason
from weigh.errors import FileError, Unsupported

if TYPE_CHECKING:
    from typing import BinaryIO

    from weigh.apps.spelling.language_server.server import SpellServer

Address = tuple[str, int]
ServerFactory = Callable[[], "SpellServer"]


def serve(
    model: str | None, tcp: Address | None = None, on_listening: Callable[[str, int], None] | None = None
) -> None:
    """Serve an editor until it exits or disconnects.

    `model` is the file of a speller, unless the editor's settings name another. With `tcp`, any number of
    editors may connect to this host and port until a signal stops the server; `on_listening` is called with
    the address.
    """
    # Relative paths of the command line refer to the current folder, those of an editor to its open folder.
    make_server = make_server_factory(ServerSettings(None if model is None else os.path.abspath(model)))
    # Their log messages may quote documents.
    for name in ("pygls", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    if tcp is not None:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve_tcp(make_server, tcp, on_listening or (lambda host, port: None)))
        return
    # The thread that reads standard input cannot be interrupted, and there is nothing to clean up.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # pygls closes its output at the end, and other prints must not get into it.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, contextlib.redirect_stdout(sys.stderr):
        asyncio.run(_serve_stdio(make_server(), sys.stdin.fileno(), out))


def make_server_factory(settings: ServerSettings) -> ServerFactory:
    """Return a function that makes one server per editor."""
    try:
        from weigh.apps.spelling.language_server.server import SpellServer
    except ModuleNotFoundError as missing:
        raise Unsupported(
            f"The language server needs {missing.name}, which is not installed. "
            "In the folder of weigh: pip install '.[spell]'."
        ) from missing
    return lambda: SpellServer(settings)


async def _serve_stdio(server: SpellServer, stdin: int, out: BinaryIO) -> None:
    from pygls.io_ import StdoutWriter

    loop = asyncio.get_running_loop()
    server.protocol.set_writer(StdoutWriter(out))
    await _serve_messages(server, lambda size: loop.run_in_executor(server.thread_pool, os.read, stdin, size))


async def _serve_tcp(
    make_server: ServerFactory, tcp: Address, on_listening: Callable[[str, int], None]
) -> None:
    async with listen(make_server, tcp) as address:
        on_listening(*address)
        await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def listen(make_server: ServerFactory, tcp: Address) -> AsyncIterator[Address]:
    """Serve every connection for the duration of the block; port 0 selects a free port."""

    async def on_connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _serve_connection(make_server(), reader, writer)

    host, port = tcp
    try:
        listener = await asyncio.start_server(on_connect, host, port)
    except OSError as error:
        raise FileError(f"The server cannot listen at {host}:{port}: {error_reason(error)}.") from error
    try:
        yield listener.sockets[0].getsockname()[:2]
    finally:
        # Without wait_closed, which from Python 3.12 on waits until the last editor disconnects.
        listener.close()


async def _serve_connection(
    server: SpellServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Serve one editor; its exit message ends the connection but not the process."""
    server.protocol.set_writer(writer)
    try:
        await _serve_messages(server, reader.read)
    finally:
        writer.close()


async def _serve_messages(server: SpellServer, read: Callable[[int], Awaitable[bytes]]) -> None:
    """Handle the messages of an editor until it exits or its stream ends."""
    messages = MessageReader(read, server.log_message)
    try:
        while (body := await messages.next_body()) is not None:
            server.handle_body(body)
    # The exit message raises SystemExit.
    except (SystemExit, ConnectionError):
        pass
    finally:
        server.shutdown()
