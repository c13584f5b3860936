"""The local socket: many clients at once, none of which can disturb the others."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from concurrent.futures import ThreadPoolExecutor

from weigh.apps.mail.serving.protocol import (
    LONGEST_LINE,
    LONGEST_MESSAGE,
    NotUnderstood,
    accepted,
    refused,
    request_of,
    too_long,
)
from weigh.apps.mail.serving.service import Service
from weigh.errors import WeighError

# Seconds: between requests, for all of a message, for an answer to be taken, and for the last of them.
IDLE = 600.0
ARRIVAL = 60.0
DEPARTURE = 60.0
GRACE = 10.0
MOST_CLIENTS = 64
_BLOCK = 1 << 16


class SocketServer:
    """Answers requests of `protocol` on a listening socket with what `service` says."""

    def __init__(self, service: Service, pool: ThreadPoolExecutor) -> None:
        self._service = service
        self._pool = pool
        self._clients: set[asyncio.Task[None]] = set()
        self._answering: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, listener: socket.socket) -> None:
        """Accept clients from now on."""
        self._server = await asyncio.start_unix_server(self._meet, sock=listener, limit=_BLOCK)

    async def stop(self) -> None:
        """Accept no more, hang up on those who have not finished asking, and finish the others' answers."""
        if self._server is not None:
            self._server.close()
        for client in self._clients - self._answering:
            client.cancel()
        if self._clients:
            _, late = await asyncio.wait(self._clients, timeout=GRACE)
            for client in late:
                client.cancel()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = asyncio.current_task()
        assert client is not None
        self._clients.add(client)
        # What becomes of one client is no matter of the others, nor of the log: it would tell of its mail.
        with contextlib.suppress(OSError, EOFError, TimeoutError, asyncio.CancelledError):
            if len(self._clients) > MOST_CLIENTS:
                writer.write(refused(f"The server has {MOST_CLIENTS} clients already."))
            else:
                await self._converse(client, reader, writer)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            writer.close()
            await writer.wait_closed()
        self._clients.discard(client)

    async def _converse(
        self, client: asyncio.Task[None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while self._server is not None and self._server.is_serving():
            try:
                async with asyncio.timeout(IDLE):
                    line = await _first_line(reader)
                if not line:
                    return
                command, length = request_of(line)
                async with asyncio.timeout(ARRIVAL):
                    content = await _message(reader, length)
            except NotUnderstood as fault:
                await _sent(writer, refused(str(fault)))
                return
            self._answering.add(client)
            try:
                await _sent(writer, await self._answer(command, content))
            finally:
                self._answering.discard(client)

    async def _answer(self, command: str, content: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        try:
            return accepted(await loop.run_in_executor(self._pool, self._service.answer, command, content))
        except WeighError as refusal:
            return refused(str(refusal))
        except Exception as fault:
            # An error's text could quote the message.
            return refused(f"The server failed at this message ({type(fault).__name__}).")


async def _first_line(reader: asyncio.StreamReader) -> bytes:
    """The first line of a request; nothing at the end of a conversation."""
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        line = end.partial
        if line and len(line) <= LONGEST_LINE:
            raise NotUnderstood("The first line has no end. End it with a line feed.") from None
    except asyncio.LimitOverrunError:
        line = b"\n" * (LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise NotUnderstood(f"The first line is longer than {LONGEST_LINE} bytes.")
    return line


async def _message(reader: asyncio.StreamReader, length: int | None) -> bytes:
    if length is not None:
        return await reader.readexactly(length)
    content = bytearray()
    while block := await reader.read(_BLOCK):
        content += block
        if len(content) > LONGEST_MESSAGE:
            raise too_long()
    return bytes(content)


async def _sent(writer: asyncio.StreamWriter, answer: bytes) -> None:
    async with asyncio.timeout(DEPARTURE):
        writer.write(answer)
        await writer.drain()
