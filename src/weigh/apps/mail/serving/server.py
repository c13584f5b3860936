"""The local socket: many clients at once, none of which can disturb the others."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import signal
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from weigh.apps.mail.serving.service import (
    MAX_LINE_BYTES,
    MAX_MESSAGE_BYTES,
    FilterService,
    ProtocolError,
    encode_failure,
    encode_success,
    message_too_long_error,
    parse_request,
)
from weigh.atomic_files import error_reason
from weigh.errors import FileError, Unsupported, WeighError

# Seconds: between requests, for all of a message, for an answer to be taken, and for the last of them.
IDLE_TIMEOUT = 600.0
RECEIVE_TIMEOUT = 60.0
SEND_TIMEOUT = 60.0
SHUTDOWN_TIMEOUT = 10.0
MAX_CLIENTS = 64
_READ_BYTES = 1 << 16


class SocketServer:
    """Answers requests of `protocol` on a listening socket with what `service` says."""

    def __init__(self, service: FilterService, pool: ThreadPoolExecutor) -> None:
        self._service = service
        self._pool = pool
        self._clients: set[asyncio.Task[None]] = set()
        self._busy_clients: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, listener: socket.socket) -> None:
        """Accept clients from now on."""
        self._server = await asyncio.start_unix_server(self._handle_client, sock=listener, limit=_READ_BYTES)

    async def stop(self) -> None:
        """Accept no more, hang up on those who have not finished asking, and finish the others' answers."""
        if self._server is not None:
            self._server.close()
        for client in self._clients - self._busy_clients:
            client.cancel()
        if self._clients:
            _, late = await asyncio.wait(self._clients, timeout=SHUTDOWN_TIMEOUT)
            for client in late:
                client.cancel()

    async def _handle_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = asyncio.current_task()
        assert client is not None
        self._clients.add(client)
        # What becomes of one client is no matter of the others, nor of the log: it would tell of its mail.
        with contextlib.suppress(OSError, EOFError, TimeoutError, asyncio.CancelledError):
            if len(self._clients) > MAX_CLIENTS:
                writer.write(encode_failure(f"The server has {MAX_CLIENTS} clients already."))
            else:
                await self._serve_requests(client, reader, writer)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            writer.close()
            await writer.wait_closed()
        self._clients.discard(client)

    async def _serve_requests(
        self, client: asyncio.Task[None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while self._server is not None and self._server.is_serving():
            try:
                async with asyncio.timeout(IDLE_TIMEOUT):
                    line = await _read_request_line(reader)
                if not line:
                    return
                command, length = parse_request(line)
                async with asyncio.timeout(RECEIVE_TIMEOUT):
                    content = await _read_message(reader, length)
            except ProtocolError as fault:
                await _send(writer, encode_failure(str(fault)))
                return
            self._busy_clients.add(client)
            try:
                await _send(writer, await self._answer(command, content))
            finally:
                self._busy_clients.discard(client)

    async def _answer(self, command: str, content: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        try:
            return encode_success(
                await loop.run_in_executor(self._pool, self._service.answer, command, content)
            )
        except WeighError as refusal:
            return encode_failure(str(refusal))
        except Exception as fault:
            # An error's text could quote the message.
            return encode_failure(f"The server failed at this message ({type(fault).__name__}).")


async def _read_request_line(reader: asyncio.StreamReader) -> bytes:
    """The first line of a request; nothing at the end of a conversation."""
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        line = end.partial
        if line and len(line) <= MAX_LINE_BYTES:
            raise ProtocolError("The first line has no end. End it with a line feed.") from None
    except asyncio.LimitOverrunError:
        line = b"\n" * (MAX_LINE_BYTES + 1)
    if len(line) > MAX_LINE_BYTES:
        raise ProtocolError(f"The first line is longer than {MAX_LINE_BYTES} bytes.")
    return line


async def _read_message(reader: asyncio.StreamReader, length: int | None) -> bytes:
    if length is not None:
        return await reader.readexactly(length)
    content = bytearray()
    while block := await reader.read(_READ_BYTES):
        content += block
        if len(content) > MAX_MESSAGE_BYTES:
            raise message_too_long_error()
    return bytes(content)


async def _send(writer: asyncio.StreamWriter, answer: bytes) -> None:
    async with asyncio.timeout(SEND_TIMEOUT):
        writer.write(answer)
        await writer.drain()


# What the address of a socket can hold on every Unix, without its final zero.
_MAX_SOCKET_PATH_BYTES = 103
_BACKLOG = 128


@contextlib.contextmanager
def listening_socket(path: str) -> Iterator[socket.socket]:
    """A listening socket that its owner alone may use; it and its file are gone afterwards.

    A lock beside it tells a running server from the file that a killed one has left.
    """
    if len(os.fsencode(path)) > _MAX_SOCKET_PATH_BYTES:
        raise FileError(
            f"{path} is too long for a socket, which takes {_MAX_SOCKET_PATH_BYTES} bytes. "
            "Choose a shorter path: --socket PATH."
        )
    with _lock_socket(path):
        listener = _bind_socket(path)
        ours = os.stat(path)
        try:
            yield listener
        finally:
            listener.close()
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), ours):
                    os.unlink(path)


def _bind_socket(path: str) -> socket.socket:
    with _translate_os_errors(path):
        _remove_stale_socket(path)
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(path)
            # Nobody can connect before it listens.
            os.chmod(path, 0o600)
            listener.listen(_BACKLOG)
        except BaseException:
            listener.close()
            raise
        return listener


@contextlib.contextmanager
def _translate_os_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: the server cannot listen there: {error_reason(error)}.") from error


@contextlib.contextmanager
def _lock_socket(path: str) -> Iterator[None]:
    """Hold the lock that belongs to a socket as long as the server runs."""
    with _translate_os_errors(path):
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _already_running_error(path) from None
        yield
    finally:
        os.close(descriptor)


def _remove_stale_socket(path: str) -> None:
    """Remove the socket of a killed server, and nothing else."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise FileError(
            f"{path} is a file that is not a socket, and stays. Choose another path: --socket PATH."
        )
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(1)
        refusal = caller.connect_ex(path)
    if refusal == 0:
        raise _already_running_error(path)
    if refusal == errno.ECONNREFUSED:
        os.unlink(path)


def _already_running_error(path: str) -> FileError:
    return FileError(
        f"A server is running already at {path}. "
        "Stop it first, or let this one listen elsewhere: --socket PATH."
    )


Address = tuple[str, int]
# More than processors, so that a message is judged while another is read from the disk or written to it.
N_THREADS = 4


@dataclass(frozen=True)
class SmtpRoute:
    """Where mail is taken by SMTP, and where it goes."""

    listen_address: Address
    next_address: Address


@dataclass(frozen=True)
class ServerAddresses:
    """Where a server listens: its socket and, if it takes mail by SMTP, its address."""

    socket: str
    smtp: Address | None = None

    def to_dict(self) -> dict[str, str]:
        """The places for JSON."""
        smtp = {} if self.smtp is None else {"smtp": format_address(self.smtp)}
        return {"socket": self.socket, **smtp}

    def __str__(self) -> str:
        smtp = "" if self.smtp is None else f", and for SMTP at {format_address(self.smtp)}"
        return f"Listening at {self.socket}{smtp}."


def format_address(address: Address) -> str:
    """HOST:PORT."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def serve(
    service: FilterService, path: str, route: SmtpRoute | None, ready: Callable[[ServerAddresses], None]
) -> None:
    """Answer until the process is told to stop by SIGTERM or SIGINT."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stopped.set)
    async with running_server(service, path, route) as places:
        ready(places)
        await stopped.wait()


@contextlib.asynccontextmanager
async def running_server(
    service: FilterService, path: str, route: SmtpRoute | None = None
) -> AsyncIterator[ServerAddresses]:
    """A server that answers as long as the block lasts, and then finishes what it has begun."""
    with listening_socket(path) as listener, ThreadPoolExecutor(N_THREADS, "weigh-mail") as pool:
        server = SocketServer(service, pool)
        await server.start(listener)
        try:
            async with _running_smtp_server(service, route) as smtp:
                yield ServerAddresses(path, smtp)
        finally:
            await server.stop()


@contextlib.asynccontextmanager
async def _running_smtp_server(
    service: FilterService, route: SmtpRoute | None
) -> AsyncIterator[Address | None]:
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
    server = SmtpServer(service, route.next_address)
    try:
        try:
            taken = await server.start(route.listen_address)
        except OSError as error:
            raise FileError(
                f"{format_address(route.listen_address)}: the server cannot listen there: {error_reason(error)}."
            ) from error
        yield taken
    finally:
        await server.stop()
